"""A question that asks for an order: each item gets a place of its own, 1 for the first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field

from annotation.common.tables import Column, ColumnType
from annotation.steps.forms import (
    AnswersRefused,
    FilledForm,
    not_offered,
    read_single,
    read_whole_number,
    refuse_unknown,
)
from annotation.steps.kind import QUESTION_SECONDS, Asked, Edit, Extent, Menu, Say, step
from annotation.steps.question import (
    EMPTY,
    AnswerLine,
    NamedOptions,
    Question,
    RandomOrder,
    Required,
    new_options,
    write_number,
)

MOST_ITEMS = 15
PLACE = "place-"


@dataclass(frozen=True)
class ShownItem:
    """``place`` is the one that was sent, as it was sent, "" for none."""

    field: str
    text: str
    place: str
    problem: str


@step(
    "ranking",
    gettext_lazy("Question that asks for an order"),
    about=gettext_lazy("Items of yours that are put into an order."),
    menu=Menu.QUESTIONS,
    rank=5,
    template="survey/ranking.html",
    new={
        "question": {"en": "Where do you learn most about other groups of people?"},
        "help": {"en": "Put the most important first."},
        "items": new_options(
            ("people-i-know", "From people I know"),
            ("news", "From the news"),
            ("films-and-series", "From films and series"),
        ),
        "random_order": True,
        "required": True,
    },
)
class Ranking(Question):
    """Items are put into an order, the first place for the first."""

    items: Annotated[
        NamedOptions,
        Field(min_length=2, max_length=MOST_ITEMS),
        Edit(gettext_lazy("Items"), more={"most": MOST_ITEMS, "add": gettext_lazy("Add an item")}),
    ]
    random_order: RandomOrder = True
    required: Required = True

    def show(self, asked: Asked, filled: FilledForm) -> dict[str, Any]:
        items = [
            ShownItem(
                PLACE + item.value,
                asked.read(item.text),
                filled.text(PLACE + item.value),
                filled.problem(item.value),
            )
            for item in self.put_in_order(self.items, asked)
        ]
        return {
            **super().show(asked, filled),
            "items": items,
            "places": [str(place) for place in range(1, len(items) + 1)],
            "troubled": [item for item in items if item.problem],
        }

    def read_answer(self, sent: QueryDict) -> dict[str, int] | None:
        places = self._read_places(sent)
        if not places and not self.required:
            return None
        counts = Counter(places.values())
        problems = {
            item.value: _("Choose a place.")
            if item.value not in places
            else _("Place %(n)s is given twice.") % {"n": places[item.value]}
            for item in self.items
            if item.value not in places or counts[places[item.value]] > 1
        }
        if problems:
            raise AnswersRefused(problems)
        return places

    def _read_places(self, sent: QueryDict) -> dict[str, int]:
        """Return the places that were given. Raises `PageRefused` for one that there is not."""
        refuse_unknown(sent, prefixes=(PLACE,), known={PLACE + item.value for item in self.items})
        places = {}
        for item in self.items:
            text = read_single(sent, PLACE + item.value)
            if not text:
                continue
            place = read_whole_number(text)
            if place is None or not 1 <= place <= len(self.items):
                raise not_offered(text)
            places[item.value] = place
        return places

    def tell(self, value: Any, say: Say) -> Iterable[AnswerLine]:
        """Return the lines of a stored answer by their places."""
        if not isinstance(value, dict):
            return super().tell(value, say)
        items = sorted(self.items, key=lambda item: value.get(item.value, len(self.items) + 1))
        return [
            AnswerLine(item.value, say(item.text), [write_number(place)], place)
            for item in items
            if (place := value.get(item.value)) is not None
        ]

    def columns(self, name: str, say: Say) -> Iterator[tuple[str, Column]]:
        values = f"1 (first) to {len(self.items)}; {EMPTY}"
        for item in self.items:
            meaning = f"{say(self.question)} – place of: {say(item.text)}"
            column = Column(f"{name}_{item.value}", ColumnType.INTEGER, values, meaning)
            yield item.value, column

    def seconds(self, of: Extent) -> float:
        return of.reading(self.question) + len(self.items) * QUESTION_SECONDS
