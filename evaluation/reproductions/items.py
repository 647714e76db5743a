"""Tables and figures of the four papers: the published value, ours, and whether they are equal.

A paper is one file that lists all of its numbered tables and figures, those that cannot be computed
with the reason. Values come from the files that the authors released, from reports of this
installation on the models that a paper used, or from numbers that the paper itself prints.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from django.db.models import QuerySet

from evaluation.models import Report, ReportStatus


class Status(StrEnum):
    """Of a value, and of an item: the worst of its values."""

    REPRODUCED = "reproduced"
    CLOSE = "close"
    DIFFERS = "differs"
    NO_RESULT = "no result"
    NO_NUMBERS = "no numbers"


class MissingSourceError(Exception):
    """What an item rests on is not here; the message says what it is and how to get it."""


@dataclass(frozen=True)
class Value:
    """One published value beside ours.

    decimals : how many the paper prints; ours is reproduced if it rounds to the same number
    tolerance : how far ours may be off to be called close, with the reason for it in ``reason``
    reason : why ours differs, or why there is none
    """

    what: str
    published: float | str
    ours: float | str | None
    decimals: int = 3
    tolerance: float = 0.0
    reason: str = ""

    @property
    def difference(self) -> float | None:
        if isinstance(self.ours, str) or isinstance(self.published, str) or self.ours is None:
            return None
        return self.ours - self.published

    @property
    def status(self) -> Status:
        if self.ours is None:
            return Status.NO_RESULT
        if self.difference is None:
            return Status.REPRODUCED if self.ours == self.published else Status.DIFFERS
        # Half a unit of the last printed digit, and what binary fractions add to it.
        if abs(self.difference) <= 0.5 * 10**-self.decimals + 1e-9:
            return Status.REPRODUCED
        return Status.CLOSE if abs(self.difference) <= self.tolerance else Status.DIFFERS

    @property
    def printed(self) -> tuple[str, str, str]:
        """Return published value, ours, and the difference; ours with one decimal more."""
        difference = self.difference
        return (
            _print_number(self.published, self.decimals),
            _print_number(self.ours, self.decimals + 1),
            "" if difference is None else _print_number(difference, self.decimals + 1, "+"),
        )


def _print_number(value: float | str | None, decimals: int, sign: str = "") -> str:
    if value is None or isinstance(value, str):
        return value or "–"
    return f"{round(value, decimals) + 0.0:{sign}.{decimals}f}".replace("-", "−")


class Sources:
    """What values are computed from: a folder of released files, and this installation's reports.

    folder : searched at any depth, so that clones of the authors' repositories can lie in it
    readable : the reports that may be read; all by default
    """

    def __init__(
        self, folder: Path | None = None, readable: QuerySet[Report] | None = None
    ) -> None:
        self.folder = folder
        self._readable = Report.objects.all() if readable is None else readable

    def file(self, name: str, origin: str) -> Path:
        """Return the released file of that name; `MissingSourceError` names where it is from."""
        found = sorted(self.folder.rglob(name)) if self.folder else []
        if not found:
            where = (
                f"not in {self.folder}"
                if self.folder
                else "no folder given (--data, or RELEASED_FILES)"
            )
            raise MissingSourceError(f"{name}: {where}. It is in {origin}.")
        return found[0]

    def rows(self, name: str, origin: str) -> list[dict[str, str]]:
        """Return the rows of a released CSV file, without empty ones."""
        with self.file(name, origin).open(encoding="utf-8", newline="") as file:
            return [row for row in csv.DictReader(file) if any(row.values())]

    def reports(self, kind: str, **runs: Any) -> Iterator[Report]:
        """Yield final reports of a kind, the newest first.

        runs : lookups of their runs, such as ``measure="set"``
        """
        lookups = {f"runs__{name}": value for name, value in runs.items()}
        yield from (
            self._readable.filter(kind=kind, status=ReportStatus.FINAL, **lookups)
            .distinct()
            .order_by("-pk")
        )


@dataclass(frozen=True)
class Item:
    """A numbered table or figure.

    name : its number, as in addresses: table-6
    about : what it compares
    compute : its values, if something can be computed; it may raise `MissingSourceError`
    reason : why nothing can be computed, or what of it is not compared
    is_text : it prints no number that follows from data: examples, definitions, settings
    commands : what has to be run before, one command a line
    """

    name: str
    about: str
    compute: Callable[[Sources], Iterable[Value]] | None = None
    reason: str = ""
    is_text: bool = False
    commands: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Return its name as papers print it."""
        kind, _, number = self.name.rpartition("-")
        words = {"ed": "Extended Data", "section": "§"}
        named = " ".join(words.get(word, word.capitalize()) for word in kind.split("-"))
        printed = number.upper() if number[-1].isdigit() else number
        return f"{named} {printed}".replace("§ ", "§")


@dataclass(frozen=True)
class Paper:
    """``name`` begins the addresses of its items."""

    name: str
    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Outcome:
    """What came out of an item."""

    paper: Paper
    item: Item
    values: tuple[Value, ...] = ()
    reason: str = ""

    @property
    def address(self) -> str:
        return f"{self.paper.name}/{self.item.name}"

    def count(self, status: Status) -> int:
        return sum(value.status is status for value in self.values)

    @property
    def status(self) -> Status:
        if not self.values:
            return Status.NO_NUMBERS if self.item.is_text else Status.NO_RESULT
        order = (Status.DIFFERS, Status.CLOSE, Status.REPRODUCED, Status.NO_RESULT)
        return next(status for status in order if self.count(status))

    @property
    def summary(self) -> str:
        """Return the count of values by status, such as “20 of 22 reproduced, 2 differ”."""
        n = len(self.values)
        if not n:
            return str(self.status)
        words = {Status.REPRODUCED: "reproduced", Status.CLOSE: "close"}
        words |= {Status.DIFFERS: "differ", Status.NO_RESULT: "without a result"}
        counts = [(self.count(status), word) for status, word in words.items()]
        (first, word), *others = [(count, word) for count, word in counts if count]
        more = "".join(f", {count} {word}" for count, word in others)
        return f"{first} of {n} {word}{more}"

    @property
    def reasons(self) -> list[str]:
        """Return each reason once."""
        given = (*(value.reason for value in self.values), self.reason)
        return list(dict.fromkeys(reason for reason in given if reason))


def reproduce(paper: Paper, item: Item, sources: Sources) -> Outcome:
    """Return what comes out of an item; what is missing is a reason, never an error."""
    if item.compute is None:
        return Outcome(paper, item, reason=item.reason)
    try:
        values = tuple(item.compute(sources))
    except MissingSourceError as error:
        return Outcome(paper, item, reason=str(error))
    return Outcome(paper, item, values, item.reason)
