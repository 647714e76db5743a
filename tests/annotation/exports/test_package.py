"""A study as a folder for archives, read by the archives' own libraries."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import frictionless
import mlcroissant
import pytest
from django.core.management import CommandError, call_command
from pyarrow import parquet
from rocrate.rocrate import ROCrate

from annotation.exports.package import PackageFacts, write_package
from annotation.exports.study_tables import list_study_tables
from tests.annotation.exports.test_formats import KINDS, rated_study

# The validators warn of their own code.
pytestmark = [pytest.mark.django_db, pytest.mark.filterwarnings("ignore")]

FACTS = PackageFacts("CC-BY-4.0", ("Ada Example",), "Example (2026)", "https://example.org/data")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "package"


def read(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text(encoding="utf-8"))


def is_valid(folder: Path) -> bool:
    with frictionless.system.use_context(trusted=True):
        report = frictionless.validate(str(folder / "datapackage.json"))
    return report.valid


@pytest.mark.parametrize("make", KINDS)
def test_every_archive_takes_every_kind_of_study(make: Any, folder: Path) -> None:
    study = make()
    write_package(study, folder, FACTS)
    assert is_valid(folder)
    data = mlcroissant.Dataset(folder / "croissant.json")
    assert not data.metadata.ctx.issues.errors
    crate = ROCrate(folder)
    assert crate.name == study.title
    assert {part.id for part in crate.root_dataset["hasPart"]} == {
        str(path.relative_to(folder)) for path in (folder / "data").iterdir()
    }
    for name, table in list_study_tables(study).items():
        n = len(list(table.build(study, ()).load()))
        stem = folder / "data" / f"study-{study.public_id}_description-{name}"
        with open(f"{stem}_data.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == parquet.read_metadata(f"{stem}_data.parquet").num_rows == n
        records = list(data.records(name))
        assert len(records) == n
        assert list(records[0]) == [f"{name}/{column}" for column in rows[0]] if rows else True


def test_a_changed_byte_is_found(folder: Path) -> None:
    study = rated_study()
    write_package(study, folder, FACTS)
    file = folder / "data" / f"study-{study.public_id}_description-ratings_data.csv"
    file.write_bytes(file.read_bytes().replace(b"powerless", b"powerlesS", 1))
    assert not is_valid(folder)


def test_descriptions_say_what_was_stated_and_name_nobody(folder: Path) -> None:
    write_package(rated_study(), folder, FACTS)
    croissant = read(folder, "croissant.json")
    assert croissant["license"] == "https://spdx.org/licenses/CC-BY-4.0.html"
    assert croissant["creator"] == [{"@type": "sc:Person", "name": "Ada Example"}]
    assert croissant["rai:dataAnnotationPlatform"] == "Stereoscope"
    # Psych-DS 1.0: these three are required, and every column of a table is a variable.
    described = read(folder, "dataset_description.json")
    assert {"name", "description", "variableMeasured"} <= set(described)
    named = {variable["name"] for variable in described["variableMeasured"]}
    for path in (folder / "data").glob("*_data.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            assert set(next(csv.reader(file))) <= named
    for path in folder.rglob("*"):
        assert path.is_dir() or b"panel-person" not in path.read_bytes(), path


def test_what_is_not_stated_is_said_to_be(folder: Path) -> None:
    write_package(rated_study(), folder, PackageFacts())
    assert "license" not in read(folder, "croissant.json")
    assert "License: Not stated." in (folder / "README.md").read_text(encoding="utf-8")
    assert is_valid(folder)


def test_the_command_writes_a_whole_folder_or_none(folder: Path) -> None:
    study, out = rated_study(), StringIO()
    call_command("export_study", study.public_id, package=folder, stdout=out)
    assert "README.md" in out.getvalue()
    assert "No license is stated" in out.getvalue()
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    with pytest.raises(CommandError, match=r"exists\. Give the name of a folder to be made"):
        call_command("export_study", study.public_id, package=folder, stdout=out)
    blocked = folder / "README.md" / "below-a-file"
    with pytest.raises(CommandError, match="was not written"):
        call_command("export_study", study.public_id, package=blocked, stdout=out)
