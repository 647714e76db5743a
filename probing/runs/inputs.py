"""What a run stored about its own computation, read back for measures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pydantic

from probing.measures.base import AnyMeasure, StimuliValue
from probing.measures.registry import get_measure
from probing.models import Run


@dataclass(frozen=True)
class RunInputs:
    """A run's measure with validated parameters and stimuli."""

    measure: AnyMeasure
    parameters: pydantic.BaseModel
    stimuli: Any


def load_inputs(run: Run) -> RunInputs:
    """Return the inputs of ``run``. At most one query, none where they were read before."""
    measure = get_measure(run.measure)
    return RunInputs(
        measure=measure,
        parameters=measure.Parameters.model_validate(run.parameters),
        stimuli=_stimuli(run.pk, run.stimuli_hash, measure.stimuli_type),
    )


@lru_cache(maxsize=8)
def _stimuli(run_id: int, stimuli_hash: str, kind: type[StimuliValue]) -> StimuliValue:
    # A run's stimuli never change, and their hash makes the key safe in every database.
    stored: Any = Run.objects.values_list("stimuli", flat=True).get(pk=run_id)
    return kind.from_json(stored)
