"""The demographic questions of Cao et al. (2022), section 4, appendix E and the published answers.

Where the answers there are coarser than what is asked today, they are kept apart here: they can
be put together later, the other way round is impossible.
"""

from __future__ import annotations

from annotation.instruments.us_states import ELSEWHERE, STATES
from annotation.models import DemographicQuestion, Instrument, QuestionKind

AGE_RANGE, NO_LIMITS = (18, 120), (None, None)
#: The last option that ends so opens a field for words of one's own.
OPENS_TEXT = ":"
#: A choice of more options than these is shown as a list that opens, as that of states is.
LONGEST_CHOICE = 12


def is_list(question: DemographicQuestion) -> bool:
    """Return whether a choice is long enough to be shown as a list that opens."""
    return question.kind == QuestionKind.CHOICE and len(question.options) > LONGEST_CHOICE


def text_option(question: DemographicQuestion) -> str | None:
    """Return the option that asks for words of one's own, such as “I describe myself:”.

    An entry of a list has no room for them.
    """
    if question.kind not in {QuestionKind.CHOICE, QuestionKind.CHOICES} or is_list(question):
        return None
    found = [str(text) for text in question.options if str(text).rstrip().endswith(OPENS_TEXT)]
    return found[-1] if found else None


def build_default_questions(instrument: Instrument) -> list[DemographicQuestion]:
    """Return the unsaved default questions of ``instrument``."""
    choice, choices, number = QuestionKind.CHOICE, QuestionKind.CHOICES, QuestionKind.NUMBER
    rows: list[tuple[str, QuestionKind, str, list[str], tuple[int | None, int | None]]] = [
        ("gender", choices, "What is your gender?",
         ["Man", "Woman", "Non-binary", "I describe myself:"], NO_LIMITS),
        ("age", number, "How old are you?", [], AGE_RANGE),
        ("race", choices, "What is your race or ethnicity?",
         ["American Indian or Alaska Native", "Asian", "Black or African American",
          "Hispanic or Latino", "Middle Eastern or North African",
          "Native Hawaiian or Pacific Islander", "White", "Multiracial or biracial",
          "Another race or ethnicity:"], NO_LIMITS),
        ("education", choice, "What is the highest level of school you have completed?",
         ["Less than high school", "High school or equivalent", "Some college",
          "Occupational program", "Associate degree", "Bachelor’s degree", "Master’s degree",
          "Doctoral or professional degree"], NO_LIMITS),
        ("state", choice, "In which state do you live?", [*STATES, *ELSEWHERE], NO_LIMITS),
        ("years-in-state", number, "For how many years have you lived there?", [], (0, 120)),
        ("area", choice, "What kind of area do you live in?",
         ["Urban", "Suburban", "Rural", "Remote"], NO_LIMITS),
    ]  # fmt: skip
    return [
        DemographicQuestion(
            instrument=instrument,
            slug=slug,
            kind=kind,
            label=label,
            options=options,
            minimum=minimum,
            maximum=maximum,
            position=position,
        )
        for position, (slug, kind, label, options, (minimum, maximum)) in enumerate(rows, start=1)
    ]
