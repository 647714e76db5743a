"""Drafts: what stands on the page of one text, stored while its annotator writes.

A draft carries a number. An older one never wins over a newer one, so that neither a reload nor two
windows nor a late message loses a text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db import models, transaction
from django.db.models import F
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.annotators.errors import WorkRefused
from annotation.annotators.forms import bound_seconds
from annotation.models import WritingTask

LONGEST_BODY, LONGEST_DETAIL = 5000, 400  # characters
MOST_DRAFTS = 2**31 - 1


class Reason(models.TextChoices):
    """Why a text has no counterpart: a code, and what the annotator adds to it."""

    UNKNOWN_WORD = "unknown word", gettext_lazy("A word or expression that I do not know")
    MEANING_UNCLEAR = "meaning unclear", gettext_lazy("What the text means is unclear")
    NO_COUNTERPART = "no counterpart", gettext_lazy("I understand it, but it has no counterpart")
    OTHER_VARIETY = "other variety", gettext_lazy("It is not in the variety that it should be in")
    OTHER = "other", gettext_lazy("Another reason")


def join_reason(code: str, detail: str) -> str:
    """Return what is stored of a reason."""
    return f"{code}: {detail}" if detail else code


def split_reason(reason: str) -> tuple[str, str]:
    """Return code and detail of a stored reason; an unknown code is all detail."""
    code, _colon, detail = reason.partition(": ")
    return (code, detail) if code in Reason.values else (Reason.OTHER.value, reason)


@dataclass(frozen=True)
class Draft:
    """A counterpart, or why there is none; either may be unfinished.

    ``body`` is kept while ``not_interpretable`` is ticked, so that unticking brings it back;
    ``reason`` is a `Reason`, "" while none is chosen.
    """

    body: str = ""
    not_interpretable: bool = False
    reason: str = ""
    detail: str = ""

    def as_stored(self) -> dict[str, str | bool]:
        """Return the columns of a task that hold it."""
        return {
            "draft": self.body,
            "draft_not_interpretable": self.not_interpretable,
            "draft_reason": self.reason,
            "draft_detail": self.detail,
        }


class StaleDraft(Exception):  # noqa: N818
    """A newer draft is stored under ``number``: this one does not win over it."""

    def __init__(self, number: int, draft: Draft) -> None:
        super().__init__(f"Draft {number} is stored.")
        self.number, self.draft = number, draft


def submitted_draft(task: WritingTask) -> Draft:
    """Return what was submitted as a draft would hold it; an empty one where nothing was."""
    counterpart = task.counterpart
    if counterpart is None:
        return Draft()
    if not counterpart.not_interpretable:
        return Draft(counterpart.body)
    code, detail = split_reason(counterpart.reason)
    return Draft("", True, code, detail)


def current_draft(task: WritingTask) -> Draft:
    """Return what the page of a task begins with: its draft, else what was submitted."""
    if not task.has_draft:
        return submitted_draft(task)
    return Draft(task.draft, task.draft_not_interpretable, task.draft_reason, task.draft_detail)


@transaction.atomic
def save_draft(*, task: WritingTask, number: int, draft: Draft, seconds: float = 0.0) -> int:
    """Store draft ``number`` and return it. An older draft never wins; the same one may come twice.

    Drafts are taken whatever the study's status: pausing it must not cost anybody their text.
    Raises `StaleDraft` where a newer one is stored, `WorkRefused` for one that is too long
    or whose reason is none.
    """
    # Some databases refuse null characters.
    draft = replace(
        draft, body=draft.body.replace("\x00", ""), detail=draft.detail.replace("\x00", "")
    )
    check_length(draft.body)
    check_detail(draft.detail)
    if draft.reason and draft.reason not in Reason.values:
        raise WorkRefused({"reason": _("“%(value)s” is no reason.") % {"value": draft.reason[:40]}})
    task = (
        WritingTask.objects.select_for_update(of=("self",))
        .select_related("counterpart")
        .get(pk=task.pk)
    )
    stored = Draft(task.draft, task.draft_not_interpretable, task.draft_reason, task.draft_detail)
    if number == task.draft_number and draft == stored:
        return number
    if not task.draft_number < number <= MOST_DRAFTS:
        raise StaleDraft(task.draft_number, current_draft(task))
    WritingTask.objects.filter(pk=task.pk).update(
        **draft.as_stored(),
        has_draft=draft != submitted_draft(task),
        draft_number=number,
        active_seconds=F("active_seconds") + bound_seconds(seconds),
    )
    return number


def keep_refused(*, task: WritingTask, draft: Draft, number: int) -> None:
    """Keep what was submitted and refused, unless a newer draft is there or it cannot be stored."""
    draft = replace(
        draft,
        reason=draft.reason if draft.reason in Reason.values else "",
        detail=draft.detail if len(draft.detail) <= LONGEST_DETAIL else "",
    )
    if draft == Draft() or len(draft.body) > LONGEST_BODY:
        return
    WritingTask.objects.filter(pk=task.pk, draft_number__lte=max(number, 0)).update(
        **draft.as_stored(), has_draft=True, draft_number=min(max(number, 0) + 1, MOST_DRAFTS)
    )


def check_length(body: str) -> None:
    """Raise `WorkRefused` for a text that is longer than any counterpart."""
    if len(body) > LONGEST_BODY:
        raise WorkRefused(
            {
                "body": _(
                    "The counterpart has %(n)s characters, expected at most %(most)s. It is still "
                    "in the field; it is not stored."
                )
                % {"n": f"{len(body):,}", "most": f"{LONGEST_BODY:,}"}
            }
        )


def check_detail(detail: str) -> None:
    """Raise `WorkRefused` for a reason that is too long."""
    if len(detail) > LONGEST_DETAIL:
        raise WorkRefused(
            {
                "detail": _("The reason has %(n)d characters, expected at most %(most)d.")
                % {"n": len(detail), "most": LONGEST_DETAIL}
            }
        )
