"""The report on controls, with other guises, noise, length, perplexity and chance by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from probing.measures.guise_stimuli import GuiseText
from probing.models import TextScore
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
FEW = {"resamples": 200}
N = 40


def guise_run(name: str, effect: float, seed: int = 0, n: int = N, **options):
    stimuli = guise_stimuli(WORDS, n, varieties=(name, "SAE"))
    return store_guise_run(
        stimuli, *made_up_logs(WORDS, n, {"lazy": effect}, seed=seed, noise=0.05), **options
    )


def test_other_guises_stand_beside_the_subject():
    """δ is a third of the effect in base 10; that of the other dialect is a third of it."""
    store_norms()
    runs = [
        guise_run("AAE", 0.9),
        guise_run("Appalachian", 0.3, seed=1),
        guise_run("noise 10 %", 0.0, seed=2),
    ]
    _, document = compute("guise_controls", Chosen(runs=tuple(runs)), **FEW)
    table = document.frames["controls"].set_index("guise")
    unit = 1 / 3 / np.log(10)
    for guise, effect in (("AAE", 0.9), ("Appalachian", 0.3), ("noise 10 %", 0.0)):
        assert table.loc[guise, "strength"] == pytest.approx(effect * unit, abs=0.01)
        assert table.loc[guise, "n_pairs"] == N
    assert table.loc["AAE", "kind"] == "subject"
    difference = table.loc["Appalachian"]
    assert difference["difference"] == pytest.approx(0.6 * unit, abs=0.02)
    assert 0 < difference["difference_low"] < difference["difference_high"]
    assert table.loc["AAE", "p"] < 0.01 < table.loc["noise 10 %", "p"]
    placebos = document.frames["placebos"]
    assert len(placebos) == 2
    # Without an effect δ scatters round zero; the subject lies far outside.
    assert (placebos["low"] < 0).all()
    assert (placebos["high"] > 0).all()
    assert table.loc["AAE", "strength"] > placebos["high"].max()
    assert document.banners == ()


def test_a_control_as_strong_as_the_subject_is_named_first():
    store_norms()
    runs = (guise_run("AAE", 0.5), guise_run("noise 10 %", 0.5, seed=1))
    _, document = compute("guise_controls", Chosen(runs=runs), **FEW)
    assert any("δ after noise 10 % is" in banner for banner in document.banners)
    _, other = compute("guise_controls", Chosen(runs=runs), subject="noise 10 %", **FEW)
    assert other.frames["controls"].set_index("guise").loc["AAE", "kind"] == "control"


def test_an_effect_of_length_alone_is_adjusted_away():
    """ln P of lazy grows by 0.2 for each word more: adjusted for length nothing is left.

    Half of the pairs are one to four words longer, the other half equally long.
    """
    store_norms()
    longer = np.where(np.arange(N) % 2, 1 + np.arange(N) % 4, 0)
    stimuli = guise_stimuli(WORDS, N)
    first, second = made_up_logs(WORDS, N, {}, noise=0.01)
    first[..., WORDS.index("lazy")] += 0.2 * longer
    texts = tuple(
        GuiseText(text.slug, f"{text.body}{' more' * int(extra)}")
        for text, extra in zip(stimuli.first, longer, strict=True)
    )
    run = store_guise_run(replace(stimuli, first=texts), first, second)
    _, document = compute("guise_controls", Chosen(runs=(run,)), **FEW)
    line = document.frames["adjusted"].set_index("name").loc["lazy"]
    assert line["plain"] == pytest.approx(0.2 * longer.mean() / np.log(10), abs=0.003)
    assert line["low"] < 0.002
    assert line["adjusted"] == pytest.approx(0, abs=0.003)
    table = document.frames["controls"].set_index("guise")
    assert table.loc["pairs of equal length", "n_pairs"] == (longer == 0).sum()
    assert table.loc["pairs of equal length", "strength"] == pytest.approx(0, abs=0.003)


def test_adjusted_effects_are_corrected_for_the_number_of_attributes():
    """The table prints the largest of many effects: six p-values, the smallest counts six times."""
    store_norms()
    _, document = compute("guise_controls", Chosen(runs=(guise_run("AAE", 0.02),)), **FEW)
    lines = document.frames["adjusted"].set_index("name")
    assert lines.loc["δ", "p_holm"] == lines.loc["δ", "p"]
    p = lines["p"].drop("δ").sort_values()
    steps = [min(1.0, p.iloc[j] * (6 - j)) for j in range(6)]
    by_hand = {name: max(steps[: place + 1]) for place, name in enumerate(p.index)}
    assert lines["p_holm"].drop("δ").to_dict() == pytest.approx(by_hand)


def test_a_single_pair_of_equal_length_has_no_interval():
    """Three prompts of one text are no sample of texts, whatever resamples of prompts give."""
    store_norms()
    stimuli = guise_stimuli(WORDS, 8)
    texts = tuple(
        GuiseText(text.slug, f"{text.body}{' more' if place else ''}")
        for place, text in enumerate(stimuli.first)
    )
    run = store_guise_run(
        replace(stimuli, first=texts), *made_up_logs(WORDS, 8, {"lazy": 0.5}, noise=0.05)
    )
    _, document = compute("guise_controls", Chosen(runs=(run,)), **FEW)
    line = document.frames["controls"].set_index("guise").loc["pairs of equal length"]
    assert line["n_pairs"] == 1
    ends = line[["low", "high", "difference_low", "difference_high"]]
    assert np.isnan(ends.astype(float)).all()
    assert line["reason"] == "an interval needs values of at least two texts"
    assert not np.isnan(line["strength"])


def test_perplexity_and_tokens_of_the_same_model_and_texts_are_held():
    """ln P of lazy follows the difference of ln perplexity exactly; adjusted nothing is left."""
    store_norms()
    stimuli = guise_stimuli(WORDS, N)
    gaps = np.linspace(0.1, 1.0, N)
    first, second = made_up_logs(WORDS, N, {}, noise=0.01)
    first[..., WORDS.index("lazy")] += gaps
    run = store_guise_run(stimuli, first, second)
    perplexity = store_perplexities(run, np.exp(2 + gaps), np.full(N, np.exp(2)))
    _, document = compute("guise_controls", Chosen(runs=(run, perplexity)), **FEW)
    line = document.frames["adjusted"].set_index("name").loc["lazy"]
    assert line["plain"] == pytest.approx(gaps.mean() / np.log(10), abs=0.003)
    assert line["adjusted"] == pytest.approx(0, abs=0.005)
    assert any("log probability of a token" in text for text in document.method)
    guises = document.frames["controls"].set_index("guise")
    half = guises.loc["half of the pairs, the most alike in perplexity"]
    assert half["n_pairs"] == N // 2
    assert half["strength"] == pytest.approx(gaps[: N // 2].mean() / 3 / np.log(10), abs=0.005)
    # Without values of the texts nothing can be held but length.
    TextScore.objects.filter(run=perplexity).update(value=None, reason="gone")
    _, without = compute("guise_controls", Chosen(runs=(run, perplexity)), **FEW)
    assert any("number of words" in text for text in without.method)


def test_what_cannot_be_compared_is_refused():
    store_norms()
    run = guise_run("AAE", 0.5)
    with pytest.raises(ReportError, match="No run has “Scots” as its first variety: AAE"):
        compute("guise_controls", Chosen(runs=(run,)), subject="Scots", **FEW)
    perplexity = store_perplexities(run, np.ones(N), np.ones(N))
    with pytest.raises(ReportError, match="No run of matched guise probing is chosen"):
        compute("guise_controls", Chosen(runs=(perplexity,)), **FEW)
