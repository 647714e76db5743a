"""The report on size and human feedback, with numbers by hand and the paper's classes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from evaluation.analyses.guise_cells import GuiseOptions
from evaluation.analyses.guise_draws import GuiseRun
from evaluation.analyses.guise_inference import OTHER_TEXTS
from evaluation.analyses.guise_models import (
    ModelAnalysis,
    _compared,
    analyze_models,
    size_class,
)
from evaluation.metrics.estimate import Estimate
from evaluation.reports.guise_models import feedback_blocks, feedback_table
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from tests.evaluation.reports.computing import compute
from tests.evaluation.reports.guises import (
    guise_stimuli,
    made_up_logs,
    store_guise_run,
    store_norms,
    store_perplexities,
)

pytestmark = pytest.mark.django_db

WORDS = ("loud", "lazy", "kind", "musical", "rude", "calm")
#: δ of 1933 for an effect of 1 on lazy.
UNIT = 1 / 3 / np.log(10)
FEW = {"resamples": 200}
N = 20


def model_run(name: str, parameters: int | None, effect: float, n_prompts: int = 3, **how):
    stimuli = guise_stimuli(WORDS, N, n_prompts=n_prompts)
    logs = made_up_logs(WORDS, N, {"lazy": effect}, n_prompts=n_prompts, **how)
    run = store_guise_run(stimuli, *logs, name=name)
    run.model.parameter_count, run.model.kind = parameters, "causal"
    run.model.save()
    return run


def test_classes_are_those_of_extended_data_table_7():
    """Parameters of the checkpoints on the hub."""
    printed = {
        "small": (124_439_808, 124_645_632, 60_506_624),
        "medium": (354_823_168, 222_903_552),
        "large": (774_030_080, 1_557_611_200, 355_359_744, 737_668_096, 2_851_598_336),
        "very large": (175_000_000_000,),
    }
    for name, counts in printed.items():
        assert {size_class(count) for count in counts} == {name}


def test_strength_and_perplexity_by_size():
    """δ is a third of the effect in base 10; it grows by a fixed step with each tenfold size."""
    store_norms()
    runs = [
        model_run(f"m{power}", 10**power, 0.3 * (power - 7), seed=power) for power in (8, 9, 11)
    ]
    perplexities = [
        store_perplexities(run, np.full(N, value) + np.arange(N), np.full(N, value / 2))
        for run, value in zip(runs, (100.0, 50.0, 20.0), strict=True)
    ]
    _, document = compute("guise_models", Chosen(runs=(*runs, *perplexities)), **FEW)
    sizes = document.frames["sizes"].set_index(["quantity", "size", "variety"])
    for name, power in (("small", 8), ("large", 9), ("very large", 11)):
        line = sizes.xs(("δ, covert", name), level=("quantity", "size")).iloc[0]
        assert line["mean"] == pytest.approx(0.3 * (power - 7) * UNIT, abs=0.02)
        assert line["n"] == 3
    small = sizes.loc[("perplexity", "small", "AAE")]
    assert small["mean"] == pytest.approx(100 + np.arange(N).mean())
    assert small["sd"] == pytest.approx(np.arange(N).std(ddof=1))
    assert small["high"] - small["mean"] == pytest.approx(np.arange(N).std(ddof=1) / N**0.5)
    trend = document.frames["trends"].iloc[0]
    assert trend["slope"] == pytest.approx(0.3 * UNIT, abs=0.01)
    assert 0 < trend["low"] < trend["slope"] < trend["high"]
    assert trend["n_models"] == 3


def test_human_feedback_is_compared_over_prompts():
    """t-test of the prompts' δ by scipy; the interval is over texts and prompts."""
    store_norms()
    plain = model_run("plain", 10**9, 0.6, n_prompts=4)
    tuned = model_run("tuned", 10**9, 0.0, n_prompts=4, seed=1)
    options = {"without_feedback": "plain", "with_feedback": "tuned", **FEW}
    _, document = compute("guise_models", Chosen(runs=(plain, tuned)), **options)
    line = document.frames["feedback"].set_index("quantity").loc["strength"]
    assert line["without"] == pytest.approx(0.6 * UNIT, abs=0.02)
    assert line["difference"] == pytest.approx(-0.6 * UNIT, abs=0.03)
    assert line["high"] < 0
    assert line["df"] == 6
    # Pooled, from the printed means and spreads (ddof 1, four prompts on either side).
    pooled = (line["sd_without"] ** 2 + line["sd_with"] ** 2) * 3 / 6
    expected = (line["without"] - line["with"]) / np.sqrt(pooled * (1 / 4 + 1 / 4))
    assert line["t"] == pytest.approx(expected)
    assert line["p"] == pytest.approx(2 * stats.t.sf(abs(line["t"]), 6))
    favor = document.frames["feedback"].set_index("quantity").loc["favorability"]
    assert favor["reason"] or not np.isnan(favor["t"])


def test_spreads_over_prompts_have_ddof_1():
    """By hand: 1, 2, 3 have sd 1; 2, 4, 6, 8 have √(20 / 3). The released table divides by n."""
    sides = [np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0, 8.0])]
    line = _compared("covert", "strength", sides, Estimate(3.0), GuiseOptions())
    assert (line.sd_without, line.sd_with) == pytest.approx((1, np.sqrt(20 / 3)))
    result = ModelAnalysis(GuiseOptions(), (), (), (), (), (line,))
    (block,) = feedback_blocks(feedback_table(result, "95 %"))
    assert "s is over prompts with ddof 1" in " ".join(block.caption.split())


def test_models_of_one_size_have_no_trend_and_names_must_fit():
    store_norms()
    run = model_run("only", None, 0.5)
    _, document = compute("guise_models", Chosen(runs=(run,)), **FEW)
    assert "two different sizes" in document.frames["trends"].iloc[0]["reason"]
    assert any("only: its number of parameters is not known" in line for line in document.left_out)
    for options, message in (
        ({"without_feedback": "other", "with_feedback": "only"}, "No run is of the model “other”"),
        ({"without_feedback": "only", "with_feedback": "only"}, "Name it once"),
        ({"with_feedback": "only"}, "and models without it"),
    ):
        with pytest.raises(ReportError, match=message):
            compute("guise_models", Chosen(runs=(run,)), **options, **FEW)


def test_models_on_the_same_pairs_are_compared_pair_by_pair():
    """Source: scipy's paired t-test of the pairs' δ, three prompts each; sizes are 1e8 and 1e9.

    The slope on the logarithm of the size is the difference of two models that are one apart.
    """
    rng = np.random.default_rng(1)
    logs = {name: rng.normal(shift, 1, (3, 8, 2)) for name, shift in (("raw", 0.0), ("tuned", 1.0))}
    runs = [
        GuiseRun(
            name, "covert", "", ("p", "q", "r"), "t", values, np.zeros_like(values),
            np.ones((3, 2), dtype=bool), paired=True, base="e",
        )
        for name, values in logs.items()
    ]  # fmt: skip
    sizes = {"raw": 10**8, "tuned": 10**9}
    ask = (["bad", "good"], ["bad"], sizes, [], {}, (["raw"], ["tuned"]), GuiseOptions())
    found = analyze_models(runs, *ask)
    pairs = {name: (one[..., 0] - one[..., 1]).mean(axis=0) for name, one in logs.items()}
    wanted = stats.ttest_rel(pairs["tuned"], pairs["raw"]).confidence_interval(0.95)
    for estimate in (found.feedback[0].difference, found.trends[0].slope):
        assert (estimate.low, estimate.high) == pytest.approx((wanted.low, wanted.high))
    alone = stats.ttest_1samp(pairs["raw"], 0).confidence_interval(0.95)
    assert (found.models[0].strength.low, found.models[0].strength.high) == pytest.approx(
        (alone.low, alone.high)
    )
    others = analyze_models([runs[0], replace(runs[1], texts="others")], *ask)
    assert others.feedback[0].difference.interval_reason == OTHER_TEXTS
    assert others.trends[0].slope.interval_reason == OTHER_TEXTS
