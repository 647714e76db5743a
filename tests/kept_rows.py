"""Rows that all tests of a module find: stored once, in a transaction around them.

Each test works in a savepoint of that transaction, so that it finds the rows as they were stored,
whatever another test did to them. Not for tests whose threads or processes open the database, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction


@contextmanager
def keep_rows(blocker: Any) -> Iterator[None]:
    """Let a fixture of a module store rows; they are gone after the block.

    ``blocker`` is the fixture ``django_db_blocker``.
    """
    with blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)
