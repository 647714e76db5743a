"""Reads the files of other programs that are no text: workbooks, Parquet, SPSS, and archives.

Each function raises ValueError with a sentence where a file cannot be read.
"""

from __future__ import annotations

import gzip
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import PurePath
from tempfile import NamedTemporaryFile
from typing import Any

from annotation.common.text_shortening import shorten

WORKBOOKS = (".xlsx", ".xls", ".ods")
ARCHIVES = (".zip", ".gz")
LARGEST_UNPACKED = 500_000_000
#: A table takes many times its size in memory, and an archive can hold a thousand times its own.
LARGEST_FROM_ARCHIVE = 50_000_000
#: As of damaged archives, and of those in a method that is not read.
UNPACKING_ERRORS = (
    *(OSError, EOFError, RuntimeError, struct.error, zlib.error, lzma.LZMAError),
    zipfile.BadZipFile,
)
#: What programs add to an archive beside the files in it.
HIDDEN = ("__MACOSX/", ".")


def check_size(unpacked: int, most: int = LARGEST_UNPACKED) -> None:
    if unpacked > most:
        raise ValueError(
            f"The file unpacks to more than {most / 1e6:,.0f} MB. Bring it in parts"
            f"{', or unpacked' if most < LARGEST_UNPACKED else ''}."
        )


def unpack(content: bytes, file_name: str) -> tuple[bytes, str]:
    """Return the only file of an archive, and its name; any other file as it is."""
    suffix = PurePath(file_name).suffix.lower()
    try:
        if suffix == ".gz":
            with gzip.open(io.BytesIO(content)) as stream:
                unpacked = stream.read(LARGEST_FROM_ARCHIVE + 1)
            check_size(len(unpacked), LARGEST_FROM_ARCHIVE)
            return unpacked, file_name[: -len(suffix)]
        if suffix == ".zip":
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                members = [one for one in archive.infolist() if not _is_aside(one)]
                check_size(sum(one.file_size for one in members), LARGEST_FROM_ARCHIVE)
                if len(members) != 1:
                    named = ", ".join(f"“{shorten(one.filename)}”" for one in members[:3])
                    raise ValueError(
                        f"The archive holds {len(members)} files, expected one table. {named}"
                    )
                return archive.read(members[0]), members[0].filename
    except UNPACKING_ERRORS as error:
        raise ValueError(f"The archive cannot be unpacked: {shorten(str(error))}.") from error
    return content, file_name


def _is_aside(member: zipfile.ZipInfo) -> bool:
    name = PurePath(member.filename).name
    return member.is_dir() or member.filename.startswith(HIDDEN) or name.startswith(HIDDEN)


def read_workbook(
    content: bytes, wanted: str, count_known: Callable[[list[str]], int] | None
) -> tuple[list[list[str]], tuple[str, ...], str]:
    """Return the rows of one sheet as texts; the names of the sheets, if there are several, and of
    that one.

    wanted : the sheet to read; empty for the first with the most columns that are known
    """
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        if zipfile.is_zipfile(packed := io.BytesIO(content)):
            with zipfile.ZipFile(packed) as archive:
                check_size(sum(member.file_size for member in archive.infolist()))
        book = CalamineWorkbook.from_filelike(io.BytesIO(content))
        if not (names := tuple(book.sheet_names)):
            raise ValueError("The file is a workbook without a sheet, expected one.")
        if wanted and wanted not in names:
            named = ", ".join(f"“{shorten(name)}”" for name in names)
            raise ValueError(f"There is no sheet “{shorten(wanted)}”. The sheets are {named}.")
        sheets = {
            name: [
                [show_cell(cell) for cell in row]
                for row in book.get_sheet_by_name(name).to_python(skip_empty_area=False)
            ]
            for name in ((wanted,) if wanted else names)
        }
    except (CalamineError, zipfile.BadZipFile) as error:
        said = shorten(str(error))
        raise ValueError(f"The file is no workbook that can be read: {said}.") from error
    known = {
        name: count_known([cell.strip() for cell in rows[find_heading(rows)]]) if count_known else 1
        for name, rows in sheets.items()
        if any(map(any, rows))
    }
    title = wanted or max(known, key=lambda name: known[name], default=names[0])
    return sheets[title], names if len(names) > 1 else (), title


def find_heading(rows: Sequence[Sequence[str]]) -> int:
    """Return the first row of a table's heading: titles above it fill one cell each, the heading
    several."""
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows[:50]]
    first = next((place for place, n in enumerate(filled) if n), 0)
    several = next((place for place, n in enumerate(filled) if n > 1), first)
    is_title = all(not n or rows[place][0].strip() for place, n in enumerate(filled[:several]))
    return several if is_title and filled[several:].count(1) == 0 else first


def show_cell(cell: Any) -> str:
    """Return a cell as text, whole numbers without a point."""
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def read_parquet(content: bytes) -> list[dict[str, Any]]:
    """Return the rows of a Parquet file, values with their types."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(io.BytesIO(content))
        groups = range(file.metadata.num_row_groups)
        check_size(sum(file.metadata.row_group(n).total_byte_size for n in groups))
        rows: list[dict[str, Any]] = file.read().to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"The file is no Parquet that can be read: {error}.") from error
    return rows


def read_spss(content: bytes) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return the rows of an SPSS file, and the labels of its variables by their names."""
    import pyreadstat

    with NamedTemporaryFile(suffix=".sav") as file:
        file.write(content)
        file.flush()
        try:
            columns, meta = pyreadstat.read_sav(file.name, output_format="dict")
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, UnicodeDecodeError) as error:
            said = shorten(str(error))
            raise ValueError(f"The file is no SPSS file that can be read: {said}.") from error
    rows = [
        {name: _plain(value) for name, value in zip(columns, row, strict=True)}
        for row in zip(*columns.values(), strict=True)
    ]
    return rows, {name: label for name, label in meta.column_names_to_labels.items() if label}


def _plain(value: Any) -> Any:
    """Return a value as it was typed; SPSS keeps whole numbers with a point."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    return value if isinstance(value, (str, int)) or value is None else str(value)
