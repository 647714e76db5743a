"""What must not move: stored reports, their downloads and printed numbers, and verification.

`store_fixtures.py` says when a report under `stored/` is renewed, and how one is added.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from functools import cache
from typing import Any

import openpyxl
import pytest
import vl_convert
from django.contrib.auth.models import User
from django.core.management import call_command
from django.urls import reverse

from evaluation.reports.building import agree
from tests.evaluation.reports import contracts
from tests.evaluation.reports.stored_cases import CASES, stopped_clock

NAMES = sorted(CASES)
COMMAND = "PYTHONPATH=.:platform .venv/bin/python -m tests.evaluation.reports.store_fixtures"
MOVED = (
    "This must not move: a stored report is read and downloaded as it was. Mend the code; if a "
    "method changed, renew the case and say why in the commit and in CHANGELOG.md."
)
REWORDED = f"Only words differ. If that was meant, renew them with “{COMMAND} words”."
XLSX_NAME_LENGTH = 31


_draw: Callable[..., str] = vl_convert.vegalite_to_svg


@cache
def _drawn(spec: str, options: str) -> str:
    return _draw(json.loads(spec), **json.loads(options))


@pytest.fixture(autouse=True)
def _draw_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Charts stand in a page, in a file and on paper, of stored and of new reports: drawn once."""

    def draw(spec: dict[str, Any], **options: Any) -> str:
        return _drawn(json.dumps(spec), json.dumps(options, sort_keys=True))

    monkeypatch.setattr(vl_convert, "vegalite_to_svg", draw)


def stored(name: str) -> contracts.Report:
    """Return a stored report as a row of its own, whose inputs are long gone."""
    return contracts.from_stored(contracts.read_json(f"{name}.json"))


@pytest.mark.parametrize("kind", sorted(contracts.KINDS))
def test_every_kind_has_a_stored_report(kind):
    found = kind in CASES and (contracts.STORED / f"{kind}.json").exists()
    assert found, (
        f"No report of the kind “{kind}” is stored. Add a case of that name to stored_cases and "
        f"run “{COMMAND}”."
    )
    assert CASES[kind].kind == kind


def test_every_stored_file_belongs_to_a_case():
    files = {path.name for path in contracts.STORED.iterdir()}
    ends = (".json", ".expected.json", ".words.json")
    assert files == {f"{name}{end}" for name in NAMES for end in ends}, (
        f"A report that is missing is stored with “{COMMAND}”."
    )


@pytest.mark.django_db
@pytest.mark.parametrize("name", NAMES)
def test_downloads_are_those_of_old(name):
    expected = contracts.comparable(contracts.read_json(f"{name}.expected.json")["downloads"])
    found = contracts.comparable(contracts.read_downloads(contracts.lay_out(stored(name))))
    assert list(found) == list(expected), MOVED
    for table, wanted in expected.items():
        assert found[table] == wanted, f"table {table}. {MOVED}"


@pytest.mark.django_db
@pytest.mark.parametrize("name", NAMES)
def test_printed_numbers_are_those_of_old(name):
    expected = contracts.read_json(f"{name}.expected.json")
    words = contracts.read_json(f"{name}.words.json")
    report = stored(name)
    found = contracts.read_expected(report, ())
    assert found["printed"] == expected["printed"], MOVED
    assert found["views"] == expected["views"], MOVED
    assert contracts.read_all_words(report) == words, REWORDED


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("name", NAMES)
def test_stored_report_is_shown_in_every_format(name):
    """Without its inputs: a document is laid out from its record alone.

    Paper takes four fifths of the time: `test_paper` puts one report of each kind on it.
    """
    expected = contracts.read_json(f"{name}.expected.json")
    report = stored(name)
    document = contracts.lay_out(report)
    files = {file.name: file for file in contracts.render_without_pdf(report, document)}
    wanted = [entry for entry in expected["files"] if entry[0] != "report.pdf"]
    assert contracts.read_files(files.values()) == wanted, MOVED
    for table, download in expected["downloads"].items():
        assert files[f"{table}.csv"].content.decode().split("\n") == download["csv"], MOVED
    contracts.check_page(files["report.html"].content.decode(), document)
    check_workbook(files["report.xlsx"].content, expected["downloads"])
    record = json.loads(files["report.json"].content)
    for column in ("kind", "title", "parameters", "inputs", "result", "code_version"):
        assert record[column] == getattr(report, column), column


def check_workbook(content: bytes, downloads: dict) -> None:
    """Assert that the workbook has a sheet for every table, with its columns and rows."""
    book = openpyxl.load_workbook(io.BytesIO(content), read_only=True)
    assert book.sheetnames == ["Report", *(name[:XLSX_NAME_LENGTH] for name in downloads)]
    for name, download in downloads.items():
        rows = list(book[name[:XLSX_NAME_LENGTH]].iter_rows(values_only=True))
        assert list(rows[0]) == download["columns"], f"sheet {name}. {MOVED}"


@pytest.mark.django_db
@pytest.mark.parametrize("kind", sorted(contracts.KINDS))
def test_stored_report_is_shown_on_its_page(client, kind):
    report = stored(kind)
    client.force_login(User.objects.create_superuser("boss"))
    address = reverse("reports:page", args=[report.public_id])
    document = contracts.lay_out(report)
    for query in ("", *contracts.other_views(document)):
        page = client.get(f"{address}{query}")
        assert page.status_code == 200
        contracts.check_page(page.content.decode(), contracts.lay_out(report, query))


@pytest.mark.django_db
@pytest.mark.parametrize("name", NAMES)
def test_same_inputs_give_the_same_report(name):
    """The stored report verifies, and one that is built now is the same.

    Its files are not rendered again: they follow from what is compared here. On another sort of
    processor, or with other libraries, sums differ in their last digits, and a bound may leap: of
    three groups a fifth of the resamples equals the estimate, and rounding says on which side of it
    they lie.
    """
    case, row = CASES[name], contracts.read_json(f"{name}.json")
    with stopped_clock():
        inputs = case.make()
        old = contracts.from_stored(row, inputs)
        differences = contracts.find_differences(report=old)
    old.delete()
    new = contracts.to_stored(contracts.build(case, inputs, with_files=False))
    for column in row.keys() - {"result", *contracts.OF_THE_DAY}:
        assert new[column] == row[column], column
    (values, bounds), (new_values, new_bounds) = (
        contracts.split_bounds(stored["result"]) for stored in (row, new)
    )
    assert agree(values, new_values)
    leaps = [pair for pair in zip(bounds, new_bounds, strict=True) if not agree(*pair)]
    assert all(type(before) is type(after) for before, after in leaps)
    assert len(leaps) <= len(bounds) / 10
    assert leaps or not differences


@pytest.mark.django_db
def test_command_verifies_a_stored_report(capsys):
    name = "agreement"
    with stopped_clock():
        report = contracts.from_stored(contracts.read_json(f"{name}.json"), CASES[name].make())
    call_command("report", "verify", report.public_id)
    assert "every number is the same" in capsys.readouterr().out
