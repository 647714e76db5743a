"""Django's SQLite backend, with a queue for the writers of one process.

SQLite has no queue: a writer that finds the database locked sleeps and tries again, longer each
time, and whoever asks at the right moment goes first. With many participants at once some would
wait for seconds while others pass them. Here a thread waits for its turn in its process before it
asks SQLite, and is woken when the one before it is done. Other processes meet at SQLite's own lock,
which decides in any case: the queue is about fairness, not about safety.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

from django.db import OperationalError
from django.db.backends.sqlite3 import base

from stereoscope.queued_sqlite3.turns import Turns

# By the file of the database.
TURNS: dict[str, Turns] = {}
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

    Django's stubs leave out the four methods that begin and end transactions.
    """

    _turns: Turns | None = None

    def create_cursor(self, name: str | None = None) -> Any:
        return self.connection.cursor(factory=Cursor)

    def _start_transaction_under_autocommit(self) -> None:
        self._take_turn()
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._end_turn()
            raise

    def _commit(self) -> Any:
        # A commit that fails is followed by a rollback, which ends the turn.
        result = super()._commit()  # type: ignore[misc]
        self._end_turn()
        return result

    def _rollback(self) -> Any:
        try:
            return super()._rollback()  # type: ignore[misc]
        finally:
            self._end_turn()

    def _close(self) -> Any:
        try:
            return super()._close()  # type: ignore[misc]
        finally:
            self._end_turn()

    def _take_turn(self) -> None:
        if self.is_in_memory_db():
            return
        turns = TURNS.setdefault(str(self.settings_dict["NAME"]), Turns())
        timeout = self.settings_dict["OPTIONS"].get("timeout", SQLITE_TIMEOUT_SECONDS)
        if not turns.take(timeout=timeout):
            raise OperationalError("database is locked")  # as SQLite says it
        self._turns = turns

    def _end_turn(self) -> None:
        turns, self._turns = self._turns, None
        if turns is not None:
            turns.end()
