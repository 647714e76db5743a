"""What a benchmark measures, and how."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType


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
    figures : what else there is to say, by name
    """

    case: str
    units: str
    seconds: float
    cpu_seconds: float
    measured: int
    of: int
    peak_mb: float
    factor: float | None = None
    figures: dict[str, float] = field(default_factory=dict)


class Meter:
    """Adds up the time of several stretches of work: ``with meter: …``."""

    def __init__(self) -> None:
        self.seconds = self.cpu_seconds = 0.0

    def __enter__(self) -> Meter:
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.seconds += time.perf_counter() - self._wall
        self.cpu_seconds += time.process_time() - self._cpu

    def row(self, case: str, units: str, measured: int = 1, of: int = 1) -> Row:
        """Return the time so far, which `measured` of `of` equal parts took."""
        scale = of / measured
        return Row(
            case, units, self.seconds * scale, self.cpu_seconds * scale, measured, of, peak_mb()
        )


def measure(
    case: str, units: str, work: Callable[[], object], *, measured: int = 1, of: int = 1
) -> Row:
    """Return how long `work` takes, once; it does `measured` of `of` equal parts."""
    meter = Meter()
    with meter:
        work()
    return meter.row(case, units, measured, of)


def peak_mb() -> float:
    """Return the largest resident memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
