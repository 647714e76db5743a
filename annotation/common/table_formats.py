"""The formats in which a table leaves the platform, by the end of a file's name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.common.parquet_stream import stream_parquet
from annotation.common.spss_file import stream_spss
from annotation.common.tables import (
    Table,
    stream_codebook,
    stream_csv,
    stream_json_lines,
    stream_zip,
)
from annotation.common.workbook_stream import stream_workbook

Stream = Callable[[Sequence[Table], bool], Iterator[bytes]]


@dataclass(frozen=True)
class TableFormat:
    """``stream`` takes tables, of which all formats but ZIP write the first one, and whether a byte
    order mark is wanted; it raises `ValueError` for a table that the format cannot hold."""

    end: str
    label: Any
    media_type: str
    stream: Stream


TABLE_FORMATS = {
    found.end: found
    for found in (
        TableFormat(
            ".csv",
            "CSV",
            "text/csv; charset=utf-8",
            lambda tables, bom: stream_csv(tables[0], bom=bom),
        ),
        TableFormat(
            ".xlsx",
            "Excel",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            lambda tables, bom: stream_workbook(tables[0]),
        ),
        TableFormat(
            ".sav", "SPSS", "application/x-spss-sav", lambda tables, bom: stream_spss(tables[0])
        ),
        TableFormat(
            ".parquet",
            "Parquet",
            "application/vnd.apache.parquet",
            lambda tables, bom: stream_parquet(tables[0]),
        ),
        TableFormat(
            ".jsonl",
            _("JSON lines"),
            "application/x-ndjson; charset=utf-8",
            lambda tables, bom: stream_json_lines(tables[0]),
        ),
        TableFormat(
            "-codebook.csv",
            _("Codebook"),
            "text/csv; charset=utf-8",
            lambda tables, bom: stream_codebook(tables[0], bom=bom),
        ),
        TableFormat(
            ".zip",
            _("ZIP with codebook"),
            "application/zip",
            lambda tables, bom: stream_zip(tables),
        ),
    )
}


def split_file_name(name: str) -> tuple[str, TableFormat]:
    """Return the name of a table and its format. Raises `KeyError` for an unknown ending."""
    ends = [end for end in TABLE_FORMATS if name.endswith(end)]
    if not ends:
        raise KeyError(name)
    end = max(ends, key=len)
    return name.removesuffix(end), TABLE_FORMATS[end]
