"""Lets a worker that is told to stop finish between two shards.

The order reaches the worker's main process, the shards are computed in processes forked from it:
one byte of shared memory tells them. It needs no lock, so nothing can die holding one.
"""

from __future__ import annotations

from multiprocessing.sharedctypes import RawValue
from typing import Any

from celery.signals import worker_ready, worker_shutting_down

_asked = RawValue("b", 0)


def stop_asked() -> bool:
    """Return whether this worker should start nothing new."""
    return bool(_asked.value)


@worker_ready.connect
def forget_order(**_: Any) -> None:
    _asked.value = 0


@worker_shutting_down.connect
def ask_to_stop(**_: Any) -> None:
    _asked.value = 1
