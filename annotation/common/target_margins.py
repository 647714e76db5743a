"""Target margins: which shares of participants a study wants to give which answers.

Stored with the study, by question: where bands of numbers start, and the share of each answer.
All answers without a share of their own are counted together as `OTHERS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pydantic import ValidationError as SchemaError

from annotation.common.small_cells import DECLINED, UNANSWERED, Answers

#: Stands for all answers without a share of their own.
OTHERS = "[others]"
#: Shares of one question sum to one but for this much, which rounding may cost.
TOLERANCE = 0.005

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Start = Annotated[int, Field(ge=-1_000_000, le=1_000_000)]


class Margin(BaseModel):
    """The target of one question. ``starts`` are those of bands, for a number alone."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    starts: Annotated[tuple[Start, ...], Field(max_length=30)] = ()
    shares: Annotated[dict[str, Share], Field(min_length=1, max_length=100)]

    def cells_of(self, answers: Answers) -> frozenset[str]:
        """Return the cells that somebody with these answers belongs to; none who declined."""
        given = answers - {DECLINED, UNANSWERED}
        return frozenset(answer if answer in self.shares else OTHERS for answer in given)

    @property
    def cells(self) -> tuple[str, ...]:
        """All cells in their order, that of other answers last."""
        return (*(name for name in self.shares if name != OTHERS), OTHERS)

    def in_order(self, answers: Sequence[str]) -> Margin:
        """Return the margin with its cells in that order: PostgreSQL keeps none in JSON."""
        shares = {name: self.shares[name] for name in answers if name in self.shares}
        return self.model_copy(update={"shares": shares | self.shares})

    @property
    def total(self) -> float:
        return sum(self.shares.values())


Margins = Mapping[str, Margin]
_SCHEMA = TypeAdapter(dict[str, Margin])


def load_margins(stored: Any) -> dict[str, Margin]:
    """Return targets by question, as a study stores them."""
    return _SCHEMA.validate_python(stored)


def validate_margins(value: Any) -> None:
    """Raise Django's `ValidationError` unless ``value`` has the form of targets."""
    try:
        _SCHEMA.validate_python(value)
    except SchemaError as error:
        raise ValidationError(
            [
                _("Target “%(name)s”: %(problem)s.")
                % {"name": " ".join(map(str, found["loc"])), "problem": found["msg"]}
                for found in error.errors()
            ]
        ) from error


def count_places(margin: Margin, planned: int, *, several: bool) -> dict[str, int]:
    """Return how many of ``planned`` people each cell has room for.

    Share times people, rounded down; what is missing to the whole goes to the largest remainders,
    in the order of the cells where they are equal (the method of Hamilton). So no cell is off by
    one or more. Shares of a question with one answer are taken relative to their sum; where people
    may give several answers, the whole is the rounded sum of all cells.
    """
    shares = {cell: Fraction(str(margin.shares.get(cell, 0.0))) for cell in margin.cells}
    total = sum(shares.values())
    if not several and total:
        shares = {cell: share / total for cell, share in shares.items()}
        total = Fraction(1)
    exact = {cell: share * planned for cell, share in shares.items()}
    places = {cell: int(value) for cell, value in exact.items()}
    missing = int(total * planned + Fraction(1, 2)) - sum(places.values())
    by_remainder = sorted(exact, key=lambda cell: places[cell] - exact[cell])
    for cell in by_remainder[:missing]:
        places[cell] += 1
    return places
