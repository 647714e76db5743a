"""Files that come in: one contract for every kind of import, on pages, over HTTP, and by command.

Five steps: `ImportKind.sniff` lists a file's columns and what each seems to hold; a mapping,
`ImportRequest.columns`, corrects that; `plan_import` finds what would be stored, every bad row and
every warning, without storing anything; its plan is shown; `import_file` stores it. A kind is a
class in the module or package `imports` of an app; see `docs/adding-an-import.md`.
"""

from __future__ import annotations

import hashlib
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, ClassVar, NoReturn

from django.apps import apps
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Model
from django.utils.module_loading import module_has_submodule

from annotation.common.json_rows import only
from annotation.common.table_file import (
    DIGEST_SHOWN,
    SUFFIXES,
    Heading,
    Problem,
    TableFile,
    TableFileError,
    list_columns,
    number_columns,
    plain_heading,
    read_table,
    text_fault,
)
from annotation.common.text_shortening import shorten
from annotation.library.library_kind import Plan as EntryPlan
from annotation.library.library_kind import restore_cell

LONGEST_TEXT = 20_000
# What programs write in place of a number that is missing, if it is far beyond the others.
# A comma that can only be a decimal one: three digits behind it could be thousands.
DECIMAL_COMMA = re.compile(r"[+-]?(?:0,\d+|\d+,(?:\d{1,2}|\d{4,}))")
PLACEHOLDER = re.compile(r"[+-]?9{2,}(\.0*)?")
FAR_BEYOND = 10
EXAMPLES_SHOWN = 4
LONGEST_LABEL, NAMES_SHOWN = 160, 12
#: Columns of a file of bad rows, which say nothing when it comes again.
LINE_COLUMN, REASON_COLUMN = "import_line", "import_problem"
ADDED_COLUMNS = (LINE_COLUMN, REASON_COLUMN)
YES = ("yes", "true", "1", "on")


@dataclass(frozen=True)
class ImportColumn:
    """A column of a kind's files; `other_names` are those of our own downloads."""

    name: str
    meaning: str
    needed: bool = False
    other_names: tuple[str, ...] = ()


@dataclass(frozen=True)
class ImportOption:
    """What an import asks for besides its file. `choices` returns values with their labels.

    is_long : pages ask for it with several lines
    is_flag : it is “yes” or left out
    """

    name: str
    label: Any
    help: Any
    needed: bool = False
    choices: Callable[[AbstractBaseUser | None], list[tuple[str, str]]] | None = None
    is_long: bool = False
    is_flag: bool = False


@dataclass(frozen=True)
class ImportRequest:
    """A file with its options. Without a `user`, as for the command, nothing is out of sight.

    columns : the file's column by what it holds, where the names do not say so; in a file without a
        heading they are called 1, 2 …
    guesses : also takes columns by their names
    has_heading : False where the first line is a row; columns that are all numbers say so, too
    sheet : of a workbook, the one to read; without it the one whose columns fit best
    """

    content: bytes
    file_name: str
    options: Mapping[str, str] = field(default_factory=dict)
    user: AbstractBaseUser | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    guesses: bool = True
    has_heading: bool = True
    sheet: str = ""

    def option(self, name: str) -> str:
        return str(self.options.get(name) or "").strip()

    def flag(self, name: str) -> bool:
        return self.option(name).casefold() in YES

    @property
    def is_headed(self) -> bool:
        return self.has_heading and Heading.of(self.columns).is_there


@dataclass(frozen=True)
class ImportPlan:
    """What importing a file would do.

    counts : number of what would be stored, by its name in the plural
    problems : one for every bad place
    warnings : what may be wrong and stops nothing
    data : what the kind needs to store it
    entries : what becomes of each entry, for files that change what is there
    """

    counts: Mapping[str, int]
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()
    data: Any = None
    entries: tuple[EntryPlan, ...] = ()

    @property
    def digest(self) -> str:
        """The same for the same outcome: a preview is kept only as long as it holds."""
        told = (sorted(self.counts.items()), self.problems, self.entries)
        return hashlib.sha256(repr(told).encode("utf-8", "replace")).hexdigest()[:DIGEST_SHOWN]

    @property
    def is_empty(self) -> bool:
        return not any(self.counts.values())

    @property
    def told_counts(self) -> list[str]:
        """The counts in words."""
        return [f"{n:,} {_in_number(n, name)}" for name, n in self.counts.items()]


@dataclass(frozen=True)
class Imported:
    """What was stored: how it is called, its public id or slug, and its page in the admin."""

    name: str
    public_id: str
    address: str


def _in_number(n: int, plural: str) -> str:
    if n != 1:
        return plural
    return "person" if plural == "people" else plural.removesuffix("s")


class BadImportError(Exception):
    """The file has bad rows and nothing was stored; `plan` names every one."""

    def __init__(self, plan: ImportPlan) -> None:
        n = len(plan.problems)
        super().__init__(f"Nothing was imported: {n} {'place is' if n == 1 else 'places are'} bad.")
        self.plan = plan


class AlreadyImportedError(ValidationError):
    """The same rows were imported before; `found` holds them."""

    def __init__(self, found: Model) -> None:
        super().__init__(
            f"The same rows were imported before: {found._meta.verbose_name} “{found}” "
            f"({found.public_id}) holds them."  # type: ignore[attr-defined]
        )
        self.found = found


def digest_rows(rows: Iterable[Any], *facts: Any) -> str:
    """Return a hash of rows in any order, and of what else makes two imports the same."""
    told = (sorted(map(repr, rows)), facts)
    return hashlib.sha256(repr(told).encode("utf-8", "surrogatepass")).hexdigest()


def refuse_second(model: type[Model], digest: str) -> None:
    """Raise `AlreadyImportedError` for rows that were imported before. One query."""
    if found := model._default_manager.filter(rows_digest=digest).first():
        raise AlreadyImportedError(found)


class MissingColumnError(TableFileError):
    """A needed column is not among a file's; the one who brings it can name it."""


@dataclass
class ImportRow:
    """One row by the names of its columns; what is wrong with it gathers in `faults`.

    headings : what the file calls a column, where that is another name
    """

    line: int
    values: Mapping[str, Any]
    faults: list[Problem] = field(default_factory=list)
    headings: Mapping[str, str] = field(default_factory=dict)

    def fault(self, message: str, **cell: str) -> None:
        """Note what is wrong with the row; `cell` is as for `Problem`."""
        problem = Problem(self.line, message, **cell)
        if problem not in self.faults:  # a row is read once for each of its values
            self.faults.append(problem)

    def refuse(self, name: str, value: object, expected: str, *, why: str = "") -> None:
        """Note that a column's value is not what was expected; `why` says it in other words."""
        shown, called = shorten(str(value)), shorten(self.headings.get(name, name))
        told = f"“{shown}”" if shown else "empty"
        message = f"“{called}” is {told}, {why or f'expected {expected}.'}"
        self.fault(message, column=called, value=shown, expected=expected)

    def one_of(self, name: str, known: Container[str], *, expected: str = "") -> str:
        """Return a text that is one of those known."""
        value = self.text(name, needed=True)
        if value and value not in known:
            self.refuse(name, value, expected or f"a {name} that is known here")
        return value

    def text(
        self,
        name: str,
        *,
        longest: int = LONGEST_TEXT,
        needed: bool = False,
        as_written: bool = False,
    ) -> str:
        """Return a text, empty where there is none; without white space at its ends, unless it is
        wanted as written."""
        value = only(self.values.get(name))
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if value is None:
            value = ""
        if not isinstance(value, str):
            self.refuse(name, value, "a text")
            return ""
        value = value if as_written and value.strip() else value.strip()
        called = shorten(self.headings.get(name, name))
        if fault := text_fault(value):
            self.fault(f"“{called}” {fault}", column=called, expected="plain text")
        elif len(value) > longest:
            self.fault(f"“{called}” has {len(value):,} characters, expected {longest:,} at most.")
        elif needed and not value:
            self.refuse(name, "", "a text")
        return value

    def number(self, name: str, *, needed: bool = False) -> float | None:
        """Return a finite number, None where there is none. “0,5” and “−0.5” are numbers, too."""
        value = self.values.get(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            if needed:
                self.refuse(name, "", "a number")
            return None
        if isinstance(value, str):
            value = value.strip().replace("−", "-")
            if DECIMAL_COMMA.fullmatch(value):
                value = value.replace(",", ".")
        try:
            number = float(value) if not isinstance(value, bool) else math.nan
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            written = " with a decimal point" if "," in str(value) else ""
            self.refuse(name, value, f"a number{written}")
            return None
        return number

    def whole(
        self, name: str, *, least: int = 0, most: int = 2**31 - 1, needed: bool = False
    ) -> int | None:
        """Return a whole number between two others, None where there is none."""
        number = self.number(name, needed=needed)
        if number is None:
            return None
        if number != int(number) or not least <= number <= most:
            self.refuse(name, f"{number:g}", f"a whole number from {least} to {most}")
            return None
        return int(number)


@dataclass(frozen=True)
class FileColumn:
    """A column of a file: what it is taken to hold, empty for nothing, its first values, and the
    question behind it, where the file says it."""

    name: str
    holds: str
    examples: tuple[str, ...]
    label: str = ""


@dataclass(frozen=True)
class FileHead:
    """How a file begins, before it is read for good: its columns, and of a workbook with several
    sheets their names and the one whose columns these are."""

    columns: Sequence[FileColumn] = ()
    sheets: tuple[str, ...] = ()
    sheet: str = ""


@dataclass(frozen=True)
class ReadRows:
    """Rows in the file's order, what could not be read, and columns that nothing is read from.

    held : names of the columns that are read
    """

    rows: list[ImportRow]
    problems: list[Problem]
    unread: tuple[str, ...]
    notices: tuple[str, ...] = ()
    held: tuple[str, ...] = ()

    @property
    def told_problems(self) -> tuple[Problem, ...]:
        """Every problem in the file's order."""
        found = [*self.problems, *(fault for row in self.rows for fault in row.faults)]
        return tuple(sorted(found, key=lambda one: one.line))

    @property
    def warnings(self) -> tuple[str, ...]:
        if not self.unread:
            return self.notices
        unread = ", ".join(shorten(name) or "(without a name)" for name in self.unread)
        return (*self.notices, f"Nothing is read from: {unread}.")

    def refuse(self, message: str) -> NoReturn:
        """Stop for what is wrong with the file as a whole, after its bad rows if there are some."""
        if not (problems := self.told_problems):
            raise TableFileError(message)
        problems = (*problems, Problem(0, f"Without these rows: {message}"))
        raise BadImportError(ImportPlan({}, problems, self.warnings))

    def refuse_placeholders(self, *names: str) -> None:
        """Note rows whose number is -9999 or the like, ten times any other of the file."""
        numbers: list[float] = []
        found: list[tuple[ImportRow, str, str]] = []
        for row, name in ((row, name) for row in self.rows for name in names):
            said = str(row.values.get(name) or "").strip()
            if PLACEHOLDER.fullmatch(said):
                found.append((row, name, said))
            elif (number := ImportRow(row.line, row.values).number(name)) is not None:
                numbers.append(abs(number))
        most = max(numbers, default=math.inf)
        for row, name, said in found:
            if abs(float(said)) > FAR_BEYOND * most:
                why = (
                    f"which stands for a missing number: the others are {most:g} at most. Leave "
                    "the cell empty, and say why in “reason”."
                )
                row.refuse(name, said, "a number or an empty cell", why=why)

    def spread(self, own: Iterable[ImportColumn], name: str, value: str) -> list[ImportRow]:
        """Return a row for each value of a file that has a column for each trait pair, or the rows
        of one that names them in a column. What is wrong with a value is left with its row.

        Raises `MissingColumnError` where it has neither.
        """
        wide = sorted(set(self.held) - {column.name for column in own})
        if not wide and not {name, value} <= set(self.held):
            given = [*sorted(self.held), *self.unread]
            raise MissingColumnError(
                f"{list_columns(given)} Needed: {name} and {value}; or a column for each trait "
                "pair, such as “cold – warm”. If a column has another name, say so: "
                f"{value}=ITS NAME."
            )
        return [
            ImportRow(
                row.line,
                {**row.values, name: column, value: row.values[column]},
                row.faults,
                {**row.headings, value: row.headings.get(column, column)},
            )
            for row in self.rows
            for column in wide
            if column in row.values
        ] or self.rows

    def the_one(self, name: str) -> str:
        """Return what every row says of the file as a whole, empty where none says it.

        Raises `TableFileError` where rows differ.
        """
        said = {str(row.values.get(name) or "").strip() for row in self.rows} - {""}
        if len(said) > 1:
            listed = " and ".join(f"“{shorten(text)}”" for text in sorted(said)[:2])
            raise TableFileError(f"“{name}” is {listed}. Import one {name} at a time.")
        return said.pop() if said else ""


@dataclass(frozen=True)
class FurtherColumns:
    """Columns beyond a kind's own, each read under a name of its own.

    find : the name for a heading, empty for others
    find_in_question : the name for the question behind a heading, empty for others
    offered : names to choose from, where they are known beforehand
    """

    find: Callable[[str], str]
    find_in_question: Callable[[str], str] = lambda question: ""
    offered: tuple[str, ...] = ()


def _guess(columns: Sequence[ImportColumn], given: Iterable[str]) -> dict[str, str]:
    """Return what columns hold by their names; of several names for one, the first counts."""
    given = list(given)
    found: dict[str, str] = {}
    for shorten_to in (plain_heading, _short_name):  # “label” comes before “doc.label”
        called = [shorten_to(name) for name in given]
        plain = {one: name for one, name in zip(called, given, strict=True) if name not in found}
        for column in columns if len(set(called)) == len(called) else ():
            names = (name for name in (column.name, *column.other_names) if name in plain)
            name = next(names, None)
            if name is not None and column.name not in found.values():
                found.setdefault(plain[name], column.name)
    return found


def _short_name(heading: str) -> str:
    """Return the last part of a name as in “object.value”, without a mark at its end."""
    return plain_heading(heading.rstrip(" :?*").rpartition(".")[2])


def _check_columns(
    columns: Sequence[ImportColumn], held: Container[str], given: Iterable[str]
) -> None:
    needed = [column.name for column in columns if column.needed]
    if missing := [name for name in needed if name not in held]:
        others = [column.name for column in columns if not column.needed]
        raise MissingColumnError(
            f"There is no column {' and no '.join(f'“{name}”' for name in missing)}. "
            f"{list_columns(given)} Needed: {', '.join(needed)}; also read: {', '.join(others)}. "
            "If a column has another name, say so: "
            f"{', '.join(f'{name}=ITS NAME' for name in missing)}."
        )


def _hold(held: dict[str, str], column: str, name: str) -> None:
    """Note what a column holds. Raises `TableFileError` where two of a file hold the same."""
    other = next((one for one, what in held.items() if what == name), None)
    if column in held or other is not None:
        raise TableFileError(
            f"“{shorten(column)}” holds “{held[column]}” and “{name}”, expected one of them."
            if other is None
            else f"“{shorten(other)}” and “{shorten(column)}” both hold “{name}”, expected one."
        )
    held[column] = name


class StalePlanError(Exception):
    """What is stored is not as the preview found it; `plan` is what would be done now."""

    def __init__(self, plan: ImportPlan) -> None:
        super().__init__(
            "Nothing was imported: the library has changed since the preview. Look at what would "
            "be done now."
        )
        self.plan = plan


class ImportKind(ABC):
    """One kind of files that were made elsewhere."""

    #: As the command, the API and addresses call it.
    name: ClassVar[str]
    title: ClassVar[Any]
    #: What an import stores, in a sentence.
    purpose: ClassVar[Any]
    suffixes: ClassVar[tuple[str, ...]] = SUFFIXES
    columns: ClassVar[tuple[ImportColumn, ...]] = ()
    options: ClassVar[tuple[ImportOption, ...]] = ()
    #: Whoever imports needs this permission.
    permission: ClassVar[str]
    #: Columns of our own downloads that say nothing new.
    ignored: ClassVar[tuple[str, ...]] = ()
    #: The columns of a file of as many whose first line names none: it has no heading.
    without_heading: ClassVar[tuple[str, ...]] = ()
    #: Whether the last cells of a row may be missing.
    may_end_early: ClassVar[bool] = False

    def is_open_to(self, user: Any) -> bool:
        """Whether an account may import this kind of file."""
        return bool(user.has_perm(self.permission))

    def links(self) -> list[tuple[Any, str]]:
        """Return further links of its page, as label and address."""
        return []

    def further(self) -> FurtherColumns:
        """Return how columns beyond `columns` are found; without this there are none."""
        return FurtherColumns(lambda heading: "")

    def sniff(self, request: ImportRequest) -> FileHead:
        """Return the columns of a file in its order; none of one that is not a table.

        Raises `TableFileError` for a file that cannot be read.
        """
        table = self.read_table(request)
        held = self._find_columns(table, request)
        rows = [record.values for record in table.records[:EXAMPLES_SHOWN]]
        columns = [
            FileColumn(
                name,
                held.get(name, ""),
                tuple(shorten(str(row.get(name, ""))) or "–" for row in rows),
                shorten(table.labels.get(name, ""), LONGEST_LABEL),
            )
            for name in table.columns
        ]
        return FileHead(columns, table.sheets, table.sheet)

    def rows(self, request: ImportRequest) -> ReadRows:
        """Return the rows of a file.

        Raises `TableFileError` for a file that cannot be read, or lacks a needed column, and
        `BadImportError` if every row is broken.
        """
        table = self.read_table(request)
        records = table.records
        problems = [Problem(record.line, record.fault) for record in records if record.fault]
        if len(problems) == len(records):
            raise BadImportError(ImportPlan({}, tuple(problems), table.notices))
        held = self._find_columns(table, request)
        _check_columns(self.columns, held.values(), table.columns)
        headings = {name: column for column, name in held.items()}
        rows = []
        for record in records:
            if record.fault:
                continue
            # Tables carry an apostrophe before what a spreadsheet would take for a formula.
            values = {
                name: value if table.is_typed or not isinstance(value, str) else restore_cell(value)
                for column, value in record.values.items()
                if (name := held.get(column))
            }
            rows.append(ImportRow(record.line, values, headings=headings))
        ignored = (*self.ignored, *ADDED_COLUMNS)
        unread = [
            name
            for name in table.columns
            if name not in held and plain_heading(name) not in ignored
        ]
        return ReadRows(rows, problems, tuple(sorted(unread)), table.notices, tuple(headings))

    def _find_columns(self, table: TableFile, request: ImportRequest) -> dict[str, str]:
        """Return what columns of a file hold: as it was said, else by their names."""
        given, further = table.columns, self.further()
        own = [column.name for column in self.columns]
        held: dict[str, str] = {}
        for said, column in request.columns.items():
            name = said if said in own else further.find(said)
            if not name:
                known = ", ".join((*own, *further.offered[:NAMES_SHOWN]))
                raise TableFileError(f"“{shorten(said)}” is not known, expected {known}.")
            if column not in given:
                raise TableFileError(
                    f"There is no column “{shorten(column)}”. {list_columns(given)}"
                )
            _hold(held, column, name)
        if not request.guesses:
            return held
        said_of = set(held.values())
        open_columns = [column for column in given if column not in held]
        guessed = _guess(self.columns, open_columns)
        held |= {column: name for column, name in guessed.items() if name not in said_of}
        for column in open_columns:
            question = table.labels.get(column, column)
            name = further.find(column) or further.find_in_question(question)
            name = name or further.find(column.rpartition(".")[2])
            if column not in held and name and name not in said_of:
                _hold(held, column, name)
        return held

    def read_table(self, request: ImportRequest) -> TableFile:
        """Return the rows of a file with its own names of columns."""
        further = self.further()

        def count_known(cells: list[str]) -> int:
            return len(_guess(self.columns, cells)) + sum(bool(further.find(one)) for one in cells)

        return read_table(
            request.content,
            request.file_name,
            or_json=True,
            name_columns=self._name_columns if request.is_headed else number_columns,
            may_end_early=self.may_end_early,
            sheet=request.sheet,
            count_known=count_known,
        )

    def _name_columns(self, cells: list[str]) -> Sequence[str] | None:
        is_bare = len(cells) == len(self.without_heading) and not _guess(self.columns, cells)
        return self.without_heading if is_bare else None

    @abstractmethod
    def plan(self, request: ImportRequest) -> ImportPlan:
        """Return what would be stored. Raises `TableFileError` and `ValidationError`."""

    @abstractmethod
    def store(self, request: ImportRequest, plan: ImportPlan) -> Imported:
        """Store a plan; runs in a transaction."""


def import_kinds() -> dict[str, ImportKind]:
    """Return every kind of import by its name, from the module `imports` of each installed app."""
    return {kind.name: kind for app in apps.get_app_configs() for kind in _kinds_of(app.module)}


def _kinds_of(app: Any) -> Iterator[ImportKind]:
    if not module_has_submodule(app, "imports"):
        return
    found = import_module(f"{app.__name__}.imports")
    parts = [f"{found.__name__}.{one.name}" for one in iter_modules(getattr(found, "__path__", ()))]
    for module in (found, *map(import_module, parts)):
        for value in vars(module).values():
            is_kind = isinstance(value, type) and issubclass(value, ImportKind)
            if is_kind and value.__module__ == module.__name__ and hasattr(value, "name"):
                yield value()


def plan_import(kind: ImportKind, request: ImportRequest) -> ImportPlan:
    """Return what importing a file would do; stores nothing.

    Raises `TableFileError` for a file that cannot be read as a whole, and `ValidationError`, by
    option, for missing or unknown options.
    """
    if not request.file_name.lower().endswith(kind.suffixes):
        raise TableFileError(f"Choose a file that ends in {' or '.join(kind.suffixes)}.")
    known = {option.name: option for option in kind.options}
    faults = {
        name: "This is no option of the import."
        for name in request.options
        if name not in known and request.option(name)
    }
    faults |= {
        option.name: "This is needed."
        for option in kind.options
        if option.needed and not request.option(option.name)
    }
    if faults:
        raise ValidationError(faults)
    return kind.plan(request)


@transaction.atomic
def import_file(
    kind: ImportKind,
    request: ImportRequest,
    *,
    skip_bad_rows: bool = False,
    expected_digest: str = "",
) -> tuple[Imported, ImportPlan]:
    """Store a file, all or nothing, and return what was stored.

    skip_bad_rows : leaves bad rows out instead of refusing the file
    expected_digest : of the plan that somebody agreed to; another outcome is refused

    Raises as `plan_import`, `BadImportError` for bad rows, `StalePlanError`, and `ValidationError`
    where no row is left.
    """
    plan = plan_import(kind, request)
    if plan.problems and not skip_bad_rows:
        raise BadImportError(plan)
    if plan.is_empty:
        raise ValidationError("Nothing was imported: without the bad rows, nothing is left.")
    if expected_digest and plan.digest != expected_digest:
        raise StalePlanError(plan)
    try:
        with transaction.atomic():
            return kind.store(request, plan), plan
    except IntegrityError as error:  # somebody else added the same just now
        raise StalePlanError(plan_import(kind, request)) from error
