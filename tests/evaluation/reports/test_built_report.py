"""What a built report holds, that it stays as it was built, and how it is verified."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import pytest

from annotation.models import Rating
from evaluation.models import Report, ReportStatus
from evaluation.reports import tasks
from evaluation.reports.building import build_report, find_differences
from evaluation.reports.requesting import request_report
from probing.models import Score
from tests.evaluation.reports.surveys import make_rated_study, make_scored_run
from tests.kept_rows import keep_rows


@pytest.fixture(scope="module")
def kept_report(django_db_setup, django_db_blocker) -> Iterator[int]:
    """One report, built once for all tests of this module; yields its key."""
    with keep_rows(django_db_blocker):
        asked = request_report(
            kind="alignment",
            study=make_rated_study(),
            runs=[make_scored_run()],
            parameters={"resamples": 200, "splits": 100, "seed": 11},
        )
        built = build_report(report_id=asked.pk)
        assert built is not None
        assert built.status == ReportStatus.FINAL, built.error
        yield built.pk


@pytest.fixture
def report(kept_report, db) -> Report:
    return Report.objects.get(pk=kept_report)


def _read(report: Report, name: str) -> str:
    return bytes(report.files.get(name=name).content).decode()


def test_report_holds_every_file_and_every_number(report):
    names = set(report.files.values_list("name", flat=True))
    assert names == {
        "report.html",
        "report.pdf",
        "report.xlsx",
        "report.json",
        "groups.csv",
        "cells.csv",
        "overall.csv",
        "left_out.csv",
        "questions.csv",
    }
    cells = list(csv.DictReader(io.StringIO(_read(report, "cells.csv"))))
    assert len(cells) == 3 * 16
    means = Rating.objects.filter(
        assignment__group__slug="woman", scale__slug="cold-warm"
    ).values_list("value", flat=True)
    cell = next(c for c in cells if (c["group"], c["scale"]) == ("woman", "cold-warm"))
    assert float(cell["human_mean"]) == pytest.approx(sum(means) / len(means))
    score = Score.objects.get(run=report.runs.get(), group="woman", trait="cold-warm", template="")
    assert float(cell["model_mean"]) == pytest.approx(score.value)
    assert (cell["low"], cell["high"], cell["group_name"]) == ("cold", "warm", "women")


def test_html_file_needs_nothing_from_outside(report):
    html = _read(report, "report.html")
    for outside in ("<script", "<link", 'src="', "url(", "http-equiv"):
        assert outside not in html
    assert "<style>" in html
    assert html.count("<svg") >= 3


def test_building_twice_changes_nothing(report):
    before = (report.built_at, report.result)
    assert build_report(report_id=report.pk) is None
    tasks.build_report(report.pk)
    tasks.build_report(report.pk)
    report.refresh_from_db()
    assert (report.built_at, report.result) == before


def test_rebuilt_report_gives_the_same_numbers(report):
    assert find_differences(report=report) == []


@pytest.mark.parametrize(("share", "is_same"), [(1e-13, True), (1e-7, False)])
def test_last_digits_of_another_processor_are_no_difference(report, share, is_same):
    """The stored number moves, as it would have been computed elsewhere."""
    tau = report.result["by_group"][0]["tau"]
    assert tau["value"]
    tau["value"] *= 1 + share
    report.save(update_fields=["result"])
    assert (find_differences(report=report) == []) is is_same


def test_changed_rating_is_found_when_a_report_is_verified(report):
    rating = Rating.objects.first()
    assert rating is not None
    rating.value = 100 - rating.value if rating.value != 50 else 0
    rating.save()
    differences = find_differences(report=report)
    assert any("ratings_hash" in line for line in differences)
    assert any("cells" in line for line in differences)
