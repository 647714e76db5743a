"""Cases of guises: what models and people say of the speakers of texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from annotation.models import Corpus
from evaluation.models import Norm
from probing.models import Run
from tests.evaluation.reports.guises import (
    feature_stimuli,
    guise_stimuli,
    made_up_logs,
    store_guise_run,
    store_norms,
    store_perplexities,
)
from tests.evaluation.reports.pictures import all_scales, make_rated_guises, planted
from tests.evaluation.reports.stored_cases.case import FEW, REMARK, Case, Inputs, in_order, names_of


def _speakers(*, with_model: bool) -> Inputs:
    """People about the speakers of four pairs, and a model on these and one pair more."""
    spoken = planted(all_scales())
    study = make_rated_guises(spoken)
    study.public_id = "study0000001"
    study.save()
    Corpus.objects.update(public_id="corpus000001")
    poles = [pole for scale in all_scales() for pole in (scale.low, scale.high)]
    stimuli = guise_stimuli(poles, 5, varieties=("AAL", "WME"))
    first, second = (
        tuple(replace(text, slug=f"p{n}") for n, text in enumerate(texts, start=1))
        for texts in (stimuli.first, stimuli.second)
    )
    effects = {scale.high: 0.4 * spoken[scale.slug] for scale in all_scales()}
    logs = made_up_logs(poles, 5, effects, noise=0.3)
    model = replace(stimuli, first=first, second=second)
    runs = (store_guise_run(model, *logs, corpus=Corpus.objects.get(), **names_of(1)),)
    return Inputs(in_order(study), runs=runs if with_model else ())


GUISE_WORDS = ("calm", "kind", "lazy", "loud", "musical", "rude")


def _guise_run(number: int, *, effects: Mapping[str, float], **options: Any) -> Run:
    n_pairs = options.pop("n_pairs", 8)
    how = {key: options.pop(key) for key in ("purpose", "varieties") if key in options}
    stimuli = guise_stimuli(options.pop("words", GUISE_WORDS), n_pairs, **how)
    logs = made_up_logs(stimuli.attributes, n_pairs, effects, seed=number)
    return store_guise_run(stimuli, *logs, **names_of(number), **options)


def _jobs() -> Inputs:
    """Occupations that agree with “a”, one that does not, and prestige for most of them."""
    titles = {"Doctor": 8.0, "Cleaner": 2.0, "Judge": 8.5, "Opera singer": 6.0}
    Norm.objects.create(
        slug="gss", title="Survey", kind="prestige", values=titles, citation="Made up"
    )
    jobs = ("actor", "cleaner", "doctor", "judge", "singer")
    effects = {"doctor": -0.6, "judge": -0.5}
    return Inputs(runs=(_guise_run(1, effects=effects, words=jobs, purpose="occupations"),))


def _verdicts() -> Inputs:
    outcomes = {"guilt": ("acquitted", "convicted"), "penalty": ("death", "life")}
    return Inputs(
        runs=tuple(
            _guise_run(number, effects={words[0]: 0.3}, words=words, purpose=purpose)
            for number, (purpose, words) in enumerate(outcomes.items(), start=1)
        )
    )


def _guises() -> Inputs:
    """Two models on texts, one of them with names as well, beside two studies."""
    store_norms()
    return Inputs(
        runs=(
            _guise_run(1, effects={"lazy": 0.5, "loud": 0.3}),
            _guise_run(2, effects={"musical": 0.4}, name="other", notices=[REMARK]),
            _guise_run(
                3, effects={"kind": 1.0}, n_pairs=2, purpose="overt", varieties=("Black", "White")
            ),
        )
    )


def _features() -> Inputs:
    """Pairs of two features, of which one evokes the stereotype."""
    store_norms()
    stimuli = feature_stimuli(GUISE_WORDS, ("habitual_be", "in"), 6)
    first, second = made_up_logs(GUISE_WORDS, 12, {})
    first[:, :6, GUISE_WORDS.index("lazy")] += 0.8
    return Inputs(runs=(store_guise_run(stimuli, first, second, **names_of(1)),))


def _controls() -> Inputs:
    """A variety, noise, and perplexities of the variety's pairs."""
    store_norms()
    run = _guise_run(1, effects={"lazy": 0.5}, n_pairs=14)
    noise = _guise_run(2, effects={}, n_pairs=14, varieties=("noise 10 %", "SAE"))
    # exp(2), exp(2.1) …, written out: the last digit of an array's powers depends on the processor.
    steps = (
        *(7.38905609893065, 8.16616991256765, 9.025013499434122),
        *(9.974182454814718, 11.023176380641601),
    )
    sides = (np.resize(steps, 14), np.full(14, steps[0]))
    return Inputs(runs=(run, noise, store_perplexities(run, *sides, **names_of(3))))


def _models() -> Inputs:
    """Two sizes, covert, overt and with perplexities; the larger one has human feedback."""
    store_norms()
    runs = []
    for place, (name, size) in enumerate((("small", 10**8), ("large", 10**9))):
        effects = {"lazy": 0.2 + 0.3 * place}
        covert = _guise_run(1 + 3 * place, effects=effects, name=name)
        overt = _guise_run(
            2 + 3 * place,
            effects={"kind": 0.5 * place},
            n_pairs=2,
            purpose="overt",
            varieties=("Black", "White"),
            name=name,
        )
        covert.model.parameter_count = size
        covert.model.kind = "causal"
        covert.model.save()
        sides = (np.linspace(20, 40, 8) / (1 + place), np.linspace(10, 15, 8))
        runs += [covert, overt, store_perplexities(covert, *sides, **names_of(3 + 3 * place))]
    return Inputs(runs=tuple(runs))


def _intelligence() -> Inputs:
    """Adjectives, and two IQ values."""
    words = ("intelligent", "kind", "smart", "stupid")
    return Inputs(
        runs=(
            _guise_run(1, effects={"stupid": 0.4}, words=words),
            _guise_run(2, effects={"70": 0.3}, words=("70", "130"), purpose="intelligence"),
        )
    )


CASES: dict[str, Case] = {
    "matched_guise": Case("matched_guise", _guises, {**FEW, "permutations": 200}),
    "matched_guise-alone": Case(
        "matched_guise",
        lambda: Inputs(runs=(_guise_run(1, effects={"lazy": 0.5}),)),
        {**FEW, "permutations": 200, "matching": "pooled"},
    ),
    "matched_guise-averaged": Case(
        "matched_guise", _guises, {**FEW, "permutations": 200, "average": "model"}
    ),
    "guise_occupations": Case("guise_occupations", _jobs, FEW),
    "guise_decisions": Case("guise_decisions", _verdicts, FEW),
    "guise_features": Case("guise_features", _features, FEW),
    "guise_controls": Case("guise_controls", _controls, FEW),
    "guise_models": Case(
        "guise_models", _models, {**FEW, "without_feedback": "small", "with_feedback": "large"}
    ),
    "guise_ratings": Case(
        "guise_ratings", lambda: _speakers(with_model=True), {**FEW, "splits": 50}
    ),
    "guise_ratings-people": Case(
        "guise_ratings", lambda: _speakers(with_model=False), {**FEW, "splits": 0}
    ),
    "guise_intelligence": Case("guise_intelligence", _intelligence, FEW),
}
