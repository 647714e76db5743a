"""Reports of every kind can be shown without the numbers of a few participants."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.reports.rendering import render_json, to_csv
from evaluation.reports.shared_views import COUNTS, REASON, cut_small
from tests.evaluation.reports import contracts
from tests.evaluation.reports.stored_cases import CASES

pytestmark = pytest.mark.django_db


def of_few(value: Any) -> Any:
    """Return a result as if two people had given all of it."""
    if isinstance(value, dict):
        return {
            key: 2 if key in COUNTS and isinstance(part, int) else of_few(part)
            for key, part in value.items()
        }
    return [of_few(part) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", list(CASES))
def test_a_report_on_two_people_is_laid_out_without_their_numbers(name: str) -> None:
    report = contracts.from_stored(contracts.read_json(f"{name}.json"))
    report.result = of_few(report.result)
    whole = report.result
    cut_small(report)
    document = contracts.lay_out(report)
    for table in document.tables:
        to_csv(table.frame)
    said = render_json(report, document).decode()
    assert (REASON in said) == (report.result != whole)


def test_a_difference_is_cut_with_either_of_its_sides() -> None:
    report = contracts.from_stored(contracts.read_json("alignment_subgroups.json"))
    one = report.result["differences"][0]
    for subgroup in report.result["subgroups"]:
        if (subgroup["question"], subgroup["answer"]) == (one["question"], one["second"]):
            subgroup["n_people"] = 4
    assert one["value"] is not None
    cut_small(report)
    assert report.result["differences"][0]["value"] is None
    assert report.result["differences"][0]["p_holm"] is None
    contracts.lay_out(report)


def test_a_pair_that_few_rated_is_cut() -> None:
    report = contracts.from_stored(contracts.read_json("guise_ratings.json"))
    for n, line in enumerate(report.result["items"]):
        line["n_people"] = 4 if n else 5
    cut_small(report)
    first, *others = (line["difference"] for line in report.result["items"])
    assert first is not None
    assert set(others) == {None}
    contracts.lay_out(report)
