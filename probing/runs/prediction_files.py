"""Reads predictions that were made elsewhere, in the shapes in which they are published.

*Long*: a row for each sentence, model and run, with columns y_true (or label), y_pred (or
predicted), group, and perhaps text, model and run_id (or run); trailing cells may be missing, as in
the released files. *Wide*: a row for each sentence, and a column “MODEL:RUN” with what it said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from annotation.common.table_file import (
    Heading,
    Problem,
    TableFileError,
    list_columns,
    read_cells,
)
from annotation.common.text_shortening import shorten
from annotation.library.library_kind import text_fault
from probing.library.labelled_files import BadRowsError
from probing.measures.label_map import LabelMapError, read_label_map

LABEL = ("y_true", "label", "sent")
PREDICTED = ("y_pred", "predicted", "prediction")
GROUP, TEXT, MODEL, RUN = ("group",), ("text", "sentence"), ("model", "producer"), ("run_id", "run")
KNOWN = (*LABEL, *PREDICTED, *GROUP, *TEXT, *MODEL, *RUN)
NAME_LENGTH = 160
ONE_RUN = "run 1"


@dataclass(frozen=True)
class Sentence:
    """A sentence as a file of predictions gives it; `text` is empty where the file has none."""

    group: str
    text: str
    label: int


@dataclass(frozen=True)
class PredictionFile:
    """Predictions by producer and run: each has one class for every sentence, in their order."""

    sentences: tuple[Sentence, ...]
    predicted: dict[str, dict[str, tuple[int, ...]]]
    #: What was assumed of the file.
    notices: tuple[str, ...] = ()


def read_predictions(
    content: bytes,
    file_name: str,
    *,
    labels: str = "ternary",
    producer: str = "",
    heading: Heading | None = None,
) -> PredictionFile:
    """Return the predictions of a table, in whichever kind `annotation.common.table_file` reads.

    labels : a preset or a map as `read_label_map` reads it, of true and predicted labels
    producer : who made them, where the file has no column for it
    heading : which columns of other names hold what

    Raises :class:`BadRowsError` naming every bad row; runs must cover the same sentences.
    """
    notices: list[str] = []
    given, rows = _read_cells(content, file_name, notices)
    columns = {name.strip().casefold(): place for place, name in enumerate(given)}
    for name, column in heading.columns.items() if heading else ():
        if name not in KNOWN:
            raise BadRowsError(f"“{shorten(name)}” is not known, expected {', '.join(KNOWN)}.")
        if column not in given:
            raise BadRowsError(f"There is no column “{shorten(column)}”. {list_columns(given)}")
        columns[name] = given.index(column)
    wide = [name for name in given if ":" in name]
    label, group = _place(columns, LABEL), _place(columns, GROUP)
    if label is None or group is None:
        raise BadRowsError(
            f"The columns are {', '.join(given)}. Two of them must be called “y_true” and “group”."
        )
    predicted = _place(columns, PREDICTED)
    if (predicted is None) == (not wide):
        raise BadRowsError(
            "Give what was predicted in a column “y_pred”, or in columns called “MODEL:RUN”, one "
            f"for each run. The columns are {', '.join(given)}."
        )
    text, model, run = (_place(columns, names) for names in (TEXT, MODEL, RUN))
    asked = [given.index(name) for name in wide] if predicted is None else [predicted]
    needed = [place for place in (label, group, text, *asked) if place is not None]
    if predicted is not None and model is None and not producer.strip():
        raise BadRowsError("The file has no column “model”. Name the producer of the predictions.")
    try:
        collapse = read_label_map(labels).collapse
    except LabelMapError as error:
        raise BadRowsError(str(error)) from error
    bad: list[Problem] = []
    by_run: dict[tuple[str, str], list[tuple[Sentence, int]]] = {}
    for line, cells in rows:
        if len(cells) > len(given) or max(needed) >= len(cells):
            bad.append(Problem(line, f"has {len(cells)} cells, expected {len(given)}."))
            continue
        if fault := next(filter(None, (text_fault(cell) for cell in cells)), ""):
            bad.append(Problem(line, f"The row {fault}"))
            continue
        try:
            true, *said = collapse([cells[place] for place in (label, *asked)])
        except LabelMapError as error:
            bad.append(Problem(line, str(error)))
            continue
        where = "" if text is None else " ".join(cells[text].split())
        sentence = Sentence(cells[group].strip(), where, true)
        if predicted is None:
            names = [_split(given[place]) for place in asked]
        else:
            names = [(producer.strip() or _cell(cells, model), _cell(cells, run) or ONE_RUN)]
        for (name, repeat), value in zip(names, said, strict=True):
            if not name or len(name) > NAME_LENGTH:
                bad.append(Problem(line, f"The model is “{shorten(name)}”. Name its producer."))
            else:
                by_run.setdefault((name, repeat), []).append((sentence, value))
    if bad:
        n = len(bad)
        raise BadRowsError(
            f"Nothing was imported: {n} of {len(rows)} rows {'is' if n == 1 else 'are'} bad.", bad
        )
    return replace(_align(by_run), notices=tuple(notices))


def _align(by_run: dict[tuple[str, str], list[tuple[Sentence, int]]]) -> PredictionFile:
    """Return every run's predictions in the order of the first one's sentences."""
    if not by_run:
        raise BadRowsError("The file holds no row. Give at least one below the heading.")
    numbered = {key: _numbered(rows) for key, rows in by_run.items()}
    (first, keys), *_ = ((key, list(rows)) for key, rows in numbered.items())
    for key, rows in numbered.items():
        differing = [sentence for sentence, _ in rows.keys() ^ set(keys)]
        if differing:
            shown = differing[0].text or f"of the group {differing[0].group}"
            raise BadRowsError(
                f"Run “{key[1]}” of “{key[0]}” has other sentences than run “{first[1]}” of "
                f"“{first[0]}”: {len(differing)} differ, such as “{shorten(shown)}”. Import files "
                "of one set of sentences."
            )
    few = [g for g, n in Counter(sentence.group for sentence, _ in keys).items() if n < 2]
    if few:
        raise BadRowsError(
            f"A group needs at least two sentences, but these have one: {', '.join(few)}."
        )
    if len({sentence.group for sentence, _ in keys}) < 2:
        raise BadRowsError("The file has one group, and a gap compares at least two.")
    found: dict[str, dict[str, tuple[int, ...]]] = {}
    for (name, repeat), rows in numbered.items():
        found.setdefault(name, {})[repeat] = tuple(rows[key] for key in keys)
    return PredictionFile(tuple(sentence for sentence, _ in keys), found)


def _numbered(rows: Sequence[tuple[Sentence, int]]) -> dict[tuple[Sentence, int], int]:
    """Return predictions by sentence and how often the same one came before it."""
    seen: Counter[Sentence] = Counter()
    found = {}
    for sentence, value in rows:
        found[sentence, seen[sentence]] = value
        seen[sentence] += 1
    return found


def _read_cells(
    content: bytes, file_name: str, notices: list[str]
) -> tuple[list[str], list[tuple[int, list[str]]]]:
    try:
        (_, heading), *rows = read_cells(content, file_name, notices)
    except TableFileError as error:
        raise BadRowsError(str(error)) from error
    return heading, rows


def _place(columns: dict[str, int], names: Sequence[str]) -> int | None:
    return next((columns[name] for name in names if name in columns), None)


def _cell(cells: Sequence[str], place: int | None) -> str:
    return cells[place].strip() if place is not None and place < len(cells) else ""


def _split(heading: str) -> tuple[str, str]:
    name, _, repeat = heading.rpartition(":")
    return name.strip(), repeat.strip()
