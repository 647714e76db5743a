"""What an import of library entries needs to know of each kind of them, and what it finds.

An entry is a slug and texts by column. A file's row becomes a draft, a draft with the entry that is
there already becomes a plan: added, changed, unchanged or refused, with every reason. Nothing here
touches the database but `LibraryKind.stored` and `LibraryKind.store`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser
from django.db import models
from simple_history.utils import bulk_create_with_history, bulk_update_with_history

from annotation.common.table_file import Problem, Record, text_fault
from annotation.library.english_forms import Finding

#: Between the entries of a cell that holds several.
SEPARATOR = ";"
BATCH = 500

#: A cell: text, or several of them.
Value = str | tuple[str, ...]
Values = dict[str, Value]


@dataclass(frozen=True)
class Column:
    """One column of a kind's files. `several` cells hold a list with semicolons between.

    other_names : what the heading may call it as well.
    """

    name: str
    meaning: str
    several: bool = False
    needed: bool = False
    other_names: tuple[str, ...] = ()


class Action(StrEnum):
    """What an import does with an entry."""

    ADDED = "added"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    REFUSED = "refused"


@dataclass
class Draft:
    """An entry as a file gives it: the line where it begins and the columns that the file has."""

    line: int
    slug: str
    values: Values
    faults: list[Problem] = field(default_factory=list)


@dataclass(frozen=True)
class Change:
    """One column of an entry that is there, before and after."""

    column: str
    before: Value
    after: Value


@dataclass(frozen=True)
class Plan:
    """What becomes of one entry of a file.

    values : every column of the entry, those that the file does not have as they are stored
    remarks : what may be wrong, and stops nothing
    """

    line: int
    slug: str
    action: Action
    values: Values
    changes: tuple[Change, ...] = ()
    faults: tuple[Problem, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Known:
    """What a draft is checked against: stored entries, and the file's good ones before it."""

    stored: Mapping[str, Values]
    planned: dict[str, Plan] = field(default_factory=dict)

    def values(self, slug: str) -> Values | None:
        """Return the entry of this slug as it will be after the import."""
        planned = self.planned.get(slug)
        return planned.values if planned is not None else self.stored.get(slug)


class LibraryKind(ABC):
    """One kind of library entries: its columns, its checks, how it is read and stored."""

    #: As commands and addresses call it, such as “trait-pairs”.
    name: ClassVar[str]
    #: As messages call one entry and several.
    noun: ClassVar[str]
    plural: ClassVar[str]
    model: ClassVar[Any]
    #: Columns that are fields of the entry itself.
    fields: ClassVar[tuple[str, ...]]
    #: Where entries are put into sets: the model of these.
    set_model: ClassVar[type[models.Model] | None] = None
    columns: ClassVar[tuple[Column, ...]]
    #: Rows of the example file.
    example: ClassVar[tuple[tuple[str, ...], ...]]

    @abstractmethod
    def stored(self) -> dict[str, Values]:
        """Return every entry of the library by its slug, in the order of a file."""

    @abstractmethod
    def check(self, slug: str, values: Values, known: Known) -> Iterable[Finding]:
        """Return what is wrong with an entry beyond its single fields."""

    def read(self, entry: models.Model) -> Values:
        """Return the values of a stored entry that are fields of its own."""
        found = ((name, getattr(entry, name)) for name in self.fields)
        return {name: tuple(v) if isinstance(v, list) else str(v).strip() for name, v in found}

    def build(self, slug: str, values: Values) -> models.Model:
        """Return an unsaved entry; its fields are validated one by one."""
        given = ((name, values[name]) for name in self.fields)
        entry: models.Model = self.model(
            slug=slug, **{name: list(v) if isinstance(v, tuple) else v for name, v in given}
        )
        return entry

    def store(
        self,
        *,
        added: Sequence[Plan],
        changed: Sequence[Plan],
        user: AbstractBaseUser | None,
        reason: str,
    ) -> None:
        """Write checked entries with their history. Runs in a transaction."""
        history = {"batch_size": BATCH, "default_user": user, "default_change_reason": reason}
        created = [self.build(plan.slug, plan.values) for plan in added]
        bulk_create_with_history(created, self.model, **history)
        plans = {
            plan.slug: plan
            for plan in changed
            if any(change.column in self.fields for change in plan.changes)
        }
        edited = list(self.model.objects.filter(slug__in=plans))
        for entry in edited:
            wanted = self.build(entry.slug, plans[entry.slug].values)
            for name in self.fields:
                setattr(entry, name, getattr(wanted, name))
        bulk_update_with_history(edited, self.model, self.fields, **history)

    def drafts(self, records: Sequence[Record], columns: Mapping[str, Column]) -> list[Draft]:
        """Return an entry for each row; columns : by the heading's own names."""
        return [read_draft(record, columns) for record in records]

    def complete(
        self, values: Values, *, given: Values, old: Values | None, known: Known
    ) -> Values:
        """Return an entry's values with what a file may leave out.

        values : what the file says, over what is stored
        given, old : the two apart; `old` is None for a new entry
        """
        return values

    def rows(self, slug: str, values: Values) -> Iterator[tuple[str, ...]]:
        """Yield the rows of a file that hold an entry."""
        yield tuple(slug if c.name == "slug" else join(values[c.name]) for c in self.columns)

    def order(self, drafts: Sequence[Draft]) -> Sequence[Draft]:
        """Return the drafts so that each comes after what it names."""
        return drafts

    @property
    def empty(self) -> Values:
        """The values of an entry of which a file says nothing."""
        return {c.name: () if c.several else "" for c in self.columns if c.name != "slug"}


def read_draft(record: Record, columns: Mapping[str, Column]) -> Draft:
    """Return a row as a draft, its cells without white space at their ends."""
    values: Values = {}
    faults = [record.fault] if record.fault else []
    for heading, cell in record.values.items():
        column = columns[heading]
        if isinstance(cell, list):  # of JSON
            cell = SEPARATOR.join(map(str, cell))
        text = "" if cell is None else str(cell).strip()
        if fault := text_fault(text):
            faults.append(f"“{column.name}” {fault}")
            text = ""
        values[column.name] = split(text) if column.several else text
    slug = str(values.pop("slug", ""))
    return Draft(record.line, slug, values, [Problem(record.line, fault) for fault in faults])


def split(cell: str) -> tuple[str, ...]:
    """Return the entries of a cell that holds several."""
    return tuple(part.strip() for part in cell.split(SEPARATOR) if part.strip())


def join(value: Value) -> str:
    """Return a value as one cell."""
    return value if isinstance(value, str) else f"{SEPARATOR} ".join(value)


def restore_cell(text: str) -> str:
    """Return a cell without the apostrophe that keeps a spreadsheet from reading a formula."""
    from annotation.common.tables import neutralize

    bare = text.lstrip("'")
    return text[1:] if text != bare and neutralize(bare) != bare else text


def escape_cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet reads as a formula; see `restore_cell`."""
    from annotation.common.tables import neutralize

    bare = text.lstrip("'")
    return f"'{text}" if neutralize(bare) != bare else text
