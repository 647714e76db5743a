"""The kept migrated database is never that of other sources."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.migrated_database import (
    HASH_AT_START,
    KEPT_FILES,
    SOURCES,
    fetch_kept,
    hash_sources,
    keep,
)

MIGRATION = "annotation/migrations/0001_initial.py"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small product."""
    for source in SOURCES:
        file = tmp_path / source
        if not file.suffix:
            file = file / "migrations" / "0001_initial.py"
        file.parent.mkdir(parents=True)
        file.write_text("a = 1\n")
    return tmp_path


def test_the_same_sources_find_the_same_file(root: Path):
    before = hash_sources(root)
    compiled = root / "annotation" / "__pycache__"
    compiled.mkdir()
    (compiled / "models.pyc").write_bytes(b"compiled")
    os.utime(root / MIGRATION, (0, 0))
    assert hash_sources(root) == before


@pytest.mark.parametrize(
    "name",
    [
        *(MIGRATION, "annotation/migrations/0002_more.py", "annotation/library/words.csv"),
        *("probing/migrations/0001_initial.py", "evaluation/migrations/0001_initial.py"),
        *("platform/stereoscope/migrations/0001_initial.py", "tests/settings.py"),
    ],
)
def test_a_file_that_was_changed_or_added_leads_to_another(root: Path, name: str):
    before = hash_sources(root)
    file = root / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("a = 2\n")
    assert hash_sources(root) != before


def test_a_file_that_was_removed_or_renamed_leads_to_another(root: Path):
    before = hash_sources(root)
    renamed = (root / MIGRATION).rename(root / "annotation/migrations/0001_other.py")
    after = hash_sources(root)
    assert after != before
    renamed.unlink()
    assert hash_sources(root) not in {before, after}


def test_other_packages_or_another_interpreter_lead_to_another(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    before = hash_sources(root)
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    packages = hash_sources(root)
    monkeypatch.setattr("sys.version", "3.99")
    assert len({before, packages, hash_sources(root)}) == 3


def test_a_kept_database_is_found_again(tmp_path: Path):
    folder, fresh, found = tmp_path / "kept", tmp_path / "fresh", tmp_path / "found"
    folder.mkdir()
    fetch_kept(folder, found)
    assert not found.exists()
    fresh.write_text("migrated")
    keep(folder, fresh, sources=HASH_AT_START)
    fetch_kept(folder, found)
    assert found.read_text() == "migrated"


def test_what_was_migrated_while_somebody_edited_is_not_kept(tmp_path: Path):
    folder, fresh = tmp_path / "kept", tmp_path / "fresh"
    folder.mkdir()
    fresh.write_text("migrated")
    keep(folder, fresh, sources="of other sources")
    assert list(folder.iterdir()) == []


def test_the_newest_of_the_others_are_kept(tmp_path: Path):
    folder, fresh = tmp_path / "kept", tmp_path / "fresh"
    folder.mkdir()
    fresh.touch()
    for age in range(6):
        other = folder / f"{age}.sqlite3"
        other.touch()
        os.utime(other, (1_000_000 - age, 1_000_000 - age))
    keep(folder, fresh, sources=HASH_AT_START)
    left = {file.name for file in folder.iterdir()}
    others = {f"{age}.sqlite3" for age in range(KEPT_FILES - 1)}
    assert left == {f"{HASH_AT_START}.sqlite3", *others}
