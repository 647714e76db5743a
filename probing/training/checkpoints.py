"""Checkpoints: the whole state of a training, one file each, complete or absent.

A checkpoint is written beside its place, flushed to the disk and renamed. Its name holds the
first half of its SHA-256, so that damage is noticed before anything of it is used.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from probing.training.errors import NoRoomError

logger = logging.getLogger(__name__)

KEPT = 2
_NAME = re.compile(r"step-(\d{10})-([0-9a-f]{32})\.pt")
_BUILDING = ".building-"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint's file, after `step` steps."""

    step: int
    digest: str
    path: Path


@dataclass(frozen=True)
class Restored:
    """What :func:`load_newest` found: the newest whole state, and how many damaged ones it met."""

    state: dict[str, Any] | None
    damaged: int


def save_checkpoint(workspace: Path, step: int, state: dict[str, Any]) -> Checkpoint:
    """Write `state` as the checkpoint of `step`, and remove all but the newest two.

    Raises :class:`NoRoomError` where the disk is full; earlier checkpoints stay as they are.
    """
    import torch

    with no_room_as_error(workspace):
        workspace.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=_BUILDING, dir=workspace)
        building = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                hashing = _HashingFile(file)
                try:
                    torch.save(state, cast(IO[bytes], hashing))
                except RuntimeError as error:  # torch hides what the file itself raised
                    raise hashing.error or error from error
                file.flush()
                os.fsync(file.fileno())
            saved = _place(workspace, step, hashing.digest())
            building.replace(saved.path)
        finally:
            building.unlink(missing_ok=True)
    _flush_folder(workspace)
    for old in list_checkpoints(workspace)[KEPT:]:
        old.path.unlink(missing_ok=True)
    return saved


def load_newest(workspace: Path) -> Restored:
    """Return the newest state whose file is whole; damaged ones are removed."""
    import torch

    _remove_unfinished(workspace)
    damaged = 0
    for checkpoint in list_checkpoints(workspace):
        if _digest_of(checkpoint.path) == checkpoint.digest:
            state = torch.load(checkpoint.path, map_location="cpu", weights_only=True)
            return Restored(state, damaged)
        damaged += 1
        logger.warning("the checkpoint %s is damaged and is not used", checkpoint.path.name)
        checkpoint.path.unlink(missing_ok=True)
    return Restored(None, damaged)


def list_checkpoints(workspace: Path) -> list[Checkpoint]:
    """Return the checkpoints of a workspace, newest first; none where it does not exist."""
    if not workspace.is_dir():
        return []
    found = [(_NAME.fullmatch(path.name), path) for path in workspace.iterdir()]
    checkpoints = [Checkpoint(int(m[1]), m[2], path) for m, path in found if m]
    return sorted(checkpoints, key=lambda checkpoint: checkpoint.step, reverse=True)


def require_room(folder: Path, needed: int) -> None:
    """Raise :class:`NoRoomError` unless the disk of `folder` has `needed` bytes free."""
    with no_room_as_error(folder):
        folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise NoRoomError(
            f"The training needs {_megabytes(needed)} for checkpoints and the trained model, and "
            f"the disk of {folder} has {_megabytes(free)} free. Free some, then resume the run."
        )


@contextmanager
def no_room_as_error(folder: Path) -> Iterator[None]:
    """Turn a full disk, in whatever way the system says so, into :class:`NoRoomError`."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise NoRoomError(
            f"There is no room left in {folder} ({error.strerror}). What was saved before is "
            "whole: free some room, then resume the run, and the training continues from there."
        ) from error


class _HashingFile:
    """Passes writing on to `file`, and keeps the digest and what went wrong."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._hash = hashlib.sha256()
        self.error: OSError | None = None

    def write(self, data: Any) -> int:
        try:
            written = self._file.write(data)
        except OSError as error:
            self.error = error
            raise
        self._hash.update(data)
        return written

    def flush(self) -> None:
        self._file.flush()

    def digest(self) -> str:
        return self._hash.hexdigest()[:32]


def _place(workspace: Path, step: int, digest: str) -> Checkpoint:
    return Checkpoint(step, digest, workspace / f"step-{step:010d}-{digest}.pt")


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]


def _remove_unfinished(workspace: Path) -> None:
    """Remove what was being written when an earlier worker died."""
    for path in workspace.glob(f"{_BUILDING}*"):
        path.unlink(missing_ok=True)


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
