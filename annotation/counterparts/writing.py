"""Stores what annotators write: drafts while they type, counterparts when they submit."""

from __future__ import annotations

import math
import unicodedata

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.counterparts.errors import (
    CounterpartRefused,
    NotLive,
    SameAsSource,
    StaleDraft,
    TaskTaken,
)
from annotation.counterparts.reasons import LONGEST_DETAIL, Reason, join_reason
from annotation.counterparts.settling import settle_text
from annotation.models import (
    Counterpart,
    Study,
    StudyStatus,
    TaskState,
    WritingTask,
)

LONGEST_BODY = 5000  # characters
MOST_SECONDS = 3600.0  # of one stretch between two messages of the browser
MOST_DRAFTS = 2**31 - 1


def clean_body(text: str) -> str:
    """Return a counterpart as it is stored: line ends as ``\\n``, no blanks around it, and without
    control characters, which some databases refuse."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = (
        letter
        for letter in lines
        if letter in "\n\t" or unicodedata.category(letter) not in {"Cc", "Cs"}
    )
    return "".join(kept).strip()


def is_same(one: str, other: str) -> bool:
    """Whether two texts differ in white space at most."""
    return one.split() == other.split()


def check_length(body: str) -> None:
    """Raise `CounterpartRefused` for a text that is longer than any counterpart."""
    if len(body) > LONGEST_BODY:
        raise CounterpartRefused(
            {
                "body": _(
                    "The counterpart has %(n)s characters, expected at most %(most)s. It is still "
                    "in the field; it is not stored."
                )
                % {"n": f"{len(body):,}", "most": f"{LONGEST_BODY:,}"}
            }
        )


def open_task(*, task: WritingTask) -> None:
    """Note that its annotator has seen the text. Seeing it again changes nothing."""
    if task.opened_at is None:
        WritingTask.objects.filter(pk=task.pk, opened_at__isnull=True).update(
            opened_at=timezone.now()
        )


@transaction.atomic
def save_draft(*, task: WritingTask, number: int, body: str, seconds: float = 0.0) -> int:
    """Store draft ``number`` and return it. An older draft never wins; the same one may come twice.

    Drafts are taken whatever the study's status: pausing it must not cost anybody their text.
    Raises `StaleDraft` where a newer one is stored, `CounterpartRefused` for one that is too long.
    """
    body = body.replace("\x00", "")
    check_length(body)
    task = WritingTask.objects.select_for_update().get(pk=task.pk)
    if number == task.draft_number and body == task.draft:
        return number
    if not task.draft_number < number <= MOST_DRAFTS:
        raise StaleDraft(task.draft_number, task.draft)
    task.draft, task.draft_number = body, number
    task.active_seconds = F("active_seconds") + _bound(seconds)
    task.save(update_fields=["draft", "draft_number", "active_seconds"])
    return number


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

    Raises, with the text kept as a draft: `CounterpartRefused`, `SameAsSource` where it is the
    source unchanged and ``is_unchanged_meant`` does not say so, `NotLive`, `TaskTaken`.
    """
    body = clean_body(body)
    detail = " ".join(clean_body(detail).split())
    try:
        with transaction.atomic():
            return _submit(
                task,
                body="" if not_interpretable else body,
                reason=_check_reason(reason, detail) if not_interpretable else "",
                is_unchanged_meant=is_unchanged_meant,
                draft_number=draft_number,
                seconds=seconds,
            )
    except (CounterpartRefused, SameAsSource, NotLive, TaskTaken):
        _keep_as_draft(task, body, draft_number)
        raise


def _check_reason(reason: str, detail: str) -> str:
    if reason not in Reason.values:
        raise CounterpartRefused(
            {"reason": _("Choose why the text cannot be interpreted. Your text is kept.")}
        )
    if reason == Reason.OTHER and not detail:
        raise CounterpartRefused({"detail": _("Write the reason in a few words.")})
    if len(detail) > LONGEST_DETAIL:
        raise CounterpartRefused(
            {
                "detail": _("The reason has %(n)d characters, expected at most %(most)d.")
                % {"n": len(detail), "most": LONGEST_DETAIL}
            }
        )
    return join_reason(reason, detail)


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
            raise CounterpartRefused(
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
    task.draft = ""
    # Drafts that are still on their way are older than what was submitted.
    task.draft_number = min(max(task.draft_number, draft_number) + 1, MOST_DRAFTS)
    task.active_seconds = F("active_seconds") + _bound(seconds)
    task.save()
    settle_text(study=study, text=task.text)
    return counterpart


def _keep_as_draft(task: WritingTask, body: str, draft_number: int) -> None:
    """Keep a text that was refused, unless a newer draft is there or it is too long to store."""
    if not body or len(body) > LONGEST_BODY:
        return
    WritingTask.objects.filter(pk=task.pk, draft_number__lte=max(draft_number, 0)).update(
        draft=body, draft_number=min(max(draft_number, 0) + 1, MOST_DRAFTS)
    )


def _bound(seconds: float) -> float:
    return min(max(seconds, 0.0), MOST_SECONDS) if math.isfinite(seconds) else 0.0
