"""Memory and processor time of processes, as Linux counts them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
PAUSE_SECONDS = 0.5


def resident_bytes(pids: list[int]) -> int:
    """Return the memory that the processes hold, pages that they share counted for each."""
    return sum(int(_read(pid, "statm").split()[1]) * PAGE_BYTES for pid in pids)


def cpu_seconds(pids: list[int]) -> float:
    """Return the processor time that the processes have used so far."""
    ticks = 0
    for pid in pids:
        # The name in brackets may hold spaces; user and system time are fields 14 and 15.
        fields = _read(pid, "stat").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / TICKS_PER_SECOND


async def watch_peak(pids: Callable[[], list[int]], peaks: list[int]) -> None:
    """Append the resident memory every half second, until canceled."""
    while True:
        with suppress(OSError):  # a process that has just ended
            peaks.append(resident_bytes(pids()))
        await asyncio.sleep(PAUSE_SECONDS)


def _read(pid: int, name: str) -> str:
    return Path(f"/proc/{pid}/{name}").read_text()
