"""The queue of one annotator: the order of their tasks, and what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from annotation.models import Annotator, JudgmentTask, TaskState, WritingTask


@dataclass(frozen=True)
class Entry:
    """One task of a queue; ``rank`` counts from 1 without gaps, ``position`` is its address."""

    rank: int
    position: int
    state: str

    @property
    def is_done(self) -> bool:
        return self.state == TaskState.DONE


@dataclass(frozen=True)
class Queue:
    """An annotator's tasks in their order, those taken away left out."""

    entries: Sequence[Entry]

    @property
    def total(self) -> int:
        return len(self.entries)

    @property
    def done(self) -> int:
        return sum(entry.is_done for entry in self.entries)

    @property
    def open(self) -> int:
        return self.total - self.done

    def find(self, position: int) -> Entry | None:
        return next((entry for entry in self.entries if entry.position == position), None)

    def before(self, entry: Entry) -> Entry | None:
        return self.entries[entry.rank - 2] if entry.rank > 1 else None

    def after(self, entry: Entry) -> Entry | None:
        return self.entries[entry.rank] if entry.rank < self.total else None

    def next_open(self, rank: int = 0) -> Entry | None:
        """Return the next open task after ``rank``, else the first one before it."""
        later = [entry for entry in self.entries[rank:] if not entry.is_done]
        earlier = [entry for entry in self.entries[: max(rank - 1, 0)] if not entry.is_done]
        return next(iter(later + earlier), None)

    def skipped(self, entry: Entry) -> int:
        """Return how many open tasks come before ``entry``."""
        return sum(not other.is_done for other in self.entries[: entry.rank - 1])


def load_queue(
    annotator: Annotator, tasks: QuerySet[WritingTask] | QuerySet[JudgmentTask]
) -> Queue:
    """Return the annotator's queue among ``tasks``. One query."""
    held = tasks.filter(annotator=annotator).exclude(state=TaskState.WITHDRAWN)
    rows = held.order_by("position").values_list("position", "state")
    return Queue([Entry(rank, *row) for rank, row in enumerate(rows, start=1)])
