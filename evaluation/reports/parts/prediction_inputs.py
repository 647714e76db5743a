"""Loads what classifiers said of labeled sentences, model by model, as gaps are computed on."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from annotation.common.lazy import np, pd
from evaluation.analyses.fpr_counts import Fallback, GapOptions, Predictions
from evaluation.reports.parts.corpus_inputs import run_record
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.options import IntervalParameters
from evaluation.reports.parts.provenance import run_key
from probing.imports.predictions import SOURCE
from probing.measures.base import ResultKind
from probing.measures.prompted_measure import PromptedMeasure
from probing.measures.registry import MEASURES as ALL_MEASURES
from probing.models import Run
from probing.runs.parameters import load_inputs
from probing.runs.predictions import RunPredictions, load_predictions

#: Measures whose runs leave predictions behind.
MEASURES = tuple(
    name for name, measure in ALL_MEASURES.items() if measure.result is ResultKind.PREDICTIONS
)


class GapParameters(IntervalParameters):
    """The options of reports on false positive rates."""

    interval: Literal["simultaneous", "these-runs", "t", "released"] = Field(
        "simultaneous",
        title="Interval of the gaps",
        description="Interval beside a gap: of all gaps at once, for templates and runs like these "
        "(simultaneous) or for these runs (these-runs); Student’s over runs (t), or 1.96 sd / √n "
        "over runs as published (released).",
    )
    margin: float = Field(
        0.02,
        gt=0,
        lt=1,
        title="Margin of equivalence",
        description="Gaps smaller than this count as none in the equivalence test.",
    )
    released_eps: bool = Field(
        False,
        title="Rates as in the released code",
        description="Rates with the released code’s 1e-10 on both counts.",
    )

    fallback: Fallback = Field(
        "random",
        title="Answers without a class",
        description="What answers of prompted models that name no class count as: the class that "
        "was drawn for them (random), nothing (drop), all errors or all correct.",
    )

    @property
    def options(self) -> GapOptions:
        return GapOptions(
            interval=self.interval,
            margin=self.margin,
            released_eps=self.released_eps,
            fallback=self.fallback,
            **self.bootstrap,
        )


@dataclass(frozen=True)
class LoadedPredictions:
    """Predictions of every model on every set of sentences, what reports keep of them, hashes."""

    models: tuple[Predictions, ...]
    record: dict[str, Any]
    hashes: dict[str, str]


def producer_of(run: Run) -> str:
    """Return the model that a run counts for, and how it was asked. At most one query.

    Models trained from one are runs of that one. Zero-shot, few-shot and reasoned answers of one
    model are compared like models.
    """
    name = run.model.trained_from.name if run.model.trained_from else run.model.name
    inputs = load_inputs(run)
    if isinstance(inputs.measure, PromptedMeasure):
        return f"{name}, {inputs.measure.way(inputs.stimuli, inputs.parameters)}"
    return name


def sentences_hash(run: Run) -> str:
    """Return what runs on the same sentences share, whoever was asked and how."""
    found: str = load_inputs(run).stimuli.sentences_hash()
    return found


def load_model_predictions(runs: Sequence[Run]) -> LoadedPredictions:
    """Return the predictions of runs, those of one model on one set of sentences together.

    Three queries a run. Raises `ReportError` where a model's runs on a set have other sentences.
    """
    found: dict[tuple[str, str], list[tuple[Run, RunPredictions]]] = {}
    names: dict[str, str] = {}
    words: dict[str, list[str]] = {}
    roles: dict[str, str] = {}
    hashes = {}
    for run in runs:
        try:
            loaded = load_predictions(run)
        except LookupError as error:
            raise ReportError(str(error)) from error
        own = found.setdefault((producer_of(run), loaded.stimuli.name or "sentences"), [])
        if own and own[0][1].stimuli.sentences_hash() != loaded.stimuli.sentences_hash():
            raise ReportError(
                f"{own[0][0]} and {run} are of one model on “{loaded.stimuli.name}”, but their "
                "sentences differ. Choose runs on the same templates and lexicons."
            )
        own.append((run, loaded))
        for group in loaded.stimuli.groups:
            names[group.slug], roles[group.slug] = group.name, group.role
            # On several sets, a claim about a group is as weak as on that with the fewest words.
            own_words = list(group.filler_names)
            words[group.slug] = min(words.get(group.slug, own_words), own_words, key=len)
        said = np.ascontiguousarray(loaded.predicted.to_numpy(dtype=np.int8))
        digest = hashlib.sha256(run.stimuli_hash.encode() + said.tobytes())
        hashes[run_key({"public_id": run.public_id})] = digest.hexdigest()
    models = tuple(_predictions(*key, parts) for key, parts in found.items())
    classes = list(dict.fromkeys(model.classes for model in models))
    if len(classes) > 1:
        raise ReportError("The runs have other classes. Choose runs with the same labels.")
    return LoadedPredictions(
        models,
        {
            "runs": [run_record(run) | {"counts_for": producer_of(run)} for run in runs],
            "classes": list(classes[0]),
            "groups": names,
            "roles": roles,
            "words": words,
            "remarks": sorted(
                {text for run in runs for text in run.notices if not text.startswith(SOURCE)}
            ),
        },
        hashes,
    )


def _predictions(
    model: str, data_set: str, parts: Sequence[tuple[Run, RunPredictions]]
) -> Predictions:
    first = parts[0][1]
    matched = [
        np.ones(loaded.predicted.shape, dtype=bool)
        if loaded.matched is None
        else loaded.matched.to_numpy(dtype=bool)
        for _, loaded in parts
    ]
    factors = [loaded.factors for _, loaded in parts if loaded.factors is not None]
    return Predictions(
        model=model,
        data_set=data_set,
        sentences=first.sentences,
        predicted=np.concatenate([loaded.predicted.to_numpy() for _, loaded in parts]),
        runs=tuple(
            " ".join(filter(None, (f"run {run.pk}", repeat)))
            for run, loaded in parts
            for repeat in loaded.repeats
        ),
        roles={group.slug: group.role for group in first.stimuli.groups},
        classes=first.stimuli.classes,
        matched=None if first.matched is None else np.concatenate(matched),
        factors=pd.concat(factors, ignore_index=True) if len(factors) == len(parts) else None,
    )
