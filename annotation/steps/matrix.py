"""Several statements, each answered on the same points."""

from __future__ import annotations

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
    refuse_unknown,
)
from annotation.steps.kind import QUESTION_SECONDS, Asked, Edit, Extent, Menu, Say, step
from annotation.steps.question import (
    AGREEMENT,
    EMPTY,
    AnswerLine,
    NamedOptions,
    Question,
    RandomOrder,
    Required,
    ShownOption,
    label_options,
    list_options,
    new_options,
)

MOST_ROWS, MOST_POINTS = 20, 11
ROW = "row-"
# So many points fit beside one another on a phone.
MOST_ON_PHONE = 5


@dataclass(frozen=True)
class ShownRow:
    field: str
    text: str
    points: list[ShownOption]
    problem: str


@step(
    "matrix",
    gettext_lazy("Statements on the same points"),
    about=gettext_lazy(
        "Several statements of yours, each answered on the same points, such as agreement."
    ),
    menu=Menu.QUESTIONS,
    rank=2,
    template="survey/matrix.html",
    new={
        "question": {"en": "How far do you agree with each statement?"},
        "rows": new_options(
            ("questions-clear", "The questions were clear."),
            ("groups-familiar", "I knew the groups that I was asked about."),
        ),
        "points": AGREEMENT,
        "random_order": False,
        "required": True,
    },
)
class Matrix(Question):
    """Every row, such as a statement, gets one of the same points, such as degrees of agreement."""

    rows: Annotated[
        NamedOptions,
        Field(min_length=1, max_length=MOST_ROWS),
        Edit(
            gettext_lazy("Statements"),
            more={"most": MOST_ROWS, "add": gettext_lazy("Add a statement")},
        ),
    ]
    points: Annotated[
        NamedOptions,
        Field(min_length=2, max_length=MOST_POINTS),
        Edit(gettext_lazy("Points"), more={"most": MOST_POINTS}),
    ]
    random_order: RandomOrder = False
    required: Required = True

    def show(self, asked: Asked, filled: FilledForm) -> dict[str, Any]:
        points = [(point.value, asked.read(point.text)) for point in self.points]
        rows = [
            ShownRow(
                ROW + row.value,
                asked.read(row.text),
                [
                    ShownOption(value, text, filled.text(ROW + row.value) == value)
                    for value, text in points
                ],
                filled.problem(row.value),
            )
            for row in self.put_in_order(self.rows, asked)
        ]
        return {
            **super().show(asked, filled),
            "rows": rows,
            "troubled": [row for row in rows if row.problem],
            "are_many": len(points) > MOST_ON_PHONE,
        }

    def read_answer(self, sent: QueryDict) -> dict[str, str] | None:
        refuse_unknown(sent, prefixes=(ROW,), known={ROW + row.value for row in self.rows})
        offered = {point.value for point in self.points}
        chosen = {row.value: read_single(sent, ROW + row.value) for row in self.rows}
        for value in chosen.values():
            if value and value not in offered:
                raise not_offered(value)
        given = {row: value for row, value in chosen.items() if value}
        if self.required and len(given) < len(chosen):
            raise AnswersRefused({row: _("Choose one.") for row in chosen if row not in given})
        return given or None

    def tell(self, value: Any, say: Say) -> Iterable[AnswerLine]:
        return self._tell_rows(value, say) if isinstance(value, dict) else super().tell(value, say)

    def _tell_rows(self, value: dict[str, Any], say: Say) -> Iterator[AnswerLine]:
        texts = {point.value: say(point.text) for point in self.points}
        for row in self.rows:
            if row.value in value:
                point = str(value[row.value])
                words = [texts.get(point, point)]
                yield AnswerLine(row.value, say(row.text), words, point, is_chosen=point in texts)

    def columns(self, name: str, say: Say) -> Iterator[tuple[str, Column]]:
        values, labels = (
            f"{list_options(self.points, say)}; {EMPTY}",
            label_options(self.points, say),
        )
        for row in self.rows:
            meaning = f"{say(self.question)} – {say(row.text)}"
            column = Column(f"{name}_{row.value}", ColumnType.TEXT, values, meaning, labels)
            yield row.value, column

    def seconds(self, of: Extent) -> float:
        return of.reading(self.question) + len(self.rows) * QUESTION_SECONDS
