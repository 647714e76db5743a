"""The filesystem broker, made to survive what happens to folders.

Kombu's transport ends the worker when its folder is deleted, and a reader may take a message that
is not wholly written. Here a missing folder is an empty one, and a message appears at once.
"""

from __future__ import annotations

import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps


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
    TRANSPORT_ALIASES["filesystem"] = "stereoscope.broker:Transport"
