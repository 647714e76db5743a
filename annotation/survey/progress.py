"""How far along a visit is, by pages: the bar says nothing of how many groups there are."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.survey.flow import Step
from annotation.survey.visit import Visit


@dataclass(frozen=True)
class Progress:
    """``done`` of ``total`` steps lie behind, those that were passed over included."""

    done: int
    total: int


def measure_progress(visit: Visit, step: Step | None) -> Progress:
    """Return the progress at a step, all done for a visit that has no further step."""
    total = len(visit.steps)
    return Progress(total if step is None else step.index, total)
