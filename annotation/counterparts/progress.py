"""How far the writers of a study are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.annotators.progress import AnnotatorProgress, median_seconds
from annotation.models import Overlap, Study


@dataclass
class WriterProgress(AnnotatorProgress):
    """One writer's numbers."""

    not_interpretable: int = 0


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
        return median_seconds(seconds for writer in self.writers for seconds in writer.seconds)


def load_progress(study: Study) -> Progress:
    """Return where everybody stands, removed writers with work included. Two queries."""
    writers = {
        annotator.pk: WriterProgress(annotator) for annotator in study.annotators.order_by("number")
    }
    texts: dict[int, list[bool]] = {}
    labels: dict[int, str] = {}
    for text, annotator, overlap, state, seconds, done_at, refused in (
        study.writing_tasks.held()
        .order_by()
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
        is_done = writer.count(state, seconds, done_at)
        writer.not_interpretable += is_done and bool(refused)
        texts.setdefault(text, []).append(is_done)
        labels[text] = overlap
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
