"""What is kept of finished visits: as long as it is true, not for long, and not without bound."""

from __future__ import annotations

from annotation.studies.quality.visit_cache import MOST_SECONDS, Shelf


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_what_was_kept_is_found_until_it_is_too_old() -> None:
    clock = Clock()
    shelf: Shelf[str, int] = Shelf(5, clock=clock)
    shelf.keep({"a": 1, "b": 2})
    clock.now = MOST_SECONDS
    shelf.keep({"b": 3})
    assert shelf.find(["a", "b", "c"]) == {"a": 1, "b": 3}
    clock.now = MOST_SECONDS + 1
    assert shelf.find(["a", "b"]) == {"b": 3}


def test_the_one_that_nobody_asked_for_makes_room() -> None:
    shelf: Shelf[str, int] = Shelf(2)
    shelf.keep({"a": 1, "b": 2})
    shelf.find(["a"])
    shelf.keep({"c": 3})
    assert shelf.find(["a", "b", "c"]) == {"a": 1, "c": 3}
