"""The page on adding a kind of import, followed word for word in an app of its own."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from math import log
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from probing.models import Run
from tests.annotation.studies.people import make_user
from tests.conftest import ROOT
from tests.tokens import header_for

PAGE = ROOT / "docs" / "adding-an-import.md"
BLOCK = re.compile(r"^```python\n# my_lab/imports\.py\n(.*?)^```$", re.MULTILINE | re.DOTALL)
(CODE,) = BLOCK.findall(PAGE.read_text())
MADE = {"model": "gpt-4", "revision": "1", "measure": "set", "obtained": "Our arena."}
FILE = "player;trait;W;L\nwoman;cold-warm;7;2\nman;cold-warm;0;3\n"


@pytest.fixture
def my_lab(tmp_path: Path, monkeypatch, settings) -> Iterator[Path]:  # type: ignore[no-untyped-def]
    folder = tmp_path / "my_lab"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "imports.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "my_lab"]
    yield tmp_path
    for name in ("my_lab", "my_lab.imports"):
        sys.modules.pop(name, None)


@pytest.mark.django_db
def test_an_import_of_one_file_works_by_command_http_and_page_and_is_exported(my_lab: Path) -> None:
    """Scores by hand: ln(7.5 / 2.5) = ln 3, and ln(0.5 / 3.5) = −ln 7."""
    assert len(CODE.splitlines()) <= 120
    file, out = my_lab / "wins.csv", my_lab / "scores.csv"
    file.write_text(FILE.replace("\nman;", "\nMartian;"))
    arguments = ("import_results", "wins", str(file), "--map", "won=W", "--map", "lost=L")
    made = [f"--{name}={value}" for name, value in MADE.items()]
    with pytest.raises(CommandError):
        call_command(*arguments, *made)
    assert not Run.objects.exists()
    file.write_text(FILE)
    call_command(*arguments, *made)
    run = Run.objects.get()
    call_command("export_run", str(run.pk), str(out))
    assert read(out) == pytest.approx(
        {("woman", "cold-warm"): log(3), ("man", "cold-warm"): -log(7)}
    )

    user = make_user("alice")
    user.is_superuser = True
    user.save()
    api = APIClient()
    api.credentials(HTTP_AUTHORIZATION=header_for(user))
    asked = {
        "kind": "wins",
        "file_name": "wins.csv",
        "content": FILE,
        "options": {**MADE, "model": "b"},
    }
    bad = {**asked, "content": FILE.replace("7;2", "7;few"), "columns": {"won": "W", "lost": "L"}}
    assert "expected a number" in api.post("/api/v1/imports/", bad, format="json").text
    tried = api.post("/api/v1/imports/", {**bad, "dry_run": True}, format="json")
    cell = {"line": 2, "column": "L", "value": "few", "expected": "a number"}
    assert tried.json()["bad_cells"] == [cell]
    done = api.post("/api/v1/imports/", {**bad, "content": FILE}, format="json")
    assert (done.status_code, done.json()["counts"]) == (201, {"scores": 2, "comparisons": 12})

    client = Client()
    client.force_login(user)
    made_by_c = {**MADE, "model": "c"}
    address = f"{reverse('admin:probing_run_import')}?kind=wins"
    page = client.post(address, {**made_by_c, "file": SimpleUploadedFile("w.csv", FILE.encode())})
    assert "There is no column “won” and no “lost”" in page.text
    carried = dict(
        re.findall(r'type="hidden" name="(content|file_name)" value="([^"]*)"', page.text)
    )
    chosen = {"column-0": "group", "column-1": "trait", "column-2": "won", "column-3": "lost"}
    page = client.post(address, {**made_by_c, **carried, **chosen, "preview": ""})
    assert "12 comparisons" in page.text
    assert re.search(r'name="column-2".*?<option value="won" selected>won</option>', page.text)
    client.post(address, {**made_by_c, **carried, **chosen, "import": ""})
    assert Run.objects.count() == 3
    assert len({run.stimuli_hash for run in Run.objects.all()}) == 1


def read(file: Path) -> dict[tuple[str, str], float]:
    with file.open(encoding="utf-8-sig", newline="") as opened:
        return {(row["group"], row["trait"]): float(row["value"]) for row in csv.DictReader(opened)}
