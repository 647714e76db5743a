"""CSV that opens anywhere and runs nowhere."""

from __future__ import annotations

import csv
import io
import tracemalloc
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.common.tables import (
    FORMULA_STARTS,
    Column,
    ColumnType,
    Table,
    name_variables,
    neutralize,
    stream_codebook,
    stream_csv,
    stream_zip,
    write_cell,
)

COLUMNS = (
    Column("name", ColumnType.TEXT, "text", "a name"),
    Column("value", ColumnType.NUMBER, "number", "a value"),
)


def table(*rows: tuple) -> Table:
    return Table("things", COLUMNS, lambda: iter(rows))


def read(chunks: Iterator[bytes]) -> list[list[str]]:
    return list(csv.reader(io.StringIO(b"".join(chunks).decode(), newline="")))


@pytest.mark.parametrize(
    "nasty",
    [
        '=HYPERLINK("http://example.org";"click")',
        "+1+cmd|' /C calc'!A0",
        "-2+3",
        "@SUM(A1:A9)",
        "\t=1+1",
        "\r=1+1",
        "\n=1+1",
        "  =1+1",
        "\u00a0=1+1",
        "＝1+1",
        "-",
    ],
)
def test_a_text_that_would_run_as_a_formula_begins_with_an_apostrophe(nasty: str) -> None:
    assert neutralize(nasty) == f"'{nasty}"


@pytest.mark.parametrize("plain", ["women", "", "working-class people", "1+1", "a=b", "‘=’", "–"])
def test_a_plain_text_stays_as_it_is(plain: str) -> None:
    assert neutralize(plain) == plain


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (-5, "-5"),
        (-0.25, "-0.25"),
        (60.0, "60.0"),
        (0.1 + 0.2, "0.30000000000000004"),
        (True, "true"),
        (False, "false"),
        (None, ""),
        (datetime(2026, 3, 1, 12, 30, 5, tzinfo=UTC), "2026-03-01T12:30:05Z"),
        (
            datetime(2026, 3, 1, 14, 30, 5, tzinfo=timezone(timedelta(hours=2))),
            "2026-03-01T12:30:05Z",
        ),
    ],
)
def test_values_are_written_as_they_are(value: object, written: str) -> None:
    assert write_cell(value) == written  # type: ignore[arg-type]


@given(st.text())
def test_no_text_cell_ever_begins_like_a_formula(text: str) -> None:
    assert not write_cell(text).lstrip(" \u00a0").startswith(FORMULA_STARTS)


@given(
    st.lists(
        st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.floats(allow_nan=False))
    )
)
def test_every_cell_comes_back_whole(rows: list[tuple[str, float]]) -> None:
    read_back = read(stream_csv(table(*rows)))[1:]
    assert [(name, float(value)) for name, value in read_back] == [
        (neutralize(name), value) for name, value in rows
    ]


def test_commas_quotes_line_ends_and_other_scripts_survive() -> None:
    nasty = 'a "quote", a comma,\r\na line, Ångström, 女性, 👩🏽\u200d🦰, <script>'
    assert read(stream_csv(table((nasty, 1)))) == [["name", "value"], [nasty, "1"]]


def test_a_lone_surrogate_does_not_break_the_export() -> None:
    assert read(stream_csv(table(("a\ud800b", 1))))[1] == ["a?b", "1"]


def test_the_byte_order_mark_is_an_option_and_off_by_default() -> None:
    assert b"".join(stream_csv(table())) == b"name,value\r\n"
    assert b"".join(stream_csv(table(), bom=True)) == b"\xef\xbb\xbfname,value\r\n"


def test_the_codebook_names_every_column_and_counts_what_is_missing() -> None:
    rows = read(stream_codebook(table(("a", None), ("", 2), ("c", None))))
    assert rows == [
        ["column", "type", "values", "meaning", "n_missing", "labels", "key"],
        ["name", "text", "text", "a name", "1", "", ""],
        ["value", "number", "number", "a value", "2", "", ""],
    ]


def test_the_zip_holds_the_table_and_its_codebook() -> None:
    archive = zipfile.ZipFile(io.BytesIO(b"".join(stream_zip([table(("a", None), ("=b", 2))]))))
    assert archive.testzip() is None
    assert archive.namelist() == ["things.csv", "things-codebook.csv"]
    assert archive.read("things.csv") == b"name,value\r\na,\r\n'=b,2\r\n"
    assert archive.read("things-codebook.csv").splitlines()[2] == b"value,number,number,a value,1,,"


def test_a_row_of_another_length_is_an_error_and_never_shifts_columns() -> None:
    with pytest.raises(ValueError, match="Row 1 of “things” has 1 cells, expected 2"):
        b"".join(stream_csv(table(("a",))))


@pytest.mark.parametrize("stream", [stream_csv, lambda many: stream_zip([many])])
def test_memory_does_not_grow_with_the_rows(stream) -> None:
    def load() -> Iterator[tuple[str, float]]:
        for number in range(60_000):
            yield f"group {number}", number / 7

    size, most = 0, 0
    tracemalloc.start()
    try:
        for chunk in stream(Table("many", COLUMNS, load)):
            size += len(chunk)
            most = max(most, len(chunk))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size > 300_000
    assert most < 100_000
    assert peak < 1_500_000


def test_names_of_variables_are_taken_by_r_and_stata_and_differ():
    long = "demographic_" + "x" * 40
    columns = [Column(name, ColumnType.TEXT, "", "") for name in ("a-b", "a_b", "A b", long, long)]
    names = [column.name for column in name_variables(columns)]
    assert names == ["a_b", "a_b_2", "A_b_3", long[:32], f"{long[:30]}_2"]


def test_names_that_programs_keep_for_themselves_change_and_the_codebook_says_so():
    columns = [
        Column(name, ColumnType.TEXT, "", "") for name in ("with", "NOT", "2nd", "_x", "v_x")
    ]
    named = name_variables(columns)
    assert [column.name for column in named] == ["v_with", "v_NOT", "v_2nd", "v__x", "v_x"]
    assert [column.key for column in named] == ["with", "NOT", "2nd", "_x", ""]
    assert [column.name for column in name_variables(columns[:1], taken=["V_WITH"])] == ["v_with_2"]
