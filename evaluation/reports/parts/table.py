"""A table of a report, declared once.

From one declaration come the printed table, the tidy download, the figure with intervals and the
codebook. Rows are the analysis's own records; a column says what it is called, where its value
stands in a record, and how it is printed:

    Column("τ", "tau", "tau.estimate", decimals=2, with_interval=True)

prints two cells, “0.41” and “0.12 to 0.66”, and downloads three numbers, `tau`, `low` and `high`.
A column without a head is downloaded only, one without a name is printed only.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields, is_dataclass, replace
from functools import cache, cached_property
from itertools import groupby
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_type_hints, is_typeddict

from annotation.common.lazy import pd
from evaluation.charts import (
    IntervalLine,
    IntervalMark,
    IntervalPanel,
    IntervalWords,
    LegendEntry,
    intervals_spec,
    narrow_intervals_spec,
)
from evaluation.charts.intervals import Tone
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.shown import Shown
from evaluation.reports.parts import document
from evaluation.reports.parts.formatting import MISSING, interval, number, p_cell, sentence

T = TypeVar("T")
#: Where a value stands in a record: a path such as ``estimate.n``, or what computes it.
Reader = str | Callable[[Any], Any]


def read(row: Any, reader: Reader) -> Any:
    """Return a value of a record; a path ends with None where one of its parts is None.

    >>> read({"run": {"number": 3}}, "run.number")
    3
    """
    if callable(reader):
        return reader(row)
    for part in reader.split("."):
        if row is None:
            return None
        row = row[part] if isinstance(row, Mapping) else getattr(row, part)
    return row


@dataclass(frozen=True)
class Column:
    """One quantity of a table.

    head : as it is printed; name : as it is downloaded, never changed once reports with it exist
    value : where it stands in a record, by default under ``name``
    decimals : of a number, 0 for counts; None for texts
    with_interval : the value is an `Estimate`; its interval follows in a cell of its own, headed
        ``interval_head``, and in the columns low and high of the download, after ``prefix``
    whole : downloaded as whole numbers, although some are missing
    signed, scale : print a plus before positive numbers, print the number times ``scale``
    style, wide : “strong” or “quiet”; whether it holds running text
    cell : prints a value where decimals are not enough, such as `p_cell`
    missing : stands for None
    group, source : head over this column and its neighbors of the same group; “people”, “model”
    meaning, unit : for the codebook; by default the head
    """

    head: str = ""
    name: str = ""
    value: Reader = ""
    decimals: int | None = None
    _: KW_ONLY
    with_interval: bool = False
    interval_head: str = ""
    prefix: str = ""
    whole: bool = False
    signed: bool = False
    scale: float = 1.0
    style: str = ""
    wide: bool = False
    cell: Callable[[Any], str] | None = None
    missing: str = MISSING
    group: str = ""
    source: str = ""
    meaning: str = ""
    unit: str = ""

    @classmethod
    def estimate(cls, *place: Any, **how: Any) -> Column:
        """Return the column of an `Estimate`, with its interval."""
        return cls(*place, with_interval=True, **how)

    @classmethod
    def effect(cls, *place: Any, **how: Any) -> Column:
        """Return the column of an effect or a difference: signed and strong, with its interval."""
        return cls(*place, with_interval=True, signed=True, style="strong", **how)

    @classmethod
    def p(cls, head: str, name: str = "", value: Reader = "", **how: Any) -> Column:
        """Return the column of a p-value."""
        return cls(head, name, value, 3, cell=p_cell, **how)

    def read(self, row: Any) -> Any:
        return read(row, self.value or self.name)

    def heads(self, level: str) -> list[document.PrintedColumn]:
        is_number = self.decimals is not None
        heads = [document.PrintedColumn(self.head, is_number, self.style, self.wide)]
        if self.with_interval:
            text = self.interval_head or f"{level} interval"
            heads.append(document.PrintedColumn(text, number=True, style="quiet"))
        return heads

    def cells(self, row: Any) -> list[str]:
        """Return the value as it is printed, and its interval."""
        found = self.read(row)
        estimate = found if isinstance(found, Estimate) else None
        cells = [self._print(estimate.value if estimate else found)]
        if self.with_interval:
            cells.append(self._print_interval(estimate) if estimate else self.missing)
        return cells

    def _print(self, value: Any) -> str:
        if value is None:
            return self.missing
        if self.cell:
            return self.cell(value)
        if isinstance(value, bool):
            return "yes" if value else "no"
        if self.decimals is None:
            return str(value)
        return number(self.scale * value, self.decimals, signed=self.signed)

    def _print_interval(self, estimate: Estimate) -> str:
        found = estimate.scaled(self.scale)
        return interval(found.low, found.high, self.decimals or 0, signed=self.signed)

    @property
    def names(self) -> list[str]:
        """Return the columns of the download."""
        ends = [f"{self.prefix}low", f"{self.prefix}high"] if self.with_interval else []
        return [self.name, *ends] if self.name else []

    def meanings(self, level: str) -> list[str]:
        """Return what the columns of the download hold, for the codebook."""
        text = self.meaning or self.head or self.name.replace("_", " ")
        return [text, f"lower end of its {level} interval", f"upper end of its {level} interval"]

    def values(self, row: Any) -> list[Any]:
        """Return the values of the download, as they were computed."""
        found = self.read(row)
        if not isinstance(found, Estimate):
            return [found]
        return [found.value, found.low, found.high] if self.with_interval else [found.value]


#: What `shown` takes for columns.
Place = str | Column | Mapping[str, Sequence[str | Column]]


@dataclass(frozen=True)
class CodebookLine:
    """What one column of a download holds."""

    table: str
    name: str
    meaning: str
    unit: str = ""


@dataclass(frozen=True)
class ReportTable:
    """Records of one sort with their columns.

    name, title : of the download; the name is that of its file and sheet and never changes
    level : coverage of its intervals as it is printed, “95 %”
    note : why cells of a row are undefined; stands under the row
    reason : the same, and also the last column of the download
    """

    name: str
    title: str
    rows: Sequence[Any]
    columns: tuple[Column, ...]
    level: str = ""
    note: Reader = ""
    reason: Reader = ""

    @classmethod
    def of(
        cls, name: str, title: str, rows: Sequence[Any], *columns: Column, **how: Any
    ) -> ReportTable:
        """Return the table of these columns; ``how`` is its level, note and reason."""
        return cls(name, title, rows, columns, **how)

    @classmethod
    def of_rows(
        cls,
        name: str,
        title: str,
        rows: Sequence[Any],
        kind: type,
        *columns: Place,
        labels: Mapping[str, object] | None = None,
        **how: Any,
    ) -> ReportTable:
        """Return the table of records of one kind, with their columns as `shown` takes them."""
        return cls(name, title, rows, shown(kind, *columns, **(labels or {})), **how)

    @cached_property
    def downloaded(self) -> list[Column]:
        """The columns that have a name, and the reason."""
        last = [Column("", "reason", self.reason)] if self.reason else []
        return [column for column in (*self.columns, *last) if column.name]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The download: tidy, numbers as computed; it has its columns even without a row."""
        named = self.downloaded
        names = [name for column in named for name in column.names]
        rows = [[value for column in named for value in column.values(row)] for row in self.rows]
        frame = pd.DataFrame([dict(zip(names, row, strict=True)) for row in rows], columns=names)
        return frame.astype({column.name: "Int64" for column in named if column.whole})

    def printed(
        self,
        caption: str,
        *,
        rows: Iterable[Any] | None = None,
        columns: Sequence[str | Column] = (),
        note: Reader | None = None,
    ) -> document.Table:
        """Return the table as it is read.

        rows : by default all, as they are downloaded
        columns : names of declared ones, or columns of this table alone; by default all with a
            head, in the order of the download
        """
        shown = list(map(self.column, columns)) or [
            column for column in self.columns if column.head
        ]
        why = (self.note or self.reason) if note is None else note
        lines = tuple(
            document.Row(
                tuple(cell for column in shown for cell in column.cells(row)),
                str(read(row, why) or "") if why else "",
            )
            for row in (self.rows if rows is None else rows)
        )
        heads = tuple(head for column in shown for head in column.heads(self.level))
        return document.Table(caption, heads, lines, self.name, _head_groups(shown))

    def printed_if_any(self, caption: str, **how: Any) -> tuple[document.Table, ...]:
        """Return the table as it is read, or nothing where it has no row."""
        return (self.printed(caption, **how),) if self.rows else ()

    def side_by_side(
        self, key: Any, columns: Sequence[str | Column], *, group: str = "", **how: Any
    ) -> tuple[Column, ...]:
        """Return columns that read what stands under ``key`` in rows of `pivot`.

        group : the head over them, by default the key; how : what else is changed of each
        """
        return tuple(
            replace(
                column,
                value=beside(key, column.value or column.name),
                group=group or str(key),
                **how,
            )
            for column in map(self.column, columns)
        )

    def figure(
        self,
        name: str,
        caption: str,
        column: str | Column,
        *,
        label: str | Callable[[Any], str],
        rows: Iterable[Any] | None = None,
        panel: Reader = "",
        tone: Tone | Callable[[Any], Tone] = "model",
        outlined: Callable[[Any], bool] | None = None,
        bold: bool | Callable[[Any], bool] = False,
        decimals: int | None = None,
        signed: bool | None = None,
        reference: float | None = 0.0,
        legend: Sequence[LegendEntry] = (),
        bands: Mapping[str, float] | None = None,
        **words: str,
    ) -> document.Figure:
        """Return a figure with a mark and an interval for every row, for wide and narrow pages.

        column : the one with the estimates, as it is printed
        tone : of all marks, or of each row's
        outlined : tells the second mark of a line apart; neighbors of one label share a line
        label : the column that names the lines
        panel : heading of the row's panel
        reference : has a line of its own, None = no such line
        decimals : by default as many as the axis needs
        bands : half widths of gray bands round the reference, by heading of the panel
        words : the texts of `IntervalWords`: axis, n, left, right, and title and value where they
            are not the table’s title and the column’s head
        """
        shown = self.column(column)
        words = {"title": self.title, "value": shown.head} | words
        panels: dict[str, list[tuple[str, list[Any]]]] = {}
        for row in self.rows if rows is None else rows:
            lines = panels.setdefault(read(row, panel) if panel else "", [])
            text = label(row) if callable(label) else self.column(label).cells(row)[0]
            if outlined and lines and lines[-1][0] == text:
                lines[-1][1].append(row)
            else:
                lines.append((text, [row]))

        def mark(row: Any) -> IntervalMark:
            found: Estimate = shown.read(row).scaled(shown.scale)
            return IntervalMark(
                found.value,
                found.low,
                found.high,
                found.n,
                tone(row) if callable(tone) else tone,
                outlined=outlined is not None and outlined(row),
                reason=str(found.reason),
            )

        drawn = [
            IntervalPanel(
                title,
                tuple(
                    IntervalLine(
                        text,
                        tuple(map(mark, some)),
                        bold(some[0]) if callable(bold) else bold,
                    )
                    for text, some in lines
                ),
                (bands or {}).get(title, math.nan),
            )
            for title, lines in panels.items()
        ]
        wide, narrow = (
            draw(
                drawn,
                words=IntervalWords(level=self.level, **words),
                legend=legend,
                reference=reference,
                decimals=decimals,
                signed=shown.signed if signed is None else signed,
            )
            for draw in (intervals_spec, narrow_intervals_spec)
        )
        return document.Figure(name, caption, wide, narrow, data=self.name)

    def key(
        self,
        column: str,
        row: Any,
        *lines: str,
        label: str = "",
        unit: str = "",
        interval_unit: str = "",
    ) -> document.KeyNumber:
        """Return an estimate as a number of the report's head, or the reason why there is none."""
        shown = self.column(column)
        estimate: Estimate = shown.read(row)
        label = label or shown.head
        value, *ends = shown.cells(row)
        if estimate.reason:
            return document.KeyNumber(label, value, unit, (sentence(estimate.reason),))
        around = " ".join((f"{self.level} interval", *ends, *filter(None, (interval_unit,))))
        if estimate.interval_reason:
            around = f"No interval: {estimate.interval_reason}."
        return document.KeyNumber(label, value, unit, (around, *lines))

    @property
    def codebook(self) -> list[CodebookLine]:
        """Return what every column of the download holds."""
        return [
            CodebookLine(self.name, name, meaning, column.unit)
            for column in self.downloaded
            for name, meaning in zip(column.names, column.meanings(self.level), strict=False)
        ]

    def column(self, name: str | Column) -> Column:
        """Return the column of that name or head; a column itself is returned as it is."""
        if isinstance(name, Column):
            return name
        for column in self.columns:
            if name in (column.name, column.head):
                return column
        known = ", ".join(column.name or column.head for column in self.columns)
        raise KeyError(f"{self.name} has no column {name}; it has {known}")


def shown(kind: type, *columns: Place, **labels: object) -> tuple[Column, ...]:
    """Return the columns that the fields of a record declare with `Shown`.

    columns : by default all fields that are shown, in their order. Else names of fields and of
        properties, paths such as ``alpha.n_units``, columns that are computed, and heads over some
        of these: ``{"Rank": ("first", "second")}``. A field that says nothing is downloaded only.
    labels : fill the “{…}” of heads and meanings

    A record in a field is shown by its ``value``, or else by its own fields. Raises KeyError for a
    field that the record has not.
    """
    found: list[Column] = []
    for place in columns or [name for name, (says, _) in _fields(kind).items() if says]:
        if isinstance(place, Column):
            found.append(place)
        elif isinstance(place, str):
            found += (_fill(column, labels) for column in _columns(kind, place))
        else:
            for head, some in place.items():
                found += (replace(column, group=head) for column in shown(kind, *some, **labels))
    return tuple(found)


def _columns(kind: type, path: str) -> list[Column]:
    name, _, rest = path.partition(".")
    known = _fields(kind)
    if name not in known:
        raise KeyError(f"{kind.__name__} has {', '.join(known)}; not {name}")
    says, held = known[name][0] or Shown(), known[name][1]
    is_record = is_dataclass(held) and held is not Estimate and "value" not in _fields(held)
    if rest or is_record:
        return [
            replace(
                column,
                name=f"{says.prefix}{column.name}",
                prefix=f"{says.prefix}{column.prefix}",
                value=f"{name}.{column.value}",
                group=column.group or says.group,
            )
            for column in (_columns(held, rest) if rest else shown(held))
        ]
    if held is not Estimate:
        return [_column(says, name, value=f"{name}.value" if "value" in _fields(held) else name)]
    found = [_column(says, name, with_interval=not says.no_interval)]
    found += [_column(says.n, "n", value=f"{name}.n", decimals=0)] if says.n else []
    found += [Column("", says.reason, f"{name}.note")] if says.reason else []
    return found


def _column(says: Shown, name: str, **how: Any) -> Column:
    how = {"value": name} | {key: getattr(says, key) for key in _SAME} | how
    if says.effect:
        how |= {"signed": True, "style": "strong"}
    if says.is_p:
        how |= {"decimals": 3, "cell": p_cell}
    return Column(says.head, says.name or name, **how)


def _fill(column: Column, labels: Mapping[str, object]) -> Column:
    if not labels:
        return column
    head, meaning = (text.format_map(labels) for text in (column.head, column.meaning))
    return replace(column, head=head, meaning=meaning)


_SAME = tuple(
    {field.name for field in fields(Shown)}
    & {field.name for field in fields(Column)} - {"head", "name"}
)


@cache
def _fields(kind: type) -> dict[str, tuple[Shown | None, type]]:
    """Return how fields and properties of a record are shown, and the sort of what they hold."""
    if not (is_dataclass(kind) or is_typeddict(kind)):
        return {}
    hints = get_type_hints(kind, include_extras=True)
    for name, made in inspect.getmembers(kind, lambda member: isinstance(member, property)):
        hints[name] = get_type_hints(made.fget, include_extras=True).get("return", object)
    found: dict[str, tuple[Shown | None, type]] = {}
    for name, hint in hints.items():
        says = next((x for x in getattr(hint, "__metadata__", ()) if isinstance(x, Shown)), None)
        held = hint.__origin__ if says else hint
        sorts = [sort for sort in get_args(held) if sort is not NoneType]
        found[name] = says, sorts[0] if isinstance(held, UnionType) and len(sorts) == 1 else held
    return found


def estimate_columns(
    head: str, decimals: int, *, units: str = "", value: str = "estimate", **how: Any
) -> tuple[Column, ...]:
    """Return value, low, high, n and reason of an estimate; ``units`` is the head of n."""
    return (
        Column(head, "value", value, decimals, with_interval=True, **how),
        Column(units, "n", f"{value}.n", 0),
        Column("", "reason", f"{value}.note"),
    )


#: What is shown of a Krippendorff’s alpha under ``alpha``; the label ``units`` names its units.
ALPHA_COLUMNS = (
    *("alpha.estimate", "alpha.n_units", "alpha.n_values", "alpha.measurement"),
    "alpha.estimate.note",
)


def ranked(rows: Iterable[T], value: Callable[[T], float]) -> list[T]:
    """Return rows with the highest value first; those without one follow in their order."""

    def place(row: T) -> tuple[bool, float]:
        found = value(row)
        return (True, 0.0) if math.isnan(found) else (False, -found)

    return sorted(rows, key=place)


@dataclass(frozen=True)
class WideRow:
    """Records of one line of a narrow table, by what stands side by side in it."""

    records: dict[Any, Any]

    @property
    def first(self) -> Any:
        return next(iter(self.records.values()))


def pivot(rows: Iterable[Any], line: Reader, across: Reader) -> list[WideRow]:
    """Return records of a long table line by line; read them with `beside`.

    line : records that agree in it stand in one line, in the order of the first ones
    across : tells the records of one line apart
    """
    found: dict[Any, dict[Any, Any]] = {}
    for row in rows:
        found.setdefault(read(row, line), {})[read(row, across)] = row
    return [WideRow(records) for records in found.values()]


def beside(key: Any, value: Reader) -> Callable[[WideRow], Any]:
    """Return a reader of the record under ``key`` in a line, None where there is none."""

    def read_beside(line: WideRow) -> Any:
        record = line.records.get(key)
        return None if record is None else read(record, value)

    return read_beside


def _head_groups(columns: Sequence[Column]) -> tuple[document.HeadGroup, ...]:
    if not any(column.group for column in columns):
        return ()
    return tuple(
        document.HeadGroup(text, sum(2 if column.with_interval else 1 for column in some), source)
        for (text, source), some in groupby(columns, lambda column: (column.group, column.source))
    )
