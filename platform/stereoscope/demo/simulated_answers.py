"""What simulated people say about themselves, so that a demo shows tables of participants.

The shares are made up after the size of such groups among U.S. adults; they describe nobody.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from annotation.instruments.demographics import text_option
from annotation.models import DemographicQuestion, QuestionKind
from annotation.survey.pages.demographics import ANSWER, DECLINE, DECLINED_CHOICE

DECLINES = 0.04
LEAVES_OUT = 0.03
SECOND_ANSWER = 0.06
SHARES = {
    "gender": (0.48, 0.49, 0.03, 0.0),
    "race": (0.02, 0.08, 0.16, 0.2, 0.01, 0.01, 0.48, 0.03, 0.01),
    "education": (0.04, 0.24, 0.2, 0.04, 0.1, 0.24, 0.1, 0.04),
    "area": (0.4, 0.4, 0.18, 0.02),
}
MEAN_YEARS_ABOVE_LEAST = 18.0


def answer_questions(
    questions: Iterable[DemographicQuestion], rng: np.random.Generator
) -> dict[str, list[str]]:
    """Return the fields that a simulated person sends for the questions about themselves."""
    fields: dict[str, list[str]] = {}
    for question in questions:
        luck = rng.uniform()
        if luck < LEAVES_OUT:
            continue
        if luck < LEAVES_OUT + DECLINES:
            single = question.kind == QuestionKind.CHOICE
            name = ANSWER if single else DECLINE
            fields[name + question.slug] = [DECLINED_CHOICE if single else "1"]
            continue
        values = _draw(question, rng)
        if values:
            fields[ANSWER + question.slug] = values
    return fields


def _draw(question: DemographicQuestion, rng: np.random.Generator) -> list[str]:
    if question.kind == QuestionKind.NUMBER:
        return [str(_draw_number(question, rng))]
    if question.kind == QuestionKind.TEXT:
        return []
    own = text_option(question)
    shares = np.array(SHARES.get(question.slug, ()) or [1.0] * len(question.options), dtype=float)
    if len(shares) != len(question.options):
        shares = np.ones(len(question.options))
    # Nobody simulated has words of their own.
    shares[[option == own for option in question.options]] = 0
    several = question.kind == QuestionKind.CHOICES and rng.uniform() < SECOND_ANSWER
    n = min(2 if several else 1, int(np.count_nonzero(shares)))
    drawn = rng.choice(len(shares), size=n, replace=False, p=shares / shares.sum())
    return [str(number + 1) for number in sorted(drawn)]


def _draw_number(question: DemographicQuestion, rng: np.random.Generator) -> int:
    low = question.minimum if question.minimum is not None else 0
    high = question.maximum if question.maximum is not None else low + 100
    return int(np.clip(low + rng.exponential(MEAN_YEARS_ABOVE_LEAST), low, high))
