"""The page on adding a kind of report, followed word for word."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

import evaluation.analyses
import evaluation.reports
from evaluation.models import ReportStatus
from evaluation.reports import registry
from evaluation.reports.building import build_report, find_differences
from evaluation.reports.parts.latex import to_latex
from evaluation.reports.requesting import request_report

PAGE = Path(__file__).resolve().parents[3] / "docs" / "adding-a-report.md"
BLOCK = re.compile(r"^```python\n# (\S+\.py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = dict(BLOCK.findall(PAGE.read_text()))
REGISTRY = "evaluation/reports/registry.py"
TEST = "tests/evaluation/reports/test_strength.py"
MOST_LINES = 270


@pytest.fixture
def followed(tmp_path, monkeypatch) -> Iterator[Path]:
    """Put every block where its first line says, in a folder that the packages reach into."""
    for path, code in BLOCKS.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(code)
    for package in (evaluation.analyses, evaluation.reports):
        folder = tmp_path.joinpath(*package.__name__.split("."))
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    importlib.invalidate_caches()
    # What lists the kinds when it is first imported lists those of the product.
    importlib.import_module("stereoscope.urls")
    before = set(sys.modules)
    kinds = registry.KINDS
    monkeypatch.setattr(kinds, "_places", dict(kinds._places))
    monkeypatch.setattr(kinds, "_made", dict(kinds._made))
    exec(BLOCKS[REGISTRY], vars(registry))  # noqa: S102 - the page of this repository
    yield tmp_path
    for name in set(sys.modules) - before:
        if ".strength" in name:
            del sys.modules[name]


def test_a_kind_costs_at_most_two_hundred_and_seventy_lines():
    """The analysis apart, with its test; and so does the whole with the analysis."""
    lines = {path: len(code.splitlines()) for path, code in BLOCKS.items()}
    assert sum(lines.values()) <= MOST_LINES, lines


@pytest.mark.django_db
def test_report_of_the_page_is_built_shown_and_verified(followed, client, scored_run):
    run = scored_run()
    asked = request_report(kind="strength", runs=[run], parameters={"resamples": 100})
    report = build_report(report_id=asked.pk)
    assert report is not None
    assert report.status == ReportStatus.FINAL, report.error
    assert find_differences(report=report) == []
    client.force_login(User.objects.create_superuser("boss"))
    page = client.get(reverse("reports:page", args=[report.public_id])).content.decode()
    assert "Strength of every group, the strongest first." in page
    assert page.count("<figure") == 1
    names = set(report.files.values_list("name", flat=True))
    assert {"report.html", "report.xlsx", "report.json", "groups.csv"} <= names
    assert registry.headline(report).startswith("up to ")
    assert str(registry.KINDS["strength"].question) in client.get(
        reverse("admin:evaluation_report_add")
    ).content.decode().replace("&#x27;", "'")


@pytest.mark.django_db
def test_its_own_test_passes_and_its_table_explains_itself(followed, scored_run):
    spec = importlib.util.spec_from_file_location("test_strength_of_the_page", followed / TEST)
    own = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(own)
    own.test_strength_is_the_mean_size_of_scores(scored_run)
    kind = registry.KINDS["strength"]
    report, document = own.compute("strength", own.Chosen(runs=(scored_run(),)), resamples=100)
    table = document.tables[0]
    assert [line.name for line in table.codebook] == list(table.frame)
    assert r"\toprule" in to_latex(document.sections[0].blocks[1])
    assert kind.headline(report.result)
