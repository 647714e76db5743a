"""Checks of reading: a text that says what to choose, and a statement that is true of nobody."""

from __future__ import annotations

from django.http import QueryDict

from annotation.instruments.flow import Step
from annotation.instruments.step_content import InstructedContent, NonsensicalContent
from annotation.models import CheckKind
from annotation.survey.pages.options import OptionsPage, read_choice
from annotation.survey.pages.page import store_check
from annotation.survey.visits.visit import Visit


class ReadingCheckPage(OptionsPage):
    """Whoever chooses another answer than those that pass has not read the page."""

    def __init__(self, kind: CheckKind) -> None:
        self.kind = kind

    def store(self, visit: Visit, step: Step, sent: QueryDict) -> None:
        chosen, passing = read_choice(step, sent), _passing_answers(step)
        store_check(
            visit,
            step,
            self.kind,
            answer={"chosen": chosen},
            expected={"any_of": passing},
            passed=chosen in passing,
        )


def _passing_answers(step: Step) -> list[str]:
    match step.content:
        case InstructedContent(expected=answer):
            return [answer]
        case NonsensicalContent(accepted=answers):
            return answers
    raise TypeError(f"Step {step.index} has no answer that passes.")
