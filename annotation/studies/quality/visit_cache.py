"""What was read of finished visits, kept in the memory of a process: it no longer changes.

Numbers alone lie here, pages' times and places on lines: neither texts nor identities. The key
names all that the numbers depend on, so that what is found under it is what would be read anew.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

#: Long enough to work through a queue. What was erased is dropped at once by the process that
#: erased it; others never ask for it again, and drop it after this long.
MOST_SECONDS = 600.0


class Shelf(Generic[Key, Value]):
    """At most ``size`` values, those least recently asked for making room; safe between threads."""

    def __init__(self, size: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._size, self._clock = size, clock
        self._kept: OrderedDict[Key, tuple[float, Value]] = OrderedDict()
        self._lock = Lock()

    def find(self, keys: Iterable[Key]) -> dict[Key, Value]:
        """Return those values that are here and not too old."""
        oldest = self._clock() - MOST_SECONDS
        found: dict[Key, Value] = {}
        with self._lock:
            for key in keys:
                if (entry := self._kept.get(key)) is None:
                    continue
                if entry[0] < oldest:
                    del self._kept[key]
                    continue
                self._kept.move_to_end(key)
                found[key] = entry[1]
        return found

    def keep(self, values: Mapping[Key, Value]) -> None:
        now = self._clock()
        self.forget(lambda key: self._kept[key][0] < now - MOST_SECONDS)
        with self._lock:
            for key, value in values.items():
                self._kept[key] = (now, value)
                self._kept.move_to_end(key)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)

    def forget(self, wanted: Callable[[Key], bool]) -> None:
        """Drop the values whose key ``wanted`` says yes to, at once."""
        with self._lock:
            for key in [key for key in self._kept if wanted(key)]:
                del self._kept[key]
