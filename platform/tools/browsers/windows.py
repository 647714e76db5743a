"""What a browser's window can do, whatever the engine: one small set of acts for all of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

Hand = Literal["mouse", "touch", "keyboard"]
PHONE = (390, 844)
DESKTOP = (1280, 900)
PATIENCE_SECONDS = 30.0
# The keys of WebDriver by the names that pages know them under.
KEYS = {
    "Backspace": "\ue003",
    "Tab": "\ue004",
    "Enter": "\ue007",
    "Shift": "\ue008",
    "Control": "\ue009",
    "Space": " ",
    "PageUp": "\ue00e",
    "PageDown": "\ue00f",
    "End": "\ue010",
    "Home": "\ue011",
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
}


class Window(Protocol):
    """``complaints`` are errors and warnings of the console, where the engine tells them."""

    complaints: list[str]

    def go(self, address: str) -> None: ...
    def run(self, expression: str) -> Any: ...
    def press_at(self, x: float, y: float, *, touch: bool) -> None: ...
    def press_keys(self, *keys: str) -> None: ...
    def type(self, text: str) -> None: ...
    def save_picture(self, file: Path) -> None: ...


@dataclass(frozen=True)
class Engine:
    """``open_window`` takes a size and whether scripts run; ``missing`` is what is not installed.

    ``lacks`` says by the name of a path why the engine cannot take it.
    """

    name: str
    missing: str
    open_window: Callable[..., AbstractContextManager[Window]]
    lacks: dict[str, str] = field(default_factory=dict)


class BrowserError(RuntimeError):
    """A browser did not do what it was told; the message says what."""


def wait_for(reached: Callable[[], Any], what: str) -> Any:
    """Return the first true value. Raises `BrowserError` after half a minute."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        if found := reached():
            return found
        if time.monotonic() > end:
            raise BrowserError(f"Not within {PATIENCE_SECONDS:g} s: {what}.")
        time.sleep(0.03)
