"""Tau without noise: each step by other means, brute force, no contradiction, when no interval.

How often its intervals hold the truth is measured by the laboratory (docs/coverage.md) and by
`test_tau_designs.py`.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evaluation.analyses.alignment import analyze_alignment
from evaluation.analyses.alignment_comparison import compare_alignments
from evaluation.analyses.alignment_result import AlignmentOptions
from evaluation.analyses.questions import answer_questions, compare_precisions, compare_taus
from evaluation.analyses.score_table import ScoreTable
from evaluation.analyses.tau_answers import Answers, jackknife_answer, student_answer
from evaluation.analyses.true_precision import true_precision
from evaluation.analyses.true_tau import (
    LAMBDAS,
    _cell_variances,
    _Cells,
    _covariance,
    difference,
    true_tau,
)
from evaluation.metrics import (
    UndefinedReason,
    holm_correction,
    kendall_tau_b,
    tau_over_scales,
)
from tests.evaluation.analyses.simulated import as_long, names
from tools.coverage.taus import DESIGNS, Design

LEVEL = 0.95


def draw(tau: float, rng: np.random.Generator, design: Design) -> tuple[np.ndarray, np.ndarray]:
    t, scores = design.scored(tau, rng)
    return design.ratings(t, rng)[0], scores


@pytest.fixture(scope="module")
def study():
    return draw(0.35, np.random.default_rng(5), Design(people=40, groups=8))


def test_value_is_the_extrapolated_count_of_pairs(study):
    """The two curves pair by pair with `math.erf`, and NumPy's polynomial through their difference.

    Of 128 cells the polynomial is of degree 2.
    """
    cells = _Cells.of(*study)
    noise, _ = _covariance(cells, _cell_variances(cells)[0])
    x, s = cells.means, cells.scores
    n = x.size
    z = stats.norm.ppf((stats.rankdata(s) - 0.375) / (n + 0.25))
    z = (z - z.mean()) / z.std()
    pairs = [(i, j) for i in range(n) for j in range(n) if s[i] > s[j]]
    v = {
        (i, j): max(noise[i, i] + noise[j, j] - 2 * noise[i, j], 0.02 * (noise[i, i] + noise[j, j]))
        for i, j in pairs
    }
    true = x.var(ddof=1) - np.mean(list(v.values())) / 2
    slope = np.mean(x * z)
    residual = 2 * max(true - slope**2, 0.02 * true)

    def apart(lam: float) -> float:
        k = sum(math.erf((x[i] - x[j]) / math.sqrt(2 * lam * v[i, j])) for i, j in pairs)
        return k - control(lam)

    def control(lam: float) -> float:
        return sum(
            math.erf(slope * (z[i] - z[j]) / math.sqrt(2 * (residual + (1 + lam) * v[i, j])))
            for i, j in pairs
        )

    fitted = np.polyfit(LAMBDAS, [apart(lam) for lam in LAMBDAS], 2)
    expected = (np.polyval(fitted, -1.0) + control(-1.0)) / (n * (n - 1) / 2)
    found = true_tau(*study)
    assert found.value == pytest.approx(expected, abs=2e-5)
    assert found.reliability == pytest.approx(true / x.var(ddof=1))
    observed = kendall_tau_b(x, s).value
    assert found.value > observed


def test_noise_of_a_cell_is_that_of_its_height_and_its_own():
    """Spread in proportion to height, and twice as much in every other cell; 8 raters each."""
    rng = np.random.default_rng(3)
    true_mean = rng.uniform(20, 80, (20, 16))
    extra = np.where(np.arange(16) % 2, 2.0, 1.0)
    ratings = true_mean + 0.2 * true_mean * extra * rng.standard_normal((8, 20, 16))
    cells = _Cells.of(ratings, rng.standard_normal((20, 16)))
    found, between = _cell_variances(cells)
    # Relative to the mean of both sorts at the same height: 0.4 and 1.6, a variance of 0.36.
    assert between == pytest.approx(0.36, abs=0.2)
    raw = (cells.deviations**2).sum(axis=0) / 7
    assert found.mean() == pytest.approx(raw.mean())
    rated = np.sort(cells.means)
    assert found[cells.means > rated[-80]].mean() > 4 * found[cells.means < rated[80]].mean()


def test_noise_can_be_where_all_raters_agree():
    """Rare ratings other than 0: cells with none of them are as noisy as their like."""
    rng = np.random.default_rng(4)
    ratings = 100.0 * (rng.random((20, 25, 16)) < 0.04)
    cells = _Cells.of(ratings, rng.standard_normal((25, 16)))
    silent = cells.means == 0
    assert silent.mean() > 0.3
    found = _cell_variances(cells)[0][silent] / 20
    # Var of a mean of 20 ratings: 100² · .04 · .96 / 20 = 19.2.
    assert found.mean() == pytest.approx(19.2, rel=0.25)


def test_errors_of_cells_of_one_person_are_correlated_as_they_are():
    """Crossed raters with a shift of their own (variance 16) and noise (variance 9)."""
    rng = np.random.default_rng(5)
    found = []
    for _ in range(40):
        ratings = 4 * rng.standard_normal((30, 1, 1)) + 3 * rng.standard_normal((30, 6, 4))
        cells = _Cells.of(50 + ratings, rng.standard_normal((6, 4)))
        noise, parts = _covariance(cells, _cell_variances(cells)[0])
        off = noise[~np.eye(24, dtype=bool)]
        found.append((np.diag(noise).mean(), off.mean(), parts.sum()))
    variance, covariance, parts = np.mean(found, axis=0)
    assert variance == pytest.approx(25 / 30, rel=0.1)
    assert covariance == pytest.approx(16 / 30, rel=0.1)
    assert abs(parts) < 0.05  # what people add to the noise beyond what is expected


def test_jackknife_leaves_out_one_group_at_a_time(study):
    found = true_tau(*study)
    ratings, scores = study
    without = [
        true_tau(np.delete(ratings, g, axis=1), np.delete(scores, g, axis=0)).value
        for g in range(8)
    ]
    # Its noise and control curve stay those of all groups: the errors agree within some percent.
    assert found.without_group == pytest.approx(without, abs=0.01)
    assert np.std(found.without_group) == pytest.approx(np.std(without), rel=0.1)
    # Tukey (1958): sd of 8 values times (n − 1) / √n; Student's t with 7 degrees of freedom.
    error = np.std(found.without_group, ddof=1) * 7 / math.sqrt(8)
    answer = found.generalizing(LEVEL)
    reach = stats.t.ppf(0.975, 7) * error
    assert [answer.low, answer.high] == pytest.approx([found.value - reach, found.value + reach])
    assert answer.p_value == pytest.approx(2 * stats.t.sf(found.value / error, 7))
    assert answer.n == 8


def test_people_move_tau_as_other_people_do():
    """Cells as they are, 100 times other people: tau scatters as one study says it does."""
    rng = np.random.default_rng(6)
    truth, scores = rng.normal(size=(2, 10, 16))
    scores = 0.5 * truth + math.sqrt(0.75) * scores
    found, errors = [], []
    for _ in range(100):
        habit, noise = rng.normal(0, 0.4, (30, 1, 1)), rng.normal(0, 1.2, (30, 10, 16))
        answer = true_tau(truth + habit + noise, scores)
        found.append(answer.value)
        errors.append((answer.noise_free(LEVEL).high - answer.value) / stats.t.ppf(0.975, 29))
    assert np.mean(found) == pytest.approx(
        kendall_tau_b(truth.ravel(), scores.ravel()).value, abs=0.005
    )
    # The error also has what extrapolating adds, so it is a little larger.
    assert np.std(found) < math.sqrt(np.mean(np.square(errors))) < 1.4 * np.std(found)


def test_intervals_and_p_values_never_contradict_each_other():
    """In 100 random studies p < 0.05 exactly where the interval of the same question leaves out 0.

    Both are two readings of one distribution. There is no resampling error to allow for.
    """
    rng = np.random.default_rng(7)
    tested = 0
    for _ in range(100):
        tau, people = rng.choice([0.0, 0.2, 0.5]), int(rng.integers(8, 30))
        ratings, scores = draw(tau, rng, Design(people=people, groups=5))
        ratings, scores = ratings[:, :, :10], scores[:, :10]
        other = rng.normal(size=scores.shape) + 0.5 * scores
        whole = answer_questions(ratings, scores, AlignmentOptions())
        differences = compare_taus((ratings, ratings), (scores, other), AlignmentOptions())
        precisions = compare_precisions((ratings, ratings), (scores, other), AlignmentOptions())
        for answer in (
            whole.noise_free,
            whole.generalizing,
            whole.observed,
            *differences,
            precisions,
        ):
            assert (answer.p_value < 0.05) == (answer.low > 0 or answer.high < 0)
        for human, model in zip(np.nanmean(ratings, axis=0), scores, strict=True):
            interval, p_value = tau_over_scales(human, model)
            if not interval.reason:
                tested += 1
                assert (p_value < 0.05) == (interval.low > 0 or interval.high < 0)
    assert tested > 450


def test_groups_and_comparisons_carry_the_p_values_of_their_intervals(study):
    ratings, scores = study
    groups, scales = names("g", 8), names("s", 16)
    result = compare_alignments(
        ratings=as_long(study[0], groups, scales),
        scores={
            name: ScoreTable(pd.DataFrame(sign * scores, groups, scales))
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
        assert run.p_generalizing_holm >= run.pooled.answers.generalizing.p_value
        assert (
            run.pooled.p_value
            == stats.kendalltau(np.nanmean(ratings, axis=0).ravel(), scores.ravel()).pvalue
        )
    difference = result.differences[0]
    assert difference.generalizing.value == pytest.approx(2 * true_tau(*study).value, abs=1e-5)
    assert difference.p_generalizing_holm == difference.generalizing.p_value


def test_what_two_models_share_cancels_in_their_difference(study):
    ratings, scores = study
    alike = scores + 0.1 * np.random.default_rng(8).normal(size=scores.shape)
    first, second = (true_tau(ratings, own) for own in (scores, alike))
    for apart, value, paired in zip(
        (first.noise_free(LEVEL), first.generalizing(LEVEL), first.as_observed(LEVEL)),
        (*[first.value - second.value] * 2, first.observed - second.observed),
        difference(first, second, LEVEL),
        strict=True,
    ):
        assert paired.value == pytest.approx(value)
        assert paired.high - paired.low < (apart.high - apart.low) / 2


def test_a_model_does_not_differ_from_itself(study):
    found = true_tau(*study)
    for answer in difference(found, found, LEVEL):
        assert answer.value == 0
        assert answer.interval_reason == UndefinedReason.NO_SPREAD_AT_ALL
        assert math.isnan(answer.p_value)


def test_undefined_values_have_their_reason():
    ratings = np.array([[[10.0, 40, 60, 90]], [[20.0, 50, 50, 80]]])
    rising = np.array([[1.0, 2, 3, 4]])

    def reason(values, scores):
        found = true_tau(values, scores)
        assert math.isnan(found.value)
        assert math.isnan(found.noise_free(LEVEL).value)
        return found.generalizing(LEVEL).reason

    assert reason(ratings[:, :, :2], rising[:, :2]) == UndefinedReason.TOO_FEW
    assert reason(ratings[:1], rising) == UndefinedReason.NO_CELL_TWICE
    assert reason(ratings, np.ones((1, 4))) == UndefinedReason.CONSTANT_MODEL
    assert reason(np.full((2, 1, 4), 50.0), rising) == UndefinedReason.CONSTANT_HUMAN
    # Two people who contradict each other: means of 50, 51, 50, 52 with a spread of dozens.
    assert reason(np.array([[[0.0, 90, 10, 95]], [[100.0, 12, 90, 9]]]), rising) == (
        UndefinedReason.ALL_NOISE
    )


def test_few_groups_say_nothing_about_groups_like_them():
    ratings, scores = draw(0.35, np.random.default_rng(5), Design(people=40, groups=4))
    answer = true_tau(ratings, scores).generalizing(LEVEL)
    assert answer.interval_reason == UndefinedReason.FEW_GROUPS
    assert not math.isnan(answer.value)
    four, five = (
        jackknife_answer(0.3, np.array([0.1, 0.2, 0.3, 0.4, 0.5][:n]), LEVEL) for n in (4, 5)
    )
    assert math.isnan(four.low)
    assert five.low < 0.3 < five.high


@pytest.mark.parametrize(
    ("design", "reason"),
    [
        (Design(people=9, each=8, groups=8), UndefinedReason.FEW_PEOPLE_FOR_TAU),
        (DESIGNS["20 people"], UndefinedReason.FEW_PEOPLE_FOR_TAU),
        (DESIGNS["two-humped means, crossed 30 x 12"], UndefinedReason.TWO_HUMPS),
        (DESIGNS["uneven spread, unequal n"], UndefinedReason.UNEVEN_SPREAD),
    ],
)
def test_no_interval_where_none_is_known_to_hold(design, reason):
    found = true_tau(*draw(0.55, np.random.default_rng(10), design))
    for answer in (found.noise_free(LEVEL), found.generalizing(LEVEL)):
        assert answer.interval_reason == reason
        assert math.isnan(answer.low)
        assert math.isnan(answer.p_value)
        assert 0.3 < answer.value < 0.8


def test_no_interval_where_most_is_noise():
    rng = np.random.default_rng(11)
    truth = rng.normal(size=(8, 16))
    ratings = truth + rng.normal(0, 4, (12, 8, 16))  # reliability 1 / (1 + 16 / 12) = 0.43
    found = true_tau(ratings, truth)
    assert 0 < found.reliability < 0.5
    assert found.noise_free(LEVEL).interval_reason == UndefinedReason.MOSTLY_NOISE


def test_ceiling_is_what_true_means_reach_against_noisy_ones():
    rng = np.random.default_rng(12)
    truth = rng.normal(size=20_000)
    none = student_answer(np.nan, np.nan, 0, LEVEL, "")
    for reliability in (0.9, 0.6):
        means = truth + rng.normal(0, math.sqrt(1 / reliability - 1), truth.size)
        reached = stats.kendalltau(truth, means).statistic
        answers = Answers(reliability, none, none, none, none)
        assert answers.ceiling == pytest.approx(reached, abs=0.01)
    assert math.isnan(Answers(-0.1, none, none, none, none).ceiling)
    # Until November 2026 reliability took one variance for all cells.
    assert math.isnan(Answers(0.9, none, none, none, none, "tau_true:1|rel:pooled").ceiling)


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
    result = analyze_alignment(
        ratings=as_long(study[0], groups, scales),
        scores=pd.DataFrame(study[1], groups, scales),
        groups=groups,
        scales=scales,
        options=AlignmentOptions(n_resamples=0, n_splits=0),
    )
    answers = result.pooled.answers
    assert answers is not None
    assert answers.generalizing.value == true_tau(*study).value
    assert "delete-one" in answers.signature
    assert math.isnan(answers.precision.p_value)
