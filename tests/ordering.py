"""The order of the tests: no long one at the very end, where the other cores would wait for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

import pytest

from tests.durations import leave_out_slow

# Modules with slow tests come evenly among the first ones of their phase.
FIRST_SHARE = 0.6


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Bring the slow tests forward, after the others have shuffled and sorted."""
    leave_out_slow(config, items)
    items[:] = [
        item
        for _phase, tests in groupby(items, key=find_phase)
        for item in bring_slow_forward(tests)
    ]


def find_phase(item: pytest.Item) -> int:
    """Return the place of a test's kind in Django's order: rolled back, flushed, no database."""
    names = getattr(item, "fixturenames", ())
    marker = item.get_closest_marker("django_db")
    if {"transactional_db", "live_server"} & set(names) or (
        marker is not None and marker.kwargs.get("transaction")
    ):
        return 1
    return 0 if marker is not None or "db" in names else 2


def bring_slow_forward(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    modules = [list(tests) for _path, tests in groupby(items, key=lambda item: item.path)]
    slow = [tests for tests in modules if any(item.get_closest_marker("slow") for item in tests)]
    quick = [tests for tests in modules if tests not in slow]
    return [item for tests in merge_evenly(quick, slow) for item in tests]


def merge_evenly(quick: Sequence[Any], slow: Sequence[Any]) -> list[Any]:
    """Return all in their order, the slow ones at even distances before the last quick ones."""
    merged = list(quick)
    for place in reversed(range(len(slow))):
        merged.insert(int(place * FIRST_SHARE * len(quick) / len(slow)), slow[place])
    return merged
