"""The demographic questions in the language of a visit; what is stored stays the instrument's."""

from __future__ import annotations

from annotation.languages.keys import name_option, name_question
from annotation.models import DemographicQuestion
from annotation.survey.visit import Visit


def read_label(visit: Visit, question: DemographicQuestion) -> str:
    return visit.wording.get(name_question(question.slug, "label"), question.label)


def read_help(visit: Visit, question: DemographicQuestion) -> str:
    if not question.help_text:
        return ""
    return visit.wording.get(name_question(question.slug, "help"), question.help_text)


def read_option(visit: Visit, question: DemographicQuestion, option: str) -> str:
    return visit.wording.get(name_option(question.slug, option), option)
