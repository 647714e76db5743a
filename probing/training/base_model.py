"""What trainings of every kind share: a base model, and where its training may write and tell."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probing.training.checkpoints import KEPT, require_room
from probing.training.schedule import LossPoint
from probing.training.trainer import Wish

if TYPE_CHECKING:
    import torch

RECORD = "training.json"


@dataclass(frozen=True)
class TrainingBase:
    """A base model, and where its training may write and tell.

    Attributes
    ----------
    location, revision : folder or hub id of the base model, and its commit where it has one.
    base_revision : the hub's commit or the fingerprint of the folder's files.
    base_name, name : names of the base model and of the trained one.
    workspace : folder for checkpoints, of this training alone.
    target : folder for the trained model.
    report : takes each point of the loss curve.
    wish : asked before each step whether to go on.
    device : ``auto``, ``cpu``, ``cuda`` …
    threads : CPU threads; None leaves torch's own choice.
    """

    location: str
    revision: str
    base_revision: str
    base_name: str
    name: str
    workspace: Path
    target: Path
    report: Callable[[LossPoint], None]
    wish: Callable[[], Wish] = field(default=lambda: Wish.GO_ON)
    device: str = "auto"
    threads: int | None = None

    def finished_record(self, recipe: str) -> dict[str, Any] | None:
        """Return the record of the model in the target folder if this training made it."""
        try:
            record: dict[str, Any] = json.loads((self.target / RECORD).read_text(encoding="utf-8"))
            return record if record["recipe"] == recipe else None
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def require_room(self, *, saved: int, kept: int) -> None:
        """Raise NoRoomError unless checkpoints and the trained model fit, of so many bytes each."""
        # While one checkpoint is written, the kept ones lie beside it.
        require_room(self.workspace, saved * (KEPT + 1))
        require_room(self.target.parent, kept)

    @contextmanager
    def chosen_threads(self) -> Iterator[None]:
        """Use `threads` CPU threads meanwhile: their number decides the order of sums."""
        import torch

        before = torch.get_num_threads()
        torch.set_num_threads(self.threads or before)
        try:
            yield
        finally:
            torch.set_num_threads(before)


def hash_recipe(parts: Mapping[str, Any]) -> str:
    """Return a hash of all that decides the weights."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def write_record(folder: Path, record: dict[str, Any], card: str) -> None:
    """Write the record of a training, and the model card with the record's values."""
    (folder / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    text = card.format(record=RECORD, **{**record["settings"], **record})
    (folder / "README.md").write_text(text, encoding="utf-8")


def padded(rows: Sequence[Sequence[int]], filling: int) -> torch.Tensor:
    """Return rows of different length as one tensor, filled up at their ends."""
    import torch

    width = max(len(row) for row in rows)
    return torch.tensor([[*row, *(filling for _ in range(width - len(row)))] for row in rows])
