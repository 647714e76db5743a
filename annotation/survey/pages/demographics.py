"""The questions about the participant: all optional, each with “Prefer not to say”."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.instruments.demographics import is_list, text_option
from annotation.instruments.flow import Step
from annotation.models import DemographicAnswer, DemographicQuestion, Outcome, QuestionKind
from annotation.steps.demographics import Demographics
from annotation.steps.forms import (
    AnswersRefused,
    FilledForm,
    PageRefused,
    read_single,
    read_text,
    read_whole_number,
    refuse_unknown,
    sent_twice,
)
from annotation.survey.pages.page import Page
from annotation.survey.visits.target_screening import has_place, is_screening
from annotation.survey.visits.visit import Visit

ANSWER, DECLINE, OWN_WORDS = "answer-", "decline-", "own-"
# Among the options of a single choice “Prefer not to say” is one more of them.
DECLINED_CHOICE = "decline"
MAX_CHARACTERS = 200


@dataclass(frozen=True)
class ShownOption:
    """One option of a choice; ``value`` is its number from 1, as it is sent."""

    value: str
    text: str
    chosen: bool
    opens_text: bool


@dataclass(frozen=True)
class ShownQuestion:
    question: DemographicQuestion
    label: str
    help_text: str
    field: str
    decline_field: str
    own_field: str
    options: list[ShownOption]
    value: str
    own_words: str
    declined: bool
    problem: str

    @property
    def is_list(self) -> bool:
        return is_list(self.question)

    @property
    def first_field(self) -> str:
        """Return where the link from the summary of problems leads."""
        return self.own_field if text_option(self.question) else self.field


class DemographicsPage(Page, of=Demographics):
    def open(self, visit: Visit, step: Step) -> bool:
        return bool(visit.questions)

    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        shown = [_show_question(visit, question, filled) for question in visit.questions]
        return {
            "questions": shown,
            "troubled": [question for question in shown if question.problem],
            "max_characters": MAX_CHARACTERS,
            "is_last": step.index + 1 == len(visit.steps),
            "declined_choice": DECLINED_CHOICE,
        }

    def store(self, visit: Visit, step: Step, sent: QueryDict) -> Outcome | None:
        prefixes = (ANSWER, DECLINE, OWN_WORDS)
        known = {prefix + item.slug for item in visit.questions for prefix in prefixes}
        refuse_unknown(sent, prefixes=prefixes, known=known)
        answers: list[DemographicAnswer] = []
        problems: dict[str, str] = {}
        for question in visit.questions:
            try:
                value = _read_answer(question, sent)
                own_words = _read_own_words(question, sent, value)
            except AnswersRefused as refusal:
                problems |= refusal.problems
                continue
            declined = _has_declined(question, sent)
            if declined or value is not None:
                answers.append(
                    DemographicAnswer(
                        submission=visit.submission,
                        question=question,
                        value=value,
                        declined=declined,
                        own_words=own_words,
                    )
                )
        if problems:
            raise AnswersRefused(problems)
        DemographicAnswer.objects.bulk_create(answers)
        if is_screening(visit, step) and not has_place(visit.submission, answers):
            return Outcome.SCREENED_OUT
        return None


def _show_question(
    visit: Visit, question: DemographicQuestion, filled: FilledForm
) -> ShownQuestion:
    chosen, own = filled.sent.getlist(ANSWER + question.slug), text_option(question)
    return ShownQuestion(
        question=question,
        label=visit.read_label(question),
        help_text=visit.read_help(question),
        field=ANSWER + question.slug,
        decline_field=DECLINE + question.slug,
        own_field=OWN_WORDS + question.slug,
        options=[
            ShownOption(
                str(number),
                visit.read_option(question, text),
                str(number) in chosen,
                text == own,
            )
            for number, text in enumerate(question.options, start=1)
        ],
        value=filled.text(ANSWER + question.slug)[:MAX_CHARACTERS],
        own_words=filled.text(OWN_WORDS + question.slug)[:MAX_CHARACTERS],
        declined=_has_declined(question, filled.sent),
        problem=filled.problem(question.slug),
    )


def _has_declined(question: DemographicQuestion, sent: QueryDict) -> bool:
    """Whoever says “Prefer not to say” has declined, whatever else the question holds."""
    if question.kind == QuestionKind.CHOICE:
        return sent.get(ANSWER + question.slug) == DECLINED_CHOICE
    return sent.get(DECLINE + question.slug) == "1"


def _read_answer(question: DemographicQuestion, sent: QueryDict) -> Any:
    """Return the answer as it is stored, None if the question was left out."""
    field = ANSWER + question.slug
    if _has_declined(question, sent):
        return None
    if question.kind == QuestionKind.CHOICES:
        numbers = sent.getlist(field)
        if len(set(numbers)) != len(numbers):
            raise sent_twice(field)
        return [_find_option(question, number) for number in numbers] or None
    if question.kind == QuestionKind.CHOICE:
        chosen = read_single(sent, field)
        return _find_option(question, chosen) if chosen else None
    if question.kind == QuestionKind.NUMBER:
        text = read_single(sent, field)
        return _read_number(question, text) if text else None
    return _read_short_text(question, sent, field) or None


def _read_own_words(question: DemographicQuestion, sent: QueryDict, value: Any) -> str:
    """Return what stands beside the chosen option that opens a text.

    Words beside an option that is not chosen are let go: whoever takes the tick back takes them
    back, too.
    """
    own = text_option(question)
    if own is None or own not in (value if isinstance(value, list) else [value]):
        return ""
    return _read_short_text(question, sent, OWN_WORDS + question.slug)


def _read_short_text(question: DemographicQuestion, sent: QueryDict, field: str) -> str:
    text = read_text(sent, field)
    if len(text) > MAX_CHARACTERS:
        raise AnswersRefused(
            {
                question.slug: _("The answer has %(n)s characters. Write %(max)s or fewer.")
                % {"n": len(text), "max": MAX_CHARACTERS}
            }
        )
    return text


def _find_option(question: DemographicQuestion, sent: str) -> str:
    number = read_whole_number(sent)
    if number is None or not 1 <= number <= len(question.options):
        raise PageRefused(
            _("“%(value)s” is not among the answers to “%(question)s”.")
            % {"value": sent[:60], "question": question.label}
        )
    return str(question.options[number - 1])


def _read_number(question: DemographicQuestion, text: str) -> int:
    number = read_whole_number(text)
    low, high = question.minimum, question.maximum
    if number is None or (low is not None and number < low) or (high is not None and number > high):
        raise AnswersRefused({question.slug: _explain_number(text[:20], low, high)})
    return number


def _explain_number(text: str, low: int | None, high: int | None) -> str:
    values = {"value": text, "low": low, "high": high}
    if low is not None and high is not None:
        return (
            _("“%(value)s” is not possible. Write a whole number from %(low)s to %(high)s.")
            % values
        )
    if low is not None:
        return _("“%(value)s” is not possible. Write a whole number of at least %(low)s.") % values
    if high is not None:
        return _("“%(value)s” is not possible. Write a whole number of at most %(high)s.") % values
    return _("“%(value)s” is not possible. Write a whole number.") % values
