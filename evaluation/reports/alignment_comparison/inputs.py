"""Loads what a comparison rests on: one study's ratings and the scores of several runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from annotation.common.lazy import pd
from annotation.models import Study
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.provenance import run_key
from evaluation.reports.parts.rating_inputs import (
    GroupName,
    ModelScores,
    Places,
    ScaleName,
    load_model_scores,
    load_people,
)
from evaluation.reports.parts.score_words import measure_short, short_options
from probing.models import Run


@dataclass(frozen=True)
class ComparisonInputs(Places):
    """``models`` : the run's public id → its scores of the groups in the comparison.

    ``groups`` are those that people rated and a run scores; ``scales`` those that people rated
    and every run scores, so that all are asked the same. ``all_scores`` are those of every run with
    the groups that nobody rated, among them the unmarked baseline where it is scored.
    """

    ratings: pd.DataFrame
    models: dict[str, ModelScores]
    all_scores: dict[str, pd.DataFrame]
    groups: tuple[GroupName, ...]
    scales: tuple[ScaleName, ...]
    record: dict[str, Any]
    hashes: dict[str, str]


def load_comparison(study: Study, runs: Sequence[Run], *, arm: str = "") -> ComparisonInputs:
    """Return the inputs of a comparison of finished ``runs``.

    Raises `ReportError` where people and a run have nothing to compare. Six queries and one a
    run.
    """
    models = [load_model_scores(run) for run in runs]
    people = load_people(study, arm=arm)
    rated = {group.slug for group in people.groups}
    for model in models:
        if not model.groups & rated:
            raise ReportError(f"“{study}” and {model.run} have no group in common.")
    scored = set.union(*(model.groups for model in models))
    scales = tuple(
        scale for scale in people.scales if all(scale.slug in model.scales for model in models)
    )
    if not scales:
        raise ReportError(f"“{study}” and the runs have no trait scale in common.")
    groups = tuple(group for group in people.groups if group.slug in scored)
    common = {group.slug for group in groups}
    kept = [
        replace(model, scores=model.scores[model.scores["group"].isin(common)]) for model in models
    ]
    names: dict[str, str] = {}
    for model in models:
        names |= model.names
    names |= people.names
    return ComparisonInputs(
        ratings=people.ratings,
        models={model.record["public_id"]: model for model in kept},
        all_scores={model.record["public_id"]: model.scores for model in models},
        groups=groups,
        scales=scales,
        record={
            "study": people.record,
            "runs": _label([model.record for model in models]),
            "groups": [asdict(group) for group in groups],
            "scales": [asdict(scale) for scale in scales],
            "other_groups": {slug: name for slug, name in names.items() if slug not in common},
        },
        hashes={"study ratings_hash": people.record["ratings_hash"]}
        | {run_key(model.record): model.record["scores_hash"] for model in models},
    )


def _label(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the runs with a name each: measure with the options that are not the defaults, and
    model; and the number where these repeat."""
    texts = []
    for run in runs:
        options = short_options(run)
        measure = measure_short({"run": run}) + (f" ({options})" if options else "")
        texts.append(f"{measure}, {run['model']}")
    often = Counter(texts)
    return [
        run | {"label": text if often[text] == 1 else f"{text} (run {run['number']})"}
        for run, text in zip(runs, texts, strict=True)
    ]
