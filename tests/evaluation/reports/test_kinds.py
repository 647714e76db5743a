"""What every kind of report declares, found through the registry."""

from __future__ import annotations

import io

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.urls import reverse
from django.utils.html import escape

from annotation.models import StudyKind
from evaluation.models import Report
from evaluation.reports.parts.document import Document, Figure, PrintedColumn, Section, Table
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.table import Column, ReportTable
from evaluation.reports.registry import KINDS, headline, title_of
from evaluation.reports.requesting import request_report
from probing.measures.registry import MEASURES

NAMES = sorted(KINDS)


@pytest.mark.parametrize("name", NAMES)
def test_kind_declares_what_it_needs(name):
    kind = KINDS[name]
    assert kind.name == name
    assert str(kind.title)
    assert str(kind.question).endswith("?")
    assert kind.study or kind.corpus or kind.runs
    if kind.study:
        assert kind.study.kind in StudyKind.values
        assert str(kind.study.help)
    if kind.runs:
        assert set(kind.runs.measures or ()) <= set(MEASURES)
        assert kind.runs.most is None or kind.runs.most >= kind.runs.least
        assert str(kind.runs.help)


@pytest.mark.parametrize("name", NAMES)
def test_every_option_has_a_default_and_a_description(name):
    kind = KINDS[name]
    kind.Parameters()
    for option, field in kind.Parameters.model_fields.items():
        assert field.description, option


@pytest.mark.django_db
@pytest.mark.parametrize("name", NAMES)
def test_request_without_inputs_is_refused_and_stores_nothing(name):
    with pytest.raises(ReportError, match="is missing"):
        request_report(kind=name)
    assert not Report.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("name", NAMES)
def test_form_opens_on_an_empty_installation_and_says_what_fits(client, name):
    client.force_login(User.objects.create_superuser("boss"))
    page = client.get(reverse("admin:evaluation_report_add"), {"kind": name}).content.decode()
    assert escape(str(KINDS[name].question)) in page
    assert "fits yet" in page


@pytest.mark.parametrize("name", NAMES)
def test_command_line_explains_the_kind(name, capsys):
    with pytest.raises(SystemExit):
        call_command("report", name, "--help", stdout=io.StringIO())
    printed = capsys.readouterr().out
    for option in KINDS[name].Parameters.model_fields:
        assert f"--{option.replace('_', '-')}" in printed


@pytest.mark.django_db
def test_unknown_kind_is_named_with_those_that_exist():
    with pytest.raises(ReportError, match=r"no kind of report “poem”.*alignment"):
        request_report(kind="poem")


def test_report_of_a_kind_that_was_dropped_is_still_listed():
    report = Report(kind="gone", result={"a": 1})
    assert (title_of(report), headline(report)) == ("gone", "–")


def _document(**parts) -> Document:
    values = {
        "title": "A question?",
        "question": "What is asked.",
        "keys": (),
        "sections": (),
        "tables": (ReportTable("rows", "All rows", [{"a": 1}], (Column("", "a"),)),),
        "method": (),
        "caveats": (),
        "provenance": (),
    }
    return Document(**(values | parts))


def _table(data: str) -> Table:
    return Table("A table.", (PrintedColumn("a"),), (), data)


def test_blocks_are_numbered_by_sort_through_all_sections():
    figure = Figure("f", "A figure.", {}, data="rows")
    document = _document(
        sections=(
            Section("One", (_table("rows"), figure)),
            Section("Two", (figure, _table("rows"))),
        )
    )
    numbers = [[block.number for block in blocks] for _, blocks in document.parts]
    assert numbers == [[1, 1], [2, 2]]


def test_table_without_its_download_is_refused():
    with pytest.raises(ValueError, match="shown but not among them"):
        _document(sections=(Section("One", (_table("nowhere"),)),))
