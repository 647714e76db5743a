"""The migrated SQLite database, kept from one run of the suite to the next.

To migrate takes as long as a hundred tests. What comes of it follows from the product's files, the
installed packages and the interpreter, so it is kept under a hash of these: whoever changes one of
them finds nothing, and migrates anew.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Also what the migrations and their signals call, and the files that this reads.
SOURCES = ("annotation", "probing", "evaluation", "platform/stereoscope", "tests/settings.py")
# For as many branches that one goes back and forth between.
KEPT_FILES = 4


def hash_sources(root: Path = ROOT) -> str:
    digest = hashlib.sha256(f"{sys.version} {sqlite3.sqlite_version}".encode())
    packages = Path(sysconfig.get_path("purelib")).glob("*.dist-info")
    digest.update(" ".join(sorted(package.name for package in packages)).encode())
    for file in _find_files(root):
        content = file.read_bytes()
        digest.update(f"\0{file.relative_to(root)} {len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()


def fetch_kept(folder: Path, migrated: Path) -> None:
    """Copy what ``folder`` keeps for these sources to ``migrated``, if it keeps anything."""
    with suppress(FileNotFoundError):
        shutil.copy(_place(folder), migrated)


def keep(folder: Path, migrated: Path, *, sources: str) -> None:
    """Keep a copy of a fresh database, and of those of other sources the newest.

    sources : what `hash_sources` says now. Where it is not as at the start, somebody has edited
        files since, and nobody knows which of the two states was migrated: nothing is kept
    """
    if sources != HASH_AT_START:
        return
    draft = _place(folder).with_suffix(f".{os.getpid()}")
    shutil.copy(migrated, draft)
    draft.rename(_place(folder))
    kept = sorted(folder.glob("*.sqlite3"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in kept[KEPT_FILES:]:
        file.unlink(missing_ok=True)


def _place(folder: Path) -> Path:
    return folder / f"{HASH_AT_START}.sqlite3"


def _find_files(root: Path) -> Iterator[Path]:
    for source in SOURCES:
        place = root / source
        for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if file.is_file() and "__pycache__" not in file.parts:
                yield file


# The settings import this module first of all, before any model and any migration is read.
HASH_AT_START = hash_sources()
