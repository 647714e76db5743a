"""What every page of the survey can do: it shows and stores what the kind of its step says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cached_property
from typing import Any, TypeVar

from django.http import QueryDict
from django.utils.safestring import SafeString

from annotation.common.prepared_sql import PreparedInsert
from annotation.common.seeded import shuffle
from annotation.instruments.flow import Step
from annotation.models import CheckKind, CheckResponse, Outcome, StepAnswer
from annotation.steps.forms import FilledForm
from annotation.steps.kind import Answer, AskAgain, Checked, StepKind
from annotation.survey.visits.condition_context import is_asked
from annotation.survey.visits.rating_lines import Line
from annotation.survey.visits.visit import Visit

T = TypeVar("T")
_CHECKS = PreparedInsert(CheckResponse)
#: Pages of their own, by the kind of their steps.
_OWN_PAGES: dict[str, Page] = {}


class RetryPage(Enum):
    """The page is stored and asked once more: the visit stays where it is."""

    RETRY = "retry"


class AskedStep:
    """What a step sees of its visit: an `annotation.steps.kind.Asked`."""

    def __init__(self, visit: Visit, step: Step) -> None:
        self._visit, self._step = visit, step
        self.language, self.shows_ticks = visit.submission.language, visit.instrument.show_ticks
        self.read, self.keep = visit.read, visit.keep
        self.find_media, self.find_logo = visit.find_media, visit.find_logo

    @property
    def wording(self) -> Mapping[str, str]:
        return self._visit.wording

    @property
    def lines(self) -> Sequence[Line]:
        return self._visit.lines

    @cached_property
    def tries(self) -> list[str]:
        """One query."""
        begun = self._visit.submission.checks.filter(step_index=self._step.index).first()
        return list(begun.answer["tries"]) if begun else []

    def put_in_order(self, options: Sequence[T], name: Callable[[T], str]) -> list[T]:
        """Return options in the order that the visit's seed fixes."""
        purpose = f"order of {self._step.key}"
        return shuffle(options, name=name, seed=self._visit.submission.seed, purpose=purpose)


class Page:
    """The page of a step: when it is asked, what it shows, what it stores.

    A subclass sees more of the visit than `annotation.steps.kind.Asked`; it names the kind that it
    serves: ``class RatingPage(Page, of=RatingStep)``.
    """

    def __init_subclass__(cls, of: type[StepKind]) -> None:
        _OWN_PAGES[of.name] = cls()

    def open(self, visit: Visit, step: Step) -> bool:
        """Return whether the page is shown. Called in the transaction that leads to the step, so
        that a page which cannot be asked may store why."""
        return True

    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        """Return what the template needs; ``filled`` holds answers to keep and problems."""
        return step.told.show(AskedStep(visit, step), filled)

    def own(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, SafeString]:
        """Return what the template needs besides and what differs between visits, as HTML."""
        return step.told.own(AskedStep(visit, step), filled)

    def store(self, visit: Visit, step: Step, sent: QueryDict) -> Outcome | RetryPage | None:
        """Store the answers; an outcome ends the visit early, `RetryPage` asks the page once more.

        Raises `AnswersRefused` for answers to mend and `PageRefused` for a page that the survey
        cannot have sent. Called in a transaction with the submission's row locked.
        """
        match step.told.read(sent, AskedStep(visit, step)):
            case Answer(value):
                StepAnswer.objects.create(
                    submission=visit.submission, step_index=step.index, key=step.key, value=value
                )
            case AskAgain():
                return RetryPage.RETRY
            case Checked() as checked:
                return _store_checked(visit, step, checked)
        return None


def find_page(step: Step) -> Page:
    """Return the page that serves a step."""
    return _OWN_PAGES.get(step.kind, _PAGE)


def open_page(visit: Visit, step: Step) -> bool:
    """Return whether a step is shown: its condition holds, and its page can be asked."""
    return is_asked(visit, step) and find_page(step).open(visit, step)


_PAGE = Page()


def _store_checked(visit: Visit, step: Step, checked: Checked) -> Outcome | RetryPage | None:
    found: dict[str, Any] = {
        "answer": checked.answer,
        "expected": checked.expected,
        "passed": checked.passed,
        "reason": checked.reason,
    }
    if not step.told.has_tries:
        store_check(visit, step, CheckKind(checked.kind), **found)
        return None
    CheckResponse.objects.update_or_create(
        submission=visit.submission,
        step_index=step.index,
        defaults={"kind": CheckKind(checked.kind), **found},
    )
    if checked.passed is None:
        return RetryPage.RETRY
    return Outcome.SCREENED_OUT if checked.screens_out else None


def count_tries(visit: Visit, step: Step) -> int:
    """Return which time a page is asked, from 1. One query for a step that has several tries."""
    return len(AskedStep(visit, step).tries) + 1 if step.told.has_tries else 1


def store_unasked(visit: Visit, step: Step, kind: CheckKind) -> None:
    """Record that a check was not shown because no group was rated that it could ask about."""
    reason = "Not asked: the groups that it could ask about were left out."
    store_check(visit, step, kind, passed=None, expected={}, reason=reason)


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
