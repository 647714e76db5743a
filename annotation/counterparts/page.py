"""What the page of one text shows, ready for its template."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.counterparts.drafts import LONGEST_BODY, Draft, current_draft
from annotation.counterparts.queue import is_common, load_queue
from annotation.counterparts.reasons import LONGEST_DETAIL, Reason
from annotation.counterparts.varieties import describe_variety
from annotation.models import Annotator, StudyStatus, WritingDesign, WritingTask


def read_draft(sent: Mapping[str, Any]) -> Draft:
    """Return what the page's form holds."""
    return Draft(
        body=sent.get("body", ""),
        not_interpretable=sent.get("not_interpretable") == "yes",
        reason=sent.get("reason", ""),
        detail=sent.get("detail", ""),
    )


def build_page(
    place: Annotator,
    task: WritingTask,
    *,
    sent: Mapping[str, Any] | None = None,
    problems: Mapping[str, str] | None = None,
    question: bool = False,
    was_closed: bool = False,
) -> dict[str, Any]:
    """Return the context of the page; ``sent`` is a form that was refused. Two queries."""
    design = WritingDesign.objects.select_related("corpus").get(study=place.study_id)
    own = load_queue(place)
    entry = own.find(task.position)
    if entry is None:
        raise ValueError("The task is not in its annotator's queue.")
    before, after, following = own.before(entry), own.after(entry), own.next_open(entry.rank)
    counterpart = task.counterpart
    values = current_draft(task)
    if sent is not None:
        values = read_draft(sent)
    return {
        "place": place,
        "study": place.study,
        "is_live": place.study.status == StudyStatus.LIVE,
        "was_closed": was_closed,
        "task": task,
        "text": task.text,
        "queue": own,
        "entry": entry,
        "is_common": is_common(entry),
        "before": before,
        "after": after,
        "following": following,
        "skipped": own.skipped(entry),
        "submitted": counterpart.body if counterpart else "",
        "source_variety": describe_variety(design.corpus.source_variety),
        "target_variety": describe_variety(design.corpus.target_variety),
        "guidelines": design.guidelines,
        "values": values,
        "reasons": Reason.choices,
        "problems": problems or {},
        "question": question,
        "longest_body": LONGEST_BODY,
        "longest_detail": LONGEST_DETAIL,
    }
