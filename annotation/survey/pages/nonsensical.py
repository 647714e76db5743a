"""The check with a statement that is true of nobody: whoever affirms it has not read it."""

from __future__ import annotations

from django.http import QueryDict

from annotation.models import CheckKind, CheckResponse, Outcome
from annotation.survey.client_record import ClientRecord
from annotation.survey.flow import Step
from annotation.survey.pages.options import OptionsPage, read_choice
from annotation.survey.step_content import NonsensicalContent
from annotation.survey.visit import Visit


class NonsensicalPage(OptionsPage):
    def store(
        self, visit: Visit, step: Step, *, sent: QueryDict, client: ClientRecord
    ) -> Outcome | None:
        if not isinstance(step.content, NonsensicalContent):
            raise TypeError(f"Step {step.index} has no answers that pass.")
        chosen = read_choice(step, sent)
        CheckResponse.objects.create(
            submission=visit.submission,
            kind=CheckKind.NONSENSICAL,
            step_index=step.index,
            answer={"chosen": chosen},
            expected={"any_of": step.content.accepted},
            passed=chosen in step.content.accepted,
        )
        return None
