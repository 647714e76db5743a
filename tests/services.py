"""Runs the tests marked `services` once more, on PostgreSQL and Redis of the local host.

Those of workers that die and pay run a third time, on a RabbitMQ that is started for them. What
does not answer is skipped, in a block of text that nobody overlooks.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import redis

from tools.faults.processes import HOST, free_port
from tools.faults.services import find_missing, make_rabbitmq
from tools.load.databases import postgres_addresses, postgres_answers

PATIENCE_SECONDS = 3
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


def run_on_rabbitmq(environment: dict[str, str]) -> int:
    """Run the tests of dying workers over a RabbitMQ of its own; return the exit status."""
    with tempfile.TemporaryDirectory(prefix="stereoscope-rabbitmq-") as folder:
        port = free_port()
        node = make_rabbitmq(Path(folder) / "rabbitmq", port)
        node.start()
        try:
            address = {"CELERY_BROKER_URL": f"amqp://guest:guest@{HOST}:{port}//"}
            print("\nThose of dying workers once more on RabbitMQ:", flush=True)
            command = [sys.executable, "-m", "pytest", "-n", "0", *RABBITMQ_TESTS]
            return subprocess.run(command, env=environment | address, check=False).returncode
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
    missing = [] if database else ["PostgreSQL (127.0.0.1:5432)"]
    missing += [] if broker else ["Redis (127.0.0.1:6379)"]
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in {"DATABASE_URL", "CELERY_BROKER_URL", "VAR_DIR", "DJANGO_SETTINGS_MODULE"}
    }
    status = 0
    if database or broker:
        environment |= {"DATABASE_URL": database} if database else {}
        environment |= {"CELERY_BROKER_URL": broker} if broker else {}
        chosen = " and ".join(
            name for name, there in (("PostgreSQL", database), ("Redis", broker)) if there
        )
        print(f"\nOnce more on {chosen}:", flush=True)
        command = [sys.executable, "-m", "pytest", "-m", "services", "-n", "2", *find_modules()]
        status = subprocess.run(command, env=environment, check=False).returncode
    if find_missing(["rabbitmq"]):
        missing += ["RabbitMQ (rabbitmq-server)"]
    else:
        status = status or run_on_rabbitmq(environment)
    if missing:
        announce_skip(missing)
    return status


if __name__ == "__main__":
    sys.exit(main())
