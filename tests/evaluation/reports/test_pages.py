"""Report pages: who may read them, and what they show. alice owns, bob is a member, charlie not."""

from __future__ import annotations

import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from PIL import Image

from annotation.models import StudyMembership
from evaluation.models import Report, ReportStatus
from evaluation.reports.building import build_report
from evaluation.reports.requesting import request_report
from probing.models import RunStatus
from tests.evaluation.reports.surveys import make_rated_study, make_scored_run
from tests.kept_rows import keep_rows

pytestmark = pytest.mark.django_db

FEW = {"resamples": 100, "splits": 100}


@pytest.fixture(scope="module")
def kept_report(django_db_setup, django_db_blocker) -> Iterator[int]:
    """One built report for all tests of this module; yields its key."""
    with keep_rows(django_db_blocker):
        alice = User.objects.create_user("alice", password="alice", is_staff=True)
        waiting = request_report(
            kind="alignment",
            study=make_rated_study(owner=alice),
            runs=[make_scored_run()],
            parameters=FEW,
        )
        built = build_report(report_id=waiting.pk)
        assert built is not None
        yield built.pk


@pytest.fixture
def alice(kept_report, db) -> User:
    return User.objects.get(username="alice")


@pytest.fixture
def report(kept_report, db) -> Report:
    return Report.objects.get(pk=kept_report)


def _address(report: Report) -> str:
    return reverse("reports:page", args=[report.public_id])


def test_owner_and_member_read_the_report(client, alice, report):
    bob = User.objects.create_user("bob", is_staff=True)
    StudyMembership.objects.create(study=report.study, user=bob)
    for user in (alice, bob):
        client.force_login(user)
        assert client.get(_address(report)).status_code == 200


def test_outsiders_and_visitors_do_not_learn_that_the_report_exists(client, report):
    response = client.get(_address(report))
    assert response.status_code == 302
    assert reverse("admin:login") in response["Location"]
    client.force_login(User.objects.create_user("charlie", is_staff=True))
    for path in ("", "files/report.html", "files/cells.csv", "figures/forest.svg"):
        assert client.get(_address(report) + path).status_code == 404, path


def test_page_shows_any_group_and_holds_no_inline_script_or_style(client, alice, report):
    client.force_login(alice)
    page = client.get(_address(report), {"group": "elderly"}).content.decode()
    assert "One group in detail: elderly people" in page
    assert client.get(_address(report), {"group": "nobody"}).status_code == 404
    scripts = re.findall(r"<script.*?</script>", page, re.DOTALL)
    assert len(scripts) == page.count("<script") == 1
    assert 'src="/static/evaluation/charts.js"' in scripts[0]
    assert scripts[0].endswith("></script>")
    assert "<style" not in page
    assert " style=" not in page


def test_files_and_figures_are_downloads(client, alice, report):
    client.force_login(alice)
    for name, start in (("groups.csv", b"group,"), ("report.html", b"<!doctype html>")):
        response = client.get(reverse("reports:file", args=[report.public_id, name]))
        assert response.content.startswith(start)
        assert "attachment" in response["Content-Disposition"]
    for name in ("heat-maps", "profile", "forest"):
        response = client.get(reverse("reports:figure", args=[report.public_id, name]))
        assert response["Content-Type"] == "image/svg+xml"
        assert b"<svg" in response.content
    for wrong in (["pie"], ["forest", "exe"], ["profile", "narrow.svg"]):
        missing = client.get(reverse("reports:figure", args=[report.public_id, *wrong]))
        assert missing.status_code == 404, wrong


def test_a_figure_is_had_in_every_form(client, alice, report):
    """One specification, four files: read by parsers of their own."""
    client.force_login(alice)

    def get(name: str, form: str) -> bytes:
        address = reverse("reports:figure", args=[report.public_id, name, form])
        response = client.get(address)
        assert response.status_code == 200, address
        assert response["Content-Disposition"].endswith(f'{report.public_id}-{name}.{form}"')
        return bytes(response.content)

    for name in ("heat-maps", "profile", "forest"):
        spec = json.loads(get(name, "vl.json"))
        assert spec["$schema"].startswith("https://vega.github.io/schema/vega-lite/v6")
        svg = ET.fromstring(get(name, "svg"))  # noqa: S314 — our own drawing
        assert svg.get("viewBox") == f"0 0 {spec['width']} {spec['height']}"
        with Image.open(io.BytesIO(get(name, "png"))) as png:
            assert png.size == (3 * spec["width"], 3 * spec["height"])
        assert get(name, "pdf").startswith(b"%PDF-")
    keyed = {
        row["key"]
        for layer in json.loads(get("forest", "vl.json"))["layer"]
        for row in layer["data"]["values"]
        if "key" in row
    }
    assert keyed == {"men", "women", "elderly people"}
    assert json.loads(get("forest", "narrow.vl.json"))["width"] < 400


def test_a_printed_table_is_had_in_latex(client, alice, report):
    client.force_login(alice)

    def get(number: int) -> str:
        response = client.get(reverse("reports:table", args=[report.public_id, number]))
        assert response.status_code == 200
        return bytes(response.content).decode()

    groups = get(3)
    assert groups.count(r"\begin{tabular}") == groups.count(r"\bottomrule") == 1
    assert r"\label{tab:groups-3}" in groups
    for name in ("men", "women", "elderly people"):
        assert f"\n{name} & " in groups
    assert client.get(reverse("reports:table", args=[report.public_id, 99])).status_code == 404


def test_page_of_a_waiting_report_says_what_it_waits_for(client, alice, rated_study, scored_run):
    run = scored_run(status=RunStatus.RUNNING)
    report = request_report(
        kind="alignment", study=rated_study(owner=alice), runs=[run], parameters=FEW
    )
    client.force_login(alice)
    assert f"Waiting for run {run.pk}" in client.get(_address(report)).content.decode()


def test_page_of_a_failed_report_says_why_and_offers_another_try(client, alice, report):
    Report.objects.filter(pk=report.pk).update(
        status=ReportStatus.FAILED, result=None, error="“Pilot” has no accepted ratings."
    )
    client.force_login(alice)
    page = client.get(_address(report)).content.decode()
    assert "has no accepted ratings" in page
    client.post(reverse("reports:retry", args=[report.public_id]))
    report.refresh_from_db()
    assert report.status == ReportStatus.WAITING


def test_gallery_lists_only_reports_on_visible_studies(client, alice, report):
    gallery = reverse("admin:evaluation_report_changelist")
    boss = User.objects.create_superuser("boss")
    client.force_login(boss)
    assert report.title in client.get(gallery).content.decode()
    outsider = User.objects.create_superuser("dora")
    outsider.is_superuser = False
    outsider.save()
    from django.contrib.auth.models import Permission

    outsider.user_permissions.add(Permission.objects.get(codename="view_report"))
    client.force_login(outsider)
    assert report.title not in client.get(gallery).content.decode()
