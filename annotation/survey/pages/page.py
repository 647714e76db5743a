"""What every page of the survey can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any

from django.http import QueryDict
from django.utils.safestring import SafeString

from annotation.common.prepared_sql import PreparedInsert
from annotation.instruments.flow import Step
from annotation.models import CheckKind, CheckResponse, Outcome
from annotation.survey.pages.filled_form import FilledForm
from annotation.survey.visits.visit import Visit

_CHECKS = PreparedInsert(CheckResponse)


class Again(Enum):
    """The page is stored and asked once more: the visit stays where it is."""

    AGAIN = "again"


class Page(ABC):
    """One kind of step: when it is asked, what it shows, what it stores."""

    template: str

    def is_shared(self, step: Step) -> bool:
        """Return whether the page without answers looks the same in every visit, but for `own`."""
        return True

    def open(self, visit: Visit, step: Step) -> bool:
        """Return whether the page is shown. Called in the transaction that leads to the step, so
        that a page which cannot be asked may store why."""
        return True

    @abstractmethod
    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        """Return what the template needs; ``filled`` holds answers to keep and problems."""

    def own(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, SafeString]:
        """Return what the template needs besides and what differs between visits, as HTML."""
        return {}

    def number_try(self, visit: Visit, step: Step) -> int:
        """Return which time the page is asked, from 1."""
        return 1

    @abstractmethod
    def store(self, visit: Visit, step: Step, sent: QueryDict) -> Outcome | Again | None:
        """Store the answers; an outcome ends the visit early, `Again` asks the page once more.

        Raises `AnswersRefused` for answers to mend and `PageRefused` for a page that the survey
        cannot have sent. Called in a transaction with the submission's row locked.
        """


def store_check(
    visit: Visit,
    step: Step,
    kind: CheckKind,
    *,
    passed: bool | None,
    expected: dict[str, Any],
    answer: dict[str, Any] | None = None,
    reason: str = "",
) -> None:
    """Record how a check ended; ``passed`` is None, with a reason, where it could not be asked."""
    _CHECKS.insert(
        [
            {
                "submission_id": visit.submission.pk,
                "kind": kind,
                "step_index": step.index,
                "answer": answer or {},
                "expected": expected,
                "passed": passed,
                "reason": reason,
            }
        ]
    )
