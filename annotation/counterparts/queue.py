"""The queue of one writer: what stands where, and what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.annotators.written import shorten
from annotation.models import Annotator, Overlap, TaskState, WritingTask


@dataclass(frozen=True)
class Entry:
    """One text of a queue; ``rank`` counts from 1 without gaps, ``position`` is its address."""

    rank: int
    position: int
    state: str
    overlap: str

    @property
    def is_done(self) -> bool:
        return self.state == TaskState.DONE


@dataclass(frozen=True)
class Queue:
    """A writer's texts in their order, those taken away left out."""

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
        """Return the next open text after ``rank``, else the first one before it."""
        later = [entry for entry in self.entries[rank:] if not entry.is_done]
        earlier = [entry for entry in self.entries[: max(rank - 1, 0)] if not entry.is_done]
        return next(iter(later + earlier), None)

    def skipped(self, entry: Entry) -> int:
        """Return how many open texts stand before ``entry``."""
        return sum(not other.is_done for other in self.entries[: entry.rank - 1])


def load_queue(annotator: Annotator) -> Queue:
    """Return the writer's queue. One query."""
    rows = (
        WritingTask.objects.filter(annotator=annotator)
        .exclude(state=TaskState.WITHDRAWN)
        .order_by("position")
        .values_list("position", "state", "overlap")
    )
    return Queue(
        [
            Entry(rank, position, state, overlap)
            for rank, (position, state, overlap) in enumerate(rows, start=1)
        ]
    )


@dataclass(frozen=True)
class Line:
    """One line of the page that lists a queue."""

    entry: Entry
    beginning: str
    has_draft: bool
    not_interpretable: bool


def load_lines(annotator: Annotator, queue: Queue) -> list[Line]:
    """Return the queue with the beginnings of its texts. One query."""
    rows = {
        position: (body, has_draft, refused)
        for position, body, has_draft, refused in WritingTask.objects.filter(annotator=annotator)
        .exclude(state=TaskState.WITHDRAWN)
        .values_list("position", "text__body", "has_draft", "counterpart__not_interpretable")
    }
    lines = []
    for entry in queue.entries:
        body, has_draft, refused = rows[entry.position]
        lines.append(Line(entry, shorten(body), has_draft, bool(refused)))
    return lines


def is_common(entry: Entry) -> bool:
    return entry.overlap == Overlap.COMMON
