"""What steps share that ask one question of the study's author."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated, Any, ClassVar

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import AfterValidator, Field

from annotation.common.tables import Column
from annotation.steps.forms import AnswersRefused, FilledForm, not_offered, sent_twice
from annotation.steps.kind import (
    QUESTION_SECONDS,
    Answer,
    Asked,
    Edit,
    Extent,
    Kept,
    Say,
    StepContent,
    StepKind,
)
from annotation.steps.texts import Texts

SLUG = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")
MOST_OPTIONS = 30
MOST_NUMBER = 1_000_000_000
#: The field of answers to choose from.
FIELD = "choice"
EMPTY = "empty: not answered"


def check_slug(text: str) -> str:
    """Return ``text``. Raises `ValueError` unless it is a short name for the data."""
    if not SLUG.fullmatch(text):
        raise ValueError(
            f"“{text[:60]}” is no name for the data, expected up to 40 small letters, digits and "
            "hyphens."
        )
    return text


Slug = Annotated[str, AfterValidator(check_slug)]


class Media(StepContent):
    """A picture or sound of the study by its digest; ``alt`` says in words what it is."""

    control: ClassVar[str] = "media"

    file: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    alt: Texts


class Option(StepContent):
    """An answer to choose: ``value`` is stored, ``text`` is read."""

    control: ClassVar[str] = "options"

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
# Fields that several kinds have.
OptionalMedia = Annotated[Media | None, Edit(gettext_lazy("Picture or sound"))]
Required = Annotated[bool, Edit(gettext_lazy("An answer is required"))]
RandomOrder = Annotated[bool, Edit(gettext_lazy("In another order for each participant"))]
Unit = Annotated[Texts | None, Edit(gettext_lazy("Unit, such as years"))]


def new_options(*options: tuple[str, str]) -> list[dict[str, Any]]:
    """Return options for what a new step begins with, from names and English texts."""
    return [{"value": value, "text": {"en": text}} for value, text in options]


AGREEMENT = new_options(
    ("strongly-disagree", "Strongly disagree"),
    ("somewhat-disagree", "Somewhat disagree"),
    ("somewhat-agree", "Somewhat agree"),
    ("strongly-agree", "Strongly agree"),
)


@dataclass(frozen=True)
class AnswerLine:
    """One line of an answer in words, for its participant, researchers and exports.

    part : the name in the data of the row or item, "" for a question with one answer
    label : its text, "" for a question with one answer
    words : what was answered, several where several answers were chosen
    value : as it is stored: a text, a number, or the names of chosen answers
    """

    part: str
    label: str
    words: list[str]
    value: str | float | list[str]
    is_chosen: bool = False


@dataclass(frozen=True)
class ShownOption:
    value: str
    text: str
    chosen: bool


class Question(StepKind):
    """A question of the study's author. Each kind adds its controls, its answer and its columns."""

    is_question: ClassVar[bool] = True

    question: Annotated[Texts, Edit(gettext_lazy("Question"))]
    help: Annotated[Texts | None, Edit(gettext_lazy("Help below it"))] = None
    media: OptionalMedia = None

    @property
    def is_shared(self) -> bool:
        return not getattr(self, "random_order", False)

    def show(self, asked: Asked, filled: FilledForm) -> dict[str, Any]:
        return {
            "heading": asked.read(self.question),
            "help": asked.read(self.help),
            "media": asked.find_media(self.media),
            "is_optional": not getattr(self, "required", True),
        }

    def read(self, sent: QueryDict, asked: Asked) -> Kept:
        value = self.read_answer(sent)
        return None if value is None else Answer(value)

    def read_answer(self, sent: QueryDict) -> Any:
        """Return the answer as it is stored, None where it was left open.

        Raises `AnswersRefused` for an answer to mend and `PageRefused` for one that the page cannot
        have sent.
        """
        raise NotImplementedError

    def tell(self, value: Any, say: Say) -> Iterable[AnswerLine]:
        """Return the lines of a stored answer in the order of its page.

        What the step does not know, such as an answer to another version, is told as it was stored.
        """
        return tell_as_stored(value)

    def columns(self, name: str, say: Say) -> Iterator[tuple[str, Column]]:
        """Yield the columns of its answers in exports, named from ``name``, each with its part."""
        yield from ()

    def seconds(self, of: Extent) -> float:
        return of.reading(self.question) + QUESTION_SECONDS

    def put_in_order(self, options: Sequence[Option], asked: Asked) -> list[Option]:
        """Return what stands in a list as this participant sees it."""
        if not getattr(self, "random_order", False):
            return list(options)
        return asked.put_in_order(options, attrgetter("value"))


class OptionsQuestion(Question):
    """A question with 2 to 30 different answers, of which one is chosen."""

    options: Annotated[
        NamedOptions,
        Field(min_length=2, max_length=MOST_OPTIONS),
        Edit(gettext_lazy("Answers")),
    ]

    @property
    def names(self) -> list[str]:
        return [option.value for option in self.options]

    def show(self, asked: Asked, filled: FilledForm) -> dict[str, Any]:
        chosen = filled.sent.getlist(FIELD)
        return {
            **super().show(asked, filled),
            "field": FIELD,
            "options": [
                ShownOption(option.value, asked.read(option.text), option.value in chosen)
                for option in self.put_in_order(self.options, asked)
            ],
            "several": False,
            "problem": filled.problem(FIELD),
        }

    def read_choices(self, sent: QueryDict) -> list[str]:
        """Return the names of the chosen answers in the order of the page; may be empty.

        Raises `PageRefused` for an answer that the page does not offer or that was sent twice.
        """
        chosen = sent.getlist(FIELD)
        if len(set(chosen)) != len(chosen):
            raise sent_twice(FIELD)
        for value in chosen:
            if value not in self.names:
                raise not_offered(value)
        return [value for value in self.names if value in chosen]

    def read_choice(self, sent: QueryDict) -> str:
        """Return the one chosen answer.

        Raises `AnswersRefused` for none, `PageRefused` for more.
        """
        chosen = self.read_choices(sent)
        if not chosen:
            raise AnswersRefused({FIELD: _("Choose an answer.")})
        if len(chosen) > 1:
            raise sent_twice(FIELD)
        return chosen[0]

    def tell(self, value: Any, say: Say) -> Iterable[AnswerLine]:
        if not isinstance(value, str | list):
            return super().tell(value, say)
        chosen = value if isinstance(value, list) else [value]
        texts = {option.value: say(option.text) for option in self.options}
        words = [texts.get(name, str(name)) for name in chosen]
        return [AnswerLine("", "", words, value, is_chosen=all(name in texts for name in chosen))]

    def check_named(self, values: list[str], purpose: str) -> None:
        """Raise `ValueError` for one of ``values`` that is no name of an answer."""
        for value in values:
            if value not in self.names:
                known = ", ".join(f"“{name}”" for name in self.names)
                raise ValueError(f"{purpose} is “{value}”, expected one of: {known}.")


def read_answer(content: StepContent | None, value: Any, say: Say) -> list[AnswerLine]:
    """Return the lines of a stored answer; ``say`` gives a text in the reader's language."""
    known = content.tell(value, say) if isinstance(content, Question) else tell_as_stored(value)
    return list(known)


def tell_as_stored(value: Any) -> list[AnswerLine]:
    return [AnswerLine("", "", [str(value)], str(value))]


def write_number(number: float) -> str:
    """Return a number in digits, without a point where it is whole."""
    return str(int(number)) if float(number).is_integer() else str(number)


def tell_number(value: Any, unit: Mapping[str, str] | None, say: Say) -> list[AnswerLine]:
    if not isinstance(value, int | float):
        return tell_as_stored(value)
    return [AnswerLine("", "", [f"{write_number(value)} {say(unit)}".strip()], value)]


def write_unit(unit: Mapping[str, str] | None, say: Say) -> str:
    return f", in {say(unit)}" if unit else ""


def label_options(options: Iterable[Option], say: Say) -> tuple[tuple[str, str], ...]:
    return tuple((option.value, say(option.text)) for option in options)


def list_options(options: Iterable[Option], say: Say) -> str:
    return "; ".join(f"{option.value}: {say(option.text)}" for option in options)
