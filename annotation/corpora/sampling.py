"""Draws texts from a corpus, those with denser features more often, from a stored seed.

Deas et al. (2023) §3.1 “approximately weight each sample by the density of AAL-like language
within the text”, 50 texts from each source; the weights are not printed. Here a text's weight is
its density (features per word) plus `DENSITY_FLOOR`, so that texts without any feature keep a
chance, as the paper's data statement says of its own: “some texts notably contain no features”.
With the floor of 0.01 a text with one feature in ten words is drawn first eleven times as often as
one without.

Texts are drawn one after the other without replacement, each with a probability in proportion to
its weight among those that are left (successive sampling).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.common.lazy import np

DENSITY_FLOOR = 0.01


class SamplingError(ValueError):
    """The texts cannot be drawn as asked; the message says what is there."""


@dataclass(frozen=True)
class SampleItem:
    """A text that can be drawn: its unique ``key``, where it was drawn from, features per word."""

    key: str
    source: str = ""
    density: float = 0.0


def sample_texts(
    items: Sequence[SampleItem],
    *,
    seed: int,
    n: int | None = None,
    per_source: int | None = None,
    weighted: bool = True,
) -> tuple[SampleItem, ...]:
    """Return the drawn items in the order of ``items``.

    n : how many to draw from all of them
    per_source : how many to draw from each source, instead of `n`
    weighted : by density as above, else all alike
    seed : whole number from 0; the same seed, keys and densities give the same draw, whatever the
        order of ``items``; with `per_source`, whatever the other sources hold

    Raises `SamplingError` where there are fewer than asked for.
    """
    if (n is None) == (per_source is None):
        raise SamplingError("Say either n or per_source, not both and not neither.")
    if len({item.key for item in items}) < len(items):
        raise SamplingError("A key comes twice, expected one for each text.")
    if n is not None:
        drawn = _draw(items, n, seed, "", weighted)
    else:
        sources = sorted({item.source for item in items})
        if not sources:
            raise SamplingError("There is no text to draw from.")
        drawn = set()
        for source in sources:
            of_source = [item for item in items if item.source == source]
            drawn |= _draw(of_source, per_source or 0, seed, source, weighted)
    return tuple(item for item in items if item.key in drawn)


def _draw(items: Sequence[SampleItem], n: int, seed: int, source: str, weighted: bool) -> set[str]:
    if n < 1:
        raise SamplingError(f"{n} texts are asked for, expected at least 1.")
    if n > len(items):
        where = f" from “{source}”" if source else ""
        raise SamplingError(f"{n} texts{where} are asked for, but there are {len(items)}.")
    ordered = sorted(items, key=lambda item: item.key)
    weights = np.array(
        [item.density + DENSITY_FLOOR if weighted else 1.0 for item in ordered], dtype=float
    )
    if not np.all(np.isfinite(weights) & (weights > 0)):
        raise SamplingError("A density is not a number from 0.")
    stream = int.from_bytes(hashlib.sha256(source.encode()).digest()[:8], "big")
    rng = np.random.default_rng([seed, stream])
    chosen = rng.choice(len(ordered), size=n, replace=False, p=weights / weights.sum())
    return {ordered[index].key for index in chosen}
