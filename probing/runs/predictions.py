"""Selector: what classifiers said, sentence by sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probing.measures.classification import sentence_frame
from probing.measures.probe_stimuli import ProbeStimuli
from probing.models import Run
from probing.runs.inputs import load_inputs, load_shard_frames

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class RunPredictions:
    """sentences : group, filler, template and label of each; predicted : (n_repeats, n) classes.

    repeats : names of the runs that were imported together; one empty name for a run of our own
    """

    stimuli: ProbeStimuli
    sentences: pd.DataFrame
    predicted: pd.DataFrame

    @property
    def repeats(self) -> tuple[str, ...]:
        return tuple(self.predicted.index)


def load_predictions(run: Run) -> RunPredictions:
    """Return the predictions of a finished run. Two queries.

    Raises LookupError where the rows of its shards are not there any longer.
    """
    import pandas as pd

    frames = load_shard_frames(run)
    if len(frames) != run.shard_count:
        raise LookupError(f"The predictions of {run} are not stored any longer.")
    stimuli: ProbeStimuli = load_inputs(run).stimuli
    rows = pd.concat(frames, ignore_index=True)
    order = list(dict.fromkeys(rows["repeat"]))
    table = rows.pivot(index="repeat", columns="sentence", values="predicted").loc[order]
    return RunPredictions(stimuli, sentence_frame(stimuli), table)
