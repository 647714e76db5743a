"""Tau without noise: the closed form by other means, brute force, coverage, no contradiction."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evaluation.analyses import AlignmentOptions, ScoreTable, analyse_alignment
from evaluation.analyses.alignment_comparison import compare_alignments
from evaluation.analyses.alignment_resamples import draw_resamples
from evaluation.analyses.questions import answer_questions, compare_precisions, compare_taus
from evaluation.analyses.rating_cube import RatingCube
from evaluation.analyses.tau_answers import student_answer
from evaluation.analyses.true_precision import true_precision
from evaluation.analyses.true_tau import difference, true_tau
from evaluation.metrics import (
    UndefinedReason,
    bias_corrected_interval,
    bias_corrected_p_value,
    holm_correction,
    kendall_tau_b,
)
from tests.evaluation.analyses.simulated import as_long, names
from tools.bench.coverage import measure
from tools.bench.rated_studies import Design, draw_study

LEVEL = 0.95


@pytest.fixture(scope="module")
def study():
    return draw_study(Design(0.35, people=40, groups=8), np.random.default_rng(5))


def test_value_is_that_of_the_closed_form(study):
    # Methods, section 7, with pandas and scipy in place of our arrays.
    groups, scales = names("g", 8), names("s", 16)
    ratings = as_long(study.ratings, groups, scales)
    cells = ratings.groupby(["group", "scale"])["value"]
    within = (cells.var() * (cells.count() - 1)).sum() / (cells.count() - 1).sum()
    reliability = 1 - (within / cells.count()).mean() / cells.mean().var()
    scores = pd.DataFrame(study.scores, groups, scales).stack()
    tau = stats.kendalltau(cells.mean(), scores).statistic
    expected = 2 / math.pi * math.asin(math.sin(math.pi * tau / 2) / math.sqrt(reliability))
    found = true_tau(study.ratings, study.scores)
    assert found.reliability == pytest.approx(reliability)
    assert found.tau == pytest.approx(expected)
    assert found.tau > tau


def test_jackknife_leaves_out_one_group_at_a_time(study):
    found = true_tau(study.ratings, study.scores)
    without = [
        true_tau(np.delete(study.ratings, g, axis=1), np.delete(study.scores, g, axis=0))
        for g in range(8)
    ]
    assert found.without_group == pytest.approx([other.correlation for other in without])
    # Tukey (1958): sd of 8 values times (n − 1) / √n; Student's t with 7 degrees of freedom.
    error = np.std([other.tau for other in without], ddof=1) * 7 / math.sqrt(8)
    answer = found.generalising(LEVEL)
    reach = stats.t.ppf(0.975, 7) * error
    assert [answer.low, answer.high] == pytest.approx([found.tau - reach, found.tau + reach])
    assert answer.p_value == pytest.approx(2 * stats.t.sf(found.tau / error, 7))
    assert answer.n == 8


def test_people_move_tau_as_other_people_do():
    """Cells as they are, 300 times other people: how r scatters is what one study says."""
    rng = np.random.default_rng(6)
    truth, scores = rng.normal(size=(2, 10, 16))
    scores = 0.5 * truth + math.sqrt(0.75) * scores
    found, errors = [], []
    for _ in range(300):
        habit, noise = rng.normal(0, 0.4, (30, 1, 1)), rng.normal(0, 1.2, (30, 10, 16))
        answer = true_tau(truth + habit + noise, scores)
        found.append(answer.correlation)
        errors.append(np.sum(answer.by_person**2))
    assert math.sqrt(np.mean(errors)) == pytest.approx(np.std(found), rel=0.15)


@pytest.mark.parametrize("design", [Design(0.2), Design(0.55, people=40, groups=8)])
def test_intervals_cover_what_they_are_about(design):
    # 150 studies: a coverage of 95 % has a standard error of 1.8; docs/coverage.md has 2,000.
    figures = measure(design, 150).figures
    for name in ("these groups", "groups like these"):
        assert 89 <= figures[f"{name}: coverage, %"] <= 99.5, name
        assert abs(figures[f"{name}: bias"]) < 0.015
    assert figures["P@3: coverage, %"] >= 85


def test_intervals_and_p_values_never_contradict_each_other():
    """In 200 random studies p < 0.05 exactly where the interval of the same question leaves out 0.

    Closed forms and resamples (of a group's scales and people) agree exactly: both are two readings
    of one distribution. There is no resampling error to allow for.
    """
    rng = np.random.default_rng(7)
    tested = 0
    for number in range(200):
        design = Design(rng.choice([0.0, 0.2, 0.5]), people=int(rng.integers(8, 30)), groups=5)
        study = draw_study(design, rng)
        ratings, scores = study.ratings[:, :, :6], study.scores[:, :6]
        other = rng.normal(size=scores.shape) + 0.5 * scores
        whole = answer_questions(ratings, scores, AlignmentOptions())
        differences = compare_taus((ratings, ratings), (scores, other), AlignmentOptions())
        precisions = compare_precisions((ratings, ratings), (scores, other), AlignmentOptions())
        for answer in (whole.noise_free, whole.generalising, *differences, precisions):
            assert (answer.p_value < 0.05) == (answer.low > 0 or answer.high < 0)
        cube = RatingCube(
            tuple(names("p", len(ratings))), *map(tuple, (names("g", 5), "abcdef")), ratings
        )
        resamples = draw_resamples(cube, AlignmentOptions(seed=number, n_resamples=200))
        for g in range(5):
            tau = kendall_tau_b(cube.means[g], scores[g]).value
            drawn = resamples.group_taus(g, scores[g])
            interval = bias_corrected_interval(tau, drawn, bounds=(-1, 1))
            p_value = bias_corrected_p_value(tau, drawn)
            if not interval.reason:
                tested += 1
                assert (p_value < 0.05) == (interval.low > 0 or interval.high < 0)
    assert tested > 900


def test_groups_and_comparisons_carry_the_p_values_of_their_intervals(study):
    groups, scales = names("g", 8), names("s", 16)
    result = compare_alignments(
        ratings=as_long(study.ratings, groups, scales),
        scores={
            name: ScoreTable(pd.DataFrame(sign * study.scores, groups, scales))
            for name, sign in (("follows", 1), ("opposes", -1))
        },
        groups=groups,
        scales=scales,
        options=AlignmentOptions(n_resamples=500, n_splits=0),
    )
    rows = [row.alignment for row in result.by_group if row.run == "follows"]
    p_values = [row.p_resampled for row in rows]
    assert [row.p_resampled_holm for row in rows] == pytest.approx(holm_correction(p_values))
    for run in result.overall:
        assert run.p_generalising_holm >= run.pooled.answers.generalising.p_value
        assert (
            run.pooled.p_value
            == stats.kendalltau(
                np.nanmean(study.ratings, axis=0).ravel(), study.scores.ravel()
            ).pvalue
        )
    difference = result.differences[0]
    assert difference.generalising.value == pytest.approx(
        2 * true_tau(study.ratings, study.scores).tau
    )
    assert difference.p_generalising_holm == difference.generalising.p_value


def test_what_two_models_share_cancels_in_their_difference(study):
    rng = np.random.default_rng(8)
    alike = study.scores + 0.1 * rng.normal(size=study.scores.shape)
    first, second = (true_tau(study.ratings, scores) for scores in (study.scores, alike))
    for apart, paired in zip(
        (first.noise_free(LEVEL), first.generalising(LEVEL)),
        difference(first, second, LEVEL),
        strict=True,
    ):
        assert paired.value == pytest.approx(first.tau - second.tau)
        assert paired.high - paired.low < (apart.high - apart.low) / 2


def test_a_model_does_not_differ_from_itself(study):
    found = true_tau(study.ratings, study.scores)
    for answer in difference(found, found, LEVEL):
        assert answer.value == 0
        assert answer.interval_reason == UndefinedReason.NO_SPREAD_AT_ALL
        assert math.isnan(answer.p_value)


def test_undefined_values_have_their_reason():
    ratings = np.array([[[10.0, 40, 60, 90]], [[20.0, 50, 50, 80]]])
    rising = np.array([[1.0, 2, 3, 4]])

    def reason(values, scores):
        found = true_tau(values, scores)
        assert math.isnan(found.tau)
        assert math.isnan(found.noise_free(LEVEL).value)
        return found.generalising(LEVEL).reason

    assert reason(ratings[:, :, :2], rising[:, :2]) == UndefinedReason.TOO_FEW
    assert reason(ratings[:1], rising) == UndefinedReason.NO_CELL_TWICE
    assert reason(ratings, np.ones((1, 4))) == UndefinedReason.CONSTANT_MODEL
    assert reason(np.full((2, 1, 4), 50.0), rising) == UndefinedReason.CONSTANT_HUMAN
    # Two people who contradict each other: means of 50, 51, 50, 52 with a spread of dozens.
    assert reason(np.array([[[0.0, 90, 10, 95]], [[100.0, 12, 90, 9]]]), rising) == (
        UndefinedReason.ALL_NOISE
    )


def test_one_group_says_nothing_about_groups_like_it():
    ratings = np.array([[[10.0, 40, 60, 90]], [[20.0, 50, 50, 80]]])
    found = true_tau(ratings, np.array([[1.0, 2, 4, 3]]))
    answer = found.generalising(LEVEL)
    assert answer.interval_reason == UndefinedReason.ONE_GROUP
    assert not math.isnan(answer.value)
    assert found.noise_free(LEVEL).low < answer.value < found.noise_free(LEVEL).high


def test_interval_is_student_s():
    # 1, 2, 3: mean 2, sd 1, n 3; t(0.975, 2) = 4.30265; half width 2.48414.
    answer = student_answer(2, 1 / math.sqrt(3), 3, LEVEL, "")
    assert answer.low == pytest.approx(2 - 2.48414, abs=1e-5)
    assert answer.p_value == pytest.approx(stats.ttest_1samp([1, 2, 3], 0).pvalue)
    assert (
        student_answer(1.0, 0.0, 5, LEVEL, "").interval_reason == UndefinedReason.NO_SPREAD_AT_ALL
    )


def test_precision_of_very_many_raters_is_that_of_their_means():
    # By hand: of the three highest one is above 50, of the three lowest two are below: 1/3, 2/3.
    means = np.array([[60.0, 30, 40, 20, 70, 30]])
    ratings = np.repeat(means[None], 10_000, axis=0) + np.array([-1, 1] * 5_000)[:, None, None]
    scores = np.array([[6.0, 5, 4, 3, 2, 1]])
    assert true_precision(ratings, scores).value == pytest.approx(0.5)


def test_noise_takes_precision_towards_one_half_and_is_taken_out():
    # Deviations of ±2 with six ratings of sd 3 each: the error of a mean is 1.22, so that observed
    # means err in Φ(−2 / 1.22) = 5 % of cases. True precision is 1.
    rng = np.random.default_rng(9)
    truth = np.tile([2.0, 2, 2, -2, -2, -2], (400, 1))
    ratings = 50 + truth + rng.normal(0, 3, (6, 400, 6))
    observed = ((np.sign(ratings.mean(axis=0) - 50) == np.sign(truth)).mean(), 1.0)
    assert observed[0] == pytest.approx(0.95, abs=0.01)
    assert true_precision(ratings, truth).value > 0.985


def test_result_names_its_method(study):
    groups, scales = names("g", 8), names("s", 16)
    result = analyse_alignment(
        ratings=as_long(study.ratings, groups, scales),
        scores=pd.DataFrame(study.scores, groups, scales),
        groups=groups,
        scales=scales,
        options=AlignmentOptions(n_resamples=0, n_splits=0),
    )
    answers = result.pooled.answers
    assert answers is not None
    assert answers.generalising.value == true_tau(study.ratings, study.scores).tau
    assert "delete-one" in answers.signature
    assert math.isnan(answers.precision.p_value)
