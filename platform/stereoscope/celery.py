"""The Celery application. The database holds the truth about work; messages only wake workers."""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import TYPE_CHECKING, Any

from celery import Celery
from celery.signals import celeryd_init, worker_ready, worker_shutdown
from kombu.exceptions import ChannelError
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps

if TYPE_CHECKING:
    from stereoscope.presence import PresenceThread


# --- The filesystem broker, made to survive what happens to folders
#
# Kombu's transport ends the worker when its folder is deleted, and a reader may take a message
# that is not wholly written. Here a missing folder is an empty one, and a message appears at once.


class Channel(filesystem.Channel):
    """Kombu's channel with folders that come back and messages that are never seen half."""

    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        folder = Path(self.data_folder_out)
        name = f"{time.time_ns():020d}_{uuid.uuid4()}.{queue}.msg"
        part = folder / f"{name}.part"  # a name that no reader looks for
        try:
            folder.mkdir(parents=True, exist_ok=True)
            part.write_text(dumps(payload), encoding="utf-8")
            part.replace(folder / name)
        except OSError as error:
            raise ChannelError(f"The message cannot be written into {folder}.") from error

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        try:
            return super()._get(queue)
        except FileNotFoundError:
            Path(self.data_folder_in).mkdir(parents=True, exist_ok=True)
            raise Empty from None

    def _size(self, queue: str) -> int:
        try:
            return super()._size(queue)
        except FileNotFoundError:
            return 0

    def get_table(self, exchange: str) -> list[Any]:
        table = super().get_table(exchange)
        if table:
            return table
        # The folder is new or was deleted: what this process has declared is written down again.
        for queue, bound_to, key in list(self.state.bindings):
            if bound_to == exchange:
                entry = self.typeof(exchange).prepare_bind(queue, exchange, key, {})
                self._queue_bind(exchange, *entry)
        return super().get_table(exchange)

    def _queue_bind(self, *args: Any) -> None:
        self.control_folder.mkdir(parents=True, exist_ok=True)
        super()._queue_bind(*args)


class Transport(filesystem.Transport):
    Channel = Channel


def register_transport() -> None:
    """Let ``filesystem://`` mean this transport, in workers and in whatever sends messages."""
    TRANSPORT_ALIASES["filesystem"] = "stereoscope.celery:Transport"


# --- The application

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
