"""Finished runs of matched guise probing with log probabilities made up by a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from django.utils import timezone

from annotation.corpora.guise_features import feature_pairs
from annotation.models import Corpus
from evaluation.models import Norm
from probing.measures.guise_library import GUISE_PROMPTS
from probing.measures.guise_logprobs import NO_TEXT, to_frame
from probing.measures.guise_stimuli import GuisePrompt, GuiseStimuli, GuiseText
from probing.measures.matched_guise import MatchedGuiseParameters
from probing.models import (
    LanguageModel,
    ModelSource,
    Run,
    RunStatus,
    Shard,
    ShardStatus,
    TextScore,
)
from probing.runs.parameters import to_parquet


def guise_prompts(purpose: str, number: int = 3) -> tuple[GuisePrompt, ...]:
    """Return the first prompts of a purpose."""
    return tuple(prompt for prompt in GUISE_PROMPTS if prompt.purpose == purpose)[:number]


def guise_stimuli(
    attributes: Sequence[str],
    n_pairs: int,
    *,
    purpose: str = "traits",
    n_prompts: int = 3,
    varieties: tuple[str, str] = ("AAE", "SAE"),
) -> GuiseStimuli:
    """Return pairs whose bodies do not matter."""
    first, second = (
        tuple(GuiseText(f"p{n:03d}", f"{name} {n}") for n in range(n_pairs)) for name in varieties
    )
    return GuiseStimuli(
        *varieties,
        first,
        second,
        paired=True,
        prompts=guise_prompts(purpose, n_prompts),
        attributes=tuple(attributes),
        attribute_list="made-up",
    )


def feature_stimuli(
    attributes: Sequence[str], features: Sequence[str], n_pairs: int, *, n_prompts: int = 3
) -> GuiseStimuli:
    """Return so many pairs that differ in each of the features, one feature after the other."""
    pairs = [pair for name in features for pair in list(feature_pairs(name))[:n_pairs]]
    first, second = (
        tuple(GuiseText(f"p{n:03d}", body) for n, body in enumerate(bodies))
        for bodies in ([pair.first for pair in pairs], [pair.second for pair in pairs])
    )
    return replace(
        guise_stimuli(attributes, len(pairs), n_prompts=n_prompts), first=first, second=second
    )


def store_guise_run(
    stimuli: GuiseStimuli,
    first: np.ndarray,
    second: np.ndarray,
    *,
    empty: np.ndarray | None = None,
    name: str = "tiny",
    corpus: Corpus | None = None,
    **options: Any,
) -> Run:
    """Store a run as the engine leaves it, in one shard.

    first, second : ln P, (n_prompts, n_texts, n_attributes); empty : (n_prompts, n_attributes)
    """
    model, _ = LanguageModel.objects.get_or_create(
        name=name, defaults={"source": ModelSource.PATH, "location": f"/models/{name}"}
    )
    without = np.full((len(first), 1, first.shape[2]), -3.0) if empty is None else empty[:, None]
    entries, values = [], []
    for place, prompt in enumerate(stimuli.prompts):
        for variety, texts, table in (
            (stimuli.first_variety, stimuli.first, first),
            (stimuli.second_variety, stimuli.second, second),
        ):
            entries += [(prompt.slug, variety, text.slug) for text in texts]
            values.append(table[place])
        entries.append((prompt.slug, NO_TEXT, NO_TEXT))
        values.append(without[place])
    frame = to_frame(entries, [""] * len(entries), np.concatenate(values))
    run = Run.objects.create(
        **{
            "measure": "matched_guise",
            "model": model,
            "corpus": corpus,
            "parameters": MatchedGuiseParameters(form="completion", opening=False).model_dump(
                mode="json"
            ),
            "stimuli": stimuli.to_dict(),
            "stimuli_hash": stimuli.content_hash(),
            "status": RunStatus.FINISHED,
            "code_version": "test",
            "model_revision": "abc123",
            "shard_count": 1,
            **options,
        }
    )
    Shard.objects.create(
        run=run,
        index=0,
        title="all",
        payload={},
        status=ShardStatus.STORED,
        stored_at=timezone.now(),
        result=to_parquet(frame),
    )
    return run


def made_up_logs(
    attributes: Sequence[str],
    n_pairs: int,
    effects: Mapping[str, float],
    *,
    n_prompts: int = 3,
    seed: int = 0,
    noise: float = 0.2,
) -> tuple[np.ndarray, np.ndarray]:
    """Return ln P of both guises; an effect is added to ln P after the first."""
    rng = np.random.default_rng(seed)
    second = rng.normal(-5, 0.5, size=(n_prompts, n_pairs, len(attributes)))
    first = second + rng.normal(0, noise, size=second.shape)
    for name, effect in effects.items():
        first[..., list(attributes).index(name)] += effect
    return first, second


def store_norms() -> None:
    """Store two small studies, favorability and prestige, made up."""
    for slug, year, values in (
        ("katz", 1933, {"lazy": 75, "loud": 30, "musical": 20}),
        ("bergsieker", 2012, {"kind": 40, "musical": 20}),
    ):
        Norm.objects.create(
            slug=slug,
            title=f"Study of {year}",
            kind="percent",
            year=year,
            values=values,
            citation="Made up",
        )
    Norm.objects.create(
        slug="favor",
        title="Favor",
        kind="favorability",
        values={"lazy": -1.5, "loud": -0.5, "musical": 1.0, "kind": 2.0, "rude": -2.0, "calm": 1.5},
        citation="Made up",
    )


def store_perplexities(
    guises: Run, first: np.ndarray, second: np.ndarray, *, n_tokens: int = 6, **options: Any
) -> Run:
    """Store a run on perplexity of the pairs of a run on guises, by the same model."""
    run = Run.objects.create(
        **{
            "measure": "perplexity",
            "model": guises.model,
            "corpus": guises.corpus,
            "parameters": {"unit": "token", "pairs_per_shard": 50},
            "stimuli": {},
            "stimuli_hash": "0" * 64,
            "status": RunStatus.FINISHED,
            "code_version": "test",
            "model_revision": "abc123",
            **options,
        }
    )
    sides = (("first_variety", first), ("second_variety", second))
    TextScore.objects.bulk_create(
        TextScore(
            run=run,
            name="perplexity",
            pair=text["slug"],
            variety=guises.stimuli[name],
            condition="whole text",
            trial=0,
            value=float(value),
            n=n_tokens,
        )
        for name, values in sides
        for text, value in zip(guises.stimuli["first"], values, strict=True)
    )
    return run
