"""Runs the tests marked `services` once more, on PostgreSQL and Redis of the local host.

Those of workers that die and pay run a third time meanwhile, on a RabbitMQ that is started for
them. What does not answer is skipped, in a block of text that nobody overlooks.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import redis

from tools.faults.processes import HOST, free_port
from tools.faults.services import find_missing, make_rabbitmq
from tools.load.databases import postgres_addresses, postgres_answers

PATIENCE_SECONDS = 3
RABBITMQ = "RabbitMQ"
RABBITMQ_TESTS = ["tests/faults/test_payment_worker.py", "tests/faults/test_worker_death.py"]


def redis_addresses() -> list[str]:
    given = os.environ.get("CELERY_BROKER_URL", "")
    # A database of its own: the tests empty nothing that somebody else may use.
    return ([given] if given.startswith("redis") else []) + ["redis://127.0.0.1:6379/14"]


def redis_answers(address: str) -> bool:
    try:
        with redis.Redis.from_url(address, socket_connect_timeout=PATIENCE_SECONDS) as server:
            return bool(server.ping())
    except redis.RedisError:
        return False


def find_modules() -> list[str]:
    """Return the files with such tests: the others need not even be imported."""
    files = sorted(Path(__file__).parent.rglob("test_*.py"))
    return [str(file) for file in files if "mark.services" in file.read_text(encoding="utf-8")]


@dataclass(frozen=True)
class Installation:
    """Services that tests run on once more, the variables that lead there, and which tests."""

    services: tuple[str, ...]
    environment: dict[str, str]
    arguments: tuple[str, ...]


def plan_installations(
    database: str | None, broker: str | None, rabbitmq: str | None
) -> list[Installation]:
    """Return what is run beside the embedded parts, by the addresses of what is there."""
    stored = {"DATABASE_URL": database} if database else {}
    first = ("PostgreSQL",) if database else ()
    found = []
    if database or broker:
        carried = {"CELERY_BROKER_URL": broker} if broker else {}
        services = (*first, "Redis") if broker else first
        chosen = ("-m", "services", "-n", "3", *find_modules())
        found.append(Installation(services, stored | carried, chosen))
    if rabbitmq:
        carried = {"CELERY_BROKER_URL": rabbitmq}
        chosen = ("-n", "0", *RABBITMQ_TESTS)
        found.append(Installation((*first, RABBITMQ), stored | carried, chosen))
    return found


def run_on(installations: Sequence[Installation], environment: dict[str, str]) -> int:
    """Run the tests of all installations side by side; return how many of them failed.

    What the first one prints is seen at once, what the others print once they have ended.
    """
    with ExitStack() as closing:
        logs = [
            closing.enter_context(tempfile.TemporaryFile()) if number else None
            for number in range(len(installations))
        ]
        running = [
            subprocess.Popen(
                [sys.executable, "-m", "pytest", *installation.arguments],
                env={**environment, **installation.environment},
                stdout=log,
                stderr=log and subprocess.STDOUT,
            )
            for installation, log in zip(installations, logs, strict=True)
        ]
        failed = 0
        for installation, process, log in zip(installations, running, logs, strict=True):
            print(f"\nOnce more on {' and '.join(installation.services)}:", flush=True)
            failed += process.wait() != 0
            if log:
                log.seek(0)
                print(log.read().decode(errors="replace"), flush=True)
        return failed


@contextmanager
def running_rabbitmq(port: int) -> Iterator[None]:
    with tempfile.TemporaryDirectory(prefix="stereoscope-rabbitmq-") as folder:
        node = make_rabbitmq(Path(folder) / "rabbitmq", port)
        node.start()
        try:
            yield
        finally:
            node.kill()


def announce_skip(missing: list[str]) -> None:
    lines = [
        f"SKIPPED: the tests on {' and '.join(missing)}.",
        "Tests marked `services` did not run on it, because no server answered on the local host,",
        "or because it is not installed.",
    ]
    print("\n" + "\n".join(["!" * 96, *(f"!! {line}" for line in lines), "!" * 96]) + "\n")


def main() -> int:
    database = next(filter(postgres_answers, postgres_addresses()), None)
    broker = next(filter(redis_answers, redis_addresses()), None)
    port = None if find_missing(["rabbitmq"]) else free_port()
    missing = [] if database else ["PostgreSQL (127.0.0.1:5432)"]
    missing += [] if broker else ["Redis (127.0.0.1:6379)"]
    missing += [] if port else ["RabbitMQ (rabbitmq-server)"]
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in {"DATABASE_URL", "CELERY_BROKER_URL", "VAR_DIR", "DJANGO_SETTINGS_MODULE"}
    }
    rabbitmq = f"amqp://guest:guest@{HOST}:{port}//" if port else None
    with running_rabbitmq(port) if port else nullcontext():
        failed = run_on(plan_installations(database, broker, rabbitmq), environment)
    if missing:
        announce_skip(missing)
    return failed


if __name__ == "__main__":
    sys.exit(main())
