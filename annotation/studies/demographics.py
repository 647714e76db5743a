"""The demographic questions of Cao et al. (2022), section 4 and appendix E."""

from __future__ import annotations

from annotation.models import DemographicQuestion, Instrument, QuestionKind

AGE_RANGE = (18, 120)


def build_default_questions(instrument: Instrument) -> list[DemographicQuestion]:
    """Return the unsaved default questions of ``instrument``."""
    choice, choices = QuestionKind.CHOICE, QuestionKind.CHOICES
    number, text = QuestionKind.NUMBER, QuestionKind.TEXT
    rows: list[tuple[str, QuestionKind, str, list[str], tuple[int, int] | None]] = [
        (
            "gender",
            choices,
            "What is your gender?",
            ["Man", "Woman", "Non-binary", "I describe myself in another way"],
            None,
        ),
        ("age", number, "How old are you?", [], AGE_RANGE),
        (
            "race",
            choices,
            "What is your race or ethnicity?",
            [
                "American Indian or Alaska Native",
                "Asian",
                "Black or African American",
                "Hispanic or Latino",
                "Native Hawaiian or Pacific Islander",
                "White",
                "Another race or ethnicity",
            ],
            None,
        ),
        (
            "education",
            choice,
            "What is the highest level of school you have completed?",
            [
                "Less than high school",
                "High school",
                "Some college",
                "Associate degree",
                "Bachelor’s degree",
                "Master’s degree",
                "Doctoral or professional degree",
            ],
            None,
        ),
        ("state", text, "In which state do you live?", [], None),
        ("years-in-state", number, "For how many years have you lived there?", [], (0, 120)),
        (
            "area",
            choice,
            "What kind of area do you live in?",
            ["Urban", "Suburban", "Rural"],
            None,
        ),
    ]
    return [
        DemographicQuestion(
            instrument=instrument,
            slug=slug,
            kind=kind,
            label=label,
            options=options,
            minimum=limits[0] if limits else None,
            maximum=limits[1] if limits else None,
            position=position,
        )
        for position, (slug, kind, label, options, limits) in enumerate(rows, start=1)
    ]
