"""The check that asks about the instructions, with two tries and the instructions at hand.

The first wrong answer is stored at once, so that a reload does not give it back. Each page carries
the number of its try: a page that comes twice is one try.
"""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from annotation.instruments.flow import Step
from annotation.instruments.step_content import ComprehensionContent
from annotation.models import CheckKind, CheckResponse, Outcome
from annotation.survey.pages.filled_form import FilledForm
from annotation.survey.pages.options import OptionsPage, read_choice
from annotation.survey.pages.page import Again
from annotation.survey.pages.questions import content_of
from annotation.survey.visits.form_values import read_single
from annotation.survey.visits.visit import Visit

TRY_FIELD = "try"
TRIES = 2


class ComprehensionPage(OptionsPage):
    template = "survey/comprehension.html"

    def is_shared(self, step: Step) -> bool:
        return False

    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        return {
            **super().show(visit, step, filled),
            "try_field": TRY_FIELD,
            "try_number": self.number_try(visit, step),
            "ends_study": content_of(step, ComprehensionContent).on_failure == "screen_out",
            "instructions": visit.wording["instructions_body"],
        }

    def number_try(self, visit: Visit, step: Step) -> int:
        return len(_tries(_find_response(visit, step))) + 1

    def store(self, visit: Visit, step: Step, sent: QueryDict) -> Outcome | Again | None:
        content, begun = content_of(step, ComprehensionContent), _find_response(visit, step)
        tries = _tries(begun)
        if read_single(sent, TRY_FIELD) != str(len(tries) + 1):
            return Again.AGAIN
        tries.append(read_choice(step, sent))
        passed = tries[-1] == content.right
        is_open = not passed and len(tries) < TRIES
        CheckResponse.objects.update_or_create(
            submission=visit.submission,
            step_index=step.index,
            defaults={
                "kind": CheckKind.COMPREHENSION,
                "answer": {"tries": tries},
                "expected": {"any_of": [content.right]},
                "passed": None if is_open else passed,
                "reason": "The first of two tries was wrong." if is_open else "",
            },
        )
        if is_open:
            return Again.AGAIN
        if not passed and content.on_failure == "screen_out":
            return Outcome.SCREENED_OUT
        return None


def _find_response(visit: Visit, step: Step) -> CheckResponse | None:
    return visit.submission.checks.filter(step_index=step.index).first()


def _tries(response: CheckResponse | None) -> list[str]:
    return list(response.answer["tries"]) if response else []
