"""How far an annotator is, whatever the work."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from annotation.models import Annotator, TaskState


@dataclass
class AnnotatorProgress:
    """One annotator's numbers."""

    annotator: Annotator
    assigned: int = 0
    done: int = 0
    seconds: list[float] = field(default_factory=list)
    last_done: datetime | None = None

    @property
    def open(self) -> int:
        return self.assigned - self.done

    @property
    def median_seconds(self) -> float | None:
        return median_seconds(self.seconds)

    def count(self, state: str, seconds: float, done_at: datetime | None) -> bool:
        """Count a task that the annotator has, and return whether it is done."""
        self.assigned += 1
        if state != TaskState.DONE:
            return False
        self.done += 1
        self.seconds.append(seconds)
        if done_at is not None and (self.last_done is None or done_at > self.last_done):
            self.last_done = done_at
        return True


def median_seconds(seconds: Iterable[float]) -> float | None:
    """Return the median of counted times, None without any: without scripts browsers count none."""
    counted = [one for one in seconds if one > 0]
    return statistics.median(counted) if counted else None
