"""What every kind of step declares, and the registry of kinds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Protocol, TypeVar, Union, get_args, get_origin

from django.db.models import TextChoices
from django.http import QueryDict
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel, ConfigDict

from annotation.steps.forms import FilledForm

T = TypeVar("T")
Say = Callable[[Mapping[str, str] | None], str]

# Silent reading of English: Brysbaert (2019), 238 words a minute; a participant skims no faster.
WORDS_A_MINUTE = 238
# A rating line, a question, a written answer, in seconds: what such pages usually take.
LINE_SECONDS, QUESTION_SECONDS, TEXT_SECONDS, CHECK_SECONDS = 5.0, 6.0, 40.0, 12.0


class Menu(TextChoices):
    """Under which heading the designer offers a kind."""

    FRAME = "frame", _("Frame")
    RATINGS = "ratings", _("Ratings")
    CHECKS = "checks", _("Checks")
    QUESTIONS = "questions", _("Questions")


@dataclass(frozen=True)
class Answer:
    """An answer to store under the step's name in the data; ``value`` is plain JSON."""

    value: Any


@dataclass(frozen=True)
class Checked:
    """How a check ended. ``kind`` is one of `CheckKind`; ``passed`` is None while it is open.

    screens_out : the visit ends here
    """

    kind: str
    answer: dict[str, Any]
    expected: dict[str, Any]
    passed: bool | None
    reason: str = ""
    screens_out: bool = False


@dataclass(frozen=True)
class AskAgain:
    """Nothing to store: the page is asked once more."""


Kept = Answer | Checked | AskAgain | None


class DrawnLine(Protocol):
    """A line between two words; ``key`` names its fields."""

    @property
    def key(self) -> str: ...

    @property
    def left(self) -> str: ...

    @property
    def right(self) -> str: ...


class Asked(Protocol):
    """What a step sees of the visit that it is asked in."""

    @property
    def language(self) -> str: ...

    @property
    def wording(self) -> Mapping[str, str]:
        """The instrument's texts by key, as this participant reads them."""

    @property
    def lines(self) -> Sequence[DrawnLine]:
        """The lines of rating pages."""

    @property
    def shows_ticks(self) -> bool: ...

    @property
    def tries(self) -> list[str]:
        """What was answered to this check before."""

    def read(self, texts: Mapping[str, str] | None) -> str:
        """Return a text as this participant reads it, "" for none."""

    def put_in_order(self, options: Sequence[T], name: Callable[[T], str]) -> list[T]:
        """Return what stands in a list in this participant's own order."""

    def find_media(self, media: Any) -> Any:
        """Return a picture or sound as this participant gets it, None for none."""

    def find_logo(self) -> Any: ...

    def keep(self, key: tuple[Hashable, ...], make: Callable[[], T]) -> T:
        """Return what was made for everybody who reads the same."""


@dataclass(frozen=True)
class Extent:
    """What decides how long the steps of an instrument take: ``lines`` and ``questions`` count."""

    lines: int
    questions: int
    wording: Mapping[str, str]
    say: Say

    def reading(self, texts: Mapping[str, str] | str | None) -> float:
        """Return the seconds that a text takes to be read."""
        text = texts if isinstance(texts, str) else self.say(texts)
        return 60 * len(text.split()) / WORDS_A_MINUTE


@dataclass(frozen=True)
class Edit:
    """The designer's control of a field; ``more`` goes to its script as it is.

    kind : "" where it follows from the type of the field, see `_control_of`
    """

    label: Any
    kind: str = ""
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Mark:
    """The field names those of the ``options`` that are right; ``label`` stands beside each."""

    label: Any


class StepContent(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class StepKind(StepContent):
    """A kind of step; its fields are what the study's author can say about one such step."""

    name: ClassVar[str]
    label: ClassVar[Any]
    about: ClassVar[Any]
    menu: ClassVar[Menu]
    rank: ClassVar[int]
    template: ClassVar[str]
    new: ClassVar[dict[str, Any]]

    #: Stands first, or last, in its flow.
    is_first: ClassVar[bool] = False
    is_last: ClassVar[bool] = False
    #: May stand in a flow once.
    once: ClassVar[bool] = False
    #: A rating page: has a group of its own.
    has_group: ClassVar[bool] = False
    #: Asks for the rating page that it follows.
    after_rating: ClassVar[bool] = False
    #: Stores whether it was passed.
    is_check: ClassVar[bool] = False
    #: Stores what was answered, under the step's key.
    is_question: ClassVar[bool] = False
    #: Its answer is one number, which a condition can compare with limits.
    is_number: ClassVar[bool] = False
    #: People write freely: alike texts of several are looked for.
    is_text: ClassVar[bool] = False
    #: May be asked more than once, see `Asked.tries`.
    has_tries: ClassVar[bool] = False
    #: Not offered where texts are rated.
    rates_groups_alone: ClassVar[bool] = False
    #: May have a condition.
    is_conditional: ClassVar[bool] = True
    #: A new one comes behind all of the first and before all of the second kinds; "*" are all.
    comes_after: ClassVar[frozenset[str]] = frozenset()
    comes_before: ClassVar[frozenset[str]] = frozenset({"debrief"})
    #: Fields of the instrument that belong to it, and parts that are chosen at it.
    settings: ClassVar[tuple[str, ...]] = ()
    parts: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def find_misplacement(cls, before: Sequence[str]) -> str:
        """Return what is wrong with a place behind the kinds of ``before``, "" for nothing."""
        return ""

    @property
    def is_shared(self) -> bool:
        """Whether the page without answers looks the same in every visit, but for `own`."""
        return True

    @property
    def screens_out(self) -> bool:
        """Whether an answer can end the visit."""
        return False

    @property
    def values(self) -> list[str]:
        """The answers that a condition can compare with; none for most kinds."""
        return []

    def show(self, asked: Asked, filled: FilledForm) -> dict[str, Any]:
        """Return what the template needs; ``filled`` holds answers to keep and problems."""
        return {}

    def own(self, asked: Asked, filled: FilledForm) -> dict[str, SafeString]:
        """Return what the template needs besides and what differs between visits, as HTML."""
        return {}

    def read(self, sent: QueryDict, asked: Asked) -> Kept:
        """Return what is stored of a page that was sent, None for nothing.

        Raises `AnswersRefused` for answers to mend and `PageRefused` for a page that the survey
        cannot have sent.
        """
        return None

    def seconds(self, of: Extent) -> float:
        """Return how long it takes, about: a rule of thumb, not a finding."""
        return 0.0


#: All kinds by name.
KINDS: dict[str, type[StepKind]] = {}
Kind = TypeVar("Kind", bound=StepKind)


def step(
    name: str,
    label: Any,
    *,
    about: Any,
    menu: Menu,
    template: str,
    rank: int = 100,
    new: Mapping[str, Any] | None = None,
) -> Callable[[type[Kind]], type[Kind]]:
    """Register a kind of step under ``name``, which stands in flows and data.

    label, about : its name on pages, and what it is in a sentence
    rank : where in the menu it stands, the smallest first
    template : draws its page from what `StepKind.show` returns
    new : what a new one begins with, complete and in English
    """

    def register(kind: type[Kind]) -> type[Kind]:
        kind.name, kind.label, kind.about = name, label, about
        kind.menu, kind.rank, kind.template, kind.new = menu, rank, template, dict(new or {})
        KINDS[name] = kind
        return kind

    return register


def name_kinds(holds: Callable[[type[StepKind]], bool]) -> frozenset[str]:
    """Return the names of the kinds for which something holds."""
    return frozenset(name for name, kind in KINDS.items() if holds(kind))


def describe_controls(kind: type[StepKind]) -> list[dict[str, Any]]:
    """Return the designer's controls of a kind's fields, in their order."""
    controls: dict[str, dict[str, Any]] = {}
    for name, found in kind.model_fields.items():
        for told in found.metadata:
            if isinstance(told, Edit):
                control, is_optional = _control_of(found.annotation)
                controls[name] = {"name": name, "type": told.kind or control, "label": told.label}
                controls[name] |= told.more
                if controls[name]["type"] in {"flag", "number", "select"}:
                    controls[name]["default"] = found.get_default()
                if control == "text" and is_optional:
                    controls[name]["optional"] = True
            elif isinstance(told, Mark):
                several = get_origin(found.annotation) is list
                mark = {"name": name, "several": several, "label": told.label}
                controls["options"] |= {"mark": mark}
    return list(controls.values())


def _control_of(annotation: Any) -> tuple[str, bool]:
    """Return the control that a type of field has, and whether it may be left empty."""
    parts = get_args(annotation) if get_origin(annotation) in {Union, UnionType} else [annotation]
    (kind,) = (part for part in parts if part is not NoneType)
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    origin = get_origin(kind) or kind
    if origin is list:
        origin = get_args(kind)[0]
    plain = {dict: "text", bool: "flag", int: "number", float: "number", Literal: "select"}
    return plain.get(origin) or origin.control, NoneType in parts


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
