"""Keeps the children of one terminal together: none outlives the others or the launcher."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from types import FrameType

from stereoscope.local.processes import Child, ChildCommand

GENTLE_SECONDS = 10.0
FIRM_SECONDS = 3.0
POLL_SECONDS = 0.2
LAST_LINES = 15
# A child that dies more often than this in so many seconds has a reason that a restart mends not.
MOST_DEATHS = 5
DEATHS_SECONDS = 300.0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Supervisor:
    """Starts, watches and stops children; ``say`` prints a line on the terminal."""

    def __init__(self, commands: Sequence[ChildCommand], say: Callable[[str], None]) -> None:
        self._commands = commands
        self._say = say
        self._children: list[Child] = []
        self._may_restart = False
        self._deaths: dict[str, list[float]] = {}
        self._stops_asked = 0
        self._stops_heard: int | None = None

    def run(
        self, *, is_ready: Callable[[], bool], on_ready: Callable[[], None], patience: float
    ) -> int:
        """Run until a signal comes or a child keeps dying; return the status, 0 after a signal.

        Once all is ready, a child that ends by itself is started again, but for five times alone.
        ``on_ready`` is called once ``is_ready`` says so; if it does not within ``patience``
        seconds, everything is stopped again.
        """
        previous = {number: signal.signal(number, self._note_signal) for number in SIGNALS}
        try:
            for command in self._commands:
                self._children.append(Child(command))
            if self._wait_until(is_ready, patience):
                on_ready()
                self._may_restart = True
                self._wait_until(lambda: False, None)
            return self._explain_end(patience)
        finally:
            self._stop()
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _note_signal(self, number: int, frame: FrameType | None) -> None:
        self._stops_asked += 1

    def _wait_until(self, reached: Callable[[], bool], patience: float | None) -> bool:
        """Return whether ``reached`` came true before a signal, a death or the end of patience."""
        begun = time.monotonic()
        while not self._stops_asked and not self._lost():
            self._show_warnings()
            if reached():
                return True
            if patience is not None and time.monotonic() - begun > patience:
                return False
            time.sleep(POLL_SECONDS)
        return False

    def _lost(self) -> bool:
        """Restart dead children; return whether one is dead for good."""
        for place, child in enumerate(self._children):
            if child.exit_code is None:
                continue
            name, now = child.command.name, time.monotonic()
            recent = [at for at in self._deaths.get(name, []) if now - at < DEATHS_SECONDS]
            if not self._may_restart or len(recent) >= MOST_DEATHS:
                return True
            self._deaths[name] = [*recent, now]
            self._say(
                f"The {name} process ended by itself: {_describe(child)}. It is started again."
            )
            child.kill()  # what it had started
            self._children[place] = Child(child.command)
        return False

    def _dead(self) -> list[Child]:
        return [child for child in self._children if child.exit_code is not None]

    def _show_warnings(self) -> None:
        for child in self._children:
            for line in child.read_warnings():
                self._say(f"[{child.command.name}] {line}")

    def _explain_end(self, patience: float) -> int:
        # What comes once the line below is read is a further one.
        self._stops_heard = self._stops_asked
        if self._stops_heard:
            self._say("Stopping. Work in progress is handed back. Once more to stop at once.")
            return 0
        dead = self._dead()
        for child in dead:
            self._say(f"The {child.command.name} process ended by itself: {_describe(child)}.")
        if not dead:
            self._say(f"The platform was not ready after {patience:.0f} s.")
        for child in dead or self._children:
            self._say(f"The last lines of {child.command.log}:")
            for line in child.read_last_lines(LAST_LINES):
                self._say(f"  {line}")
        return 1

    def _stop(self) -> None:
        """Ask, ask firmly, then kill. A further signal goes straight to the end."""
        heard = self._stops_asked if self._stops_heard is None else self._stops_heard
        for attempt, patience in enumerate((GENTLE_SECONDS, FIRM_SECONDS)):
            for child in self._children:
                child.ask_to_stop(attempt)
            deadline = time.monotonic() + patience
            while time.monotonic() < deadline and self._stops_asked == heard:
                if len(self._dead()) == len(self._children):
                    break
                time.sleep(POLL_SECONDS / 4)
        for child in self._children:
            child.kill()


def _describe(child: Child) -> str:
    code = child.exit_code
    if code is None:
        return "still running"
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit status {code}"
