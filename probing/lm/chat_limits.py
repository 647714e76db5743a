"""Limits for a server of chat models: request rate, attempts, and tokens to spend."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Protocol, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class ChatLimits:
    """How often and how long a server is asked.

    Attributes
    ----------
    requests_per_minute : at most so many requests begin in a minute, evenly spaced; 0 for any.
    concurrency : requests that wait for an answer at the same time.
    timeout_seconds : how long a request waits for its answer.
    attempts : how often a request is made before its failure counts.
    first_wait, longest_wait : seconds before the second attempt, doubled for each later one, and
        the most. A server that says how long to wait (Retry-After) is believed up to the longest.
    """

    requests_per_minute: float = 60
    concurrency: int = 4
    timeout_seconds: float = 120
    attempts: int = 6
    first_wait: float = 1.0
    longest_wait: float = 60.0


class TokenBudget(Protocol):
    """Counts tokens, wherever the count is kept. Called from one thread."""

    def require(self) -> None:
        """Raise :class:`probing.lm.errors.SpendCapError` if the budget is used up."""

    def spend(self, tokens: int, written: int = 0) -> None:
        """Count tokens, of prompts and answers together; ``written`` of them are answers."""

    def reuse(self) -> None:
        """Count an answer that was kept from before and cost nothing."""


class Pacer:
    """Spaces requests evenly. Safe to share between threads."""

    def __init__(self, requests_per_minute: float) -> None:
        self._gap = 60 / requests_per_minute if requests_per_minute else 0.0
        self._next = 0.0
        self._lock = Lock()

    def wait(self) -> None:
        """Return when the next request may begin."""
        with self._lock:
            now = time.monotonic()
            begin = max(now, self._next)
            self._next = begin + self._gap
        if begin > now:
            time.sleep(begin - now)


class RetryableError(Exception):
    """A failure that another attempt may mend.

    `final` is what to raise when all attempts are used up, `after` the seconds that the server
    asked to wait.
    """

    def __init__(self, final: Exception, after: float | None = None) -> None:
        super().__init__(str(final))
        self.final = final
        self.after = after


def keep_trying(
    request: Callable[[], T],
    limits: ChatLimits,
    explain: Callable[[Exception], Exception],
) -> T:
    """Return what `request` gives, in as many attempts as the limits allow.

    `explain` turns whatever is raised into :class:`RetryableError` or the error to raise.
    """
    for attempt in range(1, limits.attempts + 1):
        try:
            return request()
        except Exception as error:
            explained = explain(error)
        if not isinstance(explained, RetryableError):
            # Without its cause, whose text may quote a part of the key.
            raise explained from None
        if attempt == limits.attempts:
            raise explained.final from None
        delay = limits.first_wait * 2 ** (attempt - 1)
        # Spread out, so that requests that failed together do not come back together.
        delay *= random.uniform(0.75, 1.25)  # noqa: S311
        time.sleep(min(max(delay, explained.after or 0.0), limits.longest_wait))
    raise AssertionError("unreachable: every attempt returns or raises")
