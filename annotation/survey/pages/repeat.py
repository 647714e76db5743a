"""The repeated group: a rating page whose answers are compared with the first ones."""

from __future__ import annotations

from django.http import QueryDict

from annotation.models import CheckKind, CheckResponse, Outcome
from annotation.survey.checks import judge_repeat
from annotation.survey.client_record import ClientRecord
from annotation.survey.flow import Step
from annotation.survey.pages.rating import RatingPage
from annotation.survey.visit import Visit


class RepeatPage(RatingPage):
    def store(
        self, visit: Visit, step: Step, *, sent: QueryDict, client: ClientRecord
    ) -> Outcome | None:
        super().store(visit, step, sent=sent, client=client)
        instrument, second = visit.instrument, visit.assignments[step.position]
        first = next(
            assignment
            for assignment in visit.assignments.values()
            if assignment.group_id == second.group_id and not assignment.is_repeat
        )
        found = judge_repeat(
            visit.load_values(first), visit.load_values(second), instrument=instrument
        )
        CheckResponse.objects.create(
            submission=visit.submission,
            kind=CheckKind.REPEATED_GROUP,
            step_index=step.index,
            answer=found.answer,
            expected=found.expected,
            passed=found.passed,
            reason=found.reason,
        )
        visit.submission.self_agreement = found.value
        return None
