"""Reports of every kind can be shown without the numbers of a few participants."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.reports.rendering import render_json, to_csv
from evaluation.reports.shared_cut import COUNTS, REASON, cut_small
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
