"""The Celery application. The database holds the truth about work; messages only wake workers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celery import Celery
from celery.signals import celeryd_init, worker_ready, worker_shutdown

from stereoscope.broker import register_transport

if TYPE_CHECKING:
    from stereoscope.presence import PresenceThread

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "stereoscope.settings")
# Celery would import all pages to check them and look at no result; `manage.py migrate` checks.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

register_transport()
app = Celery("stereoscope")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(
    ["probing.runs", "evaluation.reports", "annotation.panels", "annotation.studies"]
)


def ensure_broker_folders() -> None:
    """Create the folders of the filesystem broker; does nothing for a real broker."""
    options = app.conf.broker_transport_options or {}
    for key in ("data_folder_in", "data_folder_out", "control_folder"):
        if key in options:
            Path(options[key]).mkdir(parents=True, exist_ok=True)


@celeryd_init.connect
def prepare_worker(**_: object) -> None:
    ensure_broker_folders()


_presences: list[PresenceThread] = []


@worker_ready.connect
def announce_worker(sender: Any, **_: object) -> None:
    """Begin to write down that this worker is alive; ``sender`` is its consumer."""
    from stereoscope.presence import PresenceThread

    presence = PresenceThread(sender.hostname)
    _presences.append(presence)
    presence.start()


@worker_shutdown.connect
def retract_worker(**_: object) -> None:
    while _presences:
        _presences.pop().stop()
