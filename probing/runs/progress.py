"""Selector: how far a run is, how fast, and who works on it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, F, Max, Min, Q, QuerySet
from django.utils import timezone

from probing.models import Run, RunEvent, Shard, ShardStatus
from probing.runs.leases import OPEN

RATE_MINUTES = 10
# Up to here every shard is drawn by itself; above, each mark stands for several.
LARGEST_DRAWING = 2000
LOG_LINES = 12
ERROR_LINES = 20


@dataclass(frozen=True)
class ShardBin:
    """One mark of the drawing: ``count`` neighboring shards from ``first`` on.

    ``state`` is the least finished of them: failed, running, waiting, repeated or stored.
    """

    first: int
    count: int
    state: str


@dataclass(frozen=True)
class WorkerRow:
    """One worker of the run. ``rate`` is in shards a minute over the last ten minutes."""

    name: str
    device: str
    stored: int
    rate: float
    working: bool


@dataclass(frozen=True)
class RunProgress:
    """Progress of a run.

    Attributes
    ----------
    total, stored, leased, pending, failed : numbers of shards.
    repeated : stored or waiting shards that took more than one attempt so far.
    rate : shards a minute, over the last ten minutes of an open run and over all of a closed one.
    seconds_left : at this rate, None where nothing was stored lately or the run is closed.
    """

    status: str
    total: int
    stored: int
    leased: int
    pending: int
    failed: int
    repeated: int
    rate: float
    seconds_left: float | None
    bins: tuple[ShardBin, ...]
    stored_times: tuple[datetime, ...]
    workers: tuple[WorkerRow, ...]
    events: tuple[RunEvent, ...]
    event_count: int
    troubled: tuple[Shard, ...]

    @property
    def is_open(self) -> bool:
        return self.status in OPEN

    @property
    def percent(self) -> int:
        """Whole percents, rounded down, so that 100 means finished."""
        return 100 * self.stored // self.total if self.total else 0

    @property
    def ends_at(self) -> datetime | None:
        if self.seconds_left is None:
            return None
        return timezone.now() + timedelta(seconds=self.seconds_left)


def load_progress(run: Run) -> RunProgress:
    """Return the progress of ``run``. Eight queries, whatever the number of shards.

    No query reads a result or a payload, and none returns more than a few thousand rows.
    """
    now = timezone.now()
    status = Run.objects.values_list("status", flat=True).get(pk=run.pk)
    shards = Shard.objects.filter(run_id=run.pk)
    stored = Q(status=ShardStatus.STORED)
    lately = Q(stored_at__gte=now - timedelta(minutes=RATE_MINUTES))
    counts = shards.aggregate(
        total=Count("pk"),
        stored=Count("pk", filter=stored),
        leased=Count("pk", filter=Q(status=ShardStatus.LEASED)),
        pending=Count("pk", filter=Q(status=ShardStatus.PENDING)),
        failed=Count("pk", filter=Q(status=ShardStatus.FAILED)),
        repeated=Count("pk", filter=Q(attempts__gt=1)),
        recent=Count("pk", filter=stored & lately),
        first_recent=Min("started_at", filter=stored & lately),
        first=Min("started_at"),
        last=Max("stored_at"),
    )
    recent = counts.pop("recent")
    first_recent, first, last = (counts.pop(k) for k in ("first_recent", "first", "last"))
    is_open = status in OPEN
    if is_open:
        rate = _per_minute(recent, first_recent, now)
    else:
        rate = _per_minute(counts["stored"], first, last)
    left = counts["total"] - counts["stored"]
    log = RunEvent.objects.filter(run_id=run.pk)
    return RunProgress(
        status=status,
        **counts,
        rate=rate,
        seconds_left=60 * left / rate if is_open and rate else None,
        bins=tuple(_bins(shards, counts["total"])),
        stored_times=tuple(_stored_times(shards)),
        workers=tuple(_workers(shards, lately, now)),
        events=tuple(log.order_by("-at", "-pk")[:LOG_LINES]),
        event_count=log.count(),
        troubled=tuple(
            shards.exclude(error="")
            .only("index", "title", "status", "attempts", "error", "run_id")
            .order_by("-status", "index")[:ERROR_LINES]
        ),
    )


def _per_minute(shards: int, begin: datetime | None, end: datetime | None) -> float:
    if not shards or begin is None or end is None or end <= begin:
        return 0.0
    return 60 * shards / (end - begin).total_seconds()


def _bins(shards: QuerySet[Shard], total: int) -> list[ShardBin]:
    """Return the drawing; the shards are binned by the database where they are too many."""
    size = -(-total // LARGEST_DRAWING) if total else 1
    rows = (
        shards.order_by()
        .annotate(bin=F("index") / size)
        .values("bin", "status")
        .annotate(number=Count("pk"), repeated=Count("pk", filter=Q(attempts__gt=1)))
        .order_by("bin")
    )
    bins: dict[int, dict[str, int]] = {}
    for row in rows:
        found = bins.setdefault(int(row["bin"]), {"repeated": 0, "number": 0})
        found[row["status"]] = row["number"]
        found["repeated"] += row["repeated"]
        found["number"] += row["number"]
    return [ShardBin(bin * size, found["number"], _state(found)) for bin, found in bins.items()]


def _state(found: dict[str, int]) -> str:
    if ShardStatus.FAILED in found:
        return "failed"
    if ShardStatus.LEASED in found:
        return "running"
    if ShardStatus.PENDING in found:
        return "waiting"
    return "repeated" if found["repeated"] else "stored"


def _stored_times(shards: QuerySet[Shard]) -> list[datetime]:
    """Return when the latest shards were stored, oldest first."""
    times = (
        shards.filter(stored_at__isnull=False)
        .order_by("-stored_at")
        .values_list("stored_at", flat=True)[:LARGEST_DRAWING]
    )
    return [time for time in times if time is not None][::-1]


def _workers(shards: QuerySet[Shard], lately: Q, now: datetime) -> list[WorkerRow]:
    stored = Q(status=ShardStatus.STORED)
    rows = (
        shards.exclude(worker="")
        .order_by()
        .values("worker")
        .annotate(
            device=Max("device"),
            stored=Count("pk", filter=stored),
            recent=Count("pk", filter=stored & lately),
            begin=Min("started_at", filter=stored & lately),
            leased=Count("pk", filter=Q(status=ShardStatus.LEASED, lease_until__gte=now)),
        )
        .order_by("worker")
    )
    return [
        WorkerRow(
            name=row["worker"],
            device=row["device"],
            stored=row["stored"],
            rate=_per_minute(row["recent"], row["begin"], now),
            working=row["leased"] > 0,
        )
        for row in rows
    ]
