"""Several runs beside the same people: values by hand, pairing, parts, corrections."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evaluation.analyses.alignment import analyze_alignment
from evaluation.analyses.alignment_comparison import compare_alignments
from evaluation.analyses.alignment_comparison_result import (
    ALL,
    PRECISION,
    TAU,
    TEST,
    ComparisonResult,
)
from evaluation.analyses.alignment_result import AlignmentOptions
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.analyses.score_table import ScoreTable
from evaluation.metrics import UndefinedReason
from tests.evaluation.analyses.simulated import as_long, names, simulate_ratings

QUICK = AlignmentOptions(seed=3, n_resamples=200, n_splits=20)
GROUPS, SCALES = names("group", 8), names("scale", 16)


def table(values: np.ndarray) -> ScoreTable:
    return ScoreTable(mean=pd.DataFrame(values, GROUPS, SCALES))


@pytest.fixture(scope="module")
def study():
    """60 people; one run follows the truth closely, one loosely, one lacks the last group."""
    rng = np.random.default_rng(8)
    truth = rng.normal(50, 15, (8, 16))
    loose = truth + rng.normal(0, 25, truth.shape)
    partial = loose.copy()
    partial[-1] = np.nan
    return {
        "ratings": as_long(
            simulate_ratings(truth, people=60, per_person=4, rng=rng), GROUPS, SCALES
        ),
        "scores": {
            "close": table(truth + rng.normal(0, 3, truth.shape)),
            "loose": table(loose),
            "twin": table(loose),
            "partial": table(partial),
        },
        "groups": GROUPS,
        "scales": SCALES,
    }


@pytest.fixture(scope="module")
def result(study) -> ComparisonResult:
    return compare_alignments(**study, pilot_groups=GROUPS[:2], options=QUICK)


def difference(result, first, second, quantity=TAU, part=ALL):
    return next(
        row
        for row in result.differences
        if (row.part, row.quantity, row.first, row.second) == (part, quantity, first, second)
    )


def test_every_run_has_the_values_of_its_own_alignment_report(study, result):
    for run, scores in study["scores"].items():
        alone = analyze_alignment(**{**study, "scores": scores}, options=QUICK)
        row = next(row for row in result.overall if (row.run, row.part) == (run, ALL))
        assert to_plain(row.pooled) == to_plain(alone.pooled)
        groups = [entry.alignment for entry in result.by_group if entry.run == run]
        assert to_plain(tuple(groups)) == to_plain(alone.by_group)


def test_test_groups_leave_the_pilot_groups_out(study, result):
    """Source: scipy over the pooled cells of the six other groups."""
    means = study["ratings"].pivot_table(index="group", columns="scale", values="value")
    kept = GROUPS[2:]
    expected = stats.kendalltau(
        means.loc[kept, SCALES].to_numpy().ravel(),
        study["scores"]["close"].mean.loc[kept].to_numpy().ravel(),
    )
    row = next(row for row in result.overall if (row.run, row.part) == ("close", TEST))
    assert row.pooled.tau.value == pytest.approx(expected.statistic, abs=1e-12)
    assert row.pooled.p_value == pytest.approx(expected.pvalue)
    assert result.test_groups == tuple(kept)
    assert row.pooled.n_cells == 6 * 16


def test_without_pilot_groups_there_is_one_part(study):
    found = compare_alignments(**study, options=AlignmentOptions(n_splits=0))
    assert {row.part for row in found.overall} == {ALL}
    assert found.test_groups == ()


def test_a_run_beside_its_twin_differs_by_nothing(result):
    for quantity in (TAU, PRECISION):
        twin = difference(result, "loose", "twin", quantity)
        assert twin.observed.value == 0
        assert twin.observed.interval_reason
        assert math.isnan(twin.observed.p_value)


def test_a_difference_of_precision_as_observed_has_no_interval(result):
    row = difference(result, "close", "loose", PRECISION)
    assert row.observed.interval_reason == UndefinedReason.OBSERVED_MEAN
    assert math.isnan(row.observed.low)
    assert math.isnan(row.observed.p_value)
    assert not math.isnan(row.generalizing.low)


def test_a_clear_difference_is_found_and_its_paired_interval_is_narrow(result):
    row = difference(result, "close", "loose")
    observed = row.observed
    assert observed.value > 0.2
    assert 0 < observed.low < observed.value < observed.high
    assert observed.p_value < 0.05
    own = {entry.run: entry.pooled.tau.interval for entry in result.overall if entry.part == ALL}
    unpaired = sum(own[run].high - own[run].low for run in ("close", "loose"))
    assert observed.high - observed.low < unpaired


def test_pairs_rest_on_the_cells_that_both_runs_have(study, result):
    row = difference(result, "close", "partial")
    assert (row.n_groups, row.n_cells) == (7, 7 * 16)
    means = study["ratings"].pivot_table(index="group", columns="scale", values="value")
    taus = [
        stats.kendalltau(
            means.loc[GROUPS[:7], SCALES].to_numpy().ravel(),
            study["scores"][run].mean.loc[GROUPS[:7]].to_numpy().ravel(),
        ).statistic
        for run in ("close", "partial")
    ]
    assert (row.first_value, row.second_value) == pytest.approx(tuple(taus), abs=1e-12)
    assert row.observed.value == pytest.approx(taus[0] - taus[1], abs=1e-12)


def test_corrections_count_runs_pairs_and_all_groups_of_all_runs(result):
    """Holm by hand: the smallest p times the number of tests, capped at 1."""
    for part in (ALL, TEST):
        rows = [row for row in result.overall if row.part == part]
        least = min(rows, key=lambda row: row.pooled.p_value)
        assert least.p_holm == pytest.approx(min(1, 4 * least.pooled.p_value))
        pairs = [row for row in result.differences if (row.part, row.quantity) == (part, TAU)]
        assert len(pairs) == 6
        p_values = [row.observed.p_value for row in pairs]
        tested = int(np.sum(~np.isnan(p_values)))
        smallest = pairs[int(np.nanargmin(p_values))]
        assert smallest.p_holm == pytest.approx(min(1, tested * smallest.observed.p_value))
    # Four runs of eight groups, one of them without scores of one group.
    tested = [row for row in result.by_group if not math.isnan(row.alignment.p_value)]
    assert len(tested) == 31
    first = min(tested, key=lambda row: row.alignment.p_value)
    assert first.p_table == pytest.approx(min(1, 31 * first.alignment.p_value))


def test_what_one_run_lacks_is_named_with_the_run(result):
    assert [
        (row.run, row.item.what, row.item.group) for row in result.left_out
    ] == [("partial", "group", "group-07")]  # fmt: skip


def test_result_survives_storage(result):
    stored = json.dumps(to_plain(result), allow_nan=False)
    assert to_plain(from_plain(ComparisonResult, json.loads(stored))) == json.loads(stored)


def test_one_seed_gives_one_result_whatever_the_order_of_rows(study, result):
    mixed = study["ratings"].sample(frac=1, random_state=1)
    again = compare_alignments(
        **{**study, "ratings": mixed}, pilot_groups=GROUPS[:2], options=QUICK
    )
    assert to_plain(again) == to_plain(result)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pilot_groups": ["martian"]}, "martian are not among"),
        ({"pilot_groups": GROUPS}, "none is left"),
        ({"scores": {"one": table(np.zeros((8, 16)))}}, "two or more"),
    ],
)
def test_bad_input_is_named(study, change, message):
    with pytest.raises(ValueError, match=message):
        compare_alignments(**{**study, **change}, options=QUICK)
