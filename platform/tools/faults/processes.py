"""Processes that are killed without warning, and started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

HOST = "127.0.0.1"
PATIENCE_SECONDS = 180.0
POLL_SECONDS = 0.05


class FaultsError(RuntimeError):
    """Something did not start or did not come to its end; the message says what it said last."""


class Process:
    """A program in a process group of its own. ``answers`` says whether it does its work."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: Path,
        log: Path,
        answers: Callable[[], bool],
        user: int | None = None,
    ) -> None:
        self.name = name
        self.command = list(command)
        self.environment = dict(environment)
        self.folder, self.log, self.user = folder, log, user
        self.answers = answers
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the program and wait until it answers. Raises `FaultsError`."""
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(  # noqa: S603
                self.command,
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                user=self.user,
            )
        wait_until(lambda: self.answers() or not self.is_running, f"{self.name} answers", self.log)
        if not self.is_running:
            raise FaultsError(f"{self.name} ended by itself:\n{last_words(self.log)}")

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """End the program and everything that it started at once, as a power cut does."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def wait_until(
    reached: Callable[[], bool], what: str, log: Path, *, seconds: float = PATIENCE_SECONDS
) -> None:
    """Wait until something is so. Raises `FaultsError` with the end of the log."""
    end = time.monotonic() + seconds
    while not reached():
        if time.monotonic() > end:
            raise FaultsError(f"Not within {seconds:g} s: {what}.\n{last_words(log)}")
        time.sleep(POLL_SECONDS)


def last_words(log: Path, *, characters: int = 2000) -> str:
    return log.read_text(errors="replace")[-characters:] if log.exists() else "(no log)"


def listens(port: int) -> bool:
    """Return whether a program takes connections on ``port``."""
    try:
        with socket.create_connection((HOST, port), timeout=2):
            return True
    except OSError:
        return False


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
