"""The pages of a study: what they say and what can be downloaded."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.imports.abc_ratings import import_abc_ratings
from annotation.models import CheckKind, Panel, PanelSettings, Study, SubmissionState
from annotation.researcher.studies.dashboard import draw_slots
from annotation.studies.lifecycle import close_study
from annotation.studies.quotas import count_quotas
from annotation.studies.review_service import review_submission
from tests.annotation.researcher.conftest import log_in
from tests.annotation.researcher.studies.study_pages import act, overview, text_of
from tests.annotation.studies.people import make_study, make_submission

pytestmark = pytest.mark.django_db


def test_the_main_page_shows_the_numbers(study: Study, alice: User) -> None:
    for minutes in (9, 11, 13):
        submission = make_submission(study, minutes=minutes)
        review_submission(
            submission=submission, reviewer=alice, data_decision="accepted", pay_decision="approved"
        )
    make_submission(study, minutes=12, failed=[CheckKind.GROUP_NAME])
    make_submission(study, state=SubmissionState.IN_PROGRESS)
    words = text_of(log_in(alice).get(overview(study)).content.decode())
    # 3 people with 4 groups each; 25 groups, 6 wanted each.
    assert "12 of 150 wanted" in words
    assert "3 people, one rating for each group that was rated. 138 ratings are missing." in words
    assert "Rating now 1 person" in words
    # 9, 11, 12, 13 minutes: median 11.5.
    assert "11 min 30 s" in words
    assert "Median of 4." in words
    # Three paid 2 dollars, one waits; 200 cents for 11.5 minutes make 10.43 dollars an hour.
    assert "$6.00" in words
    assert "$2.00 wait for a decision." in words
    assert "That pays $10.43 an hour." in words
    assert "Started 5 Gave consent 5 100 %" in words
    assert "Finished 4 80 % Reviewed 3 75 % Accepted 3 100 %" in words
    # 1 of 4, Wilson by hand: center (0.25 + 0.4802) / 1.9604 = 0.3725, half width 0.3270.
    assert "Name the group just rated 4 1 0 25.0 % 4.6 to 69.9" in words
    assert "Named the group “senior citizens”" in words


def test_a_study_says_that_its_links_are_not_signed(alice: User) -> None:
    said = "Links of this study are not signed."
    unsigned, signed = (make_study(owner=alice, panel=Panel.PROLIFIC) for _ in range(2))
    PanelSettings.objects.filter(study=signed).update(signed_links=True)
    elsewhere, closed = make_study(owner=alice), make_study(owner=alice, panel=Panel.PROLIFIC)
    close_study(study=closed)
    client = log_in(alice)
    for study, is_said in ((unsigned, True), (signed, False), (elsewhere, False), (closed, False)):
        page = client.get(overview(study)).content.decode()
        assert (said in page) is is_said
    way = reverse("admin:annotation_study_panel", args=[unsigned.pk])
    notice = client.get(overview(unsigned)).content.decode().partition(said)[2]
    assert way in notice.partition("</div>")[0]


def test_an_empty_study_says_what_to_do_next(study: Study, alice: User) -> None:
    page = log_in(alice).get(overview(study)).content.decode()
    assert "Nobody has started yet" in page
    assert "Give participants the link below." in page
    assert f"/s/{study.public_id}/" in page
    assert "histogram" not in page


def test_the_participants_link_of_prolific_has_its_placeholders(study: Study, alice: User) -> None:
    Study.objects.update(panel=Panel.PROLIFIC)
    page = log_in(alice).get(overview(study)).content.decode()
    assert "?PROLIFIC_PID={{%PROLIFIC_PID%}}&amp;STUDY_ID=" in page


def test_nasty_texts_are_escaped_everywhere(alice: User) -> None:
    nasty = "<script>alert(1)</script>"
    study = make_study(owner=alice, title=nasty)
    submission = make_submission(study, failed=[CheckKind.GROUP_NAME])
    submission.checks.filter(kind=CheckKind.GROUP_NAME).update(answer={"text": nasty})
    client = log_in(alice)
    for page in (
        overview(study),
        reverse("admin:annotation_study_changelist"),
        reverse("admin:annotation_study_change", args=[study.pk]),
        reverse("admin:annotation_instrument_change", args=[study.instruments.get().pk]),
        reverse("admin:annotation_submission_changelist"),
        reverse("admin:annotation_submission_review", args=[submission.pk]),
    ):
        content = client.get(page).content.decode()
        assert nasty not in content, page
        assert "&lt;script&gt;alert(1)" in content, page


def count_queries(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    return len(queries)


@pytest.mark.parametrize("page", ["overview", "live"])
def test_the_main_pages_queries_do_not_grow_with_the_study(
    study: Study, alice: User, page: str
) -> None:
    client = log_in(alice)
    address = reverse(f"admin:annotation_study_{page}", args=[study.pk])
    for _ in range(6):
        make_submission(study, failed=[CheckKind.GROUP_NAME])
    make_submission(study, state=SubmissionState.IN_PROGRESS)
    few = count_queries(client, address)
    for first in range(14):
        make_submission(study, first_group=first, failed=[CheckKind.REPEATED_GROUP])
    assert count_queries(client, address) <= few  # less where this process knows finished visits
    assert few <= 38  # the session and the page's frame included
    assert count_queries(client, address) <= 30  # nobody else has finished since


def test_the_lists_queries_do_not_grow(study: Study, alice: User) -> None:
    client = log_in(alice)
    studies = reverse("admin:annotation_study_changelist")
    queue = reverse("admin:annotation_submission_changelist")
    for _ in range(2):
        make_submission(study)
    before = count_queries(client, studies), count_queries(client, queue)
    for _ in range(8):
        make_submission(study)
    for number in range(5):
        make_study(owner=alice, title=f"Study {number}")
    assert (count_queries(client, studies), count_queries(client, queue)) == before


def test_the_list_counts_each_study_by_itself(study: Study, alice: User) -> None:
    """One query for submissions joined with the others' counts took minutes at 15,000 of them."""
    for first in (0, 5):
        review_submission(
            submission=make_submission(study, first_group=first),
            reviewer=alice,
            data_decision="accepted",
            pay_decision="approved",
        )
    make_study(owner=alice, title="Empty")
    with CaptureQueriesContext(connection) as queries:
        page = log_in(alice).get(reverse("admin:annotation_study_changelist")).content.decode()
    table = page.split('id="result_list"')[1]
    assert re.findall(r"(\d+) of (\d+)", table) == [("0", "500"), ("8", "150")]
    grouped = [query["sql"] for query in queries if "GROUP BY" in query["sql"]]
    assert all(sql.count("GROUP BY") == 1 for sql in grouped), grouped


def test_the_live_part_is_a_fragment_that_nobody_caches(study: Study, alice: User) -> None:
    response = log_in(alice).get(reverse("admin:annotation_study_live", args=[study.pk]))
    page = response.content.decode()
    assert "no-store" in response["Cache-Control"]
    assert "<html" not in page
    assert 'data-live-on="true"' in page
    act(log_in(alice), study, "close")
    page = log_in(alice).get(reverse("admin:annotation_study_live", args=[study.pk]))
    assert 'data-live-on="false"' in page.content.decode()


def test_an_imported_study_shows_its_source_and_asks_for_nothing(alice: User) -> None:
    content = b'{"a": {"women": {"cold - warm": "5"}, "men": {"cold - warm": "7"}}}'
    study = import_abc_ratings(content=content, file_name="ratings.json", owner=alice).study
    page = log_in(alice).get(overview(study)).content.decode()
    words = text_of(page)
    assert "Imported" in words
    assert "File: ratings.json" in words
    assert "SHA-256:" in words
    assert "Link for participants" not in page
    assert "Time to finish" not in page
    assert "Open study again" not in page


@pytest.mark.parametrize(
    ("kinds", "said", "unsaid"),
    [
        ([CheckKind.GROUP_NAME], "never costs pay", "not askable where"),
        ([CheckKind.MARKED_TRAITS], "not askable where the ratings", "ground to reject"),
        ([CheckKind.INSTRUCTED], "and be a ground to reject pay", "never costs pay"),
        (
            [CheckKind.REPEATED_GROUP, CheckKind.NONSENSICAL],
            "Only these may be a ground to reject pay where the panel allows it: A statement that "
            "nobody can affirm.",
            "never costs pay",
        ),
    ],
)
def test_the_caption_of_checks_follows_their_kinds(
    study: Study, alice: User, kinds: list[CheckKind], said: str, unsaid: str
) -> None:
    submission = make_submission(study)
    submission.checks.all().delete()
    for step, kind in enumerate(kinds):
        submission.checks.create(step_index=step, kind=kind, expected={}, answer={}, passed=True)
    words = text_of(log_in(alice).get(overview(study)).content.decode())
    assert said in words
    assert unsaid not in words


def test_who_waits_after_a_failed_check_is_in_review_and_not_open(alice: User) -> None:
    study = make_study(owner=alice, quota_per_group=2)
    make_submission(study, failed=[CheckKind.INSTRUCTED], groups=1)
    quota = count_quotas(study, instrument=study.instruments.get())[0]
    # Others may have the place, as before; what waits is told all the same.
    assert (quota.in_review, quota.doubtful, quota.waiting, quota.open) == (0, 1, 1, 2)
    assert [box.css for box in draw_slots(quota)] == ["mark-part", "mark-open"]
    address = reverse("admin:annotation_study_figure", args=[study.pk, "quotas"])
    csv = b"".join(log_in(alice).get(address).streaming_content).decode().splitlines()
    row = dict(zip(csv[0].split(","), csv[1].split(","), strict=True))
    assert (row["in_review"], row["open"]) == ("1", "2")


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("funnel", "stage,count,share_of_stage_before\r\nstarted,2,\r\nconsented,2,1.0\r\n"),
        ("quotas", "group,group_text,wanted,accepted,in_review,in_progress,reserved,open\r\ncis,"),
        (
            "checks",
            "check,asked,failed,not_askable,share,wilson_low,wilson_high\r\ngroup_name,2,1,0,",
        ),
        ("times", "minutes_from,minutes_to,count\r\n"),
    ],
)
def test_figures_come_as_csv(study: Study, alice: User, name: str, start: str) -> None:
    make_submission(study, minutes=10)
    make_submission(study, minutes=12, failed=[CheckKind.GROUP_NAME])
    response = log_in(alice).get(reverse("admin:annotation_study_figure", args=[study.pk, name]))
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert f"-{name}.csv" in response["Content-Disposition"]
    assert b"".join(response.streaming_content).decode().startswith(start)


def test_exports_are_attachments_and_can_carry_a_byte_order_mark(study: Study, alice: User) -> None:
    make_submission(study)
    address = reverse("admin:annotation_study_export", args=[study.pk, "ratings.csv"])
    client = log_in(alice)
    plain, marked = client.get(address), client.get(f"{address}?bom=1")
    assert plain["Content-Disposition"].startswith(
        f'attachment; filename="stereoscope-{study.public_id}-ratings-'
    )
    assert "no-store" in plain["Cache-Control"]
    assert b"".join(marked.streaming_content) == b"\xef\xbb\xbf" + b"".join(plain.streaming_content)


@pytest.mark.parametrize("name", ["identities.csv", "ratings.exe"])
def test_unknown_exports_and_figures_are_not_found(study: Study, alice: User, name: str) -> None:
    client = log_in(alice)
    assert (
        client.get(reverse("admin:annotation_study_export", args=[study.pk, name])).status_code
        == 404
    )
    assert (
        client.get(reverse("admin:annotation_study_figure", args=[study.pk, "x"])).status_code
        == 404
    )
