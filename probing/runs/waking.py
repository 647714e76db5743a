"""Wakes workers. A lost message costs time until the next sweep, never work."""

from __future__ import annotations

import logging
from pathlib import Path

from celery import current_app

logger = logging.getLogger(__name__)

WORK_TASK = "probing.work_shards"


def ensure_broker_folders() -> None:
    """Create the folders of the filesystem broker; does nothing for a real broker."""
    options = current_app.conf.broker_transport_options or {}
    for key in ("data_folder_in", "data_folder_out", "control_folder"):
        if key in options:
            Path(options[key]).mkdir(parents=True, exist_ok=True)


def send_message(task: str, *arguments: object, messages: int = 1) -> bool:
    """Send ``task`` to the workers ``messages`` times; return whether the broker took it.

    A broker that is away is no error: the database holds the work, and every worker sweeps.
    """
    try:
        ensure_broker_folders()
        for _ in range(messages):
            current_app.send_task(task, args=arguments, retry=False, ignore_result=True)
    except Exception as error:  # every transport raises its own kind
        logger.warning("no worker was woken, the next sweep finds the work: %s", error)
        return False
    return True


def wake_workers(*, messages: int = 1) -> bool:
    """Ask for ``messages`` idle workers to look for shards; return whether the broker took it."""
    return send_message(WORK_TASK, messages=messages)
