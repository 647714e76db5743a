"""A table as an SPSS file (.sav) with the labels of its variables and of their values."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from annotation.common.lazy import np, pd
from annotation.common.tables import Cell, Column, ColumnType, Table, type_cell

#: The most cells of one file: it is built in memory, with some 12 bytes for each.
MOST_CELLS = 40_000_000
LONGEST_TEXT = 32_767  # bytes, as all limits of SPSS
LONGEST_LABEL = 255
LONGEST_VALUE_LABEL = 120
#: Stands for a labelled word among numbers, such as “[declined]”; a missing value by declaration.
FIRST_WORD = -999_999
CHUNK = 1 << 20
FORMATS = {ColumnType.INTEGER: "F12.0", ColumnType.BOOLEAN: "F1.0", ColumnType.NUMBER: "F12.3"}
BOOLEAN_LABELS = {0: "no", 1: "yes"}


def stream_spss(table: Table) -> Iterator[bytes]:
    """Return a table as a compressed SPSS file in chunks; it is whole before the first of them.

    Texts are cut where SPSS ends, at 32,767 bytes. Raises `ValueError` above `MOST_CELLS`.
    """
    import pyreadstat

    cells = _read_columns(table)
    with tempfile.TemporaryDirectory(prefix="stereoscope-") as folder:
        path = Path(folder) / "table.sav"
        pyreadstat.write_sav(
            _build_frame(table.columns, cells),
            str(path),
            file_label=table.name[:60],
            column_labels={
                column.name: _cut(column.meaning, LONGEST_LABEL) for column in table.columns
            },
            variable_value_labels={
                column.name: labels for column in table.columns if (labels := _label(column))
            },
            missing_ranges={
                column.name: [{"lo": code, "hi": code} for code in words.values()]
                for column in table.columns
                if (words := _code_words(column))
            },
            variable_format={
                column.name: FORMATS[column.type]
                for column in table.columns
                if column.type in FORMATS
            },
            row_compress=True,
        )
        handle = path.open("rb")  # stays readable after its folder is gone
    return _stream(handle)


def _stream(handle: Any) -> Iterator[bytes]:
    with handle:
        while chunk := handle.read(CHUNK):
            yield chunk


def _read_columns(table: Table) -> list[list[Any]]:
    """Return the cells by column; equal texts are one object, so that they cost a reference."""
    columns: list[list[Any]] = [[] for _ in table.columns]
    texts: dict[str, str] = {}
    words = [_code_words(column) for column in table.columns]
    for number, row in enumerate(table.load(), start=1):
        if number * len(columns) > MOST_CELLS:
            raise ValueError(
                f"“{table.name}” has more than {MOST_CELLS:,} cells, which is the most of an SPSS "
                "file made here. Take CSV or Parquet."
            )
        for column, coded, found, cell in zip(table.columns, words, columns, row, strict=True):
            found.append(_type(column, coded, cell, texts))
    return columns


def _type(column: Column, words: dict[str, int], cell: Cell, texts: dict[str, str]) -> Any:
    if isinstance(cell, str) and cell in words:
        return float(words[cell])
    typed = type_cell(column, cell)
    if column.type == ColumnType.TEXT:
        text = _cut(str(typed or ""), LONGEST_TEXT)
        return texts.setdefault(text, text)
    if column.type == ColumnType.TIME:
        return typed.replace(tzinfo=None) if typed else None  # type: ignore[union-attr, call-arg]
    return float("nan") if typed is None else float(typed)  # type: ignore[arg-type]


def _build_frame(columns: Sequence[Column], cells: list[list[Any]]) -> Any:
    """Return the data frame that the library writes; empties ``cells`` as it goes."""
    found = {}
    cells.reverse()
    for column in columns:
        if column.type == ColumnType.TEXT:
            found[column.name] = pd.Series(np.array(cells.pop(), dtype=object), dtype=object)
        elif column.type == ColumnType.TIME:
            found[column.name] = pd.Series(cells.pop(), dtype="datetime64[us]")
        else:
            found[column.name] = pd.Series(np.array(cells.pop(), dtype=float))
    return pd.DataFrame(found, copy=False)


def _code_words(column: Column) -> dict[str, int]:
    """Return the numbers that stand for the labelled words among a column's numbers."""
    if column.type not in {ColumnType.NUMBER, ColumnType.INTEGER}:
        return {}
    words = [value for value, _label in column.labels if isinstance(value, str)]
    return {word: FIRST_WORD - place for place, word in enumerate(words)}


def _label(column: Column) -> dict[Any, str]:
    if column.type == ColumnType.BOOLEAN:
        return dict(BOOLEAN_LABELS)
    words = _code_words(column)
    return {
        words.get(str(value), value): _cut(label, LONGEST_VALUE_LABEL)
        for value, label in column.labels
    }


def _cut(text: str, most: int) -> str:
    """Return the beginning of a text that takes ``most`` bytes of UTF-8 at the utmost."""
    return text if len(text) * 4 <= most else text.encode()[:most].decode(errors="ignore")
