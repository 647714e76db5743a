"""The lines of a rating page: trait scales in the order and with the sides that a person sees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from annotation.common.seeded import shuffle, toss
from annotation.instruments.text_keys import name_pole
from annotation.models import Instrument, PoleSides, ScaleOrder, TraitScale


class Line(NamedTuple):
    """A trait scale as one person sees it; ``position`` counts from 1, down the page.

    ``low`` and ``high`` are its words in the person's language. Left is where the line begins: in
    a language that runs from right to left the whole page is turned, and the line with it.
    """

    scale: TraitScale
    position: int
    flipped: bool
    low: str
    high: str

    @property
    def key(self) -> str:
        return self.scale.slug

    @property
    def left(self) -> str:
        return self.high if self.flipped else self.low

    @property
    def right(self) -> str:
        return self.low if self.flipped else self.high

    def to_scale(self, shown: int) -> int:
        """Return a place on the drawn line (0 left, 100 right) in the scale's own direction."""
        return 100 - shown if self.flipped else shown

    def to_shown(self, value: float) -> float:
        """Return where a value of the scale stands on the drawn line, 0 left to 100 right."""
        return 100 - value if self.flipped else value


def lay_out_lines(
    scales: Iterable[TraitScale],
    *,
    instrument: Instrument,
    seed: int,
    words: Mapping[str, str] | None = None,
) -> tuple[Line, ...]:
    """Return the lines of every rating page of one submission, with ``words`` for their poles.

    Order and sides stay the same on all pages of a submission, so that nobody has to look for a
    word again; between submissions they vary as the instrument says. Counterbalanced sides turn
    each scale for one half of the submissions: each by itself, or all of a submission together.
    """
    ordered = sorted(scales, key=lambda scale: (scale.position, scale.pk))
    if instrument.scale_order == ScaleOrder.RANDOMIZED:
        ordered = shuffle(ordered, name=lambda scale: scale.slug, seed=seed, purpose="scales")
    known = words or {}
    return tuple(
        Line(
            scale,
            position,
            _is_flipped(scale, sides=instrument.pole_sides, seed=seed),
            low=known.get(name_pole(scale.slug, "low"), scale.low),
            high=known.get(name_pole(scale.slug, "high"), scale.high),
        )
        for position, scale in enumerate(ordered, start=1)
    )


def _is_flipped(scale: TraitScale, *, sides: str, seed: int) -> bool:
    """Return whether the high pole stands on the left; new instruments toss for each scale."""
    if sides == PoleSides.FIXED:
        return False
    purpose = f"side of {scale.slug}" if sides == PoleSides.PER_SCALE else "sides"
    return toss(seed=seed, purpose=purpose)
