"""Damage that breaks a file's structure never moves a value into another row or column.

Every cell of a file names its row, twice, and its column in its own bytes, so that a row that is
read is known without the reader: after one damage, each value must be one of its own column, and
all values of a row must be of one row, except where the damage hit the bytes of that very cell.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.common.table_file import Record, TableFileError, read_table
from tests.depth import examples
from tests.probing.imports.test_damaged_files import write

COLUMNS = ("alpha", "beta", "gamma", "delta")
N_ROWS = 6
CELL = re.compile(r"<(\d)(alpha|beta|gamma|delta)\1>")
#: Marks that cells hold beside their names: what a reader may take for structure.
WITHIN = ("", " ", ", ", "; ", " a b", " é", ' ""', "\u2028", "|")
NAMES = ("a.csv", "semi.csv", "wide.csv", "a.tsv", "a.json", "a.jsonl", "a.xlsx", "a.parquet")
NAMES += ("a.csv.gz", "a.zip")


def cell(row: int, column: str, within: str, name: str) -> str:
    """Return a cell that says where it is, quoted as its file's kind quotes."""
    is_text = not name.endswith((".csv", ".csv.gz", ".zip"))
    bare = f"<{row}{column}{row}>{within.replace(chr(34) * 2, chr(34)) if is_text else within}"
    if name.endswith(".tsv"):
        return bare.replace('"', "")
    return bare if is_text else f'"{bare}"'


def build(name: str, within: tuple[str, ...]) -> bytes:
    rows = [[cell(n, one, w, name) for one, w in zip(COLUMNS, within, strict=True)]
            for n in range(N_ROWS)]  # fmt: skip
    columns = list(COLUMNS)
    if name == "a.jsonl":
        return "\n".join(json.dumps(dict(zip(columns, row, strict=True))) for row in rows).encode()
    if name == "semi.csv":
        return "\n".join(";".join(row) for row in (columns, *rows)).encode()
    if name == "a.csv.gz":
        import gzip

        return gzip.compress(write("a.csv", columns, rows), mtime=0)
    if name == "a.zip":
        sink = io.BytesIO()
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(zipfile.ZipInfo("a.csv"), write("a.csv", columns, rows))
        return sink.getvalue()
    return write(name, columns, rows)


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, bytes]:
    """Return a file's name and bytes: cut off, without a mark or with another one in its place, a
    line doubled, or bytes lost, changed, or added."""
    name = draw(st.sampled_from(NAMES))
    content = build(name, draw(st.tuples(*[st.sampled_from(WITHIN)] * len(COLUMNS))))
    share = draw(st.integers(0, 9_999))
    place = share * len(content) // 10_000
    marks = [at for at, byte in enumerate(content) if byte in b'",;\t\n|{}[]:']
    at = marks[share * len(marks) // 10_000] if marks else place
    match draw(st.sampled_from(("cut", "mark", "swap", "drop", "flip", "add", "twice"))):
        case "cut":
            content = content[:place]
        case "mark":
            content = content[:at] + content[at + 1 :]
        case "swap":
            content = content[:at] + draw(st.sampled_from(MARKS)) + content[at + 1 :]
        case "drop":
            content = content[:place] + content[place + draw(st.integers(1, 9)) :]
        case "flip":
            changed = bytes([content[place] ^ 1 << draw(st.integers(0, 7))])
            content = content[:place] + changed + content[place + 1 :]
        case "twice":
            lines = content.split(b"\n")
            lines.insert(share * len(lines) // 10_000, lines[-1])
            content = b"\n".join(lines)
        case _:
            content = content[:place] + draw(st.binary(max_size=4)) + content[place:]
    return name, content


MARKS = (b",", b";", b"\t", b"\n", b"|", b'"', b"\r")


def misplaced(record: Record) -> Iterator[str]:
    """Yield what is wrong with a row that was read as a good one."""
    found = {}
    for column, value in record.values.items():
        names = CELL.findall(value) if isinstance(value, str) else []
        if column not in COLUMNS or not names:
            continue  # the damage hit the heading, or the very cell
        if len(names) > 1:
            yield f"{column} holds several cells: {value!r}"
        elif names[0][1] != column:
            yield f"{column} holds {value!r}"
        found[column] = names[0][0]
    if len(set(found.values())) > 1:
        yield f"one row of several: {found}"


@settings(
    max_examples=examples(150, 10_000),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(file=damaged())
def test_no_value_moves_to_another_row_or_column(file: tuple[str, bytes]) -> None:
    name, content = file
    try:
        table = read_table(content, name, or_json=True)
    except TableFileError as error:
        str(error).encode()
        return
    if not set(COLUMNS) <= set(table.columns):
        return  # columns are missing or called otherwise: no kind of import reads on
    wrong = [told for one in table.records if not one.fault for told in misplaced(one)]
    assert not wrong, (name, content, table.notices, wrong)


@pytest.mark.parametrize("name", NAMES)
def test_an_undamaged_file_is_read_cell_by_cell(name: str) -> None:
    table = read_table(build(name, WITHIN[:4]), name, or_json=True)
    assert [[CELL.findall(row.values[c]) for c in COLUMNS] for row in table.records] == [
        [[(str(n), c)] for c in COLUMNS] for n in range(N_ROWS)
    ]


@pytest.mark.parametrize("name", ["a.csv.gz", "a.zip"])
def test_a_damaged_archive_is_refused_in_words(name: str) -> None:
    content = bytearray(build(name, WITHIN[:4]))
    for place in range(40, 70):  # within what was packed
        content[place] ^= 0xFF
    with pytest.raises(TableFileError, match="The archive cannot be unpacked"):
        read_table(bytes(content), name, or_json=True)


def test_a_lost_quotation_mark_makes_the_next_line_bad_too() -> None:
    content = b'a,b,c\n"1",\n2, ","3","4"\n'
    records = read_table(content, "a.csv").records
    assert [(record.line, bool(record.fault)) for record in records] == [(2, True), (3, True)]
