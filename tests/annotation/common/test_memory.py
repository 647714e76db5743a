"""Memory that was freed goes back to the system."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

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
