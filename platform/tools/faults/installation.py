"""One installation: its services, a web server and a worker, in a folder of a limited size."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError

from tools.faults.processes import HOST, Process, free_port
from tools.faults.services import find_missing, make_postgres, make_rabbitmq, make_redis
from tools.load.server import ROOT

DISK_MEGABYTES = 400
FAKETIME_FOLDERS = ("/usr/lib/*/faketime", "/usr/lib/faketime")
FAKETIME = "libfaketimeMT.so.1"


@dataclass(frozen=True)
class Setup:
    """What an installation stores in, and what carries its messages."""

    name: str
    services: tuple[str, ...]
    web_processes: int


SETUPS = {
    "sqlite-files": Setup("SQLite + files", (), 1),
    "postgres-redis": Setup("PostgreSQL + Redis", ("postgres", "redis"), 2),
    "postgres-rabbitmq": Setup("PostgreSQL + RabbitMQ", ("postgres", "rabbitmq"), 2),
}


def find_installed(keys: Sequence[str]) -> list[str]:
    """Return those of the setups whose services are installed, and say loudly which are not."""
    found = []
    for key in keys:
        if missing := find_missing(SETUPS[key].services):
            edge, absent = "!" * 96, " and ".join(missing)
            text = f"!! SKIPPED: {SETUPS[key].name}: {absent} is not installed."
            sys.stderr.write(f"\n{edge}\n{text}\n{edge}\n\n")
        else:
            found.append(key)
    return found


@dataclass
class Installation:
    """Its processes by name, and the environment that they share with this process."""

    folder: Path
    setup: Setup
    disk: Path
    disk_is_limited: bool
    port: int
    environment: dict[str, str]
    services: dict[str, Process] = field(default_factory=dict)

    @property
    def web(self) -> Process:
        return self.services["web"]

    @property
    def worker(self) -> Process:
        return self.services["worker"]

    @property
    def database(self) -> Process | None:
        return self.services.get("postgres")

    @property
    def broker(self) -> Process | None:
        return self.services.get("redis") or self.services.get("rabbitmq")

    def restart_platform(self, **changes: str) -> None:
        """Start web server and worker anew, with ``changes`` to their environment for this time."""
        for process in (self.web, self.worker):
            process.kill()
            process.environment = self.environment | changes
        for process in (self.web, self.worker):
            process.start()


@contextmanager
def run_services(setup: Setup, folder: Path) -> Iterator[dict[str, str]]:
    """Yield the variables that lead to the setup's services, which run until the block ends."""
    with ExitStack() as ending:
        places, services = _make_services(setup, folder, folder)
        for service in services.values():
            ending.callback(service.kill)
            service.start()
        yield places


@contextmanager
def run_installation(key: str, folder: Path) -> Iterator[Installation]:
    """Start services, migrate, start web server and worker; all of them are killed at the end."""
    setup = SETUPS[key]
    with ExitStack() as ending:
        disk = folder / "disk"
        disk.mkdir(parents=True)
        is_limited = ending.enter_context(_small_disk(disk))
        port = free_port()
        environment, services = _prepare_services(setup, folder, disk, port)
        made = Installation(folder, setup, disk, is_limited, port, environment, services)
        ending.callback(_kill_all, made)
        for service in services.values():
            service.start()
        # The processes and this one, which creates studies and runs, and checks what is stored.
        os.environ |= environment
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "--verbosity", "0"], cwd=ROOT, check=True
        )
        services |= {"web": _make_web(made), "worker": _make_worker(made)}
        made.web.start()
        made.worker.start()
        yield made


def _kill_all(installation: Installation) -> None:
    for process in reversed(installation.services.values()):
        process.kill()


@contextmanager
def _small_disk(place: Path) -> Iterator[bool]:
    """Put a small disk at ``place`` where this account may; yields whether it did."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m", "stereoscope", str(place)]
    mounted = os.geteuid() == 0 and not subprocess.run(command, check=False).returncode  # noqa: S603
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(place)], check=False)  # noqa: S603, S607


def _prepare_services(
    setup: Setup, folder: Path, disk: Path, port: int
) -> tuple[dict[str, str], dict[str, Process]]:
    """Return the platform's environment and the services that it needs."""
    places, services = _make_services(setup, folder, disk)
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in {"DEBUG", "DATABASE_URL", "CELERY_BROKER_URL", "HTTPS", "ALLOWED_HOSTS"}
        and not name.startswith(("PYTEST_", "COV_", "STEREOSCOPE_TESTS"))
    } | {
        "DJANGO_SETTINGS_MODULE": "stereoscope.settings",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "platform")]),
        "SECRET_KEY": "only-for-this-measurement",
        "IDENTITY_KEYS": "only-for-this-measurement-and-long-enough",
        "ARRIVALS_PER_HOUR": "0",  # all of them come from one address
        "VAR_DIR": str(disk / "var"),
        "STATIC_ROOT": str(folder / "static"),
        "STATIC_MANIFEST": "false",
        "WEB_PROCESSES": str(setup.web_processes),
        "PORT": str(port),
        "SWEEP_SECONDS": "1",
        "SHARD_LEASE_SECONDS": "4",
        "MODEL_THREADS": "1",
        "MODEL_DEVICE": "cpu",
        "HF_HUB_OFFLINE": "1",
    }
    return environment | places, services


def _make_services(
    setup: Setup, folder: Path, disk: Path
) -> tuple[dict[str, str], dict[str, Process]]:
    """Return the variables that lead to the services, and these, not started yet."""
    places: dict[str, str] = {}
    services: dict[str, Process] = {}
    if "postgres" in setup.services:
        own = free_port()
        services["postgres"] = make_postgres(disk / "postgres", own)
        places["DATABASE_URL"] = f"postgres://postgres@{HOST}:{own}/postgres"
    if "redis" in setup.services:
        own = free_port()
        services["redis"] = make_redis(folder / "redis", own)
        places["CELERY_BROKER_URL"] = f"redis://{HOST}:{own}/0"
    if "rabbitmq" in setup.services:
        own = free_port()
        services["rabbitmq"] = make_rabbitmq(folder / "rabbitmq", own)
        places["CELERY_BROKER_URL"] = f"amqp://guest:guest@{HOST}:{own}//"
    return places, services


def _make_web(made: Installation) -> Process:
    return Process(
        "the web server",
        [
            *(sys.executable, "-m", "gunicorn", "--config", "python:stereoscope.server"),
            *("--bind", f"{HOST}:{made.port}"),
        ],
        environment=made.environment,
        folder=ROOT,
        log=made.folder / "web.log",
        answers=lambda: _web_answers(made.port),
    )


def _make_worker(made: Installation) -> Process:
    log = made.folder / "worker.log"
    return Process(
        "the worker",
        [
            *(sys.executable, "-m", "celery", "--app", "stereoscope", "worker"),
            *("--pool", "solo", "--concurrency", "1", "--loglevel", "INFO"),
        ],
        environment=made.environment,
        folder=ROOT,
        log=log,
        # It is started; whether it works is seen by the runs.
        answers=lambda: True,
    )


def _web_answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://{HOST}:{port}/health/live", timeout=5):
            return True
    except (URLError, OSError):
        return False


def make_clock(file: Path, installation: Installation) -> dict[str, str]:
    """Return the variables of a process whose clock is as far ahead as ``file`` says.

    Only the clock on the wall: the one that counts seconds goes on, as on a real machine. With that
    left alone, libfaketime 0.9.10 refuses every sleep, so that Python's waits in another way.
    """
    folder = installation.folder / "sleep"
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(
        "import threading, time\n"
        "time.sleep = lambda seconds: threading.Event().wait(seconds) and None\n"
    )
    return {
        "LD_PRELOAD": str(find_faketime()),
        "FAKETIME_TIMESTAMP_FILE": str(file),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "PYTHONPATH": os.pathsep.join([str(folder), installation.environment["PYTHONPATH"]]),
    }


def find_faketime() -> str | None:
    """Return the library that changes a process's clock, None where it is not installed."""
    found = [
        file for folder in FAKETIME_FOLDERS for file in Path("/").glob(f"{folder[1:]}/{FAKETIME}")
    ]
    return str(found[0]) if found else None
