"""Selector: what classifiers said, sentence by sentence."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.common.lazy import pd
from probing.measures.classification import sentence_frame
from probing.measures.probe_stimuli import ProbeStimuli
from probing.models import Run
from probing.runs.parameters import load_inputs, load_shard_frames

#: What tells the rounds of a prompted run apart.
FACTORS = ("wording", "order", "seed")


@dataclass(frozen=True)
class RunPredictions:
    """sentences : group, filler, template and label of each; predicted : (n_repeats, n) classes.

    repeats : names of the runs that were imported together, or of the rounds of a prompted run;
        one empty name for a run of a classifier
    matched : (n_repeats, n) False where an answer named no class and one was drawn; None for runs
        without answers
    factors : (n_repeats,) rows with wording, order and seed; None for runs without prompts
    """

    stimuli: ProbeStimuli
    sentences: pd.DataFrame
    predicted: pd.DataFrame
    matched: pd.DataFrame | None = None
    factors: pd.DataFrame | None = None

    @property
    def repeats(self) -> tuple[str, ...]:
        return tuple(self.predicted.index)


def load_predictions(run: Run) -> RunPredictions:
    """Return the predictions of a finished run. Two queries.

    Raises LookupError where the rows of its shards are not there any longer.
    """
    frames = load_shard_frames(run)
    if len(frames) != run.shard_count:
        raise LookupError(f"The predictions of {run} are not stored any longer.")
    stimuli: ProbeStimuli = load_inputs(run).stimuli
    rows = pd.concat(frames, ignore_index=True)
    order = list(dict.fromkeys(rows["repeat"]))

    def table(name: str) -> pd.DataFrame:
        return rows.pivot(index="repeat", columns="sentence", values=name).loc[order]

    factors = None
    if "wording" in rows:
        factors = rows.drop_duplicates("repeat").set_index("repeat").loc[order, list(FACTORS)]
    return RunPredictions(
        stimuli,
        sentence_frame(stimuli),
        table("predicted"),
        table("matched") if "matched" in rows else None,
        factors,
    )
