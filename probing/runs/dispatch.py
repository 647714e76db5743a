"""Wakes workers. A lost message costs time until the next sweep, never work."""

from __future__ import annotations

import logging

from celery import current_app

logger = logging.getLogger(__name__)

WORK_TASK = "probing.work_shards"


def send_message(task: str, *arguments: object, messages: int = 1) -> bool:
    """Send ``task`` to the workers ``messages`` times; return whether the broker took it.

    A broker that is away is no error: the database holds the work, and every worker sweeps.
    """
    try:
        for _ in range(messages):
            current_app.send_task(task, args=arguments, retry=False, ignore_result=True)
    except Exception as error:  # every transport raises its own kind
        logger.warning("no worker was woken, the next sweep finds the work: %s", error)
        return False
    return True


def wake_workers(*, messages: int = 1) -> bool:
    """Ask ``messages`` idle workers to look for shards; return whether the broker took it."""
    return send_message(WORK_TASK, messages=messages)


def any_worker_answers(*, seconds: float = 1.5) -> bool:
    """Ping all workers; return whether one answered within ``seconds``."""
    try:
        return bool(current_app.control.ping(timeout=seconds))
    except Exception as error:  # every transport raises its own kind
        logger.warning("the broker does not answer: %s", error)
        return False
