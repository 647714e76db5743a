"""The repeated group: a rating page whose answers are compared with the first ones."""

from __future__ import annotations

from django.http import QueryDict

from annotation.instruments.checks import judge_repeat
from annotation.instruments.flow import Step
from annotation.models import CheckKind, GroupAssignment
from annotation.steps.rating import Repeat
from annotation.survey.pages.page import store_check, store_unasked
from annotation.survey.pages.rating import RatingPage
from annotation.survey.visits.repeated_group import choose_repeat, give_group
from annotation.survey.visits.visit import Visit


class RepeatPage(RatingPage, of=Repeat):
    """Asked of a group that was rated; another one is chosen if the first was left out."""

    def open(self, visit: Visit, step: Step) -> bool:
        if not super().open(visit, step):
            return False
        if not self._first(visit, step).skipped:
            return True
        rows = visit.assignments.values()
        rated = [row.group for row in rows if not (row.is_repeat or row.skipped)]
        if rated:
            give_group(
                visit.assignments[step.position], choose_repeat(rated, seed=visit.submission.seed)
            )
        else:
            store_unasked(visit, step, CheckKind.REPEATED_GROUP)
        return bool(rated)

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
