"""A queue of threads: first come, first served, each woken by the one before it."""

from __future__ import annotations

import threading
from collections import deque


class Turns:
    """Like a lock, which promises no order: here nobody passes those who wait."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._is_taken = False
        self._waiting: deque[threading.Lock] = deque()

    @property
    def n_waiting(self) -> int:
        return len(self._waiting)

    def take(self, *, timeout: float) -> bool:
        """Wait for this thread's turn; return whether it came within ``timeout`` seconds."""
        with self._guard:
            if not self._is_taken:
                self._is_taken = True
                return True
            ticket = threading.Lock()
            ticket.acquire()
            self._waiting.append(ticket)
        if ticket.acquire(timeout=timeout):
            return True
        with self._guard:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
                return False
        return True  # it came while this thread was giving up

    def end(self) -> None:
        """End the turn of whoever has it; the next one's begins."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._is_taken = False
