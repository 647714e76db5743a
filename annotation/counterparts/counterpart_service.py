"""Stores the counterparts that annotators submit."""

from __future__ import annotations

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.annotators.errors import NotLive, TaskTaken, WorkRefused
from annotation.annotators.form_values import bound_seconds, clean_text
from annotation.counterparts.adjudication import settle_text
from annotation.counterparts.drafts import (
    MOST_DRAFTS,
    Draft,
    Reason,
    check_detail,
    check_length,
    join_reason,
    keep_refused,
)
from annotation.models import (
    Counterpart,
    Study,
    StudyStatus,
    TaskState,
    WritingTask,
)


def is_same(one: str, other: str) -> bool:
    """Whether two texts differ in white space at most."""
    return one.split() == other.split()


class SameAsSource(Exception):  # noqa: N818 - a question, not a fault
    """The counterpart is the source text unchanged, which may be right: its annotator is asked."""


def submit_counterpart(
    *,
    task: WritingTask,
    body: str = "",
    not_interpretable: bool = False,
    reason: str = "",
    detail: str = "",
    is_unchanged_meant: bool = False,
    draft_number: int = 0,
    seconds: float = 0.0,
) -> Counterpart:
    """Store the counterpart of a task, or why there is none. The same page may come twice.

    Raises, with the text kept as a draft: `WorkRefused`, `SameAsSource` where it is the
    source unchanged and ``is_unchanged_meant`` does not say so, `NotLive`, `TaskTaken`.
    """
    draft = Draft(
        body=clean_text(body),
        not_interpretable=not_interpretable,
        reason=reason,
        detail=" ".join(clean_text(detail).split()),
    )
    try:
        with transaction.atomic():
            return _submit(
                task,
                body="" if not_interpretable else draft.body,
                reason=_check_reason(draft) if not_interpretable else "",
                is_unchanged_meant=is_unchanged_meant,
                draft_number=draft_number,
                seconds=seconds,
            )
    except (WorkRefused, SameAsSource, NotLive, TaskTaken):
        keep_refused(task=task, draft=draft, number=draft_number)
        raise


def _check_reason(draft: Draft) -> str:
    """Return the reason as it is stored; raises `WorkRefused` where there is none."""
    if draft.reason not in Reason.values:
        said = _("Choose why the text cannot be interpreted.")
        if draft.body.strip():
            said += " " + _("What you wrote is kept.")
        raise WorkRefused({"reason": said})
    if draft.reason == Reason.OTHER and not draft.detail:
        raise WorkRefused({"detail": _("Write the reason in a few words.")})
    check_detail(draft.detail)
    return join_reason(draft.reason, draft.detail)


def _submit(
    task: WritingTask,
    *,
    body: str,
    reason: str,
    is_unchanged_meant: bool,
    draft_number: int,
    seconds: float,
) -> Counterpart:
    # The study first, as every service locks: two submits of one study wait for each other.
    study = Study.objects.select_for_update().get(pk=task.study_id)
    task = (
        WritingTask.objects.select_for_update(of=("self",))
        .select_related("text", "counterpart", "text__corpus")
        .get(pk=task.pk)
    )
    if study.status != StudyStatus.LIVE:
        raise NotLive(study.status)
    if task.state == TaskState.WITHDRAWN:
        raise TaskTaken
    if not reason:
        if not body:
            raise WorkRefused(
                {"body": _("Write a counterpart, or say that the text cannot be interpreted.")}
            )
        check_length(body)
        if is_same(body, task.text.body) and not is_unchanged_meant:
            already = task.counterpart is not None and is_same(task.counterpart.body, body)
            if not already:
                raise SameAsSource
    counterpart = task.counterpart or Counterpart(
        text=task.text, variety=task.text.corpus.target_variety, annotator_id=task.annotator_id
    )
    if (counterpart.body, counterpart.reason) != (body, reason) or counterpart.pk is None:
        counterpart.body, counterpart.reason = body, reason
        counterpart.not_interpretable = bool(reason)
        counterpart.full_clean(validate_unique=False, validate_constraints=False)
        counterpart.save()
    task.counterpart, task.state = counterpart, TaskState.DONE
    task.done_at = task.done_at or timezone.now()
    for column, value in Draft().as_stored().items():
        setattr(task, column, value)
    task.has_draft = False
    # Drafts that are still on their way are older than what was submitted.
    task.draft_number = min(max(task.draft_number, draft_number) + 1, MOST_DRAFTS)
    task.active_seconds = F("active_seconds") + bound_seconds(seconds)
    task.save()
    settle_text(study=study, text=task.text)
    return counterpart
