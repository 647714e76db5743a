"""What a step brings along: its texts and answers, one model for each kind that has any."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from annotation.instruments.step_kinds import StepKind
from annotation.instruments.step_texts import Texts

SLUG = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")
MOST_OPTIONS = 30
MOST_LINES = 5
MOST_ROWS, MOST_POINTS, MOST_ITEMS = 20, 11, 15
MOST_CHARACTERS = 5_000  # of an answer
MOST_NUMBER = 1_000_000_000
MOST_PLACES = 1_000  # on the line of a slider


def check_slug(text: str) -> str:
    """Return ``text``. Raises `ValueError` unless it is a short name for the data."""
    if not SLUG.fullmatch(text):
        raise ValueError(
            f"“{text[:60]}” is no name for the data, expected up to 40 small letters, digits and "
            "hyphens."
        )
    return text


Slug = Annotated[str, AfterValidator(check_slug)]


class StepContent(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Media(StepContent):
    """A picture or sound of the study by its digest; ``alt`` says in words what it is."""

    file: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    alt: Texts


class Option(StepContent):
    """An answer to choose: ``value`` is stored, ``text`` is read."""

    value: Slug
    text: Texts


def check_names(options: list[Option]) -> list[Option]:
    """Return ``options``. Raises `ValueError` where two have one name in the data."""
    seen: set[str] = set()
    for option in options:
        if option.value in seen:
            raise ValueError(f"Two answers have the name “{option.value}” in the data.")
        seen.add(option.value)
    return options


NamedOptions = Annotated[list[Option], AfterValidator(check_names)]


class PracticeLine(StepContent):
    left: Texts
    right: Texts


class PracticeContent(StepContent):
    """A rating page about something harmless; its answers are not kept."""

    question: Texts
    lead: Texts
    lines: Annotated[list[PracticeLine], Field(min_length=1, max_length=MOST_LINES)]


class PageContent(StepContent):
    """A page to read; ``body`` is Markdown (`annotation.common.safe_markdown`)."""

    title: Texts
    body: Texts
    media: Media | None = None


class QuestionContent(StepContent):
    question: Texts
    help: Texts | None = None
    media: Media | None = None


class FreeTextContent(QuestionContent):
    """``max_characters``: 1 to 5,000; ``required``: the page is not sent without an answer."""

    required: bool = False
    long: bool = True
    max_characters: Annotated[int, Field(ge=1, le=MOST_CHARACTERS)] = 1_000


class SliderContent(QuestionContent):
    """A line between two words, from ``minimum`` to ``maximum`` in steps of ``step``."""

    low: Texts
    high: Texts
    unit: Texts | None = None
    minimum: Annotated[int, Field(ge=-MOST_NUMBER, le=MOST_NUMBER)] = 0
    maximum: Annotated[int, Field(ge=-MOST_NUMBER, le=MOST_NUMBER)] = 100
    step: Annotated[int, Field(ge=1, le=MOST_NUMBER)] = 1
    required: bool = True

    @model_validator(mode="after")
    def _has_places(self) -> SliderContent:
        places, rest = divmod(self.maximum - self.minimum, self.step)
        if rest or not 1 <= places <= MOST_PLACES:
            raise ValueError(
                f"The line goes from {self.minimum} to {self.maximum} by {self.step}, expected 1 "
                f"to {MOST_PLACES} whole steps."
            )
        return self


class NumberContent(QuestionContent):
    """Limits are inclusive, None is no limit; ``integer``: whole numbers alone."""

    unit: Texts | None = None
    minimum: Annotated[float, Field(ge=-MOST_NUMBER, le=MOST_NUMBER)] | None = None
    maximum: Annotated[float, Field(ge=-MOST_NUMBER, le=MOST_NUMBER)] | None = None
    integer: bool = True
    required: bool = True

    @model_validator(mode="after")
    def _some_number_fits(self) -> NumberContent:
        if self.minimum is None or self.maximum is None:
            return self
        low = math.ceil(self.minimum) if self.integer else self.minimum
        if low > self.maximum:
            raise ValueError(
                f"No number lies between {self.minimum:g} and {self.maximum:g}, expected the "
                "smallest before the largest."
            )
        return self


class MatrixContent(QuestionContent):
    """Every row, such as a statement, gets one of the same points, such as degrees of agreement."""

    rows: Annotated[
        list[Option], Field(min_length=1, max_length=MOST_ROWS), AfterValidator(check_names)
    ]
    points: Annotated[
        list[Option], Field(min_length=2, max_length=MOST_POINTS), AfterValidator(check_names)
    ]
    random_order: bool = False
    required: bool = True


class RankingContent(QuestionContent):
    """Items are put into an order, the first place for the first."""

    items: Annotated[
        list[Option], Field(min_length=2, max_length=MOST_ITEMS), AfterValidator(check_names)
    ]
    random_order: bool = True
    required: bool = True

    @property
    def values(self) -> list[str]:
        return [item.value for item in self.items]


class OptionsContent(QuestionContent):
    """A question with 2 to 30 different answers."""

    options: Annotated[NamedOptions, Field(min_length=2, max_length=MOST_OPTIONS)]

    @property
    def values(self) -> list[str]:
        return [option.value for option in self.options]

    def _check_named(self, values: list[str], purpose: str) -> None:
        for value in values:
            if value not in self.values:
                known = ", ".join(f"“{name}”" for name in self.values)
                raise ValueError(f"{purpose} is “{value}”, expected one of: {known}.")


class ChoiceContent(OptionsContent):
    """``several``: any number of answers; ``required``: at least one."""

    several: bool = False
    random_order: bool = False
    required: bool = True


class InstructedContent(OptionsContent):
    """The text says which answer to give; ``expected`` is its name."""

    expected: str

    @model_validator(mode="after")
    def _expected_is_an_answer(self) -> InstructedContent:
        self._check_named([self.expected], "The answer that passes")
        return self


class NonsensicalContent(OptionsContent):
    """A statement that is true of nobody; ``accepted`` names the answers that do not affirm it."""

    accepted: Annotated[list[str], Field(min_length=1)]

    @model_validator(mode="after")
    def _some_answers_fail(self) -> NonsensicalContent:
        self._check_named(self.accepted, "An answer that passes")
        if set(self.accepted) >= set(self.values):
            raise ValueError("Every answer passes, expected at least one that does not.")
        return self


class ComprehensionContent(OptionsContent):
    """A question about the instructions with two tries; ``on_failure`` says what follows both."""

    right: str
    on_failure: Literal["screen_out", "go_on"] = "go_on"

    @model_validator(mode="after")
    def _right_is_an_answer(self) -> ComprehensionContent:
        self._check_named([self.right], "The right answer")
        return self


CONTENTS: dict[StepKind, type[StepContent]] = {
    StepKind.PAGE: PageContent,
    StepKind.PRACTICE: PracticeContent,
    StepKind.FREE_TEXT: FreeTextContent,
    StepKind.CHOICE: ChoiceContent,
    StepKind.SLIDER: SliderContent,
    StepKind.NUMBER: NumberContent,
    StepKind.MATRIX: MatrixContent,
    StepKind.RANKING: RankingContent,
    StepKind.INSTRUCTED: InstructedContent,
    StepKind.NONSENSICAL: NonsensicalContent,
    StepKind.COMPREHENSION: ComprehensionContent,
}


def iterate_texts(content: StepContent, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield every text of ``content`` by language, with where it stands such as “options 2 text”.

    Only texts are dictionaries in a content.
    """
    for name in type(content).model_fields:
        value = getattr(content, name)
        if isinstance(value, dict):
            yield " ".join((*path, name)), value
        elif isinstance(value, StepContent):
            yield from iterate_texts(value, (*path, name))
        elif isinstance(value, list):
            for number, item in enumerate(value, start=1):
                if isinstance(item, StepContent):
                    yield from iterate_texts(item, (*path, name, str(number)))
