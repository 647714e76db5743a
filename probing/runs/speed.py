"""Selector: how fast a model was in its latest run."""

from __future__ import annotations

from django.db.models import Sum

from probing.lm.protocols import SlotTokenizer
from probing.models import LanguageModel, RunStatus
from probing.runs.inputs import load_inputs


def seconds_per_pass(*, model: LanguageModel, tokenizer: SlotTokenizer) -> float | None:
    """Return the seconds that one forward pass took in the latest finished run of ``model``.

    Counts computing alone, on the workers that the run had. None where no run is finished yet.
    Three queries.
    """
    run = model.runs.filter(status=RunStatus.FINISHED).order_by("-finished_at").first()
    if run is None:
        return None
    spent = run.shards.aggregate(seconds=Sum("seconds"))["seconds"]
    inputs = load_inputs(run)
    passes = inputs.measure.estimate(inputs.stimuli, inputs.parameters, tokenizer).forward_passes
    return spent / passes if spent and passes else None
