"""PostgreSQL, Redis and RabbitMQ of our own: other ports and folders than those of the machine."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import psycopg

from tools.faults.processes import HOST, FaultsError, Process, free_port, listens

POSTGRES_FOLDERS = "/usr/lib/postgresql/*/bin"
# Debian's own command starts as another user; the one below takes our folders.
RABBIT_COMMAND = "/usr/lib/rabbitmq/bin/rabbitmq-server"
ROOT_ID = 0


def find_program(name: str, *folders: str) -> str | None:
    """Return the path of a program on the path or in one of the folders, the newest first."""
    beside = [str(file) for pattern in folders for file in Path("/").glob(f"{pattern[1:]}/{name}")]
    return shutil.which(name) or next(iter(sorted(beside, reverse=True)), None)


def find_missing(services: Sequence[str]) -> list[str]:
    """Return the services whose programs are not installed here."""
    programs = {
        "postgres": find_program("initdb", POSTGRES_FOLDERS),
        "redis": find_program("redis-server"),
        "rabbitmq": shutil.which(RABBIT_COMMAND),
    }
    return [name for name in services if programs[name] is None]


def make_postgres(folder: Path, port: int) -> Process:
    """Create a cluster in ``folder`` and return its server, not started yet. Raises FaultsError."""
    folder.mkdir(parents=True)
    # PostgreSQL refuses to run as root.
    user = pwd.getpwnam("postgres").pw_uid if os.geteuid() == ROOT_ID else None
    if user is not None:
        os.chown(folder, user, -1)
        for parent in list(folder.parents)[:3]:
            _let_through(parent)
    initdb = find_program("initdb", POSTGRES_FOLDERS)
    made = subprocess.run(  # noqa: S603
        [
            *(str(initdb), "--pgdata", str(folder / "data"), "--username", "postgres"),
            *("--auth", "trust", "--encoding", "UTF8", "--wal-segsize", "1"),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        user=user,
    )
    if made.returncode:
        raise FaultsError(f"initdb failed:\n{made.stderr}")
    server = Path(str(initdb)).with_name("postgres")
    options = {
        "listen_addresses": HOST,
        "port": port,
        "unix_socket_directories": folder,
        "max_wal_size": "16MB",
        "min_wal_size": "2MB",
        "shared_buffers": "32MB",
    }
    return Process(
        "PostgreSQL",
        [
            *(str(server), "-D", str(folder / "data")),
            *(word for name, value in options.items() for word in ("-c", f"{name}={value}")),
        ],
        environment=_plain_environment(folder),
        folder=folder,
        log=folder.with_name("postgres.log"),
        answers=lambda: _postgres_answers(port),
        user=user,
    )


def make_redis(folder: Path, port: int) -> Process:
    """Return a Redis that keeps nothing, as compose.yaml runs it."""
    folder.mkdir(parents=True)
    return Process(
        "Redis",
        [
            *(str(find_program("redis-server")), "--port", str(port), "--bind", HOST),
            *("--save", "", "--appendonly", "no", "--dir", str(folder)),
        ],
        environment=_plain_environment(folder),
        folder=folder,
        log=folder.with_name("redis.log"),
        answers=lambda: listens(port),
    )


def make_rabbitmq(folder: Path, port: int) -> Process:
    """Return a RabbitMQ node with a name, ports and folders of its own."""
    folder.mkdir(parents=True)
    (folder / "enabled_plugins").write_text("[].\n")
    settings = folder / "rabbitmq.conf"
    settings.write_text(f"listeners.tcp.default = {HOST}:{port}\n")
    return Process(
        "RabbitMQ",
        [RABBIT_COMMAND],
        environment=_plain_environment(folder)
        | {
            "RABBITMQ_NODENAME": f"faults{port}@localhost",
            "RABBITMQ_CONFIG_FILE": str(settings),
            "RABBITMQ_ADVANCED_CONFIG_FILE": str(folder / "none"),
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(folder / "log"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled_plugins"),
            "RABBITMQ_CONF_ENV_FILE": os.devnull,
        },
        folder=folder,
        log=folder.with_name("rabbitmq.log"),
        answers=lambda: _rabbitmq_answers(port),
    )


def _plain_environment(folder: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8"}


def _let_through(folder: Path) -> None:
    """Let another user pass a folder of ours on the way to its own."""
    if folder.stat().st_uid == os.geteuid() and folder != Path(folder.anchor):
        folder.chmod(folder.stat().st_mode | 0o011)


def _postgres_answers(port: int) -> bool:
    try:
        with psycopg.connect(f"postgresql://postgres@{HOST}:{port}/postgres", connect_timeout=2):
            return True
    except psycopg.Error:
        return False


def _rabbitmq_answers(port: int) -> bool:
    """Return whether the node lets its guest in, which it does some time after it listens."""
    if not listens(port):
        return False
    from kombu import Connection

    try:
        with Connection(f"amqp://guest:guest@{HOST}:{port}//", connect_timeout=5) as link:
            link.connect()
            return True
    except (OSError, *Connection("amqp://").connection_errors):
        return False
