"""Questions of direct ratings: the four wordings, and the parameters that say how they are put."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field, field_validator

from probing.lm.question_protocols import Question
from probing.lm.text_protocols import GenerationSettings
from probing.measures.base import MeasureParameters
from probing.measures.number_evidence import HIGHEST, LOWEST
from probing.measures.rating_stimuli import RatingStimuli
from probing.measures.stimuli import Group, Trait

#: Where each end of the scale is named in `scale_text`.
_ENDS = ("{first_number}", "{first_word}", "{second_number}", "{second_word}")


@dataclass(frozen=True)
class Wording:
    """One of the four ways to put a question.

    low_at_zero : 0 means the scale's low word; otherwise answers are turned round.
    zero_first : the end at 0 is named before that at 100.
    """

    low_at_zero: bool
    zero_first: bool

    @property
    def slug(self) -> str:
        side = "low-at-0" if self.low_at_zero else "high-at-0"
        return f"{side}-{'0' if self.zero_first else '100'}-first"


WORDINGS = tuple(Wording(low, first) for low in (True, False) for first in (True, False))


class DirectRatingParameters(MeasureParameters):
    """Parameters of direct ratings."""

    answers: int = Field(
        8,
        ge=1,
        le=1000,
        title="Answers for each group and scale",
        description="How often a model is asked. The four wordings (either word at 0, either end "
        "named first) take turns, in an order drawn with the seed. Where log-probabilities tell "
        "the expected value, each wording is asked once.",
    )
    reading: Literal["expected", "answers"] = Field(
        "expected",
        title="How a rating is read",
        description="As the expected value of the numbers from 0 to 100 where the model or its "
        "server tells their probabilities, and from drawn answers elsewhere (expected), or always "
        "from drawn answers (answers).",
    )
    temperature: float = Field(
        1.0,
        ge=0,
        le=2,
        title="Temperature",
        description="Of drawn answers; 1 draws from the model's own distribution, 0 takes the "
        "likeliest token each time.",
    )
    max_new_tokens: int = Field(
        16,
        ge=1,
        le=8192,
        title="Most tokens of an answer",
        description="Models that reason before they answer need many more.",
    )
    least_mass: float = Field(
        0.01,
        ge=0,
        le=1,
        title="Least probability of a number",
        description="Where less probability than this lies on the numbers, there is no expected "
        "value.",
    )
    system_message: str | None = Field(
        None,
        max_length=4000,
        title="System message",
        description="Without a value none is sent.",
    )
    opening: str | None = Field(
        None,
        max_length=500,
        title="Beginning of the answer",
        description="Begins the assistant's turn, such as “My rating is”. Some servers refuse it.",
    )
    scale_text: str = Field(
        "On a scale from 0 to 100, {first_number} means “{first_word}” and {second_number} means "
        "“{second_word}”.",
        max_length=1000,
        title="The scale in words",
        description="Follows the study's question. {first_number}, {first_word}, {second_number} "
        "and {second_word} stand for the two ends in the order in which they are named.",
    )
    answer_text: str = Field(
        "Answer with one whole number from 0 to 100 and nothing else.",
        max_length=1000,
        title="How to answer",
        description="Ends every question.",
    )
    groups_per_shard: int = Field(
        1,
        ge=1,
        le=1000,
        title="Groups per shard",
        description="How many groups one unit of work covers. The ratings do not depend on it.",
    )

    @field_validator("scale_text")
    @classmethod
    def _names_both_ends(cls, text: str) -> str:
        if missing := [end for end in _ENDS if end not in text]:
            raise ValueError(f"expected a text with {', '.join(missing)}")
        return text

    @field_validator("answer_text")
    @classmethod
    def _says_something(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("expected a text such as “Answer with one whole number.”")
        return text

    @property
    def n_wordings(self) -> int:
        """How many of the four wordings are asked."""
        return min(len(WORDINGS), self.answers)

    @property
    def settings(self) -> GenerationSettings:
        return GenerationSettings(self.max_new_tokens, self.temperature)


def rating_question(
    stimuli: RatingStimuli,
    group: Group,
    trait: Trait,
    wording: Wording,
    parameters: DirectRatingParameters,
) -> Question:
    """Return what a model is asked about a group on a scale."""
    left, right = (trait.low, trait.high) if wording.low_at_zero else (trait.high, trait.low)
    ends = [(str(LOWEST), left), (str(HIGHEST), right)]
    named = ends if wording.zero_first else ends[::-1]
    scale = parameters.scale_text
    for slot, text in zip(_ENDS, (*named[0], *named[1]), strict=True):
        scale = scale.replace(slot, text)
    text = f"{stimuli.ask(group, left, right)}\n\n{scale}\n{parameters.answer_text}"
    return Question(text, parameters.system_message or "", parameters.opening or "")
