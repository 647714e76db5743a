"""Scores of one model in one probe: by prompt and overall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.analyses.guise_draws import (
    Floats,
    GuiseRun,
    Matching,
    Probe,
    mean_over_prompts,
    run_scores,
    stack_prompts,
)
from evaluation.analyses.resample_options import ResamplingOptions

UNPAIRED = "interval and test are of pairs, and some texts are in none"
POOLED = "interval and test are of pairs, and texts are pooled"


@dataclass(frozen=True)
class GuiseOptions(ResamplingOptions):
    """Options of the analysis; see the report's parameters."""

    matching: Matching = "meaning_matched"
    n_permutations: int = 10_000


@dataclass(frozen=True)
class GuiseCell:
    """The scores of one model in one probe, by prompt and overall.

    why_no_pairs : empty where all texts are in pairs
    """

    model: str
    probe: Probe
    prompts: tuple[str, ...]
    by_prompt: Floats
    why_no_pairs: str = ""

    @property
    def q(self) -> Floats:
        return mean_over_prompts(self.by_prompt)


def guise_cells(runs: Sequence[GuiseRun], options: GuiseOptions) -> list[GuiseCell]:
    """Return a cell for every model and probe, in the order of the runs."""
    groups: dict[tuple[str, Probe], list[GuiseRun]] = {}
    for run in runs:
        groups.setdefault((run.model, run.probe), []).append(run)
    return [_cell(*key, some, options.matching) for key, some in groups.items()]


def runs_of(cell: GuiseCell, runs: Sequence[GuiseRun]) -> list[GuiseRun]:
    return [run for run in runs if (run.model, run.probe) == (cell.model, cell.probe)]


def _cell(model: str, probe: Probe, runs: Sequence[GuiseRun], matching: Matching) -> GuiseCell:
    prompts, by_prompt = stack_prompts([(run.prompts, run_scores(run, matching)) for run in runs])
    why = POOLED if matching != "meaning_matched" else ""
    if not why and not all(run.paired for run in runs):
        why = UNPAIRED
    return GuiseCell(model, probe, prompts, by_prompt, why)
