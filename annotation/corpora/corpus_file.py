"""Reads files of texts and pairs, in whichever kind `annotation.common.table_file` reads.

Two layouts. *Pairs* have a column for each variety, named by it (AAL, WME) or ``source_text`` and
``target_text``; *texts* have ``text`` and may have ``variety``. Both may have ``id``, ``source``,
``context`` and ``split``. JSON and Parquet may also carry ``spans``: a list of objects with start,
end and kind for texts; for pairs an object with such a list under each variety's name. Offsets
count characters (Unicode code points) of the text. Other columns are named and not read; oTree's
wide rows become one for each round. Bodies lose white space at both ends and keep it inside.

Nothing here touches the database: a file becomes rows and problems, and a caller decides.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from annotation.common.json_rows import only
from annotation.common.table_file import (
    Heading,
    Problem,
    Record,
    TableFileError,
    list_columns,
    number_columns,
    plain_heading,
    read_table,
    text_fault,
)
from annotation.common.text_shortening import shorten
from annotation.corpora.corpus_rows import (
    COMMON_COLUMNS,
    PAIR_COLUMNS,
    TEXT_COLUMNS,
    Layout,
    ParsedCorpus,
    Row,
    Side,
    Varieties,
    bare_heading,
)

# --- Reads one row of a corpus's file and says everything that is wrong with it -------------------

LONGEST_TEXT = 10_000
LONGEST_CONTEXT = 20_000
LONGEST_SOURCE = 120
LONGEST_NAME = 100
LONGEST_KIND = 40
#: What files call a split, by what becomes of its texts.
SPLITS = dict.fromkeys(("evaluation", "eval", "test", "dev", "validation", "val"), "evaluation")
SPLITS |= dict.fromkeys(("training", "train"), "training")
NAME = re.compile(r"[-a-zA-Z0-9_]+")


@dataclass
class RowReader:
    """Reads one record and notes everything that is wrong with it.

    names : what each column holds; others are not read
    """

    record: Record
    layout: Layout
    varieties: Varieties
    names: Mapping[str, str]
    faults: list[str] = field(default_factory=list)

    def read(self) -> Row | None:
        if self.record.fault:
            self.faults.append(self.record.fault)
            return None
        values = self._name_values()
        sides = PAIR_COLUMNS if self.layout == Layout.PAIRS else ("text",)
        bodies = {side: self._text(values, side) for side in sides}
        self._check_presence(bodies)
        spans = self._spans(values.get("spans"), sides)
        row = Row(
            line=self.record.line,
            name=self._name(values),
            variety=self._variety(values),
            text=self._side(bodies, spans, sides[0]),
            target=self._side(bodies, spans, sides[1]) if len(sides) > 1 else None,
            source=self._text(values, "source", LONGEST_SOURCE).strip(),
            context=self._text(values, "context", LONGEST_CONTEXT).strip(),
            split=self._split(values),
        )
        return None if self.faults else row

    def _name_values(self) -> dict[str, Any]:
        own = PAIR_COLUMNS if self.layout == Layout.PAIRS else TEXT_COLUMNS
        values: dict[str, Any] = {}
        for column, value in self.record.values.items():
            name = self.names.get(column)
            if name is None:
                continue
            if name not in (*COMMON_COLUMNS, *own) or name in values:
                # Only JSON comes here: a table's heading holds for all of its rows.
                self.faults.append(f"“{shorten(column)}” is not expected here.")
            else:
                values[name] = value
        return values

    def _label(self, name: str) -> str:
        """Return what the file calls a column; a side of a pair without a name is its variety."""
        called = (column for column, held in self.names.items() if held == name)
        column = next((one for one in called if one in self.record.values), name)
        labels = {"source_text": self.varieties.source, "target_text": self.varieties.target}
        return labels.get(column, shorten(column))

    def _text(self, values: Mapping[str, Any], name: str, longest: int = LONGEST_TEXT) -> str:
        value = only(values.get(name))
        if value is None:
            return ""
        label = self._label(name)
        if not isinstance(value, str):
            self.faults.append(f"“{label}” is {_describe(value)}, expected a text.")
            return ""
        if fault := text_fault(value):
            self.faults.append(f"“{label}” {fault}")
        elif len(value.strip()) > longest:
            self.faults.append(
                f"“{label}” has {len(value.strip()):,} characters, expected {longest:,} at most."
            )
        return value

    def _check_presence(self, bodies: Mapping[str, str]) -> None:
        if self.faults:
            return
        for name, body in bodies.items():
            if body.strip() in MISSING:
                self.faults.append(
                    f"“{self._label(name)}” is “{body.strip()}”, which stands for a missing text."
                )
                return
        empty = [name for name, body in bodies.items() if not body.strip()]
        if len(empty) == len(bodies):
            self.faults.append(
                "has no text, expected one."
                if len(bodies) == 1
                else "has no text, expected one in each variety."
            )
        elif empty:
            self.faults.append(
                f"“{self._label(empty[0])}” is empty, so that the text is unpaired; expected a "
                "text in each variety."
            )

    def _name(self, values: Mapping[str, Any]) -> str:
        value = values.get("id")
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if value is None:
            return ""
        if not isinstance(value, str) or (value.strip() and not NAME.fullmatch(value.strip())):
            self.faults.append(
                f"“id” is {_describe(value)}, expected letters, digits, hyphens and underscores."
            )
            return ""
        if len(value.strip()) > LONGEST_NAME:
            self.faults.append(f"“id” is longer than {LONGEST_NAME} characters.")
        return value.strip()

    def _variety(self, values: Mapping[str, Any]) -> str:
        given = self._text(values, "variety").strip()
        if not given:
            return self.varieties.source
        variety = self.varieties.find(given)
        if variety is None:
            source, *rest = (
                f"“{name}”"
                for name in (self.varieties.source, *self.varieties.others, self.varieties.target)
            )
            expected = f"{', '.join([source, *rest[:-1]])} or {rest[-1]}"
            self.faults.append(f"“variety” is “{shorten(given)}”, expected {expected}.")
        return variety or ""

    def _split(self, values: Mapping[str, Any]) -> str:
        given = self._text(values, "split").strip()
        split = SPLITS.get(given.casefold() or "evaluation", "")
        if not split:
            self.faults.append(
                f"“split” is “{shorten(given)}”, expected evaluation, training or nothing, which "
                "means evaluation."
            )
        return split

    def _spans(self, value: Any, sides: tuple[str, ...]) -> dict[str, list[Any]]:
        """Return the list of spans of each side, not yet checked one by one."""
        if value is None:
            return {}
        if self.layout == Layout.TEXTS:
            if isinstance(value, list):
                return {"text": value}
            self.faults.append("“spans” is no list, expected one of start, end and kind.")
            return {}
        if not isinstance(value, dict) or not all(
            self.varieties.find_column(name) in sides and isinstance(spans, list)
            for name, spans in value.items()
        ):
            self.faults.append(
                f"“spans” is not as expected: an object with a list under “{self.varieties.source}”"
                f" and “{self.varieties.target}”."
            )
            return {}
        return {str(self.varieties.find_column(name)): spans for name, spans in value.items()}

    def _side(self, bodies: Mapping[str, str], spans: Mapping[str, list[Any]], name: str) -> Side:
        raw = bodies[name]
        body = raw.strip()
        lead = len(raw) - len(raw.lstrip())
        checked = []
        for span in map(_plain_span, spans.get(name, ())):
            fault = _span_fault(span, raw, body, lead)
            if fault:
                self.faults.append(f"A span of “{self._label(name)}” {fault}")
                continue
            checked.append(
                {"start": span["start"] - lead, "end": span["end"] - lead, "kind": span["kind"]}
            )
        return Side(body, tuple(checked))


def _plain_span(span: Any) -> Any:
    """Return a span as ours are; Label Studio's have a list of labels, and the passage itself."""
    if isinstance(span, dict) and isinstance(only(span.get("labels")), str):
        return {"start": span.get("start"), "end": span.get("end"), "kind": only(span["labels"])}
    return span


def _holds_spans(records: Sequence[Record], column: str) -> bool:
    """Whether a column holds passages that Label Studio marked."""
    first = next((one.values[column] for one in records if one.values.get(column)), None)
    return isinstance(first, list) and _plain_span(first[0]) is not first[0]


def _span_fault(span: Any, raw: str, body: str, lead: int) -> str:
    if not isinstance(span, dict) or set(span) != {"start", "end", "kind"}:
        return "is not as expected: an object with start, end and kind."
    start, end, kind = span["start"], span["end"], span["kind"]
    if not all(isinstance(place, int) and not isinstance(place, bool) for place in (start, end)):
        return "has a start or end that is no whole number."
    if not isinstance(kind, str) or not kind.strip() or len(kind) > LONGEST_KIND:
        return f"has the kind {_describe(kind)}, expected a word of up to {LONGEST_KIND} letters."
    if not 0 <= start < end <= len(raw) or start < lead or end > lead + len(body):
        return (
            f"goes from {start} to {end}, outside the text of {len(raw)} characters without white "
            "space at its ends."
        )
    return ""


def _describe(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, str):
        return f"“{shorten(value)}”"
    return shorten(json.dumps(value))


# --- Reads files of texts and pairs, in whichever kind `annotation.common.table_file` reads -------

COLUMNS = (*COMMON_COLUMNS, *PAIR_COLUMNS, *TEXT_COLUMNS)
#: What tools call the two sides of a pair, where no column is called as expected; the first that
#: is there counts. Words that say nothing beside a side (text, sentence) are left out of names.
TARGET_NAMES = (
    *("rewrite", "rewriting", "counterpart", "paraphrase", "translation", "target", "tgt"),
    *("standard", "output", "completion", "rewritten", "targets", "standardized", "response"),
)
SOURCE_NAMES = (
    *("original", "sentence", "text", "src", "dialect", "input", "prompt", "inputs"),
    *("nonstandard", "vernacular", "dialectal"),
)
#: What transcripts and posts call a text alone.
TEXT_NAMES = (
    *("sentence", "content", "utterance", "transcript", "transcription", "turn"),
    *("tweet", "post", "message"),
)
#: A turn without words, and what columns beside it tell a transcript.
PAUSE = re.compile(r"[(<\[/][^()<>\[\]/]*[)>\]/]|sp|sil|")
TIERS = {"sttime", "entime", "start", "end", "begin", "spkr", "speaker", "tier"}
SHORTEST_SENTENCE, LONGEST_NOTE, LOOKED_AT = 3, 1.5, 50
#: Names of several words could be a first row; questions are no side of a pair.
NO_SIDE = re.compile(r"\s|question|answer|instruction|premise|hypothesis", re.IGNORECASE)
#: What programs write in place of a text that is missing.
MISSING = {"NA", "N/A", "#N/A", "n/a", "NaN", "nan", "NULL", "null", "<NA>", "None", "-9999"}
#: Beside two sentences, a cell that is the name of no column: a row’s number, or nothing.
NUMBERED = re.compile(r"\w{0,3}[-_.]?\d+|")
ALIKE = 0.85


class HeadingError(TableFileError):
    """The columns are not known by their names; the one who brings the file can name them."""


def parse_corpus_file(
    content: bytes, file_name: str, varieties: Varieties, heading: Heading | None = None
) -> ParsedCorpus:
    """Return every good row and every problem of a file.

    heading : None finds the columns by their names, and takes two sentences as a row of pairs

    Raises `TableFileError` where the file as a whole cannot be read. Rows are checked one by one
    here; what several rows have to do with one another is `annotation.corpora.corpus_import`.
    """
    heading = heading or Heading()
    notices: list[str] = []

    def name_columns(cells: list[str]) -> Sequence[str] | None:
        if not heading.is_there:
            return number_columns(cells)
        sentences = [len(cell.split()) >= SHORTEST_SENTENCE for cell in cells]
        rest = [cell for cell, is_one in zip(cells, sentences, strict=True) if not is_one]
        splits = [cell.strip().casefold() in SPLITS for cell in cells]
        if any(map(varieties.find_column, cells)) or sum(splits) > 1:
            return None
        if sentences == [True]:
            notices.append("The first line was read as a text, since it names no column.")
            return ["text"]
        if sum(sentences) != 2 or not all(
            NUMBERED.fullmatch(cell) or cell.strip().casefold() in SPLITS for cell in rest
        ):
            return None
        notices.append(
            "The first line was read as a pair, since it holds two sentences and no names: "
            f"{varieties.source} first, {varieties.target} second."
        )
        sides = iter(PAIR_COLUMNS)
        return [
            next(sides) if is_one else "split" if is_split else number
            for number, is_one, is_split in zip(
                number_columns(cells), sentences, splits, strict=True
            )
        ]

    table = read_table(
        content,
        file_name,
        or_json=True,
        name_columns=name_columns,
        count_known=lambda cells: sum(bool(varieties.find_column(cell)) for cell in cells),
    )
    records = table.records
    first = next((record for record in records if not record.fault), None)
    if first is None:
        raise TableFileError(f"No row can be read. Line {records[0].line} {records[0].fault}")
    given = dict(heading.columns)
    if not heading.is_there and not given and len(first.values) == 2:
        given = dict(zip(PAIR_COLUMNS, first.values, strict=True))
    names = _name_columns(first.values, varieties, given, table.labels)
    if notice := _take_source(names, list(first.values)):
        notices.append(notice)
    if notice := _name_sentences(names, records, list(first.values), varieties):
        notices.append(notice)
    layout = _find_layout(names, first.values, varieties)
    if layout == Layout.TEXTS:
        called = next(column for column, name in names.items() if name == "text")
        if len(TIERS & {plain_heading(column) for column in first.values}) > 1:
            records = _drop_pauses(records, called, notices)
        marked = next((column for column in first.values if _holds_spans(records, column)), "")
        if marked and "spans" not in names.values():
            names[marked] = "spans"
            notices.append(f"“{shorten(marked)}” was read as spans.")
    columns = list(dict.fromkeys(name for record in records for name in record.values))
    for column in columns:  # JSON names some in later rows alone
        name = None if column in first.values else varieties.find_column(column)
        if name and name not in given:
            names[column] = name
    if unread := [
        shorten(column) or "(without a name)" for column in columns if column not in names
    ]:
        notices.append(f"Nothing is read from: {', '.join(unread)}.")
    rows, problems = [], []
    for record in records:
        reader = RowReader(record, layout, varieties, names)
        row = reader.read()
        if row is not None:
            rows.append(row)
        problems += [Problem(record.line, fault) for fault in reader.faults]
    return ParsedCorpus(layout, tuple(rows), tuple(problems), (*table.notices, *notices))


def _name_sentences(
    names: dict[str, str], records: Sequence[Record], columns: Sequence[str], varieties: Varieties
) -> str:
    """Take the texts of a file whose names of columns say nothing; return a notice of it.

    They are a column called as transcripts and posts call theirs; or, in the file's order, the only
    two columns of sentences beside numbers and single words.
    """
    if {"text", *PAIR_COLUMNS} & set(names.values()):
        return ""
    if text := _find_side(columns, TEXT_NAMES):
        names[text] = "text"
        return ""
    lengths = {name: _count_words(records, name) for name in columns if name not in names}
    found = [name for name, n in lengths.items() if n >= SHORTEST_SENTENCE]
    rest = [n for name, n in lengths.items() if name not in found]
    if len(found) != 2 or max(rest, default=0) > LONGEST_NOTE or any(map(NO_SIDE.search, found)):
        return ""
    names |= dict(zip(found, PAIR_COLUMNS, strict=True))
    return (
        f"“{shorten(found[0])}” was read as {varieties.source} and “{shorten(found[1])}” as "
        f"{varieties.target}, since no other columns hold sentences."
    )


def _count_words(records: Sequence[Record], column: str) -> float:
    """Return the mean number of words of a column's first cells, 0 if some are no texts."""
    cells = [record.values.get(column) for record in records[:LOOKED_AT]]
    texts = [cell.split() for cell in cells if isinstance(cell, str) and cell.strip()]
    numbers = sum(cell is not None and not isinstance(cell, str) for cell in cells)
    return sum(map(len, texts)) / len(texts) if texts and not numbers else 0


def _drop_pauses(records: list[Record], text: str, notices: list[str]) -> list[Record]:
    """Return the turns of a transcript without pauses, and without those that were said before:
    a corpus has each text once."""
    kept: list[Record] = []
    said: set[str] = set()
    n_pauses = 0
    for record in records:
        body = str(record.values.get(text) or "").strip()
        is_pause = bool(PAUSE.fullmatch(body))
        n_pauses += is_pause
        if record.fault or not (is_pause or body in said):
            kept.append(record)
        said.add(body)
    if n_left := len(records) - len(kept):
        notices.append(
            f"{n_left} turns of the transcript were left out: {n_pauses} without words, "
            f"{n_left - n_pauses} that were said before in the same words."
        )
    return kept


def _name_columns(
    columns: Iterable[str],
    varieties: Varieties,
    given: dict[str, str],
    labels: Mapping[str, str],
) -> dict[str, str]:
    """Return what each column holds that is read; `given` comes before the columns' own names,
    and these before the questions behind them and the last part of “object.value”."""
    columns = list(columns)
    for name, column in given.items():
        if name not in COLUMNS:
            raise TableFileError(f"“{shorten(name)}” is not known, expected {', '.join(COLUMNS)}.")
        if column not in columns:
            raise TableFileError(f"There is no column “{shorten(column)}”. {list_columns(columns)}")
    names = {column: name for name, column in given.items()}
    for is_exact in (True, False):  # “AAL” comes before “AAL text”
        taken = set(given if is_exact else names.values())
        for column in columns:
            found = varieties.find_column(column, is_exact=is_exact)
            if found and found not in taken and column not in names:
                names[column] = found
    ends = Counter(column.rpartition(".")[2] for column in columns)
    for column in columns:
        end = column.rpartition(".")[2]
        found = varieties.find_column(labels.get(column, end if ends[end] == 1 else ""))
        if found and found not in names.values() and column not in names:
            names[column] = found
    source, target = _find_side(columns, SOURCE_NAMES), _find_side(columns, TARGET_NAMES)
    if (
        target
        and "target_text" not in names.values()
        and (source or "source_text" in names.values())
    ):
        names[target] = "target_text"
    if source and "target_text" in names.values() and "source_text" not in names.values():
        names[source] = "source_text"
    return names


def _find_side(columns: Sequence[str], names: Sequence[str]) -> str:
    """Return the column that is called by the first of the names that is there, empty if none."""
    by_name = {bare_heading(column) or plain_heading(column): column for column in columns}
    return next((by_name[name] for name in names if name in by_name), "")


def _take_source(names: dict[str, str], columns: Sequence[str]) -> str:
    """Take “source” beside one text alone for the other text, and return a notice of it.

    Beside two texts, or single ones, it says where they were drawn from.
    """
    source, target = _find_side(columns, ("source",)), _find_side(columns, TARGET_NAMES)
    if not (source and target) or set(names.values()) & {"source_text", "text"}:
        return ""
    names |= {source: "source_text", target: "target_text"}
    return f"“source” was read as the text, since only “{target}” is beside it."


def _find_layout(names: dict[str, str], columns: Iterable[str], varieties: Varieties) -> Layout:
    """Return the layout that a heading, or the names of the first JSON object, has."""
    expected = (
        f"expected “{varieties.source}” and “{varieties.target}” (or “source_text” and "
        "“target_text”) for pairs, or “text” and, where they differ, “variety” for single texts; "
        "beside them “id”, “source”, “context”, “split”, and in JSON “spans”"
    )
    for column in columns:
        alike = get_close_matches(column.strip().casefold(), COLUMNS, 1, ALIKE)
        if alike and column not in names and alike[0] not in names.values():
            raise TableFileError(
                f"The column “{shorten(column)}” is not known, {expected}. If it is "
                f"“{alike[0]}”, rename it; otherwise leave it out."
            )
    held = list(names.values())
    if len(set(held)) < len(held):
        raise TableFileError(f"Two columns hold the same, {expected}.")
    if set(PAIR_COLUMNS) <= set(held) and not set(TEXT_COLUMNS) & set(held):
        return Layout.PAIRS
    if "text" in held and not set(PAIR_COLUMNS) & set(held):
        return Layout.TEXTS
    raise HeadingError(
        f"The columns fit neither pairs nor texts, {expected}. {list_columns(columns)} Say which "
        "column holds what, or that the file has no heading."
    )
