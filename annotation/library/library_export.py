"""The library as CSV, in the columns of its imports: what comes out goes in again unchanged."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from annotation.common.tables import Column, ColumnType, Table, stream_csv
from annotation.library.library_kind import LibraryKind, escape_cell


def stream_library(
    kind: LibraryKind, *, bom: bool = False, slugs: Collection[str] | None = None
) -> Iterator[bytes]:
    """Yield every entry of a kind, or those of ``slugs``, as CSV. The queries of its `stored`."""
    entries = kind.stored().items()
    rows = (
        row
        for slug, values in entries
        if slugs is None or slug in slugs
        for row in kind.rows(slug, values)
    )
    return _stream(kind, rows, bom=bom)


def stream_example(kind: LibraryKind, *, bom: bool = False) -> Iterator[bytes]:
    """Yield a file with a kind's columns and a few made-up entries."""
    return _stream(kind, iter(kind.example), bom=bom)


def _stream(kind: LibraryKind, rows: Iterator[tuple[str, ...]], *, bom: bool) -> Iterator[bytes]:
    columns = [Column(c.name, ColumnType.TEXT, "text", c.meaning) for c in kind.columns]
    escaped = (tuple(escape_cell(cell) for cell in row) for row in rows)
    return stream_csv(Table(kind.name, columns, lambda: escaped), bom=bom)
