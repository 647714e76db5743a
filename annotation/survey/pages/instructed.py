"""The check whose text says which answer to choose."""

from __future__ import annotations

from django.http import QueryDict

from annotation.models import CheckKind, CheckResponse, Outcome
from annotation.survey.client_record import ClientRecord
from annotation.survey.flow import Step
from annotation.survey.pages.options import OptionsPage, read_choice
from annotation.survey.step_content import InstructedContent
from annotation.survey.visit import Visit


class InstructedPage(OptionsPage):
    def store(
        self, visit: Visit, step: Step, *, sent: QueryDict, client: ClientRecord
    ) -> Outcome | None:
        if not isinstance(step.content, InstructedContent):
            raise TypeError(f"Step {step.index} has no answer that passes.")
        chosen = read_choice(step, sent)
        CheckResponse.objects.create(
            submission=visit.submission,
            kind=CheckKind.INSTRUCTED,
            step_index=step.index,
            answer={"chosen": chosen},
            expected={"any_of": [step.content.expected]},
            passed=chosen == step.content.expected,
        )
        return None
