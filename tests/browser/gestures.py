"""Gestures of hands on a rating page, drawn from a seed and made through the browser's protocol.

Each is meant, with the line and the place where its answer belongs, or it is not. Fingers tremble:
each point of a path is off by up to 4 px, at 4 to 10 swings a second. Angles count from the line.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from playwright.sync_api import CDPSession, Page

FRAME = 0.016
TREMOR_PX = 4.0
# A page counts as at rest after 150 ms; what a tap sends comes later than the finger.
REST_MS = 260
# A page that scrolled this shortly before rolls.
ROLLS_MS = 120
TRIES = 40
HANDLE_RADIUS = 14
Point = tuple[float, float]
LINES = """() => [...document.querySelectorAll("[data-line]")].map((row) => {
  const { x, y, width, height } = row.querySelector(".line-input").getBoundingClientRect();
  return { key: row.dataset.line, x, y, width, height,
    touched: row.querySelector("[data-touched]").value,
    value: row.querySelector(".line-input").value };
})"""

MOVE = """(how) => {
  const [one, next] = [...document.querySelectorAll("[data-line]")].map((row) => row.offsetTop);
  const bar = document.createElement("div");
  document.querySelector("main").prepend(bar);
  // Chromium scrolls along with what grows, so that nothing moves; other browsers do not.
  document.documentElement.style.overflowAnchor = "none";
  const way = scrollY > next - one ? -1 : 1;
  let there = false;
  const move = () => {
    there = !there;
    if (how === "jump") scrollBy({ top: (there ? way : -way) * (next - one), behavior: "instant" });
    else bar.style.height = there ? `${next - one}px` : "0";
  };
  move();
  const moving = setInterval(move, 60);
  addEventListener("pointerdown", () => {
    clearInterval(moving);
    setTimeout(() => bar.remove(), 400);
  }, { capture: true, once: true });
  return new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
}"""
# How long the page had been at rest when it was pressed last, as the browser says it.
RESTED = """() => {
  let scrolled = -Infinity;
  document.addEventListener("scroll", (event) => { scrolled = event.timeStamp; });
  addEventListener("pointerdown", (event) => { window.rested = event.timeStamp - scrolled; }, true);
}"""


@dataclass(frozen=True)
class Outcome:
    """What a gesture did; ``meant`` is the place it was meant for, None for none."""

    kind: str
    meant: float | None
    # Lines whose answer changed, and the answers of all, None without one.
    changed: tuple[str, ...]
    aimed: str
    before: dict[str, float | None]
    after: dict[str, float | None]

    @property
    def is_right(self) -> bool:
        if self.meant is None:
            return not self.changed
        value = self.after[self.aimed]
        return (
            {*self.changed} <= {self.aimed} and value is not None and abs(value - self.meant) <= 2
        )

    def __str__(self) -> str:
        told = [f"{key} from {self.before[key]} to {self.after[key]}" for key in self.changed]
        return f"{self.kind}, meant {self.meant} on {self.aimed}: {told or 'nothing changed'}"


class Hand:
    """A hand at one open rating page, by finger or (``pointer``) mouse and pen."""

    def __init__(self, page: Page, rng: np.random.Generator) -> None:
        self.page = page
        self.rng = rng
        self.device: CDPSession = page.context.new_cdp_session(page)
        self.line: dict[str, Any] = {}
        page.evaluate(RESTED)

    def zoom_out(self) -> None:
        self.device.send("Emulation.setPageScaleFactor", {"pageScaleFactor": 1})

    # What is on the page

    def lines(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.page.evaluate(LINES)
        return found

    def answers(self) -> dict[str, float | None]:
        return {
            one["key"]: float(one["value"]) if one["touched"] == "1" else None
            for one in self.lines()
        }

    def aim(self) -> dict[str, Any]:
        """Bring a line to a place in the window, wait until the page is at rest; return it."""
        index = int(self.rng.integers(len(self.lines())))
        height = self.page.viewport_size["height"]  # type: ignore[index]
        top = self.rng.uniform(0.3, 0.7) * height
        self.page.evaluate(
            "([i, top]) => scrollBy({ top: document.querySelectorAll('.line-input')[i]"
            ".getBoundingClientRect().top - top, behavior: 'instant' })",
            [index, top],
        )
        self.page.wait_for_timeout(REST_MS)
        self.line = self.lines()[index]
        return self.line

    def at(self, place: float) -> Point:
        """Return the point of a place on the aimed line, from 0 to 100."""
        one = self.line
        length = one["width"] - 2 * HANDLE_RADIUS
        x = one["x"] + HANDLE_RADIUS + length * place / 100
        return x, one["y"] + one["height"] / 2 + self.rng.uniform(-12, 12)

    def place_of(self, x: float) -> float:
        share = (x - self.line["x"] - HANDLE_RADIUS) / (self.line["width"] - 2 * HANDLE_RADIUS)
        return 100 * min(1.0, max(0.0, share))

    # Fingers

    def path(
        self, start: Point, way: Point, *, seconds: float, tremor: float = TREMOR_PX
    ) -> list[Point]:
        """Return a trembling way, one point a frame, faster in its middle than at its ends."""
        # A finger that rests sends less.
        frame = FRAME if way != (0, 0) else 3 * FRAME
        frames = max(2, round(seconds / frame))
        rate = self.rng.uniform(4, 10, size=2)
        phase = self.rng.uniform(0, 2 * math.pi, size=2)
        size = self.rng.uniform(0.25, 1) * tremor
        points = []
        for i in range(frames + 1):
            done = (1 - math.cos(math.pi * i / frames)) / 2
            shake = size * np.sin(2 * math.pi * rate * i * frame + phase)
            points.append(
                (start[0] + way[0] * done + shake[0], start[1] + way[1] * done + shake[1])
            )
        return points

    def touch(self, kind: str, *points: Point) -> None:
        fingers = [{"id": i, "x": x, "y": y} for i, (x, y) in enumerate(points)]
        self.device.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})

    def draw(self, points: list[Point], *, lift: str = "touchEnd") -> float:
        """Move one finger along points; return the x where it was lifted."""
        self.touch("touchStart", points[0])
        for point in points[1:]:
            time.sleep(FRAME)
            self.touch("touchMove", point)
        self.touch(lift)
        return points[-1][0]

    def slant(self, low: float, high: float, length: float) -> Point:
        """Return a way at an angle to the line, to any side."""
        angle = math.radians(self.rng.uniform(low, high))
        side, up = self.rng.choice([-1, 1], size=2)
        return side * length * math.cos(angle), up * length * math.sin(angle)

    # Mouse and pen

    def button(self, points: list[Point], button: str = "left", pointer: str = "mouse") -> float:
        held = {"left": 1, "right": 2, "middle": 4}[button]
        common = {"button": button, "pointerType": pointer, "clickCount": 1}

        def send(kind: str, point: Point, buttons: int) -> None:
            where = {"type": kind, "x": point[0], "y": point[1], "buttons": buttons}
            self.device.send("Input.dispatchMouseEvent", {**where, **common})

        send("mousePressed", points[0], held)
        for point in points[1:]:
            send("mouseMoved", point, held)
            time.sleep(FRAME)
        send("mouseReleased", points[-1], 0)
        if button != "left":
            self.page.keyboard.press("Escape")  # a menu
        return points[-1][0]


Gesture = Callable[[Hand], float | None]
TOUCH: dict[str, Gesture] = {}
POINTER: dict[str, Gesture] = {}


def by(kinds: dict[str, Gesture], kind: str) -> Callable[[Gesture], Gesture]:
    def register(make: Gesture) -> Gesture:
        kinds[kind] = make
        return make

    return register


def _place(hand: Hand) -> float:
    return float(hand.rng.uniform(0, 100))


# Meant: each returns the place where its answer belongs.


@by(TOUCH, "tap")
def tap(hand: Hand) -> float:
    seconds = hand.rng.uniform(0.05, 0.15)
    return hand.place_of(hand.draw(hand.path(hand.at(_place(hand)), (0, 0), seconds=seconds)))


@by(TOUCH, "tap, twice")
def tap_twice(hand: Hand) -> float:
    place = _place(hand)
    hand.draw(hand.path(hand.at(place), (0, 0), seconds=0.06))
    time.sleep(hand.rng.uniform(0.05, 0.15))
    return hand.place_of(hand.draw(hand.path(hand.at(place), (0, 0), seconds=0.06)))


@by(TOUCH, "long press")
def press_long(hand: Hand) -> float:
    return hand.place_of(hand.draw(hand.path(hand.at(_place(hand)), (0, 0), seconds=0.8)))


def _drag(hand: Hand, start: float, end: float, seconds: float, steepest: float) -> float:
    first, last = hand.at(start), hand.at(end)
    across = math.tan(math.radians(hand.rng.uniform(-steepest, steepest))) * (last[0] - first[0])
    points = hand.path(first, (last[0] - first[0], across), seconds=seconds)
    return hand.place_of(hand.draw(points))


@by(TOUCH, "drag, up to 15°")
def drag(hand: Hand) -> float:
    start, end = _place(hand), _place(hand)
    if abs(start - end) < 25:
        end = start + (40 if start < 50 else -40)
    return _drag(hand, start, end, hand.rng.uniform(0.25, 1.0), 15)


@by(TOUCH, "short drag")
def drag_a_little(hand: Hand) -> float:
    start = hand.rng.uniform(25, 75)
    end = start + hand.rng.choice([-1, 1]) * hand.rng.uniform(7, 20)
    return _drag(hand, start, end, hand.rng.uniform(0.2, 0.5), 8)


@by(TOUCH, "drag that leaves the line")
def wander(hand: Hand) -> float:
    first = hand.path(hand.at(20), (100, 0), seconds=0.3)
    off = hand.path(first[-1], (60, hand.rng.choice([-1, 1]) * 90), seconds=0.3)
    return hand.place_of(hand.draw(first + off))


@by(POINTER, "click")
def click(hand: Hand) -> float:
    return hand.place_of(hand.button([hand.at(_place(hand))]))


@by(POINTER, "click, twice")
def click_twice(hand: Hand) -> float:
    point = hand.at(_place(hand))
    hand.button([point])
    return hand.place_of(hand.button([point]))


@by(POINTER, "drag by mouse")
def drag_by_mouse(hand: Hand) -> float:
    start, end = hand.at(_place(hand)), hand.at(_place(hand))
    way = end[0] - start[0], end[1] - start[1]
    return hand.place_of(hand.button(hand.path(start, way, seconds=0.2)))


@by(POINTER, "pen")
def write_by_pen(hand: Hand) -> float:
    start = hand.at(_place(hand))
    way = (hand.rng.choice([0, 60]) * (1 if start[0] < 640 else -1), 0)
    return hand.place_of(hand.button(hand.path(start, way, seconds=0.2, tremor=1), pointer="pen"))


# Not meant: each returns None.


@by(TOUCH, "swipe, 30° to 90°")
def swipe(hand: Hand) -> None:
    way = hand.slant(30, 90, hand.rng.uniform(60, 300))
    hand.draw(hand.path(hand.at(hand.rng.uniform(30, 70)), way, seconds=hand.rng.uniform(0.1, 0.7)))


@by(TOUCH, "swipe that turns along the line")
def turn(hand: Hand) -> None:
    first = hand.path(hand.at(hand.rng.uniform(20, 60)), hand.slant(60, 90, 70), seconds=0.2)
    hand.draw(first + hand.path(first[-1], (90, 0), seconds=0.2))


def _roll(hand: Hand) -> None:
    """Fling the page and leave it rolling, with a line in the middle of the window."""
    begun, room = hand.page.evaluate(
        "[scrollY, document.documentElement.scrollHeight - innerHeight]"
    )
    way = -300 if begun < room / 2 else 300
    # As fast at its end as before: a finger that slows down leaves nothing rolling.
    hand.draw([(60 + hand.rng.uniform(-2, 2), 420 + way * (i / 6 - 0.5)) for i in range(7)])
    hand.page.wait_for_timeout(int(hand.rng.uniform(0, 60)))
    _nearest(hand)


def _nearest(hand: Hand) -> None:
    height = hand.page.viewport_size["height"]  # type: ignore[index]
    hand.line = min(hand.lines(), key=lambda one: abs(one["y"] - height / 2))


@by(TOUCH, "finger that stops a rolling page")
def stop(hand: Hand) -> None:
    _roll(hand)
    hand.draw(hand.path(hand.at(_place(hand)), (0, 0), seconds=hand.rng.uniform(0.05, 0.6)))


@by(TOUCH, "finger that stops a rolling page, then goes along")
def stop_and_go(hand: Hand) -> None:
    _roll(hand)
    hand.draw(hand.path(hand.at(30), hand.slant(0, 20, 100), seconds=0.3))


def _move(hand: Hand, how: str) -> None:
    """Let the page move on every 60 ms until it is pressed, by one line to and fro."""
    hand.page.evaluate(MOVE, how)
    _nearest(hand)


for _how, _kind in (("jump", "the page jumps"), ("grow", "something above grows and shrinks")):

    @by(TOUCH, f"tap as {_kind}")
    def tap_at_move(hand: Hand, how: str = _how) -> None:
        _move(hand, how)
        hand.draw(hand.path(hand.at(_place(hand)), (0, 0), seconds=0.08))

    @by(POINTER, f"click as {_kind}")
    def click_at_move(hand: Hand, how: str = _how) -> None:
        _move(hand, how)
        hand.button([hand.at(_place(hand))])


@by(TOUCH, "pinch")
def pinch(hand: Hand) -> None:
    x, y = hand.at(hand.rng.uniform(30, 70))
    spread = hand.rng.uniform(20, 60)
    one, other = (x, y), (x + spread, y + hand.rng.uniform(-60, 60))
    if hand.rng.random() < 0.5:
        hand.touch("touchStart", one)
        time.sleep(hand.rng.uniform(0.02, 0.08))
    hand.touch("touchStart", one, other)
    for i in range(8):
        hand.touch("touchMove", (one[0] - 3 * i, one[1]), (other[0] + 4 * i, other[1]))
        time.sleep(FRAME)
    hand.touch("touchEnd")


@by(TOUCH, "tap by two fingers")
def tap_by_two(hand: Hand) -> None:
    one = hand.at(hand.rng.uniform(10, 50))
    hand.touch("touchStart", one)
    time.sleep(FRAME)
    hand.touch("touchStart", one, (one[0] + 80, one[1] + hand.rng.uniform(-80, 80)))
    time.sleep(0.08)
    hand.touch("touchEnd")


@by(TOUCH, "swipe from the edge")
def swipe_from_edge(hand: Hand) -> None:
    width = hand.page.viewport_size["width"]  # type: ignore[index]
    x = hand.rng.uniform(1, 11)
    left = hand.rng.random() < 0.5
    start = (x if left else width - x, hand.at(0)[1])
    way = ((1 if left else -1) * hand.rng.uniform(60, 200), hand.rng.uniform(-15, 15))
    lift = str(hand.rng.choice(["touchEnd", "touchCancel"]))
    hand.draw(hand.path(start, way, seconds=0.2, tremor=1), lift=lift)


@by(TOUCH, "drag that the system takes over")
def taken_over(hand: Hand) -> None:
    hand.draw(hand.path(hand.at(30), (100, 0), seconds=0.2), lift="touchCancel")


def _press(button: str, pointer: str) -> Gesture:
    def press(hand: Hand) -> None:
        way = (hand.rng.choice([0, 40]), 0.0)
        hand.button(hand.path(hand.at(30), way, seconds=0.1), button, pointer)

    return press


by(POINTER, "right button")(_press("right", "mouse"))
by(POINTER, "middle button")(_press("middle", "mouse"))
by(POINTER, "second button of a pen")(_press("right", "pen"))


def make_gesture(hand: Hand, kind: str, gesture: Gesture) -> Outcome:
    """Make one gesture on some line, answered or not, and say what it did to the page.

    A finger that was to stop a rolling page and came too late, on a busy machine, tries again.
    """
    for _ in range(TRIES):
        hand.aim()
        before = hand.answers()
        meant = gesture(hand)
        hand.page.wait_for_timeout(REST_MS)
        if "rolling" not in kind or hand.page.evaluate("window.rested") < ROLLS_MS:
            break
    else:
        raise AssertionError(f"{kind}: the page did not roll in {TRIES} tries")
    hand.zoom_out()
    after = hand.answers()
    changed = tuple(key for key in after if after[key] != before[key])
    return Outcome(kind, meant, changed, hand.line["key"], before, after)
