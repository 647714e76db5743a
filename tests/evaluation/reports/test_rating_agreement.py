"""Reports on the agreement of raters: the published ratings, pages, refusals."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotation.models import DataDecision, Submission
from evaluation.models import ReportStatus
from evaluation.reports.building import build_report, find_differences
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from evaluation.reports.requesting import request_report
from tests.evaluation.reports.computing import compute, rows_of
from tests.evaluation.reports.published import import_published

pytestmark = [pytest.mark.django_db, pytest.mark.shared]


@pytest.fixture
def study(db, shared_dir):
    return import_published(shared_dir)


def test_alpha_of_the_published_ratings_is_the_golden_one(study, shared_dir):
    """Source: human_groups.json, computed from the released file by other code: 26 groups."""
    golden = json.loads((shared_dir / "golden/expected/human_groups.json").read_text())
    chosen = Chosen(study=study, corpus=None, runs=())
    _report, document = compute("rating_agreement", chosen, resamples=100, splits=50)
    overall = {
        row["measurement"]: row for row in rows_of(document, "overall") if row["part"] == "all"
    }
    assert float(overall["interval"]["value"]) == pytest.approx(
        golden["alpha_interval_all_26_groups"], abs=1e-8
    )
    assert (overall["interval"]["n_units"], overall["interval"]["n_values"]) == ("416", "8337")
    within = sorted(float(row["value"]) for row in rows_of(document, "groups"))
    # methods: from average people to wealthy people.
    assert (round(within[0], 2), round(within[-1], 2)) == (0.05, 0.67)
    (halves,) = rows_of(document, "split_half")
    assert float(halves["halves_r"]) == pytest.approx(0.84, abs=0.02)
    # One of the 522 annotations has a single scale: it is in no half.
    assert halves["halves_n_raters"] == "521"
    parts = [row["part"] for row in rows_of(document, "overall")]
    assert parts == ["all"] * 4 + ["agency", "beliefs", "communion"]


def test_signs_of_damage_are_shown_and_downloaded(study):
    """Source: methods §9, three columns of women hold the same ratings of all 20 annotators."""
    chosen = Chosen(study=study, corpus=None, runs=())
    _report, document = compute("rating_agreement", chosen, resamples=100, splits=0)
    assert document.sections[0].heading == "Signs of damaged data"
    (row,) = rows_of(document, "damage")
    assert (row["kind"], row["groups"], row["n_people"]) == ("identical_columns", "woman", "20")
    assert set(row["scales"].split("; ")) == {
        "poor-wealthy",
        "untrustworthy-trustworthy",
        "egotistic-altruistic",
    }
    assert "“poor – wealthy”" in row["sign"]


def test_page_reads_and_the_report_can_be_verified(client, study):
    asked = request_report(
        kind="rating_agreement", study=study, parameters={"resamples": 100, "splits": 20}
    )
    report = build_report(report_id=asked.pk)
    assert report is not None
    assert report.status == ReportStatus.FINAL, report.error
    client.force_login(User.objects.create_superuser("boss"))
    page = client.get(reverse("reports:page", args=[report.public_id])).content.decode()
    for text in ("Krippendorff’s interval α", "Group by group", "Scale by scale", "powerless"):
        assert text in page
    figure = client.get(reverse("reports:figure", args=[report.public_id, "groups"]))
    assert b"<svg" in figure.content
    assert find_differences(report=report) == []


def test_study_without_accepted_ratings_is_refused(study):
    Submission.objects.filter(study=study).update(data_decision=DataDecision.WAITING)
    with pytest.raises(ReportError, match="no accepted ratings"):
        request_report(kind="rating_agreement", study=study)
