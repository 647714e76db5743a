"""Keeps a lease alive while its shard is computed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from django.conf import settings
from django.db import connection

from probing.models import Shard
from probing.runs.leases import renew_lease

logger = logging.getLogger(__name__)

RENEWALS_PER_LEASE = 3


@contextmanager
def keep_lease(shard: Shard) -> Iterator[Event]:
    """Renew the lease of ``shard`` from a thread, three times per lease, until the block ends.

    Yields an event that is set when the lease is lost. Nothing rests on noticing that: storing
    is guarded by the lease itself.
    """
    stop, lost = Event(), Event()
    thread = Thread(
        target=_renew_until, args=(shard, stop, lost), name=f"lease of {shard}", daemon=True
    )
    thread.start()
    try:
        yield lost
    finally:
        stop.set()
        thread.join()


def _renew_until(shard: Shard, stop: Event, lost: Event) -> None:
    pause = settings.SHARD_LEASE_SECONDS / RENEWALS_PER_LEASE
    try:
        while not stop.wait(pause):
            try:
                if not renew_lease(shard):
                    lost.set()
                    return
            except Exception:  # a database that is away for a moment: the next beat tries again
                logger.exception("the lease of %s was not renewed", shard)
    finally:
        # Each thread has its own connection; only a thread that used it must close it.
        connection.close()
