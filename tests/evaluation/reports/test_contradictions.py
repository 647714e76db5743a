"""No printed interval and p-value of one question contradict each other, in any kind of report.

What is printed is read from stored reports of all kinds; random data sets are those of the
laboratory, for every statistic that stands in a report with both. Gaps of all groups at once are in
`test_fpr_gaps`.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict

import numpy as np
import pytest

from tests.evaluation.reports.contracts import STORED
from tools.coverage import gaps, page
from tools.coverage.registry import MODULES, PRINTED, PUBLISHED, rows_of
from tools.coverage.rows import Row

#: Lower end of an interval → the p-values that may answer the same question.
SAME_QUESTION = {
    "low": ("p", "p_value"),
    "tau_low": ("p_resampled",),
    "generalizing_low": ("p_generalizing",),
    "noise_free_low": ("p_noise_free",),
    "these_texts_low": ("p_these_texts",),
    "other_texts_low": ("p_other_texts",),
}
#: Tests by chance beside an interval of a value that chance does not put at 0.
OTHER_QUESTIONS = {"intersectional norm_curve p_value"}


def pairs() -> list[tuple[str, str, list[tuple[float, float, float, float]]]]:
    """Read (case, columns, rows of low, high, p, and level) from all stored downloads."""
    found = []
    for path in sorted(STORED.glob("*.expected.json")):
        stored = json.loads(path.with_name(path.name.replace(".expected", "")).read_text())
        kind, level = stored["kind"], float(stored["parameters"].get("level", 0.95))
        for name, table in json.loads(path.read_text())["downloads"].items():
            columns = table["columns"]
            for low, p_values in SAME_QUESTION.items():
                for p in p_values:
                    printed = f"{kind} {name} {p}"
                    if {low, p} <= set(columns) and printed not in PUBLISHED | OTHER_QUESTIONS:
                        rows = [
                            tuple(float(row[column]) for column in (low, f"{low[:-3]}high", p))
                            for row in csv.DictReader(table["csv"])
                            if row[low] and row[p]
                        ]
                        found.append((path.name, printed, [(*row, level) for row in rows]))
    return found


def is_apart(low: float, high: float, p_value: float, level: float) -> bool:
    return (low > 0 or high < 0) != (p_value < 1 - level)


def test_intervals_leave_out_zero_exactly_where_p_is_small():
    tested = set()
    for case, printed, rows in pairs():
        for row in rows:
            tested.add(printed.split()[0])
            assert not is_apart(*row), f"{case}: {printed}: {row}"
    known = {name.split()[0] for tables in printed_with_both().values() for name in tables}
    # The stored reports of these kinds are too small for an interval: see the next test.
    assert known - tested <= {"fpr_comparison", "fpr_gaps", "guise_ratings", "judgments"}


def printed_with_both() -> dict[str, set[str]]:
    """Return statistic → “kind table” that print it with an interval and with a p-value."""
    sorts = defaultdict(set)
    for printed, statistics in PRINTED.items():
        kind, table, column = printed.split()
        for name in statistics:
            sorts[name, f"{kind} {table}"].add(column == "low" or column.endswith("_low"))
    found = defaultdict(set)
    for (name, table), ends in sorts.items():
        if len(ends) == 2:
            found[name].add(table)
    return found


def cheapest(statistic: str) -> Row:
    """Return the design of the statistic whose studies take the shortest time, and print both."""
    rows = [
        (stored["seconds"], row)
        for module in MODULES
        for row in rows_of(module)
        if (stored := page.read_results(module).get((statistic, row.name)))
        and stored["n_intervals"] > stored["n"] / 2
    ]
    return min(rows, key=lambda one: one[0])[1]


@pytest.mark.parametrize(
    "statistic",
    sorted(
        set(printed_with_both())
        - {name for name in printed_with_both() if name.startswith(gaps.GAPS[:4])}
    ),
)
def test_random_data_sets_give_intervals_and_p_values_that_agree(statistic):
    """Of gaps the laboratory keeps the smallest p of all groups beside one of their intervals."""
    row, tested = cheapest(statistic), 0
    for number in range(60):
        printed, _ = row.study(np.random.default_rng([7, number]))[statistic]
        p_value = getattr(printed, "p_value", np.nan)
        if not np.isnan([p_value, printed.low]).any():
            tested += 1
            assert not is_apart(printed.low, printed.high, p_value, 0.95), (number, printed)
    assert tested > 30
