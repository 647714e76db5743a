"""Reads tables into numbered rows: text, JSON, workbooks, Parquet and SPSS, also in an archive.

Text is UTF-8 or UTF-16. CSV is read as RFC 4180 has it, with commas, semicolons, tabs or bars.
In TSV a quotation mark is a character like any other, unless the whole file is
quoted as a spreadsheet quotes. Comments and titles above the heading, the lines that Qualtrics
puts below it, and headings that come again are left out; oTree's wide rows become one for each
round, and cells that all hold JSON are read as such. A row that has too many or too few cells is
kept with its fault, so that every bad row can be told at once. Lines of an array, a sheet, Parquet
or SPSS are its rows by number.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from annotation.common.json_rows import list_entries, unfold
from annotation.common.packed_files import (
    ARCHIVES,
    WORKBOOKS,
    find_heading,
    read_parquet,
    read_spss,
    read_workbook,
    show_cell,
    unpack,
)
from annotation.common.text_shortening import shorten

LINE_END = re.compile(r"\r\n|\n|\r")
# Line ends and tabs are text; other control characters and halves of broken ones are not.
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
BROKEN = re.compile(r"[\ud800-\udfff]")
# A cell that a spreadsheet quoted, its quotation marks doubled; or one that nobody quoted.
TAB_CELL = re.compile(r'"([^"]*(?:""[^"]*)*)"(?=[\t\r\n]|\Z)|([^\t\r\n]*)')
# Rows with a few control characters are named; with more than a share of these it is no text.
FEW_CONTROLS, LARGEST_SHARE, SAMPLE = 4, 0.02, 100_000
#: How files of other kinds begin.
MARKS = {
    b"PK\x03\x04": "a workbook or an archive: end its name in .xlsx, .ods or .zip",
    b"PAR1": "Parquet: end its name in .parquet",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook: end its name in .xls",
    b"%PDF": "a PDF",
    b"\x1f\x8b": "a gzip archive: end its name in .gz",
    b"$FL2": "an SPSS file: end its name in .sav",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
}
QUALTRICS_ID = re.compile(r"\W*ImportId\b")
#: Qualtrics's own questions, which older exports put below the heading without ids.
QUALTRICS_OWN = {"startdate", "enddate", "responseid", "responseset", "ipaddress", "finished"}
OTREE = re.compile(r"(?:(\w+\.\d+)\.)?player\.(\w+)")
#: Kinds of files by their ending.
TABS, JSON = (".tsv", ".tab", ".txt"), (".json", ".jsonl", ".ndjson")
TABLES = (".csv", *TABS, *WORKBOOKS)
SUFFIXES = (*TABLES, *JSON, ".parquet", ".sav", *ARCHIVES)
#: Marks between cells, the likeliest first, and how many rows are looked at to tell which it is.
DELIMITERS, LOOKED_AT = ",;\t|", 20
#: What a spreadsheet writes above a heading to say what stands between cells.
SEPARATOR = re.compile(r"sep=([,;\t|])[ \t]*(?=\r|\n)", re.IGNORECASE)
#: Bytes that hardly any text in Windows-1252 has (†‡ˆŠ‹ŒŽšœžŸÐÒÓÕ, and unused ones).
ODD_WESTERN = re.compile(rb"[\x81\x86-\x88\x8a-\x90\x9a-\x9f\xd0\xd2\xd3\xd5]")
#: Its letters with accents, which are rare signs in Mac Roman.
WESTERN_LETTERS = re.compile(rb"[\xe0-\xf6\xf8-\xff]")
WESTERN = "cp1252"
#: Encodings of text that is no UTF-8, as programs save CSV.
ENCODINGS = {WESTERN: "Windows-1252, as Excel saves CSV", "mac_roman": "Mac Roman"}
LONGEST_REASON = 100
COLUMNS_SHOWN = 12
DIGEST_SHOWN = 16


class TableFileError(ValueError):
    """A file that cannot be read at all; the message says where and what was expected."""


class NotATableError(TableFileError):
    """A file of another kind than its ending says, or in an encoding that is not read."""

    def __init__(self, content: bytes = b"") -> None:
        kind = next((kind for mark, kind in MARKS.items() if content.startswith(mark)), "")
        super().__init__(
            f"The file is not a text table. It begins like {kind}."
            if kind
            else "The file is not a text table in UTF-8, UTF-16, or Windows-1252. Save it as CSV "
            "in UTF-8, or choose an Excel workbook (.xlsx)."
        )


@dataclass(frozen=True)
class Record:
    """One row as it stands in the file: values by column, or what is wrong with it already.

    cells : of a row with a fault, as far as it has some
    """

    line: int
    values: Mapping[str, Any] = field(default_factory=dict)
    fault: str = ""
    cells: tuple[str, ...] = ()


@dataclass(frozen=True)
class Heading:
    """What is known of a file's columns beforehand.

    is_there : False where the first line is a row; the columns are then called 1, 2 …
    columns : name of the column by what it holds, such as ``source_text``
    """

    is_there: bool = True
    columns: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, columns: Mapping[str, str]) -> Heading:
        """Return a heading, none where all columns are numbers."""
        return cls(not (columns and all(map(str.isdecimal, columns.values()))), columns)


@dataclass(frozen=True)
class TableFile:
    """The rows of a file without its heading, and what the reader assumed, in sentences.

    labels : the question behind a column, where a second line of headings or SPSS gives it
    is_typed : values have types; otherwise they are the texts of cells
    sheets, sheet : of a workbook with several, and the one that was read
    """

    records: list[Record]
    notices: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    sheets: tuple[str, ...] = ()
    sheet: str = ""
    is_typed: bool = False

    @property
    def columns(self) -> list[str]:
        """Every column of some row, in the file's order."""
        return list(dict.fromkeys(name for record in self.records for name in record.values))


@dataclass(frozen=True)
class Problem:
    """One bad row: the line of the file where it begins, and what is wrong with it.

    line : 0 for the file as a whole
    column, value, expected : where it is one cell
    """

    line: int
    message: str
    column: str = ""
    value: str = ""
    expected: str = ""

    def __str__(self) -> str:
        return f"Line {self.line}: {self.message}" if self.line else self.message


def describe_import(content: bytes, file_name: str) -> str:
    """Return what the history says of rows from this file: its name, and how its hash begins."""
    digest = hashlib.sha256(content).hexdigest()[:DIGEST_SHOWN]
    shown = file_name[: LONGEST_REASON - DIGEST_SHOWN - len("Imported , SHA-256 …")]
    return f"Imported {shown}, SHA-256 {digest}…"


def text_fault(text: str) -> str:
    """Return what keeps a text from being one, empty for a good one."""
    if BROKEN.search(text):
        return "is not UTF-8 text. Save the file as UTF-8."
    return "holds a control character, expected plain text." if CONTROL.search(text) else ""


def plain_heading(heading: str) -> str:
    """Return a heading as names of columns are written, whatever its case, spaces and hyphens."""
    return "_".join(heading.casefold().replace("-", " ").split())


def read_heading(said: Iterable[str], *, is_there: bool | None = True) -> Heading:
    """Return what was said of a file's columns, each as FIELD=COLUMN; `TableFileError` else.

    is_there : None takes columns that are all numbers for those of a file without a heading
    """
    columns = {}
    for one in filter(None, map(str.strip, said)):
        name, mark, column = one.partition("=")
        if not mark:
            raise TableFileError(f"“{shorten(one)}” names no column, expected FIELD=COLUMN.")
        columns[name.strip()] = column.strip()
    return Heading.of(columns) if is_there is None else Heading(is_there, columns)


def number_columns(cells: Sequence[str]) -> list[str]:
    """Return the names of columns without a heading."""
    return [str(number) for number in range(1, len(cells) + 1)]


def list_columns(columns: Iterable[str]) -> str:
    """Return which columns a file has, as a sentence."""
    shown = [f"“{shorten(column)}”" for column in columns]
    more = " …" if len(shown) > COLUMNS_SHOWN else ""
    return f"The columns are {', '.join(shown[:COLUMNS_SHOWN])}{more}."


NumberedCells = list[tuple[int, list[str]]]
#: Takes the cells of the first line; returns the columns' names if that line is a row already.
NameColumns = Callable[[list[str]], Sequence[str] | None]


def read_table(
    content: bytes,
    file_name: str,
    *,
    or_json: bool = False,
    name_columns: NameColumns | None = None,
    may_end_early: bool = False,
    sheet: str = "",
    count_known: Callable[[list[str]], int] | None = None,
) -> TableFile:
    """Return the rows of a file without its heading: text or a workbook, or an archive of one.

    or_json : takes JSON, Parquet and SPSS as well, whose values keep their types, and text in
        Windows-1252 or Mac Roman, of which a notice tells
    name_columns : for files that may have no heading
    may_end_early : takes rows whose last cells are missing
    sheet : of a workbook, the one to read
    count_known : how many columns of a heading are known; without `sheet`, the first sheet with the
        most is read

    Raises `TableFileError` where the file as a whole cannot be read.
    """
    notices: list[str] = []
    labels: Mapping[str, str] = {}
    sheets: tuple[str, ...] = ()
    known = SUFFIXES if or_json else TABLES
    try:
        _check_suffix(file_name, known)
        content, file_name = unpack(content, file_name)
        suffix = _check_suffix(file_name, [one for one in known if one not in ARCHIVES])
        rows: NumberedCells | None = None
        records: list[Record] = []
        if suffix == ".parquet":
            records = list(_to_typed(read_parquet(content)))
        elif suffix == ".sav":
            entries, labels = read_spss(content)
            records = list(_to_typed(entries))
        elif suffix in WORKBOOKS:
            cells, sheets, sheet = read_workbook(content, sheet, count_known)
            rows = _cut_titles(cells, notices)
        elif suffix in JSON:
            records, rows = read_json(decode(content, notices))
            records = _split_rounds(records, count_known)
        else:
            rows = _read_text(content, suffix, notices, western=or_json)
    except TableFileError:
        raise
    except ValueError as error:
        raise TableFileError(str(error)) from error
    if rows is not None:
        # A blank line separates, it is no row.
        filled = [(line, cells) for line, cells in rows if any(cell.strip() for cell in cells)]
        records = _doubt_quotes(list(_to_records(filled, name_columns, may_end_early)))
        records, labels = _drop_headings(records, notices)
        records = _split_rounds(records, count_known)
        records = _read_cells(records, notices) if or_json else records
    if not records:
        raise TableFileError("The file holds no row, expected at least one below its heading.")
    if sheets:
        named = ", ".join(f"“{shorten(one)}”" for one in sheets)
        notices.append(f"Of the sheets {named}, “{shorten(sheet)}” was read.")
    table = TableFile(
        records, tuple(notices), labels, sheets, sheet if sheets else "", is_typed=rows is None
    )
    _check_heading(table.columns)
    return table


def _cut_titles(cells: list[list[str]], notices: list[str]) -> NumberedCells:
    """Return the rows of a sheet from its heading on, all as wide as the widest."""
    used = max((n for row in cells for n, one in enumerate(row, 1) if one.strip()), default=0)
    place = find_heading(cells)
    if any(map(any, cells[:place])):
        notices.append(f"The heading stands on line {place + 1}; what is above it was left out.")
    return [(n, [*row, *[""] * used][:used]) for n, row in enumerate(cells, 1) if n > place]


def decode(content: bytes, notices: list[str] | None = None) -> str:
    """Return the text of a file; bytes that are no UTF-8 become halves of characters.

    So their rows can be named. With `notices`, a file without a single letter in UTF-8 beyond ASCII
    is read as Windows-1252 or Mac Roman, and a notice says so. Raises `TableFileError` for an
    empty file.
    """
    if wide := _find_wide(content):
        try:
            text = content.decode(wide).removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            name = wide[:6].upper()
            raise TableFileError(f"The file is broken {name} text: {error.reason}.") from error
    else:
        text = content.decode("utf-8", errors="surrogateescape").removeprefix("\ufeff")
        if notices is not None and (found := _read_western(content, text)):
            text, encoding = found
            notices.append(
                f"The file is not UTF-8 and was read as {encoding}. If letters look wrong, save it "
                "as UTF-8."
            )
    if not text.strip():
        raise TableFileError("The file is empty, expected a heading and rows.")
    sample = text[:SAMPLE]
    if len(CONTROL.findall(sample)) > max(FEW_CONTROLS, LARGEST_SHARE * len(sample)):
        raise NotATableError(content)
    return text


def _find_wide(content: bytes) -> str:
    """Return the encoding of UTF-16 or UTF-32 text, empty for other files.

    Without a byte order mark its Latin letters, commas and line ends have a zero on one side.
    """
    if content.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return "utf-32"
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    sample = content[:SAMPLE]
    most = len(sample) // 4
    first, second = sample[::2].count(0), sample[1::2].count(0)
    if len(content) % 2 == 0 and max(first, second) > most and not min(first, second):
        return "utf-16-be" if first else "utf-16-le"
    return ""


def _read_western(content: bytes, text: str) -> tuple[str, str] | None:
    """Return text in an encoding of `ENCODINGS` with its name, None where the bytes rather are
    damaged or of another script.

    Such a text has no letter that is valid UTF-8 beyond ASCII, and one byte in five at most.
    """
    beyond = [char for char in text if char > "\x7f"]
    if not beyond or not all("\udc80" <= char <= "\udcff" for char in beyond):
        return None
    if 5 * len(beyond) > len(content):
        return None
    is_mac = ODD_WESTERN.search(content) and not WESTERN_LETTERS.search(content)
    encoding = "mac_roman" if is_mac else WESTERN
    try:
        return content.decode(encoding), ENCODINGS[encoding]
    except UnicodeDecodeError:
        return None


def _check_suffix(file_name: str, known: Sequence[str]) -> str:
    suffix = PurePath(file_name).suffix.lower()
    if suffix not in known:
        expected = f"{', '.join(known[:-1])} or {known[-1]}"
        raise TableFileError(
            f"“{shorten(file_name)}” is of no kind that can be read, expected {expected}."
        )
    return suffix


def _read_text(content: bytes, suffix: str, notices: list[str], *, western: bool) -> NumberedCells:
    text = decode(content, notices if western else None)
    if said := SEPARATOR.match(text):
        delimiter, text = said[1], text[said.end() :]  # its line end keeps the numbers of lines
    else:
        delimiter = _find_delimiter(text, suffix)
    rows = _read_tabs(text, notices) if delimiter == "\t" else _read_csv(text, delimiter)
    comments = _count_comments(rows)
    if comments:
        notices.append(f"The first {comments} lines begin with “#” and were left out.")
    return rows[comments:]


def _count_comments(rows: NumberedCells) -> int:
    """Return how many lines before the heading are comments: they begin with “#” and have fewer
    cells."""
    first = next((n for n, (_, row) in enumerate(rows) if not row or row[0][:1] != "#"), 0)
    is_narrow = all(len(row) < len(rows[first][1]) for _, row in rows[:first])
    return first if is_narrow else 0


def _find_delimiter(text: str, suffix: str) -> str:
    """Return the mark that cuts the first rows into as many cells each; of several, the one that
    gives most. Where none does, the heading decides."""
    lines = [one for one in LINE_END.split(text[:SAMPLE]) if one.strip()][:LOOKED_AT]
    lines = [one for one in lines if not one.startswith("#")] or lines
    if suffix in TABS and "\t" in lines[0]:
        return "\t"

    def width(line: str, mark: str) -> int:
        return len(next(csv.reader([line[:9999]], delimiter=mark)))

    sizes = {mark: width(lines[0], mark) for mark in DELIMITERS}
    even = [mark for mark in DELIMITERS if all(width(one, mark) == sizes[mark] for one in lines)]
    most = max((one for one in even if sizes[one] > 1), key=sizes.__getitem__, default="")
    most = most or max(DELIMITERS, key=sizes.__getitem__)
    return "\t" if suffix in TABS and sizes[most] == 1 else most


def _read_csv(text: str, delimiter: str) -> NumberedCells:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: NumberedCells = []
    before = 0
    try:
        for cells in reader:
            rows.append((before + 1, cells))
            before = reader.line_num
    except csv.Error as error:
        raise TableFileError(
            f"The file breaks off at line {before + 1}: {error}. A quotation mark may be "
            "open; in CSV a quotation mark within a quoted cell is written twice."
        ) from error
    return rows


def _read_tabs(text: str, notices: list[str]) -> NumberedCells:
    plain = [
        (number, line.split("\t")) for number, line in enumerate(LINE_END.split(text), start=1)
    ]
    quoted = _read_quoted_tabs(text) if '"' in text else None
    if quoted is None or _count_uneven(quoted) > _count_uneven(plain):
        return plain
    notices.append("Quotation marks around cells were read as a spreadsheet’s, not as typed.")
    return quoted


def _read_quoted_tabs(text: str) -> NumberedCells | None:
    """Return the cells as a spreadsheet saved them, None if it cannot have written this file.

    A spreadsheet quotes each cell that holds a quotation mark, a tab or a line end, and doubles the
    marks in it; Excel quotes cells with commas as well, and some programs quote every text.
    """
    rows: NumberedCells = []
    cells: list[str] = []
    line, start, place = 1, 1, 0
    needless = unquoted = comma_quoted = comma_unquoted = False
    while place <= len(text):
        match = TAB_CELL.match(text, place)
        quoted, bare = match.groups() if match else (None, "")
        if quoted is None:
            if '"' in bare:
                return None
            unquoted |= bool(bare) and not bare.isdecimal()
            comma_unquoted |= "," in bare
            cells.append(bare)
        else:
            if not any(mark in quoted for mark in '"\t\r\n'):
                comma_quoted |= "," in quoted
                needless |= "," not in quoted
            line += len(LINE_END.findall(quoted))
            cells.append(quoted.replace('""', '"'))
        place = match.end() if match else place
        if text.startswith("\t", place):
            place += 1
            continue
        rows.append((start, cells))
        place += 2 if text.startswith("\r\n", place) else 1
        line, cells = line + 1, []
        start = line
    return None if (needless and unquoted) or (comma_quoted and comma_unquoted) else rows


def _count_uneven(rows: NumberedCells) -> int:
    widths = [len(cells) for _, cells in rows if any(cell.strip() for cell in cells)]
    return sum(width != widths[0] for width in widths)


def read_json(text: str) -> tuple[list[Record], NumberedCells | None]:
    """Return the entries of a JSON document, or of a text with one on each line; a table where its
    entries are lists of cells."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        is_list = text.lstrip().startswith("[")
        if is_list and getattr(error, "msg", "") != "Extra data":  # else each line is an array
            raise TableFileError(f"The file is not JSON: {error}.") from error
    else:
        entries = list_entries(document)
        if entries and all(map(_is_row, entries)):
            return [], [(n, list(map(show_cell, one))) for n, one in enumerate(entries, 1)]
        return list(_to_typed(entries)), None
    records: list[Record] = []
    lists: NumberedCells = []
    for number, line in enumerate(LINE_END.split(text), start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            what = error.msg if isinstance(error, json.JSONDecodeError) else "cannot be read"
            records.append(Record(number, fault=f"is not JSON: {what}.", cells=(line,)))
            continue
        records += _to_typed([entry], number)
        if _is_row(entry):
            lists.append((number, list(map(show_cell, entry))))
    return ([], lists) if lists and len(lists) == len(records) else (records, None)


def _is_row(entry: Any) -> bool:
    return isinstance(entry, list) and not any(isinstance(cell, (list, dict)) for cell in entry)


def _to_typed(entries: Iterable[Any], first: int = 1) -> Iterator[Record]:
    for number, entry in enumerate(entries, start=first):
        if isinstance(entry, dict):
            yield from (Record(number, one) for one in unfold(entry))
        else:
            yield Record(number, fault="is not a JSON object, expected one with named values.")


def _to_records(
    rows: Iterable[tuple[int, list[str]]], name: NameColumns | None, may_end_early: bool
) -> Iterator[Record]:
    columns: list[str] | None = None
    for line, cells in rows:
        if columns is None:
            given = name(cells) if name else None
            columns = [cell.strip() for cell in cells] if given is None else list(given)
            _check_heading(columns)
            if given is None:
                continue
        if len(cells) > len(columns) and not any(map(str.strip, cells[len(columns) :])):
            cells = cells[: len(columns)]  # a separator at the end of a line
        if len(cells) < len(columns) and not any(columns[len(cells) :]):
            cells = [*cells, *[""] * (len(columns) - len(cells))]
        if len(cells) > len(columns) or (len(cells) < len(columns) and not may_end_early):
            fault = f"has {len(cells)} cells, expected {len(columns)} as in the heading."
            yield Record(line, fault=fault, cells=tuple(cells))
        else:
            yield Record(line, dict(zip(columns, cells, strict=False)))


def _doubt_quotes(records: list[Record]) -> list[Record]:
    """Return rows with those that hold a single quotation mark bad, too, if some line is broken: a
    mark that was lost can move the cells of the next line."""
    if not any(record.fault for record in records):
        return records
    fault = "holds a single quotation mark, and other lines are broken. Check where cells end."
    return [
        Record(one.line, fault=fault, cells=tuple(one.values.values()))
        if any(str(value).count('"') % 2 for value in one.values.values())
        else one
        for one in records
    ]


def _drop_headings(
    records: list[Record], notices: list[str]
) -> tuple[list[Record], dict[str, str]]:
    """Return the rows without headings among them, and the questions below the heading by their
    columns.

    These are the questions and ids that Qualtrics puts there, and the heading itself where files
    were put one behind the other.
    """
    ids = next((n for n, one in enumerate(records[:2], 1) if _are_all(one, QUALTRICS_ID)), 0)
    is_old = bool(records) and sum(map(QUALTRICS_OWN.__contains__, _squeezed(records[0]))) > 1
    labels = dict(records[0].values) if ids > 1 or is_old else {}
    if above := max(ids, int(is_old)):
        last = records[above - 1].line
        notices.append(f"Lines up to {last} are Qualtrics’s headings and no rows.")
        records = records[above:]
    kept = [one for one in records if not _repeats_heading(one)]
    if len(kept) < len(records):
        n = len(records) - len(kept)
        notices.append(f"The heading comes again in {n} further lines, which were left out.")
    return kept, labels


def _are_all(record: Record, pattern: re.Pattern[str]) -> bool:
    values = [str(value) for value in record.values.values() if value]
    return bool(values) and all(map(pattern.match, values))


def _squeezed(record: Record) -> list[str]:
    return ["".join(str(value).casefold().split()) for value in record.values.values()]


def _repeats_heading(record: Record) -> bool:
    values = record.values.items()
    return len(values) > 1 and all(value.strip() == column for column, value in values)


def _split_rounds(
    records: list[Record], count_known: Callable[[list[str]], int] | None
) -> list[Record]:
    """Return oTree's rows by round: its columns “app.1.player.field” as “field”.

    Rounds without a value of a known column are none of the task, or were not reached.
    """
    named = {column for record in records for column in record.values}
    fields = {column: match for column in named if (match := OTREE.fullmatch(column))}
    if not fields or count_known is None:
        return records
    known = {match[2] for match in fields.values() if count_known([match[2]])}
    found: list[Record] = []
    for record in records:
        rounds: dict[str, dict[str, Any]] = {}
        shared = {name: value for name, value in record.values.items() if name not in fields}
        for column, value in record.values.items():
            if match := fields.get(column):
                rounds.setdefault(match[1] or "", {})[match[2]] = value
        found += [
            Record(record.line, {**shared, **values})
            for values in rounds.values()
            if any(value for name, value in values.items() if name in known)
        ]
        if record.fault:
            found.append(record)
    return found or records


def _read_cells(records: list[Record], notices: list[str]) -> list[Record]:
    """Return rows with the values of columns whose every cell holds a list or object of JSON, as
    Label Studio writes them into CSV."""
    packed: dict[str, list[Any]] = {}
    columns = dict.fromkeys(name for record in records for name in record.values)
    for name in columns:
        cells = [str(record.values.get(name) or "").strip() for record in records]
        if any(cells) and all(one[:1] in "[{" for one in cells):
            try:
                packed[name] = [json.loads(one) if one else None for one in cells]
            except (ValueError, RecursionError):
                continue
    if not packed:
        return records
    named = ", ".join(f"“{shorten(name)}”" for name in packed)
    notices.append(f"The cells of {named} hold JSON and were read as such.")
    rows = [
        {**record.values, **{name: values[place] for name, values in packed.items()}}
        for place, record in enumerate(records)
    ]
    return [
        record if record.fault else Record(record.line, unfolded)
        for record, row in zip(records, rows, strict=True)
        for unfolded in ([{}] if record.fault else unfold(row))
    ]


def _check_heading(columns: list[str]) -> None:
    if any(map(text_fault, columns)):
        raise NotATableError
    lowered = [column.casefold() for column in columns if column]
    doubled = next((name for name in lowered if lowered.count(name) > 1), None)
    if doubled is not None:
        raise TableFileError(
            f"The heading has the column “{shorten(doubled)}” twice, expected once."
        )
