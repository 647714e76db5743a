"""The lines of a rating page: trait scales in the order and with the sides that a person sees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from annotation.models import Instrument, PoleSides, ScaleOrder, TraitScale
from annotation.survey.seeded import shuffle, toss


@dataclass(frozen=True)
class Line:
    """A trait scale as one person sees it; ``position`` counts from 1, down the page."""

    scale: TraitScale
    position: int
    flipped: bool

    @property
    def key(self) -> str:
        return self.scale.slug

    @property
    def left(self) -> str:
        return self.scale.high if self.flipped else self.scale.low

    @property
    def right(self) -> str:
        return self.scale.low if self.flipped else self.scale.high

    def to_scale(self, shown: int) -> int:
        """Return a place on the drawn line (0 left, 100 right) in the scale's own direction."""
        return 100 - shown if self.flipped else shown


def lay_out_lines(
    scales: Iterable[TraitScale], *, instrument: Instrument, seed: int
) -> tuple[Line, ...]:
    """Return the lines of every rating page of one submission.

    Order and sides stay the same on all pages of a submission, so that nobody has to look for a
    word again; between submissions they vary as the instrument says. Counterbalanced sides turn
    all lines of a submission together: each scale is turned for one half of the submissions.
    """
    ordered = sorted(scales, key=lambda scale: (scale.position, scale.pk))
    if instrument.scale_order == ScaleOrder.RANDOMISED:
        ordered = shuffle(ordered, name=lambda scale: scale.slug, seed=seed, purpose="scales")
    flipped = instrument.pole_sides == PoleSides.COUNTERBALANCED and toss(
        seed=seed, purpose="sides"
    )
    return tuple(Line(scale, position, flipped) for position, scale in enumerate(ordered, start=1))
