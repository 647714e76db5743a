"""A web server as in production, in a process of its own, on a database shared with the test."""

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
from pathlib import Path
from urllib.error import URLError

import pytest

from tests.conftest import ROOT

HOST = "127.0.0.1"
PATIENCE_SECONDS = 60.0


@contextmanager
def run_web_server(database: str, folder: Path) -> Iterator[int]:
    """Run gunicorn with the product's configuration on ``database``; yields its port.

    The socket is opened here, so that no other program can take the port in between.
    """
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        listener.listen(128)
        port = listener.getsockname()[1]
        log = folder / "web.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "gunicorn", "--config", "python:stereoscope.server"),
                    *("--bind", f"fd://{listener.fileno()}"),
                ],
                cwd=ROOT,
                env=describe_environment(database, folder),
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=(listener.fileno(),),
                start_new_session=True,
            )
        try:
            _wait_until_it_answers(process, port, log)
            yield port
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def describe_environment(database: str, folder: Path) -> dict[str, str]:
    """Return the environment of a process of the product on ``database``, in ``folder``."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "COV_", "STEREOSCOPE_TESTS"))
    }
    return inherited | {
        "DJANGO_SETTINGS_MODULE": "stereoscope.settings",
        "PYTHONPATH": f".{os.pathsep}platform",
        "VAR_DIR": str(folder / "var"),
        "DATABASE_URL": database,
        "SECRET_KEY": "only-for-this-test",
        "STATIC_MANIFEST": "false",
    }


def _wait_until_it_answers(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"http://{HOST}:{port}/health/live", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    pytest.fail(f"the web server did not start; it said:\n{log.read_text()[-3000:]}")
