"""Span reports: means and changes by hand."""

from __future__ import annotations

import csv
import io

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from evaluation.models import Report, ReportStatus
from evaluation.reports.building import build_report, find_differences
from evaluation.reports.parts.kind import Chosen
from evaluation.reports.requesting import request_report
from probing.models import TextScore
from tests.evaluation.reports.computing import compute
from tests.evaluation.reports.corpora import make_pairs, make_text_run, store_span_values

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(db):
    made = make_text_run(make_pairs(), measure="span_prediction")
    store_span_values(
        made,
        {
            ("p0", "AAL"): [10, 30],
            ("p1", "AAL"): [20, 40],
            ("p0", "WME"): [10, 10],
            ("p1", "WME"): [20, 10],
        },
    )
    return made


def build(run) -> Report:
    asked = request_report(
        kind="spans", corpus=run.corpus, runs=[run], parameters={"resamples": 100}
    )
    built = build_report(report_id=asked.pk)
    assert built is not None
    assert built.status == ReportStatus.FINAL, built.error
    return built


def rows_of(report: Report, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(bytes(report.files.get(name=name).content).decode())))


def test_means_over_trials_and_percent_change_are_those_by_hand(run):
    """AAL: trials 15 and 35, mean 25. WME: 15 and 10, mean 12.5. Change −50 %."""
    report = build(run)
    values = {(row["name"], row["variety"]): row for row in rows_of(report, "values.csv")}
    assert float(values["span_perplexity", "AAL"]["value"]) == 25
    assert float(values["span_perplexity", "WME"]["value"]) == 12.5
    assert float(values["span_perplexity", "AAL"]["sd"]) == pytest.approx(20 / 2**0.5)
    changes = {row["name"]: float(row["value"]) for row in rows_of(report, "changes.csv")}
    assert changes == pytest.approx({"span_perplexity": -50, "top5_entropy": -50})
    assert find_differences(report=report) == []


def test_changed_value_is_found_when_the_report_is_verified(run):
    report = build(run)
    TextScore.objects.filter(run=run, pair="p0").update(value=11)
    assert any(f"run {run.public_id}" in line for line in find_differences(report=report))


def test_page_names_the_conditions_and_the_model(client, run):
    report = build(run)
    client.force_login(User.objects.create_superuser("boss"))
    page = client.get(reverse("reports:page", args=[report.public_id])).content.decode()
    assert "tiny, any words" in page
    assert "−50.0" in page
    assert " style=" not in page


def test_missing_values_are_left_out_with_their_reason(run):
    TextScore.objects.filter(run=run, pair="p0", variety="AAL", trial=0).update(
        value=None, reason="the text has one word"
    )
    chosen = Chosen(study=None, corpus=run.corpus, runs=(run,))
    _report, document = compute("spans", chosen, resamples=100)
    assert any("the text has one word" in line for line in document.left_out)
