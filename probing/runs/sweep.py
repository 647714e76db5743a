"""The safety net below the messages: finds work that no message announced."""

from __future__ import annotations

from dataclasses import dataclass

from probing.runs.aggregation import complete_runs
from probing.runs.dispatch import wake_workers
from probing.runs.failure import lapse_leases
from probing.runs.leases import waiting_shards


@dataclass(frozen=True)
class Swept:
    """What a sweep did: leases revoked, messages sent."""

    lapsed: int
    messages: int


def sweep(*, idle: int = 1) -> Swept:
    """Take lapsed leases back and wake up to ``idle`` workers if there is work. Idempotent.

    Computes nothing itself. Three queries when there is nothing to do.
    """
    lapsed = lapse_leases()
    messages = waiting_shards()[:idle].count() if idle > 0 else 0
    if not messages and idle > 0 and complete_runs().exists():
        messages = 1
    if messages:
        wake_workers(messages=messages)
    return Swept(lapsed=lapsed, messages=messages)
