"""The launcher's children: started apart from the terminal, watched, stopped for certain."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

WORTH_SHOWING = re.compile(r"^.{0,80}?\b(WARNING|ERROR|CRITICAL)\b")
_PR_SET_PDEATHSIG = 1
# Loaded here, because little is safe between fork and exec.
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass(frozen=True)
class ChildCommand:
    """What to start: ``gentle`` are the signals that ask it to stop, the first one first."""

    name: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    log: Path
    gentle: tuple[signal.Signals, ...] = (signal.SIGTERM,)


class Child:
    """A running process that writes to a log file of its own."""

    def __init__(self, command: ChildCommand) -> None:
        self.command = command
        command.log.parent.mkdir(parents=True, exist_ok=True)
        if command.log.exists():
            command.log.replace(command.log.with_suffix(command.log.suffix + ".1"))
        with command.log.open("wb") as log:
            # A session of its own: Ctrl-C reaches the launcher alone, which stops the children in
            # order. Should the launcher itself be killed, Linux tells them.
            self._process = subprocess.Popen(  # noqa: S603
                list(command.arguments),
                cwd=command.folder,
                env=dict(command.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=stop_with_parent if _LIBC is not None else None,
            )
        self._reader: IO[str] = command.log.open(encoding="utf-8", errors="replace")
        self._partial = ""

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Return the exit status, or None while the process runs."""
        return self._process.poll()

    def read_warnings(self) -> list[str]:
        """Return the log's new lines that somebody at the terminal should see."""
        text = self._partial + self._reader.read()
        *lines, self._partial = text.split("\n")
        return [line for line in lines if WORTH_SHOWING.match(line)]

    def read_last_lines(self, count: int) -> list[str]:
        with self.command.log.open(encoding="utf-8", errors="replace") as log:
            return [line.rstrip("\n") for line in deque(log, maxlen=count)]

    def ask_to_stop(self, attempt: int = 0) -> None:
        """Send the gentle signal number ``attempt``, or the last one, to the process itself."""
        if self.exit_code is None:
            gentle = self.command.gentle
            self._process.send_signal(gentle[min(attempt, len(gentle) - 1)])

    def kill(self) -> None:
        """End the process and everything that it started, now."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)  # it leads its own group
        self._process.wait()
        self._reader.close()


def stop_with_parent() -> None:
    """In a child, before it does anything: ask Linux for SIGTERM when the launcher dies."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
