"""Texts drawn as examples, with a seed: nobody chose them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from evaluation.reports.parts.document import Prose, Section, Table
from evaluation.reports.parts.formatting import count

T = TypeVar("T")


def draw(items: Sequence[T], n: int, *, seed: int) -> list[T]:
    """Return up to ``n`` of ``items`` without replacement, in their own order."""
    if n >= len(items):
        return list(items)
    places = np.random.default_rng(seed).choice(len(items), size=n, replace=False)
    return [items[int(place)] for place in sorted(places)]


def example_section(
    heading: str, tables: Sequence[Table], which: str, *, n_eligible: int, seed: int
) -> Section:
    """Return a table for each drawn text; ``which`` says of which texts they were drawn."""
    if not tables:
        nothing = f"No text was drawn; {count(n_eligible, 'text')} would fit."
        return Section(heading, (Prose((nothing,)),))
    return Section(
        heading,
        tuple(tables),
        why=f"{count(len(tables), 'text')} drawn with seed {seed} from the {n_eligible} {which}.",
    )
