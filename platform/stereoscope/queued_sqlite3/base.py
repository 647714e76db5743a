"""Django's SQLite backend, with a queue for the writers of one process.

SQLite has no queue: a writer that finds the database locked sleeps and tries again, longer each
time, and whoever asks at the right moment goes first. With many participants at once some would
wait for seconds while others pass them. Here a thread waits for its turn in its process before it
asks SQLite, and is woken when the one before it is done. Other processes meet at SQLite's own lock,
which decides in any case: the queue is about fairness, not about safety.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from functools import lru_cache
from typing import Any

from django.db import OperationalError
from django.db.backends.sqlite3 import base

# --- A queue of threads: first come, first served, each woken by the one before it


class WriteQueue:
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


# --- The backend

# By the file of the database.
TURNS: dict[str, WriteQueue] = {}
# A child must not wait for a thread that exists in its parent alone.
os.register_at_fork(after_in_child=TURNS.clear)
SQLITE_TIMEOUT_SECONDS = 5.0


class Cursor(base.SQLiteCursorWrapper):
    """Django's cursor; SQL that comes again and again is not written anew for SQLite each time."""

    def convert_query(self, query: str, *, param_names: list[str] | None = None) -> str:
        if param_names is not None:
            return str(super().convert_query(query, param_names=param_names))
        return _mark_places(query)


@lru_cache(maxsize=1024)
def _mark_places(query: str) -> str:
    """Return SQL with "?" where Django writes "%s"."""
    return str(base.FORMAT_QMARK_REGEX.sub("?", query).replace("%%", "%"))


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that takes a turn with each transaction, and ends it with the transaction.

    The seam are the four public methods by which Django begins and ends transactions.
    """

    _turns: WriteQueue | None = None

    def create_cursor(self, name: str | None = None) -> Any:
        return self.connection.cursor(factory=Cursor)

    def set_autocommit(
        self, autocommit: bool, force_begin_transaction_with_broken_autocommit: bool = False
    ) -> None:
        if not autocommit:
            self._take_turn()
        try:
            super().set_autocommit(autocommit, force_begin_transaction_with_broken_autocommit)
        except BaseException:
            if not autocommit:
                self._end_turn()
            raise

    def commit(self) -> None:
        # A commit that fails is followed by a rollback, which ends the turn.
        super().commit()
        self._end_turn()

    def rollback(self) -> None:
        refused = self.in_atomic_block  # by Django; the transaction goes on
        try:
            super().rollback()
        finally:
            if not refused:
                self._end_turn()

    def close(self) -> None:
        try:
            super().close()
        finally:
            if self.connection is None or self.closed_in_transaction:
                self._end_turn()

    def _take_turn(self) -> None:
        if self._turns is not None or self.is_in_memory_db():
            return
        turns = TURNS.setdefault(str(self.settings_dict["NAME"]), WriteQueue())
        timeout = self.settings_dict["OPTIONS"].get("timeout", SQLITE_TIMEOUT_SECONDS)
        if not turns.take(timeout=timeout):
            raise OperationalError("database is locked")  # as SQLite says it
        self._turns = turns

    def _end_turn(self) -> None:
        turns, self._turns = self._turns, None
        if turns is not None:
            turns.end()
