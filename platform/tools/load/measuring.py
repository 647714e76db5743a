"""One database measured: a server on it, the levels, the burst, and what is stored at the end."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.db import connection

from annotation.models import GroupAssignment, Submission
from annotation.survey import notices
from stereoscope.server import threads, workers
from tools.load.burst import IN, TURNED_AWAY, Burst, run_burst
from tools.load.checking import check_study
from tools.load.levels import Outcome, count_people, run_level
from tools.load.server import WebServer, run_web_server
from tools.load.slow import keep_slow_clients
from tools.load.studies import make_last_place, make_survey

PLACES = 2
MEGABYTE = 1_000_000


def measure_database(
    *,
    levels: list[int],
    seconds: float,
    arrivals: int,
    slow: int,
    environment: Mapping[str, str],
    log: Path,
) -> dict[str, Any]:
    """Measure the database of this process's settings, which are those of ``environment`` too.

    Returns what is kept as JSON.
    """
    numbers = count_people()
    with run_web_server(environment, log) as server, keep_slow_clients(server, slow):
        rows = [_measure_level(server, participants, seconds, numbers) for participants in levels]
        burst = _measure_burst(server, arrivals, numbers) if arrivals else None
    return {
        "database": connection.vendor,
        "processes": workers,
        "threads": threads,
        "slow": slow,
        "levels": rows,
        "burst": burst,
    }


def _measure_level(
    server: WebServer, participants: int, seconds: float, numbers: Iterator[int]
) -> dict[str, Any]:
    study = make_survey(f"{participants} at once")
    outcome = asyncio.run(
        run_level(
            server,
            study.get_absolute_url(),
            participants=participants,
            seconds=seconds,
            numbers=numbers,
        )
    )
    with closing(connection):
        findings = check_study(study, outcome.visits)
    return describe_level(participants, outcome) | {
        "answers": asdict(findings),
        "is_good": findings.is_clean and not outcome.errors and bool(outcome.visits),
    }


def describe_level(participants: int, outcome: Outcome) -> dict[str, Any]:
    """Return the figures of a level; times are milliseconds of one submit."""
    submits = sorted(outcome.times.submits)
    count = len(submits)
    return {
        "participants": participants,
        "seconds": round(outcome.seconds, 2),
        "surveys": sum(visit.is_complete for visit in outcome.visits),
        "submits": count,
        "submits_per_second": round(count / outcome.seconds, 1),
        "submit_ms": {name: _ms(percentile(submits, share)) for name, share in SHARES.items()},
        "start_ms": {
            name: _ms(percentile(sorted(outcome.times.starts), share))
            for name, share in SHARES.items()
        },
        "server_cpu_ms_per_submit": _ms(outcome.server_cpu_seconds / count if count else math.nan),
        "server_peak_mb": round(outcome.server_peak_bytes / MEGABYTE),
        "client_peak_mb": round(outcome.client_peak_bytes / MEGABYTE),
        "errors": dict(outcome.errors),
    }


SHARES = {"median": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}


def percentile(ordered: list[float], share: float) -> float:
    """Return the smallest of the values that ``share`` of them do not exceed, NaN for none."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def _measure_burst(server: WebServer, arrivals: int, numbers: Iterator[int]) -> dict[str, Any]:
    study = make_last_place(PLACES)
    notice = notices.full(study)
    burst: Burst = asyncio.run(
        run_burst(
            server,
            study.get_absolute_url(),
            notice=notice.title,
            arrivals=arrivals,
            numbers=numbers,
        )
    )
    with closing(connection):
        taken = GroupAssignment.objects.filter(submission__study=study, is_repeat=False).count()
        submissions = Submission.objects.filter(study=study).count()
    right = {IN: 1, TURNED_AWAY: arrivals - 1}
    return {
        "arrivals": arrivals,
        "seen": dict(burst.seen),
        "overshoot": taken - PLACES,
        "is_good": burst.early.is_complete
        and burst.seen == {key: count for key, count in right.items() if count}
        and taken == submissions == PLACES,
    }


def _ms(seconds: float) -> float | None:
    return None if math.isnan(seconds) else round(seconds * 1000, 1)
