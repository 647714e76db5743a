"""The report on features, on pairs that differ in one feature each, with numbers by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics.crossed_effects import crossed_effects
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from tests.evaluation.reports.computing import compute
from tests.evaluation.reports.guises import (
    feature_stimuli,
    guise_stimuli,
    made_up_logs,
    store_guise_run,
    store_norms,
)

pytestmark = pytest.mark.django_db

WORDS = ("loud", "lazy", "kind", "musical", "rude", "calm")
FEW = {"resamples": 200}


def features_run(effects: dict[str, float], n: int = 12, **how):
    """Store pairs of each feature; the effect is added to ln P of lazy after its first texts."""
    stimuli = feature_stimuli(WORDS, tuple(effects), n)
    first, second = made_up_logs(WORDS, n * len(effects), {}, **how)
    for place, effect in enumerate(effects.values()):
        first[:, place * n : (place + 1) * n, WORDS.index("lazy")] += effect
    return store_guise_run(stimuli, first, second), first, second


def test_each_feature_has_the_strength_of_its_pairs():
    """By hand: δ is a third of lazy, loud and musical less a third of the others, pair by pair."""
    store_norms()
    run, first, second = features_run({"habitual_be": 0.9, "finna": 0.0, "zero_copula": 0.3})
    _, document = compute("guise_features", Chosen(runs=(run,)), **FEW)
    lines = document.frames["features"].set_index("feature")
    ratios = (first.astype(np.float32) - second.astype(np.float32)) / np.log(10)
    signs = np.array([1, 1, -1, 1, -1, -1]) / 3
    delta = ratios @ signs
    for place, name in enumerate(("habitual_be", "finna", "zero_copula")):
        mine = delta[:, place * 12 : (place + 1) * 12]
        expected = crossed_effects(mine)
        assert lines.loc[name, "strength"] == pytest.approx(mine.mean(), abs=1e-6)
        assert lines.loc[name, "low"] == pytest.approx(expected.estimate.low, abs=1e-5)
        paper = stats.ttest_1samp(mine.mean(axis=1), 0, alternative="greater")
        assert lines.loc[name, "t"] == pytest.approx(paper.statistic, rel=1e-3)
        assert lines.loc[name, ["n_pairs", "n_cells"]].to_list() == [12, 3]
    assert lines.loc["habitual_be", "p"] < 0.01 < lines.loc["finna", "p"]
    assert "0 pairs have it" in lines.loc["stay", "reason"]
    assert any("In no pair:" in line for line in document.left_out)


def test_strength_grows_with_the_number_of_features():
    """Every feature of the first text adds 0.3 to ln P of lazy: δ is 0.1 / ln 10 for each."""
    store_norms()
    stimuli = feature_stimuli(WORDS, ("habitual_be", "finna", "in"), 10)
    # The second and third sets get more features of the same kind.
    bodies = [text.body for text in stimuli.first]
    bodies[10:20] = [f"{body} and she ain't talking" for body in bodies[10:20]]
    bodies[20:] = [f"{body} and she ain't cookin and he stay talking" for body in bodies[20:]]
    texts = tuple(
        type(text)(text.slug, body) for text, body in zip(stimuli.first, bodies, strict=True)
    )
    stimuli = type(stimuli)(**{**vars(stimuli), "first": texts})
    first, second = made_up_logs(WORDS, 30, {}, noise=0.01)
    number = np.repeat([1, 2, 4], 10)
    first[..., WORDS.index("lazy")] += 0.3 * number
    run = store_guise_run(stimuli, first, second)
    _, document = compute("guise_features", Chosen(runs=(run,)), **FEW)
    dose = document.frames["dose"].set_index("features")
    assert list(dose.index) == ["1", "2", "4 or more"]
    for step, n in zip(dose.index, (1, 2, 4), strict=True):
        assert dose.loc[step, "strength"] == pytest.approx(0.1 * n / np.log(10), abs=0.005)
    plain = document.frames["density"].set_index("adjusted").loc[False]
    assert 0 < plain["low"] < plain["slope"]


def test_a_result_that_hangs_on_the_texts_is_named_first():
    """Three wordings agree about pairs of ±1 with a mean of 0.5/12: the paper's test is sure."""
    store_norms()
    stimuli = feature_stimuli(WORDS, ("habitual_be",), 12)
    second = np.full((3, 12, len(WORDS)), -5.0)
    first = second.copy()
    first[..., WORDS.index("lazy")] += np.array([1.0, -1.0] * 5 + [1.0, -0.5])
    first[..., WORDS.index("lazy")] += np.array([0.0, 0.001, 0.002])[:, None]
    run = store_guise_run(stimuli, first, second)
    _, document = compute("guise_features", Chosen(runs=(run,)), **FEW)
    line = document.frames["features"].set_index("feature").loc["habitual_be"]
    assert line["p_paper_holm"] < 0.05
    assert line["low"] < 0
    assert any("habitual be: p" in banner for banner in document.banners)


def test_what_cannot_be_compared_is_refused():
    store_norms()
    run, *_ = features_run({"in": 0.0})
    with pytest.raises(ReportError, match="no norm “none-such”"):
        compute("guise_features", Chosen(runs=(run,)), study="none-such", **FEW)
    sets = store_guise_run(
        type(run_stimuli := guise_stimuli(WORDS, 4))(**{**vars(run_stimuli), "paired": False}),
        *made_up_logs(WORDS, 4, {}),
    )
    with pytest.raises(ReportError, match="Choose runs on pairs"):
        compute("guise_features", Chosen(runs=(sets,)), **FEW)
    odd = store_guise_run(guise_stimuli(("calm", "rude"), 4), *made_up_logs(("a", "b"), 4, {}))
    with pytest.raises(ReportError, match="names 0 of the 2 attributes"):
        compute("guise_features", Chosen(runs=(odd,)), **FEW)
