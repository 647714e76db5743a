"""Writes a run's log."""

from __future__ import annotations

from probing.models import RunEvent, RunEventKind, Shard

MESSAGE_LENGTH = 300


def log_event(*, run_id: int, kind: RunEventKind, message: str, shard: Shard | None = None) -> None:
    """Add one line to the log of a run, in the transaction of the change that it reports."""
    RunEvent.objects.create(
        run_id=run_id,
        shard_index=None if shard is None else shard.index,
        kind=kind,
        message=message if len(message) <= MESSAGE_LENGTH else message[: MESSAGE_LENGTH - 1] + "…",
    )
