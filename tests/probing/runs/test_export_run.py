"""A run's scores and readings as files: the columns of the download, in every format."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from probing.models import LanguageModel, Run, RunStatus, Score
from tests.probing.runs.fixtures import bert, own_copy  # noqa: F401

pytestmark = [pytest.mark.django_db, pytest.mark.shared]


@pytest.fixture
def run(bert: LanguageModel) -> Run:  # noqa: F811
    call_command(
        "probe",
        *("--model", bert.name, "--measure", "ilps", "--groups", "man", "woman"),
        *("--traits", "cold-warm", "--local"),
        stdout=io.StringIO(),
    )
    return Run.objects.get()


def export(run: Run | str, file: Path, **options: Any) -> str:
    out = io.StringIO()
    wanted = run if isinstance(run, str) else str(run.pk)
    call_command("export_run", wanted, str(file), stdout=out, **options)
    return out.getvalue()


def test_every_format_holds_the_columns_and_values_of_the_download(
    run: Run, tmp_path: Path, client: Client
) -> None:
    client.force_login(User.objects.create_superuser("alice"))
    page = client.get(reverse("admin:probing_run_scores", args=[run.pk])).getvalue()
    said = export(run, tmp_path / "s.csv")
    assert "6 rows of run" in said  # two groups × two templates and their mean
    assert (tmp_path / "s.csv").read_bytes() == page
    rows = list(csv.DictReader(io.StringIO(page.decode())))
    assert list(rows[0])[-8:] == [
        *("name", "group", "trait", "template", "value", "reason", "n", "access"),
    ]
    values = [float(row["value"]) for row in rows]
    assert set(values) == set(Score.objects.values_list("value", flat=True))

    for name in ("s.xlsx", "s.json", "s.jsonl", "s.parquet"):
        export(run.public_id, tmp_path / name)
    listed = json.loads((tmp_path / "s.json").read_text())
    lines = (tmp_path / "s.jsonl").read_text().splitlines()
    book = openpyxl.load_workbook(tmp_path / "s.xlsx")
    sheet = list(book.worksheets[0].iter_rows(values_only=True))
    assert [row["value"] for row in listed] == values
    assert [json.loads(line)["value"] for line in lines] == values
    assert [row[sheet[0].index("value")] for row in sheet[1:]] == pytest.approx(values)
    assert list(pd.read_parquet(tmp_path / "s.parquet")["value"]) == values


def test_readings_hold_ln_p_of_each_word(run: Run, tmp_path: Path) -> None:
    """ILPS is ln P after the group minus ln P after the prior; a pair score high minus low.

    The score of a group is the mean over its two templates.
    """
    export(run, tmp_path / "r.json", readings=True)
    rows = json.loads((tmp_path / "r.json").read_text())
    assert {(row["group"], row["word"]) for row in rows} == {
        (group, word) for group in ("man", "woman") for word in ("cold", "warm")
    }
    found: dict[str, float] = {}
    for row in rows:
        assert row["logprob_group"] < 0
        score = row["logprob_group"] - row["logprob_prior"]
        found[row["group"]] = found.get(row["group"], 0) + score * (
            0.5 if row["pole"] == "high" else -0.5
        )
    stored = dict(Score.objects.filter(template="").values_list("group", "value"))
    assert found == pytest.approx(stored)


def test_what_is_written_is_imported_again(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "s.xlsx"
    export(run, file)
    call_command("import_results", "scores", str(file), obtained="Our file.", stdout=io.StringIO())
    again = Run.objects.exclude(pk=run.pk).get()
    assert set(again.scores.values_list("group", "template", "value")) == set(
        run.scores.values_list("group", "template", "value")
    )
    with pytest.raises(CommandError, match="has no stored readings"):
        export(again, tmp_path / "r.csv", readings=True)


def test_a_file_that_is_there_stays_unless_it_is_to_be_replaced(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "s.csv"
    file.write_text("mine")
    with pytest.raises(CommandError, match="is there already; --overwrite replaces it"):
        export(run, file)
    assert file.read_text() == "mine"
    export(run, file, overwrite=True)
    assert file.read_text().startswith("run,measure")
    assert [one.name for one in tmp_path.iterdir()] == ["s.csv"]


def test_what_cannot_be_written_is_named(run: Run, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"ends in nothing that can be written, expected \.csv"):
        export(run, tmp_path / "s.docx")
    with pytest.raises(CommandError, match="cannot be written: No such file"):
        export(run, tmp_path / "none" / "s.csv")
    with pytest.raises(CommandError, match="There is no run “12345”"):
        export("12345", tmp_path / "s.csv")
    Run.objects.update(status=RunStatus.RUNNING)
    run.refresh_from_db()
    with pytest.raises(CommandError, match="only a finished run"):
        export(run, tmp_path / "s.csv")
    assert not list(tmp_path.iterdir())
