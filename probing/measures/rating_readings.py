"""Asks a model for direct ratings: one row for every reading.

Columns: group, trait, wording, repeat; access; expected, low, high (from 0 to 100 in the scale's
own direction, NaN where not told) and mass; drawn (NaN where no answer was drawn or read), outcome,
why (no number was read), rescaled (what an answer on another scale comes to), reasoning (tokens)
and text (the answer).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation.common.lazy import pd
from probing.lm.question_protocols import Access, Answer
from probing.measures.answer_reading import read_rating
from probing.measures.number_evidence import (
    HIGHEST,
    NUMBERS,
    ExpectedNumber,
    expected_from_all,
    expected_from_top,
)
from probing.measures.rating_wordings import WORDINGS, Wording
from probing.measures.streams import named_seed, named_stream

if TYPE_CHECKING:
    from probing.measures.direct_rating import DirectRating, DirectRatingParameters
    from probing.measures.rating_stimuli import RatingStimuli
    from probing.measures.stimuli import Group, Trait

#: As many likeliest tokens as OpenAI's protocol tells.
MOST_TOP = 20
_LONGEST = 20_000
_UNKNOWN = ExpectedNumber(math.nan, math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Ask:
    """One question: a group, a scale, and how it is put."""

    group: Group
    trait: Trait
    wording: Wording
    repeat: int


def plan_asks(
    groups: Sequence[Group],
    traits: Sequence[Trait],
    wordings: Sequence[Wording],
    answers: int,
    seed: int,
) -> list[Ask]:
    """Return every question; the wordings take turns in an order drawn for each cell."""
    found = []
    for group in groups:
        for trait in traits:
            order = named_stream(seed, "wordings", group.slug, trait.slug).permutation(4)
            found += [
                Ask(group, trait, wordings[order[repeat % 4]], repeat) for repeat in range(answers)
            ]
    return found


def read_group(
    measure: DirectRating,
    groups: Sequence[Group],
    stimuli: RatingStimuli,
    parameters: DirectRatingParameters,
    lm: Any,
    *,
    seed: int,
) -> pd.DataFrame:
    """Return the readings of some groups on all scales."""
    asks = plan_asks(groups, stimuli.traits, WORDINGS, parameters.answers, seed)
    questions = {
        ask: measure.question(stimuli, ask.group, ask.trait, ask.wording, parameters)
        for ask in asks
    }
    first = [ask for ask in asks if ask.repeat < parameters.n_wordings]
    wants_expected = parameters.reading == "expected"
    rescale = parameters.other_scales == "rescaled"
    if wants_expected and lm.kind != "chat":
        told = lm.answer_logprobs([questions[ask] for ask in first], NUMBERS)
        rows = [
            _row(ask, "full", expected_from_all(values), None)
            for ask, values in zip(first, told, strict=True)
        ]
        return pd.DataFrame(rows)

    def draw(some: Sequence[Ask], top: int) -> list[Answer]:
        answers: list[Answer] = lm.answer(
            [questions[ask] for ask in some],
            parameters.settings,
            seeds=[
                named_seed(seed, "answer", ask.group.slug, ask.trait.slug, ask.repeat)
                for ask in some
            ],
            top=top,
        )
        return answers

    if not wants_expected:
        return pd.DataFrame(
            _row(ask, "sampled", _UNKNOWN, answer, rescale=rescale)
            for ask, answer in zip(asks, draw(asks, 0), strict=True)
        )
    answers = draw(first, MOST_TOP)
    expected = [expected_from_top(answer) for answer in answers]
    if any(one is not None for one in expected):
        nothing = ExpectedNumber(math.nan, math.nan, math.nan, 0.0)
        return pd.DataFrame(
            _row(ask, "top_k", one or nothing, answer, rescale=rescale)
            for ask, one, answer in zip(first, expected, answers, strict=True)
        )
    later = [ask for ask in asks if ask.repeat >= parameters.n_wordings]
    answers += draw(later, 0)
    return pd.DataFrame(
        _row(ask, "sampled", _UNKNOWN, answer, rescale=rescale)
        for ask, answer in zip([*first, *later], answers, strict=True)
    )


def _row(
    ask: Ask,
    access: Access,
    expected: ExpectedNumber,
    answer: Answer | None,
    *,
    rescale: bool = False,
) -> dict[str, Any]:
    read = None if answer is None else read_rating(answer, rescale=rescale)
    number, rescaled = (read.value, read.rescaled) if read else (None, None)
    turned = not ask.wording.low_at_zero
    low, high = (expected.high, expected.low) if turned else (expected.low, expected.high)

    def in_own_direction(value: float) -> float:
        return HIGHEST - value if turned else value

    return {
        "group": ask.group.slug,
        "trait": ask.trait.slug,
        "wording": ask.wording.slug,
        "repeat": ask.repeat,
        "access": access,
        "expected": in_own_direction(expected.value),
        "low": in_own_direction(low),
        "high": in_own_direction(high),
        "mass": expected.mass,
        "drawn": math.nan if number is None else in_own_direction(number),
        "outcome": read.outcome if read else "",
        "why": read.why if read else "",
        "rescaled": math.nan if rescaled is None else in_own_direction(rescaled),
        "reasoning": 0 if answer is None else answer.reasoning,
        "text": "" if answer is None else answer.text.replace("\0", "")[:_LONGEST],
    }
