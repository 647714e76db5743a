"""Selector: how fast a model was in its latest run of a measure."""

from __future__ import annotations

from typing import Any

from django.db.models import Sum

from probing.models import LanguageModel, RunStatus
from probing.runs.inputs import load_inputs


def seconds_per_pass(*, measure: str, model: LanguageModel, tokenizer: Any) -> float | None:
    """Return the seconds that one forward pass took in the latest finished run of ``model``.

    Only runs of the same measure count, since writing a text takes longer than reading one.
    Computing alone is counted, on the workers that the run had. None where no such run is
    finished yet. Three queries.
    """
    run = (
        model.runs.filter(measure=measure, status=RunStatus.FINISHED)
        .order_by("-finished_at")
        .first()
    )
    if run is None:
        return None
    spent = run.shards.aggregate(seconds=Sum("seconds"))["seconds"]
    inputs = load_inputs(run)
    passes = inputs.measure.estimate(inputs.stimuli, inputs.parameters, tokenizer).forward_passes
    return spent / passes if spent and passes else None
