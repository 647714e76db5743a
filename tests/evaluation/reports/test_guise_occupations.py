"""The report on occupations, with numbers derived by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluation.analyses.guise_cells import GuiseOptions
from evaluation.analyses.guise_draws import GuiseRun
from evaluation.analyses.guise_occupations import FLATTENED, analyze_occupations
from evaluation.models import Norm
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from tests.evaluation.reports.computing import compute
from tests.evaluation.reports.guises import guise_stimuli, made_up_logs, store_guise_run

pytestmark = pytest.mark.django_db

JOBS = ("doctor", "actor", "cleaner", "judge", "singer")
FEW = {"resamples": 200}


def jobs_run(effects, **how):
    # Six prompts: the first nine of the purpose end with “a”.
    first, second = made_up_logs(JOBS, 30, effects, n_prompts=6, noise=0.01)
    stimuli = guise_stimuli(JOBS, 30, purpose="occupations", n_prompts=6)
    return store_guise_run(stimuli, first, second, **how)


def store_prestige():
    titles = {"Doctor": 8.0, "Contractor": 4.0, "Cleaner": 2.0, "Judge": 8.5, "Opera singer": 6.0}
    Norm.objects.create(
        slug="gss", title="Survey", kind="prestige", values=titles, citation="Made up"
    )


def test_the_mean_of_all_occupations_is_tested_below_zero():
    """Only those that agree with “a” count; the t-test is scipy's on their mean scores."""
    effects = {"doctor": -0.6, "cleaner": 0.1, "judge": -0.5, "singer": -0.1}
    run = jobs_run(effects)
    _, document = compute("guise_occupations", Chosen(runs=(run,)), **FEW)
    scores = document.frames["occupations"].set_index("occupation")
    assert np.isnan(scores.loc["actor", "q"])
    assert scores.loc["actor", "reason"] == "there is no value"
    q = scores["q"].dropna()
    assert len(q) == 4
    assert q["doctor"] == pytest.approx(-0.6 / np.log(10), abs=0.002)
    line = document.frames["tests"].iloc[0]
    expected = stats.ttest_1samp(q, 0, alternative="less")
    assert (line["t"], line["p_one_sided"]) == pytest.approx((expected.statistic, expected.pvalue))
    assert line["p_two_sided"] == pytest.approx(2 * expected.pvalue)


def test_a_mean_above_zero_is_no_disagreement_with_a_test_below_zero():
    """All occupations gain by 0.2 to 0.4: the paper's test, below zero, has p near 1, and the
    interval lies above. Neither finds them below zero."""
    run = jobs_run({"doctor": 0.4, "cleaner": 0.3, "judge": 0.2, "singer": 0.3})
    _, document = compute("guise_occupations", Chosen(runs=(run,)), **FEW)
    line = document.frames["inference"].set_index("quantity").loc["mean q"]
    assert line["p_paper"] > 0.99
    assert line["low"] > 0
    assert line["agree"]
    assert document.banners == ()


def test_prestige_is_matched_by_words_or_as_released():
    store_prestige()
    run = jobs_run({"doctor": -0.6, "cleaner": 0.2, "judge": -0.5, "singer": -0.1})
    _, document = compute("guise_occupations", Chosen(runs=(run,)), **FEW)
    line = document.frames["prestige"].iloc[0]
    assert line["n"] == 4
    assert line["slope"] < 0
    assert line["high"] < 0
    scores = document.frames["occupations"].set_index("occupation")
    assert scores.loc["singer", "prestige"] == 6.0
    _, released = compute("guise_occupations", Chosen(runs=(run,)), rule="released", **FEW)
    rated = released.frames["occupations"].set_index("occupation")["prestige"]
    assert rated["actor"] == 4.0
    assert np.isnan(scores.loc["actor", "prestige"])
    assert len(document.frames["prestige_line"]) == 41


def test_runs_on_traits_are_refused():
    run = store_guise_run(guise_stimuli(("lazy",), 3), *made_up_logs(("lazy",), 3, {}))
    with pytest.raises(ReportError, match="Choose runs with prompts on occupations"):
        compute("guise_occupations", Chosen(runs=(run,)), **FEW)


def test_occupations_that_move_together_are_no_independent_evidence():
    """Every pair shifts all occupations alike, by ±1 in turn and one by −2 more.

    The occupations' means differ by noise of 0.001 alone, so that the paper's t-test finds them
    below zero; over texts the mean is −2/31 with an error of about 0.2.
    """
    n = 31
    shift = np.where(np.arange(n) % 2, 1.0, -1.0)
    shift[0] = -2.0
    rng = np.random.default_rng(0)
    second = np.full((6, n, len(JOBS)), -5.0)
    first = second + shift[None, :, None] + rng.normal(0, 0.001, size=second.shape)
    stimuli = guise_stimuli(JOBS, n, purpose="occupations", n_prompts=6)
    run = store_guise_run(stimuli, first, second)
    _, document = compute("guise_occupations", Chosen(runs=(run,)), **FEW)
    test = document.frames["tests"].iloc[0]
    held = document.frames["inference"].iloc[0]
    assert test["p_one_sided"] < 0.001
    assert held["value"] == pytest.approx(-2 / n / np.log(10), abs=1e-3)
    assert held["low"] < 0 < held["high"]
    assert held["p"] > 0.05
    assert not held["agree"]
    assert any("test over texts and prompts disagree" in text for text in document.banners)


def test_the_slope_of_prestige_has_a_p_over_texts_and_prompts_and_no_interval():
    """Its value is that of the regression, which noise of the scores would make flatter."""
    store_prestige()
    run = jobs_run({"doctor": -0.6, "cleaner": 0.1, "judge": -0.5, "singer": -0.1})
    _, document = compute("guise_occupations", Chosen(runs=(run,)), **FEW)
    held = document.frames["inference"].set_index("quantity").loc["slope of prestige"]
    assert held["value"] == pytest.approx(document.frames["prestige"].iloc[0]["slope"])
    assert held["p"] < 0.001
    assert (np.isnan(held["low"]), held["reason"]) == (True, FLATTENED)


def test_a_wording_with_a_and_with_an_is_one_prompt():
    """Mean over occupations of every pair in both, then Student’s t over pairs (scipy)."""
    rng = np.random.default_rng(2)
    values = rng.normal(0.3, 1, (2, 9, 3))  # “a” and “an”, pairs, occupations
    run = GuiseRun(
        "m", "covert", "", ("p-a", "p-an"), "t", values, np.zeros_like(values),
        np.array([[True, True, False], [False, False, True]]), paired=True, base="e",
    )  # fmt: skip
    found = analyze_occupations([run], ["b", "c", "d"], {}, GuiseOptions()).inference[0]
    counted = np.column_stack([values[0, :, :2], values[1, :, 2]]).mean(axis=1)
    wanted = stats.ttest_1samp(counted, 0)
    limits = wanted.confidence_interval(0.95)
    assert found.estimate.value == pytest.approx(counted.mean())
    assert (found.estimate.low, found.estimate.high) == pytest.approx((limits.low, limits.high))
    assert found.p_value == pytest.approx(wanted.pvalue)
