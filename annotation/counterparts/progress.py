"""How far the writers of a study are."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from annotation.models import Annotator, Overlap, Study, TaskState, WritingTask


@dataclass
class WriterProgress:
    """One writer's numbers; ``median_seconds`` is of the texts that are done, None without any."""

    annotator: Annotator
    assigned: int = 0
    done: int = 0
    not_interpretable: int = 0
    seconds: list[float] = field(default_factory=list)
    last_done: datetime | None = None

    @property
    def open(self) -> int:
        return self.assigned - self.done

    @property
    def median_seconds(self) -> float | None:
        """Of texts with a counted time: without scripts the browser counts none."""
        counted = [seconds for seconds in self.seconds if seconds > 0]
        return statistics.median(counted) if counted else None


@dataclass(frozen=True)
class OverlapProgress:
    """Texts of one overlap by how many of their counterparts are there."""

    overlap: Overlap
    texts: int
    complete: int
    partial: int


@dataclass(frozen=True)
class Progress:
    writers: Sequence[WriterProgress]
    overlaps: Sequence[OverlapProgress]
    texts: int
    complete: int

    @property
    def assigned(self) -> int:
        return sum(writer.assigned for writer in self.writers)

    @property
    def done(self) -> int:
        return sum(writer.done for writer in self.writers)

    @property
    def not_interpretable(self) -> int:
        return sum(writer.not_interpretable for writer in self.writers)

    @property
    def median_seconds(self) -> float | None:
        counted = [seconds for writer in self.writers for seconds in writer.seconds if seconds > 0]
        return statistics.median(counted) if counted else None


def load_progress(study: Study) -> Progress:
    """Return where everybody stands, removed writers with work included. Two queries."""
    writers = {
        annotator.pk: WriterProgress(annotator)
        for annotator in Annotator.objects.filter(study=study).order_by("number")
    }
    texts: dict[int, list[bool]] = {}
    labels: dict[int, str] = {}
    for text, annotator, overlap, state, seconds, done_at, refused in (
        WritingTask.objects.filter(study=study)
        .exclude(state=TaskState.WITHDRAWN)
        .values_list(
            "text",
            "annotator",
            "overlap",
            "state",
            "active_seconds",
            "done_at",
            "counterpart__not_interpretable",
        )
    ):
        writer = writers[annotator]
        is_done = state == TaskState.DONE
        writer.assigned += 1
        texts.setdefault(text, []).append(is_done)
        labels[text] = overlap
        if is_done:
            writer.done += 1
            writer.not_interpretable += bool(refused)
            writer.seconds.append(seconds)
            if done_at and (writer.last_done is None or done_at > writer.last_done):
                writer.last_done = done_at
    overlaps = []
    for overlap in Overlap:
        states = [texts[text] for text in texts if labels[text] == overlap]
        complete = sum(all(state) for state in states)
        partial = sum(any(state) and not all(state) for state in states)
        overlaps.append(OverlapProgress(overlap, len(states), complete, partial))
    return Progress(
        writers=[
            writer
            for writer in writers.values()
            if writer.annotator.removed_at is None or writer.assigned
        ],
        overlaps=overlaps,
        texts=len(texts),
        complete=sum(all(state) for state in texts.values()),
    )
