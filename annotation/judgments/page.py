"""What the pages of judges show. Nothing here knows a producer: it never reaches a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.annotators.written import shorten
from annotation.counterparts.queue import Entry, Queue
from annotation.counterparts.varieties import describe_variety
from annotation.judgments.judging import LONGEST_COMMENT
from annotation.judgments.queue import load_queue
from annotation.judgments.wording import ShownAspect, parse_wording, show_aspects
from annotation.models import (
    ASPECTS,
    Annotator,
    Judgment,
    JudgmentDesign,
    JudgmentTask,
    StudyStatus,
    TaskState,
)


@dataclass(frozen=True)
class AskedAspect:
    """One question on the page, with what was chosen and what is wrong with it."""

    aspect: ShownAspect
    chosen: str
    problem: str


@dataclass(frozen=True)
class Line:
    """One judged counterpart in the list of a queue."""

    entry: Entry
    beginning: str


def build_page(
    place: Annotator,
    task: JudgmentTask,
    *,
    sent: Mapping[str, str] | None = None,
    problems: Mapping[str, str] | None = None,
    was_closed: bool = False,
) -> dict[str, Any]:
    """Return the context of one counterpart's page; ``sent`` is a form that was refused.

    Three queries.
    """
    design = JudgmentDesign.objects.select_related("corpus").get(study=place.study_id)
    own = load_queue(place)
    entry = own.find(task.position)
    if entry is None:
        raise ValueError("The task is not in its judge's queue.")
    judgment = Judgment.objects.filter(task=task).first()
    values = {name: str(getattr(judgment, name)) for name in ASPECTS} if judgment else {}
    comment = judgment.comment if judgment else ""
    if sent is not None:
        values = {name: sent.get(name, "") for name in ASPECTS}
        comment = sent.get("comment", "")
    found = problems or {}
    item, corpus = task.item, design.corpus
    aspects = show_aspects(parse_wording(design.wording), item.variety)
    asked = [
        AskedAspect(aspect, values.get(aspect.name, ""), found.get(aspect.name, ""))
        for aspect in aspects
    ]
    varieties = {corpus.source_variety, corpus.target_variety}
    (original_variety,) = varieties - {item.variety}
    return {
        "place": place,
        "study": place.study,
        "is_live": place.study.status == StudyStatus.LIVE,
        "was_closed": was_closed,
        "queue": own,
        "entry": entry,
        "before": own.before(entry),
        "after": own.after(entry),
        "original": task.item.text,
        "counterpart": item.body,
        "original_variety": describe_variety(original_variety),
        "counterpart_variety": describe_variety(item.variety),
        "asked": asked,
        "troubled": [one for one in asked if one.problem],
        "comment": comment,
        "comment_problem": found.get("comment", ""),
        "longest_comment": LONGEST_COMMENT,
        "was_judged": judgment is not None,
    }


def list_judged(place: Annotator, queue: Queue) -> list[Line]:
    """Return what a judge has judged, with the beginnings of the counterparts. One query."""
    bodies = dict(
        JudgmentTask.objects.filter(annotator=place, state=TaskState.DONE).values_list(
            "position", "item__body"
        )
    )
    return [
        Line(entry, shorten(bodies[entry.position]))
        for entry in queue.entries
        if entry.is_done and entry.position in bodies
    ]
