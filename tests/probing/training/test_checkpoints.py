"""Checkpoints: complete or absent, damage is noticed, a full disk says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from probing.training.checkpoints import (
    KEPT,
    list_checkpoints,
    load_newest,
    require_room,
    save_checkpoint,
)
from probing.training.errors import NoRoomError
from tests.conftest import ROOT


def state(step: int) -> dict[str, object]:
    return {"step": step, "model": {"w": torch.full((50,), float(step))}, "random": torch.zeros(3)}


def test_what_was_saved_comes_back_to_the_bit(tmp_path: Path) -> None:
    torch.manual_seed(1)
    weights = torch.randn(100)
    save_checkpoint(tmp_path, 4, {"model": {"w": weights}, "step": 4, "rate": 0.1})
    found = load_newest(tmp_path)
    assert found.damaged == 0
    assert found.state is not None
    assert torch.equal(found.state["model"]["w"], weights)
    assert (found.state["step"], found.state["rate"]) == (4, 0.1)


def test_only_the_newest_two_are_kept(tmp_path: Path) -> None:
    for step in (1, 2, 3, 10, 9):
        save_checkpoint(tmp_path, step, state(step))
    assert [found.step for found in list_checkpoints(tmp_path)] == [10, 9]
    assert KEPT == 2
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("damage", ["flip", "cut", "empty"])
def test_a_damaged_checkpoint_gives_way_to_the_one_before(tmp_path: Path, damage: str) -> None:
    save_checkpoint(tmp_path, 1, state(1))
    newest = save_checkpoint(tmp_path, 2, state(2)).path
    content = bytearray(newest.read_bytes())
    content[len(content) // 2] ^= 1
    newest.write_bytes({"flip": content, "cut": content[:-9], "empty": b""}[damage])
    found = load_newest(tmp_path)
    assert found.damaged == 1
    assert found.state is not None
    assert found.state["step"] == 1
    assert [one.step for one in list_checkpoints(tmp_path)] == [1]


def test_without_a_whole_checkpoint_there_is_no_state(tmp_path: Path) -> None:
    assert load_newest(tmp_path / "none").state is None
    save_checkpoint(tmp_path, 1, state(1)).path.write_bytes(b"no checkpoint")
    found = load_newest(tmp_path)
    assert (found.state, found.damaged) == (None, 1)


def test_what_a_dead_worker_was_writing_is_cleared_away(tmp_path: Path) -> None:
    save_checkpoint(tmp_path, 1, state(1))
    (tmp_path / ".building-abc").write_bytes(b"half of it")
    assert load_newest(tmp_path).state is not None
    assert not (tmp_path / ".building-abc").exists()


_FILL_UP = """
import resource, sys, torch
from pathlib import Path
from probing.training.checkpoints import save_checkpoint
from probing.training.errors import NoRoomError
folder = Path(sys.argv[1])
save_checkpoint(folder, 1, {"w": torch.zeros(10)})
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    save_checkpoint(folder, 2, {"w": torch.zeros(1_000_000)})
except NoRoomError as error:
    print(error)
"""


def test_a_full_disk_is_told_plainly_and_harms_no_checkpoint(tmp_path: Path) -> None:
    """The system itself refuses: files of the process may have 100 kB."""
    done = subprocess.run(
        [sys.executable, "-c", _FILL_UP, str(tmp_path)],
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert f"There is no room left in {tmp_path} (File too large)" in done.stdout
    assert "resume the run" in done.stdout
    assert [path.name[:15] for path in tmp_path.iterdir()] == ["step-0000000001"]
    found = load_newest(tmp_path)
    assert found.state is not None
    assert found.damaged == 0


def test_room_is_asked_for_before_anything_is_trained(tmp_path: Path) -> None:
    require_room(tmp_path / "new", 1000)
    with pytest.raises(NoRoomError, match=r"needs 1,000,000,000,000 MB .* resume the run"):
        require_room(tmp_path, 10**18)
