"""Memory that was freed goes back to the system; long work is seldom searched for dead circles."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys

import pytest

from annotation.common.memory import seldom_collected

# The last block lies above all others: while it is there, the C library shrinks nothing by itself.
PROGRAM = """
from pathlib import Path
from annotation.common.memory import give_back_memory

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

blocks = [bytearray(2000) for _ in range(50_000)]
last = blocks.pop()
del blocks
before = resident()
give_back_memory()
print(before - resident())
"""


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library keeps what was freed"
)
def test_freed_memory_is_given_back() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) > 50_000_000


def test_searches_are_as_often_as_before_once_the_work_has_failed() -> None:
    usual = gc.get_threshold()

    @seldom_collected()
    def work() -> None:
        assert gc.get_threshold()[0] > usual[0]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        work()
    assert gc.get_threshold() == usual
