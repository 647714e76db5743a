"""Bands of numeric answers, such as ages: from where each starts to where the next one does."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise

DEFAULT_BANDS = "age: 18, 25, 35, 45, 55, 65; years-in-state: 0, 1, 5, 20"
ENTRY = re.compile(r"(?P<slug>[-\w]+)\s*:\s*(?P<starts>-?\d{1,6}(\s*,\s*-?\d{1,6})*)", re.ASCII)


class BandsError(ValueError):
    """A text that names no bands; the message says where and what is expected."""


def parse_bands(text: str) -> dict[str, tuple[int, ...]]:
    """Return question → starts of its bands, from “age: 18, 25, 35; years-in-state: 0, 5”."""
    found: dict[str, tuple[int, ...]] = {}
    for entry in (part.strip() for part in text.split(";")):
        if not entry:
            continue
        match = ENTRY.fullmatch(entry)
        if match is None:
            raise BandsError(f"“{entry}” names no bands, expected such as “age: 18, 25, 35”.")
        slug = match["slug"]
        starts = tuple(int(start) for start in match["starts"].split(","))
        if slug in found:
            raise BandsError(f"The bands of “{slug}” stand here twice.")
        if any(later <= earlier for earlier, later in pairwise(starts)):
            raise BandsError(f"The bands of “{slug}” do not rise: {match['starts']}.")
        found[slug] = starts
    return found


def band_names(starts: tuple[int, ...]) -> tuple[str, ...]:
    """Return the names of all bands: “under 18”, “18 to 24”, “25 or more”."""
    inner = [str(a) if b == a + 1 else f"{a} to {b - 1}" for a, b in pairwise(starts)]
    return (f"under {starts[0]}", *inner, f"{starts[-1]} or more")


def band_of(number: float, starts: tuple[int, ...]) -> str:
    """Return the name of the band that holds ``number``."""
    return band_names(starts)[bisect_right(starts, number)]
