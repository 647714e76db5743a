"""What annotators wrote in a study, as agreement is computed from it."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.common.row_order import order_rows
from annotation.models import Study, TaskState, WritingTask


@dataclass(frozen=True)
class Annotation:
    """One submitted counterpart; `body` is "" where the text is not interpretable."""

    text_slug: str
    source: str
    annotator_number: int
    body: str
    not_interpretable: bool


def load_annotations(study: Study) -> list[Annotation]:
    """Return every submitted counterpart, by text and annotator, singles included. One query.

    Drafts never count; neither does work that was taken from somebody before it was submitted.
    """
    rows = WritingTask.objects.filter(study=study, state=TaskState.DONE).values_list(
        "text__slug",
        "text__source",
        "annotator__number",
        "counterpart__body",
        "counterpart__not_interpretable",
    )
    return [
        Annotation(slug, source, number, body or "", bool(refused))
        for slug, source, number, body, refused in order_rows(rows, 0, 2)
    ]
