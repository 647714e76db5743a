"""What the page of one text shows, ready for its template."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.counterparts.queue import is_common, load_queue
from annotation.counterparts.reasons import LONGEST_DETAIL, Reason, split_reason
from annotation.counterparts.varieties import describe_variety
from annotation.counterparts.writing import LONGEST_BODY
from annotation.models import Annotator, StudyStatus, WritingDesign, WritingTask


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
    code, detail = split_reason(counterpart.reason) if counterpart else ("", "")
    values = {
        "body": task.draft or (counterpart.body if counterpart else ""),
        "not_interpretable": bool(counterpart and counterpart.not_interpretable),
        "reason": code if counterpart and counterpart.not_interpretable else "",
        "detail": detail if counterpart and counterpart.not_interpretable else "",
    }
    if sent is not None:
        values = {
            "body": sent.get("body", ""),
            "not_interpretable": sent.get("not_interpretable") == "yes",
            "reason": sent.get("reason", ""),
            "detail": sent.get("detail", ""),
        }
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
