"""What a benchmark measures, and how."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One measurement.

    case : what was done
    units : how many of what, such as 5,000 annotations
    seconds : wall time, scaled up to all units where `measured` is fewer
    cpu_seconds : of all threads, scaled likewise
    measured, of : units of work that were really done, of all
    peak_mb : the process's largest resident memory so far, in MB of 10⁶ bytes
    factor : seconds of the plain way divided by seconds of ours, None where there is no such pair
    """

    case: str
    units: str
    seconds: float
    cpu_seconds: float
    measured: int
    of: int
    peak_mb: float
    factor: float | None = None


def measure(
    case: str, units: str, work: Callable[[], object], *, measured: int = 1, of: int = 1
) -> Row:
    """Return how long `work` takes, once; it does `measured` of `of` equal parts."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    scale = of / measured
    return Row(case, units, wall * scale, cpu * scale, measured, of, peak_mb())


def peak_mb() -> float:
    """Return the largest resident memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
