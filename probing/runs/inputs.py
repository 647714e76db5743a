"""Stored data of a run: its measure's inputs, and the rows of its shards as Parquet files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import Any

import pydantic

from annotation.common.lazy import pd
from probing.measures.base import AnyMeasure, ResultKind, StimuliValue
from probing.measures.imported_stimuli import ImportedStimuli
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
    kind: type[StimuliValue] = measure.stimuli_type
    if run.is_imported and measure.result is ResultKind.SCORES:
        kind = ImportedStimuli
    return RunInputs(
        measure=measure,
        parameters=measure.Parameters.model_validate({**measure.before, **run.parameters}),
        stimuli=_stimuli(run.pk, run.stimuli_hash, kind),
    )


@lru_cache(maxsize=8)
def _stimuli(run_id: int, stimuli_hash: str, kind: type[StimuliValue]) -> StimuliValue:
    # A run's stimuli never change, and their hash makes the key safe in every database.
    stored: Any = Run.objects.values_list("stimuli", flat=True).get(pk=run_id)
    return kind.from_json(stored)


def load_shard_frames(run: Run) -> list[pd.DataFrame]:
    """Return the rows of the stored shards, in their order. One query."""
    blobs = run.shards.order_by("index").values_list("result", flat=True)
    return [from_parquet(blob) for blob in blobs.iterator(chunk_size=200) if blob is not None]


def to_parquet(frame: pd.DataFrame) -> bytes:
    """Return ``frame`` as one Parquet file; floats keep every bit."""
    buffer = BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def from_parquet(blob: bytes | memoryview) -> pd.DataFrame:
    """Return the frame that :func:`to_parquet` wrote."""
    return pd.read_parquet(BytesIO(bytes(blob)))
