"""The expected value of a number from 0 to 100, from log-probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotation.common.lazy import np, npt
from probing.lm.question_protocols import Answer, Question

LOWEST, HIGHEST = 0, 100
NUMBERS: tuple[str, ...] = tuple(str(number) for number in range(LOWEST, HIGHEST + 1))
#: The numbers, and what they go on to with one more digit.
_BEGINNINGS = tuple(dict.fromkeys((*NUMBERS, *(f"{n}{d}" for n in NUMBERS for d in range(10)))))
_PLACES = {number: place for place, number in enumerate(NUMBERS)}


@dataclass(frozen=True)
class ExpectedNumber:
    """The mean of the numbers, each weighed by its probability.

    Attributes
    ----------
    value : of the probability that is known to lie on numbers; NaN where none does.
    low, high : what it can be at most where the missing probability lay on 0, or on 100.
    mass : probability that is known to lie on numbers.
    """

    value: float
    low: float
    high: float
    mass: float


def told_numbers(tokenizer: Any, question: Question) -> tuple[str, ...]:
    """Return the numbers from 0 to 100, and more where some of them are several tokens.

    There a number also ends before a digit that would make it another one, such as 572.
    """
    pieces = tokenizer.encode_answers(question, NUMBERS)
    return _BEGINNINGS if any(ids[1:] for ids in pieces) else NUMBERS


def expected_from_all(logprobs: npt.NDArray[np.float64]) -> ExpectedNumber:
    """Return the expected number from ln P of `told_numbers`, (n,)."""
    weights = np.exp(logprobs[: len(NUMBERS)])
    mass = float(weights.sum())
    value = float(weights @ np.arange(LOWEST, HIGHEST + 1)) / mass if mass > 0 else math.nan
    return ExpectedNumber(value, value, value, mass)


def expected_from_top(answer: Answer) -> ExpectedNumber | None:
    """Return the expected number from the likeliest first tokens; None where they do not tell.

    They tell it where the tokenizer reads numbers as single tokens, which a number of two digits
    among them shows; otherwise “5” may be the beginning of 57. The missing probability R is what
    the told tokens leave of one: with S = Σ n p(n) and M = Σ p(n) over the told numbers the value
    is S / M, and lies between S / (M + R) and (S + 100 R) / (M + R) whatever is missing.
    """
    first = None if answer.finish == "refused" else _first_with_words(answer)
    if first is None:
        return None
    numbers = [(_PLACES.get(token.strip()), value) for token, value in first]
    if not any(place is not None and place >= 10 for place, _ in numbers):
        return None
    told = [(place, math.exp(value)) for place, value in numbers if place is not None]
    mass = math.fsum(weight for _, weight in told)
    total = math.fsum(place * weight for place, weight in told)
    rest = max(0.0, 1.0 - math.fsum(math.exp(value) for _, value in first))
    if mass <= 0:
        return ExpectedNumber(math.nan, math.nan, math.nan, 0.0)
    return ExpectedNumber(
        total / mass, total / (mass + rest), (total + HIGHEST * rest) / (mass + rest), mass
    )


def _first_with_words(answer: Answer) -> Sequence[tuple[str, float]] | None:
    """Return the likeliest at the first token that is not white space alone."""
    for token in answer.tokens or ():
        if token.text.strip():
            return token.likeliest
    return None
