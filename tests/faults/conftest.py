"""Real worker processes that tests start, kill and start again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from tests import waiting
from tests.conftest import ROOT
from tests.probing.conftest import checkpoints  # noqa: F401
from tests.probing.runs.fixtures import (  # noqa: F401
    bert,
    make_run,
    one_thread,
    own_copy,
    shared_database,
)
from tests.probing.runs.training_fixtures import (  # noqa: F401
    copier,
    copying_model,
    dialect,
    make_training,
    own_folder,
)
from tests.probing.runs.tuning_fixtures import base, made_up, make_tuning  # noqa: F401

# Nothing waits that long where nothing is wrong, however busy the machine is.
PATIENCE_SECONDS = 300.0


class WorkerProcess:
    """``celery worker`` in a process group of its own, with its own folder and broker."""

    def __init__(self, environment: dict[str, str], log: Path) -> None:
        self.environment = environment
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def broker_folder(self) -> Path:
        return Path(self.environment["VAR_DIR"]) / "broker"

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "celery", "-A", "stereoscope", "worker"),
                    *("--concurrency", "1", "--loglevel", "INFO"),
                ],
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def kill(self) -> None:
        """End the worker and its pool at once, as a power cut does."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """Ask the worker to stop, as a service manager does, and wait until it has."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(timeout=PATIENCE_SECONDS)
        self._process = None

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def manage(self, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
        """Call ``manage.py`` in the worker's environment, with ``changes`` to it."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env={**self.environment, **changes},
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )


@pytest.fixture
def worker(shared_database: str, tmp_path: Path) -> Iterator[WorkerProcess]:  # noqa: F811
    """A worker on the test's database, not started yet."""
    broker = settings.CELERY_BROKER_URL
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "COV_", "STEREOSCOPE_TESTS"))
    } | {
        "DJANGO_SETTINGS_MODULE": "stereoscope.settings",
        "PYTHONPATH": f".{os.pathsep}platform",
        "VAR_DIR": str(tmp_path / "var"),
        "DATABASE_URL": shared_database,
        "CELERY_BROKER_URL": broker,
        "SECRET_KEY": "only-for-this-test",
        "SWEEP_SECONDS": "1",
        "SHARD_LEASE_SECONDS": "4",
        "MODEL_THREADS": "1",
        "MODEL_DEVICE": "cpu",
        "LOG_LEVEL": "INFO",
    }
    process = WorkerProcess(environment, tmp_path / "worker.log")
    try:
        yield process
    finally:
        process.kill()
        if connection.vendor == "postgresql":
            _end_sessions()


def _end_sessions() -> None:
    """End the sessions of killed workers, which PostgreSQL may not have noticed yet."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture
def wait_until(worker: WorkerProcess) -> Callable[[Callable[[], bool]], None]:
    """Wait for a condition; on failure show what the worker said last."""

    def wait(condition: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> None:
        def last_words() -> str:
            said = worker.log.read_text()[-3000:] if worker.log.exists() else "(nothing)"
            return f"; the worker's last words:\n{said}"

        waiting.wait_until(condition, seconds=seconds, explain=last_words)

    return wait
