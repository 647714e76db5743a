"""Writers to SQLite queue up: first come, first served, and no turn is ever kept."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import OperationalError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from stereoscope.queued_sqlite3.base import TURNS, DatabaseWrapper, WriteQueue
from tests.waiting import wait_until


@pytest.fixture
def open_file(tmp_path: Path, django_db_blocker) -> Iterator[Callable[..., BaseDatabaseWrapper]]:
    """Return an opener of connections to one file, as the settings open it."""
    file, opened = tmp_path / "queue.sqlite3", []
    options = {"transaction_mode": "IMMEDIATE", "timeout": 120}

    def open_one(**changes: object) -> BaseDatabaseWrapper:
        settings = {**connections.settings["default"], "NAME": str(file)}
        settings["OPTIONS"] = {**options, **changes}
        opened.append(DatabaseWrapper(settings, alias="default"))
        opened[-1].inc_thread_sharing()
        return opened[-1]

    with django_db_blocker.unblock():
        with open_one().cursor() as cursor:
            cursor.execute("PRAGMA journal_mode=WAL")
            cursor.execute("CREATE TABLE line (who TEXT UNIQUE)")
        yield open_one
        for connection in opened:
            connection.close()


def begin(connection: BaseDatabaseWrapper) -> None:
    connection.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)


def write(connection: BaseDatabaseWrapper, who: str) -> None:
    begin(connection)
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO line VALUES (%s)", [who])
    connection.commit()


def test_the_default_database_has_the_queue() -> None:
    if connections["default"].vendor == "sqlite":
        assert isinstance(connections["default"], DatabaseWrapper)


def test_values_find_their_places_whatever_else_the_sql_holds(open_file) -> None:
    with open_file().cursor() as cursor:
        for who in ("50 %", "%s"):
            cursor.execute("INSERT INTO line VALUES (%s)", [who])
        cursor.execute("SELECT who FROM line WHERE who LIKE '%% %%' AND who != %s", ["%s"])
        assert cursor.fetchall() == [("50 %",)]
        cursor.execute("SELECT who FROM line WHERE who = %(who)s", {"who": "%s"})
        assert cursor.fetchall() == [("%s",)]


def test_who_comes_first_writes_first_and_nobody_passes(open_file) -> None:
    holder = open_file()
    begin(holder)
    turns = TURNS[holder.settings_dict["NAME"]]
    done: list[Future[None]] = []
    with ThreadPoolExecutor(4) as pool:
        for place, who in enumerate(["first", "second", "third"], start=1):
            done.append(pool.submit(write, open_file(), who))
            wait_until(lambda: turns.n_waiting >= place)  # noqa: B023 - called at once
        holder.commit()
        # The one that had its turn comes back at once, and is last all the same.
        write(holder, "holder")
        for future in done:
            future.result(timeout=120)
    with holder.cursor() as cursor:
        cursor.execute("SELECT who FROM line ORDER BY rowid")
        assert [row[0] for row in cursor.fetchall()] == ["first", "second", "third", "holder"]


def end_by_rollback(connection: BaseDatabaseWrapper) -> None:
    begin(connection)
    connection.rollback()


def end_by_closing(connection: BaseDatabaseWrapper) -> None:
    begin(connection)
    connection.close()


def end_by_error(connection: BaseDatabaseWrapper) -> None:
    write(connection, "twice")
    with pytest.raises(Exception, match="UNIQUE"):
        write(connection, "twice")
    connection.rollback()


@pytest.mark.parametrize("end", [end_by_rollback, end_by_closing, end_by_error])
def test_a_turn_ends_with_its_transaction(open_file, end) -> None:
    end(open_file())
    write(open_file(timeout=0.05), "next")


def test_a_turn_ends_where_another_process_holds_the_database(open_file) -> None:
    connection = open_file(timeout=0.05)
    other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(OperationalError, match="locked"):
        begin(connection)
    other.execute("ROLLBACK")
    other.close()
    write(open_file(timeout=0.05), "next")


def test_a_refused_rollback_ends_no_turn(open_file) -> None:
    connection, before = open_file(timeout=0.05), connections["default"]
    connections["default"] = connection
    try:
        with transaction.atomic():
            with pytest.raises(transaction.TransactionManagementError):
                connection.rollback()
            assert connection._turns is not None
        assert connection._turns is None
    finally:
        connections["default"] = before


def test_who_has_waited_for_too_long_leaves_the_queue(open_file) -> None:
    holder = open_file()
    begin(holder)
    with pytest.raises(OperationalError, match="database is locked"):
        begin(open_file(timeout=0.01))
    assert TURNS[holder.settings_dict["NAME"]].n_waiting == 0
    holder.commit()
    write(open_file(timeout=0.05), "next")


def test_a_forked_process_waits_for_no_thread_of_its_parent(open_file) -> None:
    turns = TURNS.setdefault("somewhere", WriteQueue())
    assert turns.take(timeout=0)
    child = os.fork()
    if child == 0:
        os._exit(0 if TURNS.setdefault("somewhere", WriteQueue()).take(timeout=0) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    turns.end()
    del TURNS["somewhere"]


def test_atomic_blocks_take_and_end_turns(open_file) -> None:
    """`transaction.atomic` goes through the same four public methods."""
    before = connections["default"]
    connections["default"] = open_file(timeout=0.05)
    try:
        for who in ("one", "two"):
            with (
                transaction.atomic(),
                transaction.atomic(),
                connections["default"].cursor() as cursor,
            ):
                cursor.execute("INSERT INTO line VALUES (%s)", [who])
            assert connections["default"]._turns is None
    finally:
        connections["default"].close()
        connections["default"] = before
