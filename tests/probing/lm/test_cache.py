"""The bounded memory that shards share."""

from __future__ import annotations

import pytest

from probing.lm.cache import BoundedCache


def test_a_result_is_computed_once() -> None:
    cache, calls = BoundedCache(2), []
    for _ in range(3):
        assert cache.get_or_compute("key", lambda: calls.append(1) or "value") == "value"
    assert len(calls) == 1


def test_the_least_recently_used_result_goes_first() -> None:
    cache, calls = BoundedCache(2), []

    def ask(key: str) -> str:
        return cache.get_or_compute(key, lambda: calls.append(key) or key)

    for key in ("a", "b", "a", "c", "a", "b"):  # c drives out b, because a was used since
        ask(key)
    assert calls == ["a", "b", "c", "b"]
    assert len(cache) == 2


def test_a_failure_is_not_remembered() -> None:
    cache = BoundedCache(2)

    def fail() -> str:
        raise RuntimeError("no memory")

    with pytest.raises(RuntimeError):
        cache.get_or_compute("key", fail)
    assert cache.get_or_compute("key", lambda: "value") == "value"


def test_a_cache_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        BoundedCache(0)
