"""How long each test took when it last ran, so that `--quick` leaves out what takes its time.

Thousands of tests take a few milliseconds each: they are done before one has read what one wrote.
What is new, or has never run here, is run.
"""

from __future__ import annotations

from collections import defaultdict

import pytest

QUICK_SECONDS = 0.1
KEPT = "stereoscope/durations"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick",
        action="store_true",
        help=f"leave out tests that took more than {QUICK_SECONDS:g} seconds when they last ran",
    )


def leave_out_slow(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests that are known to be slow, if `--quick` asks for that."""
    if not config.getoption("quick"):
        return
    known = _read(config)
    slow = [item for item in items if known.get(item.nodeid, 0) > QUICK_SECONDS]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if known.get(item.nodeid, 0) <= QUICK_SECONDS]


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Stopwatch(config))


class _Stopwatch:
    """Adds up the parts of each test, in the one process that hears of all of them."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        if cache := find_cache(self.config):
            rounded = {name: round(seconds, 3) for name, seconds in self.seconds.items()}
            cache.set(KEPT, _read(self.config) | rounded)


def _read(config: pytest.Config) -> dict[str, float]:
    cache = find_cache(config)
    return cache.get(KEPT, {}) if cache else {}


def find_cache(config: pytest.Config) -> pytest.Cache | None:
    """Return where pytest keeps things from run to run; None where it was told not to."""
    return getattr(config, "cache", None)
