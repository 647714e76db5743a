"""The web server as in an installation, in processes of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError

ROOT = Path(__file__).resolve().parents[3]
HOST = "127.0.0.1"
PATIENCE_SECONDS = 180.0
BACKLOG = 2048  # gunicorn's own


class ServerError(RuntimeError):
    """The server did not start; the message is the end of its log."""


@dataclass(frozen=True)
class WebServer:
    """A running gunicorn: ``pid`` is its first process, which starts the others."""

    port: int
    pid: int

    def pids(self) -> list[int]:
        """Return all its processes (Linux)."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [self.pid, *map(int, children)]


@contextmanager
def run_web_server(
    environment: Mapping[str, str], log: Path, *, backlog: int = BACKLOG, port: int = 0
) -> Iterator[WebServer]:
    """Run gunicorn with the product's configuration until the block ends.

    The socket is opened here, so that no other program can take the port in between; ``port`` is
    that of a server before, 0 for a free one. Raises `ServerError`.
    """
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(backlog)
        port = listener.getsockname()[1]
        with log.open("wb") as output:
            process = subprocess.Popen(  # noqa: S603
                [
                    *(sys.executable, "-m", "gunicorn", "--config", "python:stereoscope.server"),
                    *("--bind", f"fd://{listener.fileno()}"),
                ],
                cwd=ROOT,
                env=dict(environment),
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=(listener.fileno(),),
                start_new_session=True,
            )
        listener.close()  # where the server is killed, nobody listens
        try:
            _wait_until_it_answers(process, port, log)
            yield WebServer(port, process.pid)
        finally:
            _stop(process)


def _wait_until_it_answers(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://{HOST}:{port}/health/live", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    raise ServerError(f"the web server did not start; it said:\n{log.read_text()[-3000:]}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=15)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
