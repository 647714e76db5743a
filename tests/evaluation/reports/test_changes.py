"""Renaming, pinning, deleting, sharing and comparing. alice owns, bob is a member, charlie not."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.conf import settings
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from annotation.models import AuditEntry, GroupAssignment, Rating, StudyMembership
from evaluation.models import Report, ReportShare, ReportStatus
from evaluation.reports.building import build_report
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.requesting import request_report
from evaluation.reports.shared_views import digest_of, share_report
from evaluation.reports.views import delete_report, pin_report
from tests.evaluation.reports.contracts import lay_out
from tests.evaluation.reports.surveys import make_rated_study, make_scored_run
from tests.kept_rows import keep_rows

pytestmark = pytest.mark.django_db

FEW = {"resamples": 100, "splits": 100}
JSON = "application/json"
RIGHTS = ("view_report", "add_report", "change_report", "delete_report")


def make_staff(name: str) -> User:
    user = User.objects.create_user(name, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=RIGHTS))
    return user


@pytest.fixture(scope="module")
def kept_reports(django_db_setup, django_db_blocker) -> Iterator[list[int]]:
    """Two built reports on the same people, of two runs; yields their keys."""
    with keep_rows(django_db_blocker):
        alice = make_staff("alice")
        study = make_rated_study(owner=alice)
        keys = []
        for name in ("first", "second"):
            run = make_scored_run(name=name)
            asked = request_report(kind="alignment", study=study, runs=[run], parameters=FEW)
            built = build_report(report_id=asked.pk)
            assert built is not None
            assert built.status == ReportStatus.FINAL, built.error
            keys.append(built.pk)
        yield keys


@pytest.fixture
def reports(kept_reports, db) -> list[Report]:
    return [Report.objects.get(pk=pk) for pk in kept_reports]


@pytest.fixture
def report(reports) -> Report:
    return reports[0]


@pytest.fixture
def alice(kept_reports, db) -> User:
    return User.objects.get(username="alice")


def address(name: str, report: Report, *args: object) -> str:
    return reverse(f"reports:{name}", args=[report.public_id, *args])


def test_a_report_is_renamed_and_pinned(client, alice, reports):
    older, newer = reports
    client.force_login(alice)
    refused = client.post(address("rename", older), {"title": "   "})
    assert "Enter a title." in refused.content.decode()
    assert client.post(address("rename", older), {"title": "x" * 241}).status_code == 200
    client.post(address("rename", older), {"title": " Our  figure 3 "})
    older.refresh_from_db()
    assert older.title == "Our figure 3"
    assert "Our figure 3" in client.get(address("page", older)).content.decode()
    assert AuditEntry.objects.filter(action="changed", target=f"report {older.public_id}").exists()
    gallery = reverse("admin:evaluation_report_changelist")

    def order() -> bool:
        page = client.get(gallery).content.decode()
        return page.index(older.public_id) < page.index(newer.public_id)

    assert not order()
    client.post(address("pin", older), {"pinned": "1"})
    assert order()
    client.post(gallery, {"action": "unpin", "_selected_action": [older.pk]})
    assert not order()


def test_a_report_is_deleted_after_a_question(client, alice, report):
    client.force_login(alice)
    asked = client.get(address("delete", report)).content.decode()
    assert "Delete this report?" in asked
    assert Report.objects.filter(pk=report.pk).exists()
    response = client.post(address("delete", report))
    assert response["Location"] == reverse("admin:evaluation_report_changelist")
    assert not Report.objects.filter(pk=report.pk).exists()
    entry = AuditEntry.objects.filter(action="erased").latest("pk")
    assert (entry.actor, entry.target) == ("alice", f"report {report.public_id}")
    assert client.get(address("page", report)).status_code == 404


def test_a_program_renames_pins_and_deletes(client, alice, report):
    address = reverse("api:report-detail", args=[report.public_id])
    bob = make_staff("bob")
    StudyMembership.objects.create(study=report.study, user=bob)
    client.force_login(bob)
    assert client.patch(address, {"title": "Mine"}, content_type=JSON).status_code == 403
    assert client.delete(address).status_code == 403
    client.force_login(alice)
    assert client.patch(address, {"title": " "}, content_type=JSON).status_code == 400
    changed = client.patch(address, {"title": "Ours", "is_pinned": True}, content_type=JSON).json()
    assert (changed["title"], changed["is_pinned"]) == ("Ours", True)
    assert client.delete(address).status_code == 204
    assert client.get(address).status_code == 404


def test_a_report_that_is_being_built_is_not_deleted(alice, report):
    Report.objects.filter(pk=report.pk).update(status=ReportStatus.BUILDING)
    with pytest.raises(ReportError, match="building"):
        delete_report(report=report, deleted_by=alice)


def test_members_read_outsiders_do_not_learn_of_it_and_neither_changes_it(client, report):
    bob, charlie = make_staff("bob"), make_staff("charlie")
    StudyMembership.objects.create(study=report.study, user=bob)
    for user, status in ((bob, 403), (charlie, 404)):
        client.force_login(user)
        for name in ("rename", "delete", "share"):
            assert client.get(address(name, report)).status_code == status, (user, name)
            assert client.post(address(name, report)).status_code == status, (user, name)
        assert client.post(address("pin", report)).status_code == status
    client.force_login(bob)
    page = client.get(address("page", report)).content.decode()
    assert address("compare", report) in page
    assert address("delete", report) not in page
    report.refresh_from_db()
    assert not report.is_pinned


def test_a_link_opens_the_report_without_an_account_until_it_ends(client, alice, report):
    client.force_login(alice)
    assert "from 1 to 90" in client.post(address("share", report), {"days": "0"}).content.decode()
    warned = client.get(address("share", report)).content.decode()
    assert "Numbers that rest on fewer than 5 participants are left out of its page" in warned
    page = client.post(address("share", report), {"days": "7"}).content.decode()
    share = report.shares.get()
    link = page.partition('<code id="link">')[2].partition("</code>")[0]
    token = link.rstrip("/").rpartition("/")[2]
    assert len(token) == 32
    assert share.digest == digest_of(token)
    assert token not in client.get(address("share", report)).content.decode()

    stranger = Client()
    path = reverse("reports:shared-page", args=[token])
    read = stranger.get(path, {"group": "elderly"})
    assert read.status_code == 200
    assert "noindex" in read["X-Robots-Tag"]
    assert read["Referrer-Policy"] == "no-referrer"
    assert "<form" not in read.content.decode()  # it would be sent without its origin
    assert "'unsafe" not in read["Content-Security-Policy"]
    html = read.content.decode()
    assert "One group in detail: elderly people" in html
    for private in ("alice", "/admin/", "csrf", address("page", report)):
        assert private not in html, private
    for part in (
        "files/report.json", "files/cells.csv", "figures/forest.png", "figures/forest.vl.json",
        "tables/1.tex", "references.bib",
    ):  # fmt: skip
        found = stranger.get(path + part)
        assert found.status_code == 200, part
        assert b"alice" not in found.content, part
    assert stranger.post(path).status_code == 405
    assert stranger.get(address("page", report)).status_code == 302
    seen = AuditEntry.objects.filter(detail__contains=f"share link {share.pk}")
    assert {"access", "viewed", "exported"} <= set(seen.values_list("action", flat=True))
    assert not seen.filter(detail__contains=token).exists()

    with time_machine.travel(share.expires_at + timedelta(seconds=1), tick=False):
        assert stranger.get(path).status_code == 404
    client.post(address("revoke", report, share.pk))
    for part in ("", "files/report.json", "figures/forest.svg"):
        gone = stranger.get(path + part)
        assert gone.status_code == 404
        assert "opens no report" in gone.content.decode()
    assert stranger.get(reverse("reports:shared-page", args=["0" * 32])).content == (
        stranger.get(path).content
    )


def test_a_link_opens_only_what_its_maker_may_see(client, alice, report):
    editor = make_staff("editor")
    member = StudyMembership.objects.create(study=report.study, user=editor, role="editor")
    link = share_report(report=report, created_by=editor, days=3)
    path = link.partition("//")[2].partition("/")[2]
    assert client.get(f"/{path}").status_code == 200
    member.delete()
    assert client.get(f"/{path}").status_code == 404
    assert ReportShare.objects.count() == 1


def test_strangers_are_slowed_down(client, alice, report, settings):
    settings.SHARED_REPORT_REQUESTS_PER_MINUTE = 2
    path = reverse("reports:shared-page", args=["1" * 32])
    with time_machine.travel(0, tick=False):
        assert [client.get(path).status_code for _ in range(3)] == [404, 404, 429]


def test_two_reports_are_set_side_by_side_without_inventing_a_test(client, alice, reports):
    client.force_login(alice)
    first, second = reports
    chosen = client.get(address("compare", first)).content.decode()
    assert f"?with={second.public_id}" in chosen
    page = client.get(address("compare", first), {"with": second.public_id}).content.decode()
    for report in reports:
        for key in lay_out(report).keys:
            for text in (key.label, key.value, *key.lines):
                assert escape(text) in page
    # The runs differ, and the report that tests it can be asked for with both of them.
    runs = sorted(report.runs.get().pk for report in reports)
    query = "".join(f"&amp;runs={run}" for run in runs)
    assert f"kind=alignment_comparison&amp;study={first.study_id}{query}" in page
    asked = request_report(
        kind="alignment_comparison",
        study=first.study,
        runs=[report.runs.get() for report in reports],
        parameters={"resamples": 100},
        created_by=alice,
    )
    tested = build_report(report_id=asked.pk)
    assert tested is not None
    assert tested.status == ReportStatus.FINAL, tested.error
    page = client.get(address("compare", first), {"with": second.public_id}).content.decode()
    assert address("page", tested) in page
    assert client.get(address("compare", first), {"with": tested.public_id}).status_code == 404
    pin_report(report=second, is_pinned=True)
    client.force_login(make_staff("charlie"))
    assert client.get(address("compare", first)).status_code == 404


def test_what_the_runs_asked_is_among_the_differences(client, alice, reports):
    first, second = reports
    client.force_login(alice)
    scales = [{"slug": "cold-warm", "low": "cold", "high": "warm"}]
    women, men = {"slug": "women", "plural": "women"}, {"slug": "men", "plural": "men"}
    for report, groups, text in ((first, [women, men], "All {plural}"), (second, [men], "Most")):
        run = report.runs.get()
        run.stimuli = {
            "groups": groups,
            "traits": scales,
            "templates": [{"slug": "own", "text": text}],
        }
        run.save(update_fields=["stimuli"])
    second.parameters = {**second.parameters, "level": 0.9}
    second.inputs["study"]["ratings_hash"] = "0123456789abcdef" * 4
    second.save(update_fields=["parameters", "inputs"])
    page = client.get(address("compare", first), {"with": second.public_id}).content.decode()
    table = page.partition("What is not the same")[2]
    for text in ("2: women, men", "1: men", "1: “All {plural}”", "1: “Most”"):
        assert f"<td>{text}</td>" in table
    assert "Option “Coverage of intervals”" in table
    assert "sha256 0123456789ab" in table
    assert "Scales of the runs" not in table  # they are the same


def test_what_makes_numbers_meaningless_stands_beside_them_in_a_comparison(client, alice, reports):
    first, second = reports
    client.force_login(alice)
    second.inputs["run"]["is_demo"] = True
    second.save(update_fields=["inputs"])
    (banner,) = lay_out(second).banners
    page = client.get(address("compare", first), {"with": second.public_id}).content.decode()
    assert page.count(escape(banner)) == 1
    assert page.index(escape(banner)) < page.index("Key numbers")


def test_a_link_is_made_and_ended_on_the_command_line(reports: list[Report]) -> None:
    report, said = reports[0], io.StringIO()
    call_command("report", "share", report.public_id, account="alice", days=3, stdout=said)
    address = said.getvalue().strip().removeprefix(settings.SITE_URL)
    assert Client().get(address).status_code == 200
    share = ReportShare.objects.get(report=report)
    assert share.created_by == User.objects.get(username="alice")
    assert share.expires_at < timezone.now() + timedelta(days=3)
    assert AuditEntry.objects.filter(actor="alice", detail__startswith="share link").exists()
    call_command("report", "revoke", report.public_id, account="alice", stdout=said)
    assert "Links ended: 1." in said.getvalue()
    assert Client().get(address).status_code == 404

    make_staff("charlie")
    for given, problem in (
        ({"account": "charlie"}, "There is no report"),
        ({"account": "nobody"}, "There is no account “nobody”."),
        ({"account": "alice", "days": 91}, "from 1 to 90"),
    ):
        with pytest.raises(CommandError, match=problem):
            call_command("report", "share", report.public_id, **given)


def test_a_link_shows_nothing_that_rests_on_one_participant(client, alice) -> None:
    study = make_rated_study(owner=alice)
    few = study.instruments.get().groups.get(slug="elderly")
    rated = list(GroupAssignment.objects.filter(group=few).order_by("pk"))
    Rating.objects.filter(assignment__in=rated[1:]).delete()
    GroupAssignment.objects.filter(pk__in=[one.pk for one in rated[1:]]).delete()
    for place, rating in enumerate(rated[0].ratings.order_by("pk")):
        rating.value = 31.0625 + place  # written like this nowhere else
        rating.save()
    asked = request_report(
        kind="alignment", study=study, runs=[make_scored_run(name="third")], parameters=FEW
    )
    report = build_report(report_id=asked.pk)
    assert report is not None
    assert report.status == ReportStatus.FINAL, report.error
    values = [f"{31.0625 + place}" for place in range(16)]
    client.force_login(alice)
    own = client.get(address("page", report) + "files/cells.csv").content.decode()
    assert all(value in own for value in values)

    link = share_report(report=report, created_by=alice, days=3)
    path = f"/{link.partition('//')[2].partition('/')[2]}"
    stranger = Client()
    reason = "fewer than five participants; not shown in shared reports"
    names = list(report.files.values_list("name", flat=True))
    assert {"report.json", "report.xlsx", "report.html", "cells.csv"} <= set(names)
    parts = [
        "",
        "?group=elderly",
        *(f"files/{name}" for name in names),
        *(f"figures/{name}.vl.json" for name in ("forest", "heat-maps")),
        "figures/profile.vl.json?group=elderly",
        "tables/2.tex?group=elderly",
    ]
    answers = {part: stranger.get(path + part) for part in parts}
    assert {answer.status_code for answer in answers.values()} == {200}
    texts = {part: read_any(part, answer.content) for part, answer in answers.items()}
    assert not [part for part, text in texts.items() if any(value in text for value in values)]
    for part in ("", "?group=elderly", "files/report.html", "files/report.json", "files/cells.csv"):
        assert reason in texts[part], part
    report.refresh_from_db()
    assert values[0] in str(report.result)


def read_any(name: str, content: bytes) -> str:
    """Return the text of a file, with that of the sheets inside a workbook."""
    if not name.endswith(".xlsx"):
        return content.decode(errors="replace")
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        return "".join(book.read(part).decode() for part in book.namelist())
