"""A horizontal axis of values: round ends, round ticks, a line where the reference lies."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evaluation.charts.canvas import Drawing
from evaluation.charts.text_metrics import format_tick, round_up

PLOT = 470


class Axis:
    """Values to pixels, between round ends that hold every value.

    reference : a value with a line of its own, such as 0 for differences
    tick : distance between ticks; by default a round one of which about four fit
    steps : the fewest ticks after the first
    """

    def __init__(
        self,
        left: float,
        values: Sequence[float],
        *,
        reference: float | None = None,
        width: float = PLOT,
        tick: float | None = None,
        steps: int = 1,
    ) -> None:
        known = [value for value in values if math.isfinite(value)]
        if reference is not None:
            known.append(reference)
        low, high = min(known, default=0.0), max(known, default=1.0)
        span = high - low or abs(high) or 1.0
        self.reference = reference
        self.tick = tick or round_up(span / 4, (1, 2, 2.5, 5, 10))
        self.first = math.floor(round(low / self.tick, 9))
        self.last = max(math.ceil(round(high / self.tick, 9)), self.first + steps)
        self.left, self.right = left, left + width

    def __call__(self, value: float) -> float:
        share = (value / self.tick - self.first) / (self.last - self.first)
        return self.left + share * (self.right - self.left)

    @property
    def ticks(self) -> list[float]:
        return [round(i * self.tick, 12) for i in range(self.first, self.last + 1)]

    @property
    def decimals(self) -> int:
        """The decimals that tell one tick from the next."""
        power = math.floor(math.log10(self.tick))
        is_round = round(self.tick / 10.0**power, 9) in (1, 2, 5, 10)
        return max(0, -power + (0 if is_round else 1))

    def draw_grid(self, drawing: Drawing, top: float, bottom: float) -> None:
        """Draw a line for every tick, in ink where the reference lies."""
        for tick in self.ticks:
            marked = self.reference is not None and abs(tick - self.reference) < self.tick / 1e6
            x = self(tick)
            drawing.line((x, top), (x, bottom), color="ink" if marked else "line", grid=True)

    def draw(
        self,
        drawing: Drawing,
        title: str,
        bottom: float,
        *,
        decimals: int | None = None,
        signed: bool = False,
        ends: tuple[str, str] = ("", ""),
    ) -> float:
        """Write ticks, what the ends mean, and the title below the plot; return the lower edge."""
        places = self.decimals if decimals is None else decimals
        for tick in self.ticks:
            text = format_tick(tick, places, signed=signed)
            drawing.text(self(tick), bottom + 14, text, color="ink3", align="center")
        y = bottom + 34
        if any(ends):
            drawing.text(self.left, y, ends[0], color="ink3")
            drawing.text(self.right, y, ends[1], color="ink3", align="right")
            y += 20
        drawing.text((self.left + self.right) / 2, y, title, color="ink3", align="center")
        return y + 12
