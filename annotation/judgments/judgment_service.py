"""Stores what judges say about counterparts, and lets nobody judge their own."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.annotators.errors import NotLive, TaskTaken, WorkRefused
from annotation.annotators.form_values import bound_seconds, clean_text
from annotation.judgments.error_coding import (
    Passage,
    SentErrors,
    read_passages,
    store_passages,
)
from annotation.judgments.error_scheme import Scheme, parse_scheme
from annotation.judgments.items import find_writers
from annotation.judgments.questions import ASPECT_NAMES
from annotation.models import (
    ASPECTS,
    LIKERT,
    Judgment,
    JudgmentDesign,
    JudgmentItem,
    JudgmentTask,
    Study,
    StudyStatus,
    TaskState,
)

LONGEST_COMMENT = 2000


class OwnCounterpart(Exception):  # noqa: N818
    """The judge wrote or decided a counterpart of the text: the task is taken away."""


def open_task(*, task: JudgmentTask) -> None:
    """Note that its judge has seen the counterpart. Seeing it again changes nothing.

    Raises `OwnCounterpart` where the judge has meanwhile written one of the same text.
    """
    if task.state != TaskState.OPEN:
        return
    if is_own(task):
        _take_away(task)
        raise OwnCounterpart
    task.note_opening()


def is_own(task: JudgmentTask) -> bool:
    """Whether the judge wrote or decided a counterpart of the pair, then or since. Four queries."""
    item = JudgmentItem.objects.select_related("pair__source_text", "pair__target_text").get(
        pk=task.item_id
    )
    user = task.annotator.user_id
    return item.writers.filter(pk=user).exists() or user in find_writers([item.pair])[item.pair_id]


def submit_judgment(
    *,
    task: JudgmentTask,
    ratings: Mapping[str, str],
    comment: str = "",
    errors: SentErrors | None = None,
    seconds: float = 0.0,
) -> Judgment:
    """Store the judgment of a task, or change it. The same page may come twice.

    ``ratings`` maps aspects to whole numbers as they were posted; ``errors`` are read where the
    study has a scheme for them. Raises, with nothing stored:
    `WorkRefused` naming what is missing, `NotLive`, `TaskTaken`, `OwnCounterpart`.
    """
    try:
        with transaction.atomic():
            return _submit(task, ratings, clean_text(comment), errors or SentErrors({}), seconds)
    except OwnCounterpart:
        _take_away(task)
        raise


def _submit(
    task: JudgmentTask,
    ratings: Mapping[str, str],
    comment: str,
    errors: SentErrors,
    seconds: float,
) -> Judgment:
    # The study first, as every service locks: two submits of one study wait for each other.
    study = Study.objects.select_for_update().get(pk=task.study_id)
    task = (
        JudgmentTask.objects.select_for_update(of=("self",))
        .select_related("annotator", "item")
        .get(pk=task.pk)
    )
    if study.status != StudyStatus.LIVE:
        raise NotLive(study.status)
    if task.state == TaskState.WITHDRAWN or task.annotator.removed_at is not None:
        raise TaskTaken
    if task.state == TaskState.OPEN and is_own(task):
        raise OwnCounterpart
    scheme = parse_scheme(
        JudgmentDesign.objects.values_list("error_scheme", flat=True).get(study=study)
    )
    values, passages = _read_answers(task.item.body, ratings, comment, scheme, errors)
    judgment = Judgment.objects.filter(task=task).first() or Judgment(task=task)
    changed = any(getattr(judgment, name) != value for name, value in values.items())
    if judgment.pk is None or changed:
        for name, value in values.items():
            setattr(judgment, name, value)
        judgment.full_clean(validate_unique=False, validate_constraints=False)
        judgment.save()
    changed |= store_passages(judgment, passages)
    if task.state == TaskState.OPEN or changed:
        task.state = TaskState.DONE
        task.done_at = task.done_at or timezone.now()
        task.active_seconds = F("active_seconds") + bound_seconds(seconds)
        task.save(update_fields=["state", "done_at", "active_seconds"])
    return judgment


def _read_answers(
    body: str, ratings: Mapping[str, str], comment: str, scheme: Scheme, errors: SentErrors
) -> tuple[dict[str, int | str], list[Passage]]:
    """Return the four ratings and the comment, and the passages that are marked as errors.

    Raises `WorkRefused` with every problem.
    """
    problems: dict[str, str] = {}
    values: dict[str, int | str] = {"comment": comment}
    on_scale = {str(value): value for value in LIKERT}
    for aspect in ASPECTS:
        sent = ratings.get(aspect, "")
        if sent in on_scale:
            values[aspect] = on_scale[sent]
        elif not sent:
            problems[aspect] = _("Not answered yet: %(aspect)s. Choose one of the five.") % {
                "aspect": _(ASPECT_NAMES[aspect])
            }
        else:
            problems[aspect] = _("“%(value)s” is no answer, expected a number from 1 to 5.") % {
                "value": sent[:20]
            }
    if len(comment) > LONGEST_COMMENT:
        problems["comment"] = _(
            "The comment has %(n)s characters, expected at most %(most)s. It is still in the field."
        ) % {"n": f"{len(comment):,}", "most": f"{LONGEST_COMMENT:,}"}
    passages: list[Passage] = []
    if scheme:
        try:
            passages = read_passages(body, scheme, errors)
        except WorkRefused as refusal:
            problems |= refusal.problems
    if problems:
        raise WorkRefused(problems)
    return values, passages


def _take_away(task: JudgmentTask) -> None:
    """Withdraw a task from somebody who turned out to have written a counterpart of its text."""
    with transaction.atomic():
        changed = JudgmentTask.objects.filter(pk=task.pk).withdraw()
        user = task.annotator.user
        if changed and user is not None:
            task.item.writers.add(user)
