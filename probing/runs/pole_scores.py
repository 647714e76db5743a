"""Selector: the scores of single adjectives, which pair scores are differences of."""

from __future__ import annotations

import pandas as pd

from probing.measures.registry import MEASURES
from probing.measures.slot_measure import SlotMeasure
from probing.models import Run
from probing.runs.inputs import load_inputs
from probing.runs.results import from_parquet


def load_pole_scores(run: Run) -> pd.DataFrame | None:
    """Return the columns group, trait, pole, value, n of a finished run, from its shards.

    None for a measure that scores pairs alone, and for a run without the rows of its shards.
    Two queries.
    """
    measure = MEASURES.get(run.measure)
    if not isinstance(measure, SlotMeasure):
        return None
    blobs = run.shards.order_by("index").values_list("result", flat=True)
    frames = [from_parquet(blob) for blob in blobs.iterator(chunk_size=200) if blob is not None]
    if not frames:
        return None
    inputs = load_inputs(run)
    return measure.poles(inputs.stimuli, inputs.parameters, frames)
