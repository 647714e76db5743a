"""Excel, SPSS, Parquet and JSON lines of every kind of study, read back by other libraries."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyreadstat
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from openpyxl import load_workbook
from pyarrow import parquet

from annotation.common import table_formats
from annotation.common.table_formats import FIRST_WORD, stream_parquet, stream_spss, stream_workbook
from annotation.common.tables import (
    RESERVED_NAMES,
    Cell,
    Column,
    ColumnType,
    Table,
    neutralize,
    type_cell,
    write_cell,
)
from annotation.exports.downloads import list_files, stream_file
from annotation.exports.study_tables import list_study_tables
from annotation.judgments.error_coding import DEFAULT_SCHEME, SentErrors
from annotation.judgments.views import submit_judgment
from annotation.models import (
    AuditEntry,
    CheckKind,
    DemographicAnswer,
    DemographicQuestion,
    Panel,
    StepAnswer,
    Study,
    StudyGroup,
)
from tests.annotation.counterparts.studies import make_writing_study
from tests.annotation.counterparts.studies import tasks_of as writing_tasks
from tests.annotation.counterparts.studies import write as write_text
from tests.annotation.judgments import corpora as judging
from tests.annotation.studies.people import make_study, make_submission, make_user
from tests.annotation.survey.flows import free_text
from tests.annotation.survey.guises import make_guise_study

pytestmark = pytest.mark.slow

NASTY = '=cmd|"!A0", <a> & \r\n\x0b ünï'


def write(table: Table, stream: Callable[[Table], Iterator[bytes]], path: Path) -> Path:
    path.write_bytes(b"".join(stream(table)))
    return path


def read_workbook(path: Path) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return the rows of the data, of all its sheets, and of the codebook; heads included."""
    book = load_workbook(path, read_only=True)
    *sheets, codebook = (list(sheet.iter_rows(values_only=True)) for sheet in book.worksheets)
    return [row for sheet in sheets for row in sheet], codebook


def read_spss(path: Path) -> tuple[list[list[Any]], Any]:
    frame, meta = pyreadstat.read_sav(path, user_missing=True)
    return frame.astype(object).to_numpy().tolist(), meta


def check_all_formats(table: Table, folder: Path) -> None:
    """Hold every cell of every format to the table's own."""
    rows = [list(row) for row in table.load()]
    assert rows, table.name
    names = [column.name for column in table.columns]
    typed = [
        [type_cell(column, cell) for column, cell in zip(table.columns, row, strict=True)]
        for row in rows
    ]

    sheet, codebook = read_workbook(write(table, stream_workbook, folder / "x.xlsx"))
    assert list(sheet[0]) == names
    assert [line[0] for line in codebook[1:]] == names
    assert [list(row) for row in sheet[1:]] == [[in_excel(cell) for cell in row] for row in rows]

    found = parquet.read_table(write(table, stream_parquet, folder / "x.parquet"))
    assert found.column_names == names
    assert [list(row.values()) for row in found.to_pylist()] == typed

    values, meta = read_spss(write(table, stream_spss, folder / "x.sav"))
    assert meta.column_names == names
    assert meta.column_labels == [column.meaning[:255] for column in table.columns]
    expected = [
        [
            in_spss(column, cell, raw)
            for column, cell, raw in zip(table.columns, row, raws, strict=True)
        ]
        for row, raws in zip(typed, rows, strict=True)
    ]
    assert [[None if is_nan(cell) else cell for cell in row] for row in values] == expected


def in_excel(cell: Cell) -> Any:
    if isinstance(cell, datetime):
        return cell.astimezone(UTC).replace(microsecond=0, tzinfo=None)
    if isinstance(cell, str):
        return neutralize(cell).replace("\x0b", "\ufffd") or None
    return cell


def in_spss(column: Column, typed: Cell, raw: Cell) -> Any:
    if column.type == ColumnType.TEXT:
        return typed or ""
    if isinstance(raw, str) and raw in {value for value, _label in column.labels}:
        return FIRST_WORD
    return typed.replace(tzinfo=None) if isinstance(typed, datetime) else typed


def is_nan(cell: Any) -> bool:
    return cell is None or cell != cell  # NaN and NaT


def rated_study(**options: Any) -> Study:
    study = make_study(flow=["rating", free_text("thoughts")], **options)
    make_submission(study, value=73.25, external_id="panel-person")
    make_submission(study, value=12.0, first_group=2, groups=2, failed=[CheckKind.MARKED_TRAITS])
    age = DemographicQuestion.objects.get(instrument__study=study, slug="age")
    state = DemographicQuestion.objects.get(instrument__study=study, slug="state")
    first, other = study.submissions.order_by("pk")
    DemographicAnswer.objects.create(submission=first, question=age, value=34)
    DemographicAnswer.objects.create(submission=other, question=age, declined=True)
    DemographicAnswer.objects.create(submission=first, question=state, value=NASTY)
    StepAnswer.objects.create(submission=first, step_index=1, key="thoughts", value=NASTY)
    return study


def guise_study(**options: Any) -> Study:
    study = make_guise_study(flow=["rating", free_text("thoughts")], **options)
    submission = make_submission(study, groups=2)
    StepAnswer.objects.create(submission=submission, step_index=1, key="thoughts", value=NASTY)
    return study


def writing_study(**options: Any) -> Study:
    study = make_writing_study("ann", "ben", **options)
    for name, text in (("ann", NASTY), ("ben", "ben’s")):
        write_text(writing_tasks(study, name)[0], text)
        write_text(writing_tasks(study, name)[1], not_interpretable=True, reason="meaning unclear")
    return study


def judging_study(**options: Any) -> Study:
    corpus = judging.make_corpus()
    study = judging.make_study(corpus, overlap_percent=100, error_scheme=DEFAULT_SCHEME, **options)
    judging.launch(study, "ann", "ben")
    for name in ("ann", "ben"):
        for task in judging.tasks_of(study, name)[:2]:
            errors = SentErrors({"misread": ["0"]})
            submit_judgment(task=task, ratings=judging.answers(), errors=errors)
    return study


KINDS = [rated_study, guise_study, writing_study, judging_study]


@pytest.mark.django_db
@pytest.mark.parametrize("make", KINDS)
def test_every_table_of_every_kind_of_study_is_the_same_in_every_format(make, tmp_path) -> None:
    study = make()
    for table in list_study_tables(study).values():
        built = table.build(study, ())
        for column in built.columns:
            assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,31}", column.name)
            assert column.name.casefold() not in RESERVED_NAMES
        assert len({column.name.casefold() for column in built.columns}) == len(built.columns)
        check_all_formats(built, tmp_path)
        lines = b"".join(stream_file(study, f"{table.name}.jsonl")[0]).splitlines()
        assert len(lines) == len(list(built.load()))
        assert list(json.loads(lines[0])) == [column.name for column in built.columns]


@pytest.mark.django_db
@pytest.mark.parametrize("make", KINDS)
def test_no_file_of_any_kind_of_study_names_a_person(make) -> None:
    study = make()
    for name in list_files(study):
        content = b"".join(stream_file(study, name)[0])
        assert not any(person in content for person in (b"panel-person", b"ann@", b"ben@")), name


@pytest.mark.django_db
def test_the_wide_table_has_a_row_for_each_participant_and_a_column_for_each_rating() -> None:
    study = rated_study()
    make_submission(study, groups=0, state="in_progress")
    table = list_study_tables(study)["participants"].build(study, ())
    first, second, third = (
        dict(zip((column.name for column in table.columns), row, strict=True))
        for row in table.load()
    )
    group = StudyGroup.objects.filter(instrument__study=study).order_by("position").first()
    by_key = {column.key: column for column in table.columns if column.key}
    column = by_key[f"{group.slug}, powerless-powerful"]
    assert column.meaning == f"{group.plural}: 0 powerless, 100 powerful"
    assert (first[column.name], second[column.name], third[column.name]) == (73.25, None, None)
    assert (first["repeated"], first["repeat_powerless_power"]) == (group.slug, 73.25)
    rated = [name for name, value in second.items() if value == 12.0]
    assert len(rated) == 3 * 16  # two groups and one of them again
    assert (third["state"], third["repeated"]) == ("in_progress", None)


@pytest.mark.django_db
def test_spss_has_labels_of_values_and_declares_who_declined_as_missing(tmp_path) -> None:
    study = rated_study()
    table = list_study_tables(study)["submissions"].build(study, ())
    path = write(table, stream_spss, tmp_path / "s.sav")
    frame, meta = pyreadstat.read_sav(path, user_missing=True)
    assert frame["demographic_age"].tolist() == [34.0, FIRST_WORD]
    assert meta.missing_ranges["demographic_age"] == [{"lo": FIRST_WORD, "hi": FIRST_WORD}]
    assert meta.variable_value_labels["demographic_age"] == {FIRST_WORD: "prefers not to say"}
    assert meta.variable_value_labels["data_decision"]["waiting"] == "Waiting for review"
    assert meta.variable_value_labels["checks_passed"] == {0: "no", 1: "yes"}
    assert meta.original_variable_types["instrument_version"] == "F12.0"
    frame, _meta = pyreadstat.read_sav(path)
    assert frame["demographic_age"].isna().tolist() == [False, True]
    judgments = judging_study()
    table = list_study_tables(judgments)["items"].build(judgments, ())
    _frame, meta = pyreadstat.read_sav(write(table, stream_spss, tmp_path / "j.sav"))
    assert meta.variable_value_labels["human_likeness_a2"][1.0] == "Very likely a model"


@pytest.mark.django_db
def test_parquet_says_what_its_columns_mean(tmp_path) -> None:
    study = rated_study()
    table = list_study_tables(study)["ratings"].build(study, ())
    schema = parquet.read_schema(write(table, stream_parquet, tmp_path / "r.parquet"))
    found = schema.field("data_decision").metadata
    assert found[b"label"].startswith(b"whether the data count")
    assert json.loads(found[b"labels"])["waiting"] == "Waiting for review"
    assert str(schema.field("changes").type) == "int64"


MANY = Table(
    "many",
    (Column("name", ColumnType.TEXT, "text", ""), Column("value", ColumnType.NUMBER, "", "")),
    lambda: ((f"group {number}", number / 7) for number in range(60_000)),
)


@pytest.mark.parametrize(
    ("stream", "most"), [(stream_workbook, 1_500_000), (stream_parquet, 4_000_000)]
)
def test_memory_of_excel_and_parquet_does_not_grow_with_the_rows(stream, most, monkeypatch) -> None:
    monkeypatch.setattr(table_formats, "CELLS_PER_GROUP", 10_000)
    next(iter(stream(MANY)))  # what the libraries keep
    tracemalloc.start()
    try:
        size = sum(len(chunk) for chunk in stream(MANY))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size > 300_000
    assert peak < most


def test_excel_goes_on_on_another_sheet_and_cuts_what_no_cell_can_hold(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(table_formats, "ROWS_PER_SHEET", 25_000)
    path = write(MANY, stream_workbook, tmp_path / "many.xlsx")
    book = load_workbook(path, read_only=True)
    assert book.sheetnames == ["many", "many 2", "many 3", "codebook"]
    rows, _codebook = read_workbook(path)
    assert len(rows) == 60_003
    assert rows[-1] == ("group 59999", 59999 / 7)
    columns = MANY.columns
    odd = Table("odd", columns, lambda: [("x" * 40_000, math.nan), (None, math.inf)])
    rows, codebook = read_workbook(write(odd, stream_workbook, tmp_path / "odd.xlsx"))
    assert rows[1:] == [("x" * 32_766 + "…", "nan"), (None, "inf")]
    assert codebook[1][4] == 1
    empty, _codebook = read_workbook(
        write(Table("none", columns, list), stream_workbook, tmp_path / "none.xlsx")
    )
    assert empty == [("name", "value")]
    wide = Table("wide", columns * 9000, list)
    with pytest.raises(ValueError, match="18,000 columns, an Excel sheet holds 16,384"):
        stream_workbook(wide)


def test_spss_cuts_long_texts_between_letters_and_takes_empty_tables(tmp_path) -> None:
    columns = (*MANY.columns, Column("at", ColumnType.TIME, "UTC", ""))
    at = datetime(2026, 3, 1, 12, 30, 5, 999, tzinfo=UTC)
    rows = [("ü" * 20_000, -1.5, at), ("a\ud800b\0c", None, None), (None, math.nan, None)]
    values, _meta = read_spss(
        write(Table("t", columns, lambda: rows), stream_spss, tmp_path / "t.sav")
    )
    assert values[0] == ["ü" * 16_383, -1.5, datetime(2026, 3, 1, 12, 30, 5)]
    assert [row[0] for row in values[1:]] == ["a?bc", ""]
    values, meta = read_spss(write(Table("e", columns, list), stream_spss, tmp_path / "e.sav"))
    assert (values, meta.column_names) == ([], ["name", "value", "at"])


@pytest.mark.smoke
@pytest.mark.django_db
def test_page_api_and_command_give_the_same_files(tmp_path, monkeypatch) -> None:
    alice, charlie = make_user("alice"), make_user("charlie")
    study = rated_study(owner=alice, panel=Panel.PROLIFIC)
    client, outsider = Client(), Client()
    client.force_login(alice)
    outsider.force_login(charlie)
    overview = reverse("admin:annotation_study_overview", args=[study.pk])
    listed = client.get(f"/api/v1/studies/{study.public_id}/exports/").json()
    names = [found["name"] for found in listed]
    assert len(names) == 5 * 7
    assert "payments.csv" not in names
    page = client.get(overview).content.decode()
    for found in listed:
        address = reverse("admin:annotation_study_export", args=[study.pk, found["name"]])
        assert address in page
        assert outsider.get(address).status_code == 404
        assert outsider.get(found["address"]).status_code == 404
        answers = [client.get(place) for place in (address, found["address"])]
        bodies = [b"".join(answer.streaming_content) for answer in answers]
        assert answers[0]["Content-Disposition"] == answers[1]["Content-Disposition"]
        assert found["name"].endswith((".zip", ".xlsx", ".sav")) or bodies[0] == bodies[1]
    assert AuditEntry.objects.filter(study=study, action="exported").count() == 2 * len(names)
    assert client.get(f"/api/v1/studies/{study.public_id}/exports/payments.csv/").status_code == 404
    out = io.StringIO()
    call_command(
        "export_study",
        study.public_id,
        *("--format", "sav", "csv", "--table", "participants", "--output", str(tmp_path)),
        stdout=out,
    )
    assert sorted(re.sub(r"-\d{4}-\d\d-\d\d", "", path.name) for path in tmp_path.iterdir()) == [
        f"stereoscope-{study.public_id}-participants{end}"
        for end in ("-codebook.csv", ".csv", ".sav")
    ]
    (table,) = tmp_path.glob("*participants-2*.csv")
    assert len(list(csv.DictReader(table.open()))) == 2
    for arguments, problem in (
        (["zzz"], "There is no study “zzz”"),
        ([study.public_id, "--table", "x"], "no table “x”, expected one of: ratings, pages"),
        ([study.public_id, "--output", str(table)], "is no folder"),
    ):
        with pytest.raises(CommandError, match=problem):
            call_command("export_study", *arguments)
    monkeypatch.setattr(table_formats, "MOST_CELLS", 1000)
    problem = "“ratings” has more than 1,000 cells, which is the most of an SPSS file"
    refused = client.get(f"/api/v1/studies/{study.public_id}/exports/ratings.sav/")
    assert refused.status_code == 400
    assert problem in refused.content.decode()
    address = reverse("admin:annotation_study_export", args=[study.pk, "ratings.sav"])
    assert problem in client.get(address, follow=True).content.decode()
    with pytest.raises(CommandError, match=problem):
        call_command("export_study", study.public_id, "--format", "sav", "--output", str(tmp_path))


@pytest.mark.django_db
def test_payments_are_given_out_by_no_other_kind_of_study() -> None:
    client = Client()
    owner = make_user("alice", is_superuser=True)
    client.force_login(owner)
    for make, kind in ((writing_study, "writingstudy"), (judging_study, "judgmentstudy")):
        study = make(owner=owner)
        address = reverse(f"admin:annotation_{kind}_export", args=[study.pk, "payments.csv"])
        assert client.get(address).status_code == 404


def test_cells_of_csv_and_typed_cells_say_the_same() -> None:
    age = Column("age", ColumnType.NUMBER, "", "", (("[declined]", "prefers not to say"),))
    assert [type_cell(age, cell) for cell in (34, "[declined]", None, "")] == [34, None, None, None]
    assert type_cell(Column("t", ColumnType.TEXT, "", ""), 3) == write_cell(3) == "3"
