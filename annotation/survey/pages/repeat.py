"""The repeated group: a rating page whose answers are compared with the first ones."""

from __future__ import annotations

from django.http import QueryDict

from annotation.instruments.checks import judge_repeat
from annotation.instruments.flow import Step
from annotation.models import CheckKind, GroupAssignment
from annotation.steps.rating import Repeat
from annotation.survey.pages.page import store_check
from annotation.survey.pages.rating import RatingPage
from annotation.survey.visits.visit import Visit


class RepeatPage(RatingPage, of=Repeat):
    """Not asked of a group that was left out the first time."""

    def open(self, visit: Visit, step: Step) -> bool:
        return super().open(visit, step) and not self._first(visit, step).skipped

    def _first(self, visit: Visit, step: Step) -> GroupAssignment:
        group = visit.assignments[step.position].group_id
        return next(
            assignment
            for assignment in visit.assignments.values()
            if assignment.group_id == group and not assignment.is_repeat
        )

    def store(self, visit: Visit, step: Step, sent: QueryDict) -> None:
        super().store(visit, step, sent)
        instrument, second = visit.instrument, visit.assignments[step.position]
        first = self._first(visit, step)
        found = judge_repeat(
            visit.load_values(first), visit.load_values(second), instrument=instrument
        )
        store_check(
            visit,
            step,
            CheckKind.REPEATED_GROUP,
            answer=found.answer,
            expected=found.expected,
            passed=found.passed,
            reason=found.reason,
        )
        visit.submission.self_agreement = found.value
