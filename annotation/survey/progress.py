"""What the head of a page says about the way through: which group of how many, and its segments."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.survey.flow import Step, StepKind
from annotation.survey.visit import Visit


@dataclass(frozen=True)
class Progress:
    """``number`` of ``total`` groups, 0 before the first; ``segments`` are done, now or open."""

    number: int
    total: int
    segments: tuple[str, ...]


def measure_progress(visit: Visit, step: Step | None) -> Progress:
    """Return the progress at a step, all done for a visit that has no further step."""
    total = len(visit.assignments)
    if step is None:
        return Progress(total, total, ("done",) * total)
    if step.position:
        number = visit.number_of(step)
    else:
        before = visit.steps[: step.index]
        number = sum(
            earlier.kind in {StepKind.RATING, StepKind.REPEAT}
            and earlier.position in visit.assignments
            for earlier in before
        )
    is_rating = step.kind in {StepKind.RATING, StepKind.REPEAT}
    done = number - 1 if is_rating else number
    segments = ["done"] * done + ["now"] * is_rating
    return Progress(number, total, (*segments, *["open"] * (total - len(segments))))
