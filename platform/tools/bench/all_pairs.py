"""All paired groups of the ABC model through the work engine, with two real workers.

A database of its own in SQLite, a small model, one run of each measure left alone and one in
which a worker is killed half-way and another started in its place; the scores must be equal.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.bench.measuring import Row
from tools.bench.slot_checkpoint import Size, save_checkpoint

if TYPE_CHECKING:
    from probing.models import LanguageModel, Run

ROOT = Path(__file__).resolve().parents[3]
GROUPS, TEMPLATE = "cao-2022-table-3", "that-group-is-trait"
MEASURES = ("set", "ilps_star")
TINY = Size(layers=2, hidden=64, heads=2, vocabulary=1_000, groups=0)
WORKERS = 2
LONGEST_SECONDS = 3600.0


def run() -> list[Row]:
    """Return the time from asking for a run to its last score, with and without a kill."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_checkpoint(folder / "model", TINY)
        environment = _describe_environment(folder)
        subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], env=environment, check=True)
        os.environ.update(environment)
        import django

        django.setup()
        return [row for measure in MEASURES for row in _measure(measure, folder, environment)]


def _measure(measure: str, folder: Path, environment: dict[str, str]) -> list[Row]:
    alone, whole = _time(measure, folder, environment, kill=False)
    disturbed, again = _time(measure, folder, environment, kill=True)
    if _scores(whole) != _scores(again):
        raise RuntimeError(f"the killed worker changed scores of {measure}")
    return [alone, replace(disturbed, figures=disturbed.figures | {"scores that differ": 0})]


def _time(
    measure: str, folder: Path, environment: dict[str, str], *, kill: bool
) -> tuple[Row, Run]:
    from probing.models import RunStatus, ShardStatus

    with _workers(folder, environment) as workers:
        begun, cpu = time.perf_counter(), _cpu_seconds()
        run = _create_run(measure, folder / "model")
        created = time.perf_counter() - begun
        half = run.shard_count // 2 if kill else run.shard_count + 1
        while run.status in (RunStatus.WAITING, RunStatus.RUNNING):
            time.sleep(0.2)
            run.refresh_from_db(fields=["status"])
            if run.shards.filter(status=ShardStatus.STORED).count() >= half:
                _kill(workers.pop(0))
                workers.append(_start_worker(folder, environment))
                half = run.shard_count + 1
            if time.perf_counter() - begun > LONGEST_SECONDS:
                break
        seconds = time.perf_counter() - begun
    if run.status != RunStatus.FINISHED:
        raise RuntimeError(f"the run of {measure} did not finish:\n{_last_words(folder)}")
    groups = len(run.stimuli["groups"])
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
    row = Row(
        f"{measure}, a worker killed half-way" if kill else f"{measure}, {WORKERS} workers",
        f"{groups:,} paired groups × 32 adjectives",
        seconds,
        _cpu_seconds() - cpu,
        measured=1,
        of=1,
        peak_mb=peak,
        figures={
            "shards": run.shard_count,
            "scores stored": run.scores.count(),
            "shards that took a second attempt": run.shards.filter(attempts__gt=1).count(),
            "seconds until the run was created": created,
        },
    )
    return row, run


def _create_run(measure: str, model: Path) -> Run:
    from annotation.library.paired_groups import create_paired_groups
    from annotation.models import GroupSet
    from probing.runs.creation import create_run
    from probing.runs.stimuli import load_stimuli

    paired = create_paired_groups(group_set=GroupSet.objects.get(slug=GROUPS))
    return create_run(
        measure=measure,
        model=_register(model),
        stimuli=load_stimuli(groups=paired.group_set.slug, templates=TEMPLATE),
        parameters={},
        seed=0,
        created_by=None,
    )


def _register(model: Path) -> LanguageModel:
    from probing.runs.language_models import register_model

    return register_model(location=str(model))


def _scores(run: Run) -> list[tuple[Any, ...]]:
    found = run.scores.order_by("name", "template", "group", "trait")
    return list(found.values_list("name", "template", "group", "trait", "value", "reason", "n"))


@contextmanager
def _workers(folder: Path, environment: dict[str, str]) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Run workers as they are deployed: one task at a time each, and here one thread."""
    workers = [_start_worker(folder, environment) for _ in range(WORKERS)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
        for worker in workers:
            worker.wait(timeout=60)


def _start_worker(folder: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    with (folder / "worker.log").open("ab") as log:
        return subprocess.Popen(  # noqa: S603
            [
                *(sys.executable, "-m", "celery", "--app", "stereoscope", "worker"),
                *("--pool", "solo", "--concurrency", "1", "--loglevel", "WARNING"),
                *("--hostname", f"bench-{time.monotonic_ns()}@localhost"),
            ],
            cwd=ROOT,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _kill(worker: subprocess.Popen[bytes]) -> None:
    """End a worker at once, as a power cut does."""
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()


def _last_words(folder: Path) -> str:
    return (folder / "worker.log").read_text(encoding="utf-8")[-2000:]


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of the workers that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _describe_environment(folder: Path) -> dict[str, str]:
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "stereoscope.settings",
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'platform'}",
        "VAR_DIR": str(folder / "var"),
        "DATABASE_URL": f"sqlite:///{folder / 'bench.sqlite3'}",
        "CELERY_BROKER_URL": "filesystem://localhost//",
        "SECRET_KEY": "only-for-this-benchmark",
        "MODEL_DEVICE": "cpu",
        "MODEL_THREADS": "1",
        "LOG_LEVEL": "WARNING",
    }
