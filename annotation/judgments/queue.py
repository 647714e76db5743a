"""The queue of one judge. It names no producer: pages are built from it."""

from __future__ import annotations

from annotation.counterparts.queue import Entry, Queue
from annotation.judgments.items import find_writers
from annotation.models import Annotator, JudgmentTask, TaskState, TextPair


def load_queue(annotator: Annotator) -> Queue:
    """Return the judge's counterparts in their order. One query."""
    rows = (
        JudgmentTask.objects.filter(annotator=annotator)
        .exclude(state=TaskState.WITHDRAWN)
        .order_by("position")
        .values_list("position", "state")
    )
    return Queue(
        [
            Entry(rank, position, state, overlap="")
            for rank, (position, state) in enumerate(rows, start=1)
        ]
    )


def wrote_everything(annotator: Annotator) -> bool:
    """Whether the judge wrote or decided counterparts of all texts of the study. Three queries."""
    pairs = list(
        TextPair.objects.filter(judgment_items__study=annotator.study_id)
        .select_related("source_text", "target_text")
        .distinct()
    )
    writers = find_writers(pairs)
    return bool(pairs) and all(annotator.user_id in writers[pair.pk] for pair in pairs)
