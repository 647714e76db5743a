"""Folders that are written completely or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_STALE_SECONDS = 3600


@contextmanager
def build_folder(target: Path) -> Iterator[Path]:
    """Yield a new folder beside `target` that takes its place when the block ends well.

    A folder that is there already goes out of the way in that moment.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_stale(target)
    building = Path(tempfile.mkdtemp(prefix=_prefix(target), dir=target.parent))
    try:
        yield building
        _move_into_place(building, target)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _move_into_place(building: Path, target: Path) -> None:
    building.chmod(0o755)  # temporary files are private, but a worker may be another user
    for path in building.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    if target.exists():
        old = Path(tempfile.mkdtemp(prefix=_prefix(target), dir=target.parent))
        os.rename(target, old / "old")
        os.rename(building, target)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.rename(building, target)


def _prefix(target: Path) -> str:
    return f".{target.name}.building-"


def _remove_stale(target: Path) -> None:
    """Remove what a build that was killed an hour ago or more has left behind."""
    for folder in target.parent.glob(f"{_prefix(target)}*"):
        if time.time() - folder.stat().st_mtime > _STALE_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)
