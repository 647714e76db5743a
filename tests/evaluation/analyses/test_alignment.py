"""The alignment analysis: values by hand, small data, what is left out, reproducibility."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evaluation.analyses.alignment import analyze_alignment
from evaluation.analyses.alignment_cells import rating_interval
from evaluation.analyses.alignment_result import AlignmentOptions, AlignmentResult
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.analyses.score_table import ScoreTable
from evaluation.metrics import UndefinedReason
from evaluation.reports.alignment_tables import alignment_tables
from tests.evaluation.analyses.simulated import as_long, names, simulate_ratings

QUICK = AlignmentOptions(seed=11, n_resamples=200, n_splits=50)
SCALES = ["s1", "s2", "s3", "s4"]


def long(rows: dict[tuple[str, str], list[float | None]]) -> pd.DataFrame:
    """{(submission, group): values in the order of SCALES} as one row a rating."""
    return pd.DataFrame(
        [
            (person, group, scale, value)
            for (person, group), values in rows.items()
            for scale, value in zip(SCALES, values, strict=True)
            if value is not None
        ],
        columns=["submission", "group", "scale", "value"],
    )


def table(**rows: list[float]) -> pd.DataFrame:
    return pd.DataFrame.from_dict(rows, orient="index", columns=SCALES)


@pytest.fixture(scope="module")
def study():
    """40 people, 6 groups, 16 scales; the model follows the truth with noise."""
    rng = np.random.default_rng(5)
    groups, scales = names("group", 6), names("scale", 16)
    truth = rng.normal(50, 15, (6, 16))
    ratings = as_long(simulate_ratings(truth, people=40, per_person=3, rng=rng), groups, scales)
    scores = pd.DataFrame(truth + rng.normal(0, 15, (6, 16)), groups, scales)
    return {"ratings": ratings, "scores": scores, "groups": groups, "scales": scales}


@pytest.fixture(scope="module")
def result(study):
    return analyze_alignment(**study, options=QUICK)


def test_means_tau_and_precision_by_hand():
    # Means of g: 15, 35, 60, 80. Scores 1 3 2 4: C − D = 5 − 1 = 4 of 6 pairs, tau = 2/3; of
    # 4! = 24 orders of four, 8 are as extreme as one exchange on either side: p = 8/24.
    # Top three by score: 4 3 2 → 80 35 60 → 2/3; bottom: 1 2 3 → 15 60 35 → 2/3.
    found = analyze_alignment(
        ratings=long({("a", "g"): [10, 30, 50, 70], ("b", "g"): [20, 40, 70, 90]}),
        scores=table(g=[1, 3, 2, 4]),
        groups=["g"],
        scales=SCALES,
        options=QUICK,
    )
    group = found.by_group[0]
    assert [cell.human.mean for cell in found.cells] == [15, 35, 60, 80]
    # Two values d apart have sd d/√2.
    assert [cell.human.sd for cell in found.cells] == pytest.approx(
        [10 / 2**0.5, 10 / 2**0.5, 20 / 2**0.5, 20 / 2**0.5]
    )
    assert [cell.human.rank for cell in found.cells] == [4, 3, 2, 1]
    assert [cell.model.rank for cell in found.cells] == [4, 2, 3, 1]
    assert group.tau.value == pytest.approx(2 / 3)
    assert group.p_value == pytest.approx(8 / 24)
    assert group.p_holm == pytest.approx(8 / 24)
    assert (group.precision_top.value, group.precision_bottom.value) == pytest.approx((2 / 3,) * 2)
    assert (group.n_raters, group.n_incomplete, group.n_scales) == (2, 0, 4)


def test_pooled_tau_is_over_all_cells_and_group_tau_the_mean_of_the_groups(result, study):
    means = study["ratings"].pivot_table(index="group", columns="scale", values="value")
    expected = stats.kendalltau(means.to_numpy().ravel(), study["scores"].to_numpy().ravel())
    assert result.pooled.tau.value == pytest.approx(expected.statistic)
    assert result.pooled.p_value == pytest.approx(expected.pvalue)
    taus = [
        stats.kendalltau(means.loc[g], study["scores"].loc[g]).statistic for g in study["groups"]
    ]
    assert result.pooled.group_tau.value == pytest.approx(np.mean(taus))
    assert result.pooled.n_cells == 96
    assert result.pooled.n_annotations == len(
        study["ratings"][["submission", "group"]].drop_duplicates()
    )


def test_overall_precision_is_the_mean_over_groups(result):
    values = [group.precision.value for group in result.by_group]
    assert result.pooled.precision.value == pytest.approx(sum(values) / len(values))


def test_every_interval_holds_its_estimate_and_names_its_reason(result):
    for estimate in [result.pooled.tau, *(group.tau for group in result.by_group)]:
        assert estimate.interval.low <= estimate.value <= estimate.interval.high
    for estimate in (result.pooled.group_tau, result.pooled.precision):
        assert math.isnan(estimate.interval.low)
        assert estimate.interval.reason == UndefinedReason.OBSERVED_MEAN
    assert {group.precision.interval.reason for group in result.by_group} == {
        UndefinedReason.FEW_PLACES
    }
    for cell in result.cells:
        found = cell.human.interval
        if cell.human.n < 10:
            assert found.reason == UndefinedReason.FEW_RATINGS
        else:
            assert found.low < cell.human.mean < found.high
    assert result.resampling.group == "scales, left out in turn"
    assert result.resampling.overall == "signs of whole submissions"


def test_one_seed_gives_one_result_whatever_the_order_of_the_rows(study, result):
    mixed = study["ratings"].sample(frac=1, random_state=4)
    again = analyze_alignment(**{**study, "ratings": mixed}, options=QUICK)
    assert to_plain(again) == to_plain(result)


def test_another_seed_moves_split_halves_but_no_estimate(study, result):
    other = analyze_alignment(**study, options=dataclasses.replace(QUICK, seed=12))
    assert other.pooled.tau == result.pooled.tau
    assert other.pooled.ceiling != result.pooled.ceiling
    assert other.signature != result.signature
    assert "seed:12" in other.signature


def test_result_survives_storage_as_json(result):
    stored = json.dumps(to_plain(result), allow_nan=False)
    again = from_plain(AlignmentResult, json.loads(stored))
    assert to_plain(again) == json.loads(stored)
    for name, table in alignment_tables(result).items():
        pd.testing.assert_frame_equal(alignment_tables(again)[name].frame, table.frame)


def test_a_stored_result_with_unknown_fields_is_not_read(result):
    stored = to_plain(result)
    with pytest.raises(ValueError, match="no field surprise"):
        from_plain(AlignmentResult, {**stored, "surprise": 1})
    del stored["pooled"]
    with pytest.raises(ValueError, match="pooled"):
        from_plain(AlignmentResult, stored)


def test_nothing_infinite_is_stored():
    with pytest.raises(ValueError, match="infinite"):
        to_plain((1.0, math.inf))


def test_one_submission_gives_values_but_no_interval_and_no_ceiling():
    found = analyze_alignment(
        ratings=long({("a", "g"): [10, 30, 50, 70]}),
        scores=table(g=[1, 3, 2, 4], h=[4, 3, 2, 1]),
        groups=["g", "h"],
        scales=SCALES,
        options=QUICK,
    )
    group, missing = found.by_group
    assert group.tau.value == pytest.approx(2 / 3)
    why = (UndefinedReason.ONE_RATER, UndefinedReason.NO_CELL_TWICE)
    for record, reason in zip((group, found.pooled), why, strict=True):
        assert math.isnan(record.tau.interval.low)
        assert record.tau.interval.reason == reason
        assert record.ceiling.reason == UndefinedReason.ONE_RATER
    assert found.cells[0].human.sd_reason == UndefinedReason.ONE_RATING
    assert missing.tau.reason == UndefinedReason.NO_RATINGS
    assert missing.ceiling.reason == UndefinedReason.NO_RATINGS
    assert math.isnan(missing.p_holm)
    assert group.p_holm == group.p_value  # one test alone needs no correction
    assert [(item.what, item.group, item.reason) for item in found.left_out] == [
        ("group", "h", UndefinedReason.NO_RATINGS)
    ]


def test_no_ratings_at_all_is_a_result_with_reasons():
    found = analyze_alignment(
        ratings=long({}), scores=table(g=[1, 2, 3, 4]), groups=["g"], scales=SCALES
    )
    assert math.isnan(found.pooled.tau.value)
    assert found.pooled.tau.reason == UndefinedReason.NO_RATINGS
    assert found.pooled.precision.reason == UndefinedReason.NO_GROUP
    assert found.pooled.n_submissions == 0
    json.dumps(to_plain(found), allow_nan=False)


def test_a_group_with_one_rater_among_many_has_no_interval_of_its_own(study):
    lonely = study["ratings"]["group"] == "group-00"
    first = study["ratings"][lonely]["submission"].iloc[0]
    kept = study["ratings"][~lonely | (study["ratings"]["submission"] == first)]
    found = analyze_alignment(**{**study, "ratings": kept}, options=QUICK)
    group = found.by_group[0]
    assert group.n_raters == 1
    assert not math.isnan(group.tau.value)
    assert group.tau.interval.reason == UndefinedReason.ONE_RATER
    assert math.isnan(group.p_resampled)
    assert group.ceiling.reason == UndefinedReason.ONE_RATER


def test_groups_and_cells_without_scores_are_left_out_with_the_reason_given():
    scores = ScoreTable(
        mean=table(g=[1, np.nan, 2, 4], h=[np.nan] * 4),
        reasons={("h", scale): "the corpus never names it" for scale in SCALES},
    )
    rows = {(p, g): [10, 30, 50, 70 + i] for i, p in enumerate("abc") for g in "gh"}
    found = analyze_alignment(
        ratings=long(rows), scores=scores, groups=["g", "h"], scales=SCALES, options=QUICK
    )
    assert found.by_group[0].n_scales == 3
    assert [(i.what, i.group, i.scale, i.reason) for i in found.left_out] == [
        ("group", "h", "", "the corpus never names it"),
        ("cell", "g", "s2", UndefinedReason.NO_SCORES),
    ]
    assert found.by_group[1].tau.reason == UndefinedReason.NO_SCORES
    assert found.by_group[1].ceiling.reason == UndefinedReason.NO_SCORES
    assert found.cells[4].model.reason == "the corpus never names it"
    assert found.pooled.n_cells == 3


def test_ratings_and_scores_of_strangers_are_counted_not_used():
    rows = {("a", "g"): [10, 30, 50, 70], ("a", "x"): [1, 2, 3, None]}
    found = analyze_alignment(
        ratings=long(rows),
        scores=table(g=[1, 3, 2, 4], y=[1, 2, 3, np.nan]),
        groups=["g"],
        scales=SCALES,
        options=QUICK,
    )
    assert [(i.what, i.group, i.n) for i in found.left_out] == [
        ("ratings", "x", 3),
        ("scores", "y", 3),
    ]
    assert found.pooled.n_annotations == 1


def test_equal_means_or_equal_scores_give_a_reason_and_no_tau():
    found = analyze_alignment(
        ratings=long({("a", "g"): [50] * 4, ("a", "h"): [1, 2, 3, 4], ("b", "h"): [1, 2, 3, 4]}),
        scores=table(g=[1, 2, 3, 4], h=[7, 7, 7, 7]),
        groups=["g", "h"],
        scales=SCALES,
        options=QUICK,
    )
    assert found.by_group[0].tau.reason == UndefinedReason.CONSTANT_HUMAN
    assert found.by_group[1].tau.reason == UndefinedReason.CONSTANT_MODEL
    assert found.pooled.n_tested == 0


def test_an_annotation_of_some_scales_counts_in_the_means():
    rows = {("a", "g"): [10, 30, 50, 70], ("b", "g"): [20, None, None, None]}
    found = analyze_alignment(
        ratings=long(rows),
        scores=table(g=[1, 2, 3, 4]),
        groups=["g"],
        scales=SCALES,
        options=QUICK,
    )
    assert [cell.human.n for cell in found.cells] == [2, 1, 1, 1]
    assert found.cells[0].human.mean == 15
    assert (found.by_group[0].n_raters, found.by_group[0].n_incomplete) == (2, 1)


def test_groups_above_zero_are_counted_after_correction():
    # Four scales in perfect order: p = 2/24 alone, above 0.05, so no group counts. Eight scales:
    # p = 2/8! = 0.00005, times two groups still below 0.05.
    def run(n_scales: int) -> int:
        scales = names("s", n_scales)
        values = np.tile(np.arange(n_scales, dtype=float), (3, 2, 1))
        scores = pd.DataFrame(values[0], ["g", "h"], scales)
        found = analyze_alignment(
            ratings=as_long(values, ["g", "h"], scales),
            scores=scores,
            groups=["g", "h"],
            scales=scales,
            options=QUICK,
        )
        return found.pooled.n_above_zero

    assert (run(4), run(8)) == (0, 2)


def test_zero_splits_give_no_ceiling(study):
    found = analyze_alignment(**study, options=AlignmentOptions(n_splits=0))
    assert found.pooled.ceiling.reason == UndefinedReason.NOT_REQUESTED
    assert not math.isnan(found.pooled.tau.value)


def test_scores_carry_their_intervals_and_prompts_into_the_cells(study):
    means = study["scores"]
    scores = ScoreTable(mean=means, low=means - 1, high=means + 1, n=means * 0 + 35)
    cell = analyze_alignment(**{**study, "scores": scores}, options=QUICK).cells[0]
    assert (cell.model.low, cell.model.high) == (cell.model.mean - 1, cell.model.mean + 1)
    assert cell.model.n == 35


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": 104.0}, "row 1: value is .*104.*expected a number from 0 to 100"),
        ({"value": -1.0}, "row 1: value is"),
        ({"value": np.nan}, "row 1: value is"),
    ],
)
def test_values_that_are_no_ratings_are_refused_with_their_row(study, change, message):
    ratings = study["ratings"].copy()
    ratings.loc[0, "value"] = change["value"]
    with pytest.raises(ValueError, match=message):
        analyze_alignment(**{**study, "ratings": ratings})


def test_bad_tables_and_orders_are_refused(study):
    def run(**changes):
        return analyze_alignment(**{**study, **changes})

    with pytest.raises(ValueError, match="lack the columns submission"):
        run(ratings=study["ratings"].drop(columns="submission"))
    with pytest.raises(ValueError, match="two ratings of group-"):
        run(ratings=pd.concat([study["ratings"], study["ratings"].head(1)]))
    with pytest.raises(ValueError, match="no groups"):
        run(groups=[])
    with pytest.raises(ValueError, match="named twice: scale-00"):
        run(scales=["scale-00", "scale-00"])
    with pytest.raises(ValueError, match="infinite"):
        run(scores=study["scores"] / 0)
    with pytest.raises(ValueError, match="group stands twice"):
        run(scores=pd.concat([study["scores"], study["scores"]]))


@pytest.mark.parametrize(
    "options",
    [{"level": 95}, {"n_resamples": -1}, {"k": 0}, {"ceiling_share": 0}, {"center": 101}],
)
def test_options_out_of_range_are_refused(options):
    with pytest.raises(ValueError, match="expected"):
        AlignmentOptions(**options)


def test_tables_hold_one_row_a_group_and_a_cell_and_neutral_gaps(result):
    tables = {name: table.frame for name, table in alignment_tables(result).items()}
    assert {name: len(frame) for name, frame in tables.items()} == {
        "groups": 6,
        "cells": 96,
        "overall": 12,
        "left_out": 0,
        "questions": 3,
    }
    cell = tables["cells"].iloc[0]
    assert cell["human_mean"] == result.cells[0].human.mean
    assert pd.isna(cell["model_low"])
    overall = tables["overall"].set_index("quantity")
    assert overall.loc["tau_pooled", "low"] == result.pooled.tau.interval.low
    assert overall.loc["ceiling_pooled", "level"] == 0.8


def test_scores_by_prompt_become_means_with_t_intervals():
    # Prompts 1 to 6: mean 3.5, variance 3.5; t(0.975, 5) = 2.570582; half 2.570582 √(3.5/6).
    prompts = pd.DataFrame(
        {"group": "g", "scale": list("ssssssttttt"), "value": [1.0, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5]}
    )
    found = ScoreTable.from_long(prompts)
    assert found.mean.loc["g", "s"] == 3.5
    assert found.low.loc["g", "s"] == pytest.approx(3.5 - 1.963314, abs=1e-6)
    assert found.high.loc["g", "s"] == pytest.approx(3.5 + 1.963314, abs=1e-6)
    assert found.n.loc["g"].to_list() == [6, 5]
    assert np.isnan(found.low.loc["g", "t"])  # five prompts are too few


def test_mean_ratings_take_students_t_unless_they_are_few_or_half_alike():
    # 1 to 10: mean 5.5, sd 3.027650; t(0.975, 9) = 2.262157; half 2.262157 · 3.027650/√10.
    found = rating_interval(np.arange(1.0, 11), 0.95)
    assert (found.low, found.high) == pytest.approx((5.5 - 2.165851, 5.5 + 2.165851), abs=1e-5)
    assert rating_interval(np.arange(9.0), 0.95).reason == UndefinedReason.FEW_RATINGS
    piled = np.array([0.0] * 6 + [10, 20, 30, 40])
    assert rating_interval(piled, 0.95).reason == UndefinedReason.HALF_EQUAL
    assert rating_interval(piled[1:], 0.95).reason == UndefinedReason.FEW_RATINGS
    assert not rating_interval(np.append(piled, [50, 60]), 0.95).reason


def test_scores_by_prompt_refuse_missing_columns_and_infinities():
    with pytest.raises(ValueError, match="lack the columns scale, value"):
        ScoreTable.from_long(pd.DataFrame({"group": ["g"]}))
    with pytest.raises(ValueError, match="infinite"):
        ScoreTable.from_long(pd.DataFrame({"group": ["g"], "scale": ["s"], "value": [np.inf]}))
