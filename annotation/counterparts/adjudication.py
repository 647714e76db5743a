"""Decides on one gold counterpart where annotators wrote different ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.annotators.written import clean_text
from annotation.counterparts.drafts import LONGEST_BODY
from annotation.counterparts.settling import settle_text
from annotation.models import (
    Adjudication,
    Counterpart,
    Overlap,
    Study,
    TaskState,
    Text,
    WritingTask,
)
from annotation.studies.lifecycle import lock_study


class CaseState(Enum):
    """Where a text stands on its way to one gold counterpart."""

    WAITING = "waiting"  # not everybody has written it
    SINGLE = "single"  # one annotator: theirs is taken
    IDENTICAL = "identical"  # all wrote the same
    DIFFERS = "differs"  # somebody has to decide
    DECIDED = "decided"


@dataclass
class Case:
    """A text of a study with what was written of it, by annotator."""

    text: Text
    overlap: str
    written: list[Counterpart] = field(default_factory=list)
    missing: int = 0
    adjudication: Adjudication | None = None

    @property
    def state(self) -> CaseState:
        if self.adjudication is not None:
            automatic = self.adjudication.is_automatic
            return CaseState.IDENTICAL if automatic else CaseState.DECIDED
        if self.missing or not self.written:
            return CaseState.WAITING
        return CaseState.SINGLE if len(self.written) == 1 else CaseState.DIFFERS

    @property
    def has_changed(self) -> bool:
        """Whether somebody changed a counterpart after the decision."""
        decided = self.adjudication
        return decided is not None and any(
            counterpart.updated_at > decided.decided_at
            for counterpart in self.written
            if not decided.is_automatic
        )

    @property
    def body(self) -> str | None:
        """The gold counterpart; "" where there is none, None while it is open."""
        if self.adjudication is not None:
            return self.adjudication.body
        return self.written[0].body if self.state == CaseState.SINGLE else None


def load_cases(study: Study) -> list[Case]:
    """Return every text of a study that somebody has or had done, by slug. Two queries."""
    cases: dict[int, Case] = {}
    for task in (
        WritingTask.objects.filter(study=study)
        .exclude(state=TaskState.WITHDRAWN)
        .select_related("text", "counterpart", "counterpart__annotator")
        .order_by("text__slug", "annotator__number")
    ):
        case = cases.setdefault(task.text_id, Case(task.text, task.overlap))
        if task.state == TaskState.DONE and task.counterpart is not None:
            case.written.append(task.counterpart)
        else:
            case.missing += 1
    for adjudication in Adjudication.objects.filter(study=study).select_related("decided_by"):
        if case_of := cases.get(adjudication.text_id):
            case_of.adjudication = adjudication
    return list(cases.values())


def find_queue(cases: Sequence[Case]) -> list[Case]:
    """Return the cases that wait for a person."""
    return [case for case in cases if case.state == CaseState.DIFFERS]


def find_last_decision(study: Study) -> Adjudication | None:
    """Return what a person decided last. One query."""
    decided = Adjudication.objects.filter(study=study, is_automatic=False)
    return decided.select_related("text").order_by("-decided_at").first()


@transaction.atomic
def adjudicate(
    *,
    study: Study,
    text: Text,
    decided_by: AbstractBaseUser,
    chosen: Counterpart | None = None,
    body: str = "",
    not_interpretable: bool = False,
    note: str = "",
) -> Adjudication:
    """Record the gold counterpart of a text: one that was chosen, another, or none.

    Deciding again replaces the decision; its history stays. Raises `ValidationError` for a text
    whose counterparts are not all there, and for a decision without a counterpart.
    """
    study = lock_study(study)
    tasks = WritingTask.objects.filter(study=study, text=text).exclude(state=TaskState.WITHDRAWN)
    if not tasks.exists():
        raise ValidationError(_("The text “%(text)s” is not part of the study.") % {"text": text})
    if tasks.filter(state=TaskState.OPEN).exists():
        raise ValidationError(_("Not everybody who has this text has written it yet."))
    if chosen is not None:
        if not tasks.filter(counterpart=chosen).exists():
            raise ValidationError(_("This counterpart is not one of the text’s."))
        body, not_interpretable = chosen.body, chosen.not_interpretable
    body = "" if not_interpretable else clean_text(body)
    if not body and not not_interpretable:
        raise ValidationError(_("Choose a counterpart, or write one."))
    if len(body) > LONGEST_BODY:
        raise ValidationError(
            _("The counterpart has %(n)d characters, expected at most %(most)d.")
            % {"n": len(body), "most": LONGEST_BODY}
        )
    decision = Adjudication.objects.filter(study=study, text=text).first()
    decision = decision or Adjudication(study=study, text=text)
    decision.chosen, decision.body = chosen, body
    decision.not_interpretable = not_interpretable
    decision.is_automatic = False
    decision.note = " ".join(clean_text(note).split())
    decision.decided_by = decided_by  # type: ignore[assignment]
    decision.full_clean(validate_constraints=False)
    decision.save()
    return decision


@transaction.atomic
def undo_adjudication(*, study: Study, text: Text) -> None:
    """Take a decision back: the text waits for one again. Its history stays."""
    lock_study(study)
    decision = Adjudication.objects.filter(study=study, text=text, is_automatic=False).first()
    if decision is not None:
        decision.delete()
        settle_text(study=study, text=text)


def is_overlap(case: Case) -> bool:
    return case.overlap != Overlap.SINGLE
