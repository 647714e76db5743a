"""The repeated group: a rating page whose answers are compared with the first ones."""

from __future__ import annotations

from django.http import QueryDict

from annotation.models import CheckKind, CheckResponse, Outcome
from annotation.survey.checks import measure_self_agreement
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
        agreement = measure_self_agreement(
            visit.load_values(first),
            visit.load_values(second),
            within=instrument.agreement_within,
        )
        CheckResponse.objects.create(
            submission=visit.submission,
            kind=CheckKind.REPEATED_GROUP,
            step_index=step.index,
            answer={"matching": agreement.matching, "scales": agreement.n_scales},
            expected={
                "at_least": instrument.agreement_at_least,
                "within": instrument.agreement_within,
            },
            passed=agreement.reaches(instrument.agreement_at_least),
        )
        visit.submission.self_agreement = agreement.share
        return None
