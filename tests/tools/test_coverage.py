"""The coverage laboratory: every printed interval is known to it, results hold, wrong ones show."""

from __future__ import annotations

import csv
import json
from dataclasses import asdict

import pytest
from scipy import stats

from evaluation.metrics.estimate import Estimate
from evaluation.reports.registry import KINDS
from tests.evaluation.reports.contracts import STORED
from tools.coverage import page
from tools.coverage.registry import (
    EMPTY,
    MODULES,
    PRINTED,
    PUBLISHED,
    RANGES,
    is_inferential,
    rows_of,
    statistics,
)
from tools.coverage.rows import Row, measure

ROWS = [row for module in MODULES for row in rows_of(module)]


def printed_by_all_kinds() -> dict[str, bool]:
    """Read from a stored report of each kind and option what its downloads hold.

    Returns “kind table column” → whether any row of any report has a value.
    """
    found: dict[str, bool] = {}
    kinds = set()
    for path in sorted(STORED.glob("*.expected.json")):
        kind = json.loads(path.with_name(path.name.replace(".expected", "")).read_text())["kind"]
        kinds.add(kind)
        for name, table in json.loads(path.read_text())["downloads"].items():
            rows = list(csv.DictReader(table["csv"]))
            for column, sort in zip(table["columns"], table["sorts"], strict=True):
                # The low end of a trait scale is a word.
                if is_inferential(column) and sort != "text":
                    printed = f"{kind} {name} {column}"
                    found[printed] = found.get(printed, False) or any(row[column] for row in rows)
    assert kinds == set(KINDS)
    return found


def test_every_printed_interval_has_rows():
    """One without can be in no list: it gets rows that hold, or prints nothing and says why."""
    printed = printed_by_all_kinds()
    listed = [*PRINTED, *PUBLISHED, *RANGES, *EMPTY]
    assert sorted(listed) == sorted(printed)
    assert not [name for name in EMPTY if printed[name]]


def test_what_is_printed_rests_on_statistics_whose_rows_hold():
    known = statistics()
    missing = {name for names in PRINTED.values() for name in names} - known
    assert not missing
    for module in MODULES:
        stored = page.read_results(module)
        for row in rows_of(module):
            for name in row.statistics:
                if (name, row.name) in stored:
                    found = page.to_result(stored[name, row.name])
                    assert not found.misses(row.most_bias), f"{name}, {row.name}"


@pytest.mark.parametrize("row", [row for row in ROWS if row.thin], ids=lambda row: row.name)
def test_thin_slice_of_the_laboratory_holds(row):
    for found in measure(row, 40, seed=1):
        assert found.n_intervals > 30
        assert not found.misses(row.most_bias)


def test_the_same_seed_draws_the_same_studies():
    row = next(row for row in ROWS if row.thin)
    first, second = (asdict(measure(row, 3, seed=2)[0]) | {"seconds": 0} for _ in range(2))
    assert first == second
    assert first != asdict(measure(row, 3, seed=3)[0]) | {"seconds": 0}


def _mean_of_four(quantile: float) -> Row:
    def study(rng):
        x = rng.standard_normal(4)
        reach = quantile * x.std(ddof=1) / 2
        return {"mean": (Estimate(x.mean(), x.mean() - reach, x.mean() + reach, 4), 0.0)}

    return Row("four values", ("mean",), study)


def test_an_interval_with_z_in_place_of_t_is_caught():
    right, wrong = (
        measure(_mean_of_four(quantile), 500, seed=20261125)[0]
        for quantile in (stats.t.ppf(0.975, 3), stats.norm.ppf(0.975))
    )
    assert not right.misses()
    # |t| < 1.96 with three degrees of freedom: 85.5 %.
    assert wrong.coverage == pytest.approx(100 * (2 * stats.t.cdf(1.96, 3) - 1), abs=4)
    assert wrong.misses().startswith("covers 8")


def test_bias_and_false_alarms_are_caught():
    def study(rng):
        value = 0.1 + 0.2 * rng.standard_normal()
        found = Estimate(value, value - 0.6, value + 0.6)
        return {"shifted": (_Tested(found, rng.random() * 0.5), 0.0)}

    found = measure(Row("shifted", ("shifted",), study), 500, seed=1)[0]
    assert found.misses(0.01) == f"{found.alarms:.1f} % false alarms, bias {found.bias:+.3f}"


class _Tested:
    def __init__(self, found: Estimate, p_value: float) -> None:
        self.value, self.low, self.high = found.value, found.low, found.high
        self.interval_reason, self.p_value = "", p_value


def test_a_statistic_that_prints_no_interval_misses_nothing():
    def study(rng):
        return {"none": (Estimate(rng.random(), interval_reason="too few"), 0.5)}

    found = measure(Row("few", ("none",), study), 20, seed=1)[0]
    assert (found.n_intervals, found.coverage, found.reasons) == (0, None, {"too few": 20})
    assert not found.misses()
