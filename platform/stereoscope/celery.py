"""The Celery application. The database holds the truth about work; messages only wake workers."""

import os
from pathlib import Path

from celery import Celery
from celery.signals import celeryd_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "stereoscope.settings")

app = Celery("stereoscope")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["probing.runs", "evaluation.reports"])


def ensure_broker_folders() -> None:
    """Create the folders of the filesystem broker; does nothing for a real broker."""
    options = app.conf.broker_transport_options or {}
    for key in ("data_folder_in", "data_folder_out", "control_folder"):
        if key in options:
            Path(options[key]).mkdir(parents=True, exist_ok=True)


@celeryd_init.connect
def prepare_worker(**_: object) -> None:
    ensure_broker_folders()
