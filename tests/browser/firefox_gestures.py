"""The gestures of `gestures`, made in Firefox over WebDriver BiDi.

Its driver knows no pen, no momentum, and no finger that the system takes over: those are left out.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.browser import gestures
from tests.browser.gestures import FRAME, Gesture, Hand, Point
from tools.browsers.firefox import FirefoxWindow

BUTTONS = {"left": 0, "middle": 1, "right": 2}
ESCAPE = "\ue00c"
BEYOND = {
    "finger that stops a rolling page",
    "finger that stops a rolling page, then goes along",
    "swipe from the edge",
    "drag that the system takes over",
    "pen",
    "second button of a pen",
}
TOUCH: dict[str, Gesture] = {k: v for k, v in gestures.TOUCH.items() if k not in BEYOND}
POINTER = {k: v for k, v in gestures.POINTER.items() if k not in BEYOND}


@dataclass
class FirefoxPage:
    """What gestures ask of a page of Playwright's."""

    window: FirefoxWindow
    viewport_size: dict[str, int]

    def evaluate(self, expression: str, arg: Any = None) -> Any:
        return self.window.run(f"({expression})({json.dumps(arg)})")

    def wait_for_timeout(self, ms: float) -> None:
        time.sleep(ms / 1000)


class FirefoxHand(Hand):
    """Fingers are put down together: a gesture of two begins with both."""

    def __init__(self, window: FirefoxWindow, size: tuple[int, int], rng: np.random.Generator):
        self.window, self.rng, self.line = window, rng, {}
        self.page: Any = FirefoxPage(window, {"width": size[0], "height": size[1]})
        self.paths: list[list[Point]] = []

    def zoom_out(self) -> None:
        """Fingers of this driver do not zoom."""

    def touch(self, kind: str, *points: Point) -> None:
        if kind == "touchEnd":
            self.window.act(*(_go(path, "touch") for path in self.paths))
            self.paths = []
        for i, point in enumerate(points):
            if i == len(self.paths):
                self.paths.append([])
            self.paths[i].append(point)

    def draw(self, points: list[Point], *, lift: str = "touchEnd") -> float:
        self.window.act(_go(points, "touch"))
        return round(points[-1][0])

    def button(self, points: list[Point], button: str = "left", pointer: str = "mouse") -> float:
        self.window.act(_go(points, pointer, BUTTONS[button]))
        if button != "left":
            self.window.press_keys(ESCAPE)  # a menu
        return round(points[-1][0])


def _go(points: list[Point], pointer: str, button: int = 0) -> dict[str, Any]:
    """Return the actions of one pointer that is pressed along points."""
    first, *others = [{"type": "pointerMove", "x": round(x), "y": round(y)} for x, y in points]
    frame = round(1000 * FRAME)
    moves = [move | {"duration": frame} for move in others]
    return {
        "type": "pointer",
        "id": f"{pointer} {id(points)}",
        "parameters": {"pointerType": pointer},
        "actions": [
            first,
            {"type": "pointerDown", "button": button},
            *(moves or [{"type": "pause", "duration": 2 * frame}]),
            {"type": "pointerUp", "button": button},
        ],
    }
