"""The judgments of a study as reports take them."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import ASPECTS, Judgment, Study, TaskState


@dataclass(frozen=True)
class JudgmentRow:
    """One judgment.

    ``pair`` is the pair's slug, ``source`` where its original text was drawn from, ``variety`` that
    of the counterpart, ``producer`` is “human” or name@revision; ``run`` tells runs of one model
    apart. Two rows of one ``item`` are two judges of one counterpart; ``annotator`` is the judge's
    number in the study.
    """

    item: int
    pair: str
    source: str
    variety: str
    producer: str
    run: str
    annotator: int
    human_likeness: int
    linguistic_match: int
    meaning_preservation: int
    tone_preservation: int


def load_judgments(study: Study) -> list[JudgmentRow]:
    """Return all judgments of a study, item by item. One query."""
    rows = (
        Judgment.objects.filter(task__study=study, task__state=TaskState.DONE)
        .order_by("task__item", "task__annotator__number")
        .values_list(
            "task__item",
            "task__item__pair__slug",
            "task__item__pair__source_text__source",
            "task__item__variety",
            "task__item__producer",
            "task__item__run",
            "task__annotator__number",
            *ASPECTS,
        )
    )
    return [JudgmentRow(*row) for row in rows.iterator(chunk_size=2000)]
