"""Batches of requests that a server answers within a day, at half price where it has them."""

from __future__ import annotations

from probing.lm.errors import ServerError, UnknownServedModelError
from probing.lm.server_connection import ServerConnection


class ServedBatches(ServerConnection):
    """A served model that may be asked in batches."""

    def require_batches(self) -> None:
        """Raise :class:`ServerError` if the server has no endpoints for batches."""
        client = self._connect()
        try:
            found = self.attempt(lambda: client.batches.list(limit=1), client)
        except UnknownServedModelError:
            raise ServerError("the server has no such page") from None
        if not isinstance(getattr(found, "data", None), list):
            raise ServerError("the server lists none")
