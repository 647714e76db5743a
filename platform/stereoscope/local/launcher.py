"""Everything that `make run` does once the environment is there."""

from __future__ import annotations

import errno
import os
import signal
import socket
import sys
import urllib.request
from collections.abc import Callable
from urllib.error import URLError

from django.conf import settings
from django.db import connection

from stereoscope.local.processes import ChildCommand
from stereoscope.local.supervision import Supervisor
from stereoscope.presence import end_presence

HOST = "127.0.0.1"
READY_SECONDS = 120.0


class PortTakenError(Exception):
    """The port cannot be had; the message says how to choose another."""


def claim_port(port: int) -> None:
    """Raise `PortTakenError` unless a server could listen on ``port`` now."""
    with socket.socket() as probe:
        # As the web server does it: connections that are just ending do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
            reason = "is taken by another program" if taken else f"cannot be used ({error})"
            raise PortTakenError(
                f"Port {port} on {HOST} {reason}. Choose another: make run PORT={_other(port)}"
            ) from error


def _other(port: int) -> int:
    return port + 1 if 1024 <= port < 65535 else 8001


def child_commands(port: int) -> list[ChildCommand]:
    """Return the web server and the worker, on this installation's settings."""
    python_path = os.pathsep.join([str(settings.BASE_DIR), str(settings.BASE_DIR / "platform")])
    environment = {
        **os.environ,
        "PYTHONPATH": python_path,
        "PYTHONUNBUFFERED": "1",
        "DJANGO_SETTINGS_MODULE": os.environ["DJANGO_SETTINGS_MODULE"],
        "PORT": str(port),
        "VAR_DIR": str(settings.VAR_DIR),
    }
    logs = settings.VAR_DIR / "log"
    web = [
        *(sys.executable, "-m", "gunicorn", "--config", "python:stereoscope.server"),
        *("--bind", f"{HOST}:{port}"),
    ]
    # One task at a time in the process itself: PyTorch already uses every core, and a forked
    # pool would load each model once more. Nobody listens to mingle, gossip and heartbeats here.
    worker = [
        *(sys.executable, "-m", "celery", "--app", "stereoscope", "worker"),
        *("--pool", "solo", "--concurrency", "1"),
        *("--hostname", worker_name(port), "--loglevel", "INFO"),
        *("--without-mingle", "--without-gossip", "--without-heartbeat"),
    ]
    return [
        ChildCommand("web", web, environment, settings.BASE_DIR, logs / "web.log"),
        ChildCommand(
            "worker",
            worker,
            environment,
            settings.BASE_DIR,
            logs / "worker.log",
            # First finish what is begun, then hand the shard back.
            gentle=(signal.SIGTERM, signal.SIGQUIT),
        ),
    ]


def worker_name(port: int) -> str:
    return f"local-{port}@{socket.gethostname()}"


def is_ready(port: int) -> bool:
    """Return whether web, database, broker and worker answer."""
    try:
        with urllib.request.urlopen(f"http://{HOST}:{port}/health/ready", timeout=5) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False


def supervise(*, port: int, on_ready: Callable[[], None], say: Callable[[str], None]) -> int:
    """Run web and worker until a signal comes or one keeps dying; return the exit status."""
    end_presence(name=worker_name(port))  # of a worker that was killed a moment ago
    connection.close()
    return Supervisor(child_commands(port), say).run(
        is_ready=lambda: is_ready(port), on_ready=on_ready, patience=READY_SECONDS
    )
