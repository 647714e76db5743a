"""A demo of its own for the pictures: database and files in a folder that goes away again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError

HOST = "127.0.0.1"
PATIENCE_SECONDS = 900.0
ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Installation:
    address: str
    password: str
    pid: int


def prepare_environment(folder: Path) -> None:
    """Let this process and its children work in ``folder``, whatever this shell is set to."""
    for name in ("DATABASE_URL", "CELERY_BROKER_URL", "ALLOWED_HOSTS", "HTTPS", "SITE_URL"):
        os.environ.pop(name, None)
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "stereoscope.settings",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "platform")]),
        "VAR_DIR": str(folder),
        "SECRET_KEY": "only-for-pictures",
        "STATIC_MANIFEST": "false",
        # Simulated people arrive in this process, through the client of Django's tests.
        "ALLOWED_HOSTS": "localhost,127.0.0.1,testserver",
        # Playwright keeps an event loop in this thread, where Django would refuse its database.
        "DJANGO_ALLOW_ASYNC_UNSAFE": "true",
    }


@contextmanager
def run_demo(folder: Path) -> Iterator[Installation]:
    """Run what `make run` runs; yields once web server and worker answer."""
    port = _free_port()
    log = folder / "demo.log"
    with log.open("wb") as output:
        command = [sys.executable, "manage.py", "runlocal", "--port", str(port)]
        process = subprocess.Popen(  # noqa: S603 - our own command
            command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        _wait(process, port, log)
        password = (folder / "admin-password").read_text().strip()
        yield Installation(f"http://{HOST}:{port}", password, process.pid)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"http://{HOST}:{port}/health/ready", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.5)
    raise RuntimeError(f"The demo did not start; it said:\n{log.read_text()[-3000:]}")
