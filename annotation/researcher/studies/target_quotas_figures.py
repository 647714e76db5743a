"""Targets and the map of states, in words and places, ready for their templates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotation.common.small_cells import DEFAULT_MINIMUM
from annotation.common.target_margins import OTHERS
from annotation.models import Origin
from annotation.researcher.pages import formatting
from annotation.studies.overview import Overview
from annotation.studies.target_quotas import (
    CellRow,
    Participants,
    StateCounts,
    load_participants,
)

TILE = 28
# One square for each state, about where it lies: column and row.
# fmt: off
TILES = {
    "Alaska": ("AK", 0, 0), "Maine": ("ME", 11, 0), "Vermont": ("VT", 10, 1),
    "New Hampshire": ("NH", 11, 1), "Washington": ("WA", 1, 2), "Idaho": ("ID", 2, 2),
    "Montana": ("MT", 3, 2), "North Dakota": ("ND", 4, 2), "Minnesota": ("MN", 5, 2),
    "Illinois": ("IL", 6, 2), "Wisconsin": ("WI", 7, 2), "Michigan": ("MI", 8, 2),
    "New York": ("NY", 9, 2), "Rhode Island": ("RI", 10, 2), "Massachusetts": ("MA", 11, 2),
    "Oregon": ("OR", 1, 3), "Nevada": ("NV", 2, 3), "Wyoming": ("WY", 3, 3),
    "South Dakota": ("SD", 4, 3), "Iowa": ("IA", 5, 3), "Indiana": ("IN", 6, 3),
    "Ohio": ("OH", 7, 3), "Pennsylvania": ("PA", 8, 3), "New Jersey": ("NJ", 9, 3),
    "Connecticut": ("CT", 10, 3), "California": ("CA", 1, 4), "Utah": ("UT", 2, 4),
    "Colorado": ("CO", 3, 4), "Nebraska": ("NE", 4, 4), "Missouri": ("MO", 5, 4),
    "Kentucky": ("KY", 6, 4), "West Virginia": ("WV", 7, 4), "Virginia": ("VA", 8, 4),
    "Maryland": ("MD", 9, 4), "Delaware": ("DE", 10, 4), "Arizona": ("AZ", 2, 5),
    "New Mexico": ("NM", 3, 5), "Kansas": ("KS", 4, 5), "Arkansas": ("AR", 5, 5),
    "Tennessee": ("TN", 6, 5), "North Carolina": ("NC", 7, 5), "South Carolina": ("SC", 8, 5),
    "District of Columbia": ("DC", 9, 5), "Oklahoma": ("OK", 4, 6), "Louisiana": ("LA", 5, 6),
    "Mississippi": ("MS", 6, 6), "Alabama": ("AL", 7, 6), "Georgia": ("GA", 8, 6),
    "Hawaii": ("HI", 1, 7), "Texas": ("TX", 4, 7), "Florida": ("FL", 9, 7),
}
# fmt: on


@dataclass(frozen=True)
class Tile:
    """A square of the map; ``css`` is its shade, ``text_css`` that of its letters."""

    letters: str
    name: str
    x: int
    y: int
    css: str
    text_css: str
    count: str
    target: str

    @property
    def text_x(self) -> int:
        return self.x + TILE // 2 - 1

    @property
    def text_y(self) -> int:
        return self.y + TILE // 2 + 3


def describe_targets(overview: Overview) -> dict[str, Any]:
    """Return what the templates of targets and map need. Five queries at most."""
    found = load_shown_participants(overview)
    return {
        "target_tables": [
            (table, [(_label(row), _difference(row), row) for row in table.rows])
            for table in found.tables
        ],
        "tiles": draw_tiles(found.states) if found.states else [],
        "tile_side": TILE - 2,
        "has_state_targets": bool(found.states and found.states.targets),
        "smallest": DEFAULT_MINIMUM,
    }


def load_shown_participants(overview: Overview) -> Participants:
    """Return who took part, beside the targets; nobody for an imported study."""
    instrument = overview.instrument
    if overview.study.origin == Origin.IMPORTED or instrument is None:
        return Participants((), None)
    return load_participants(overview.study, instrument_id=instrument.pk)


def _label(row: CellRow) -> str:
    return _("All others") if row.cell == OTHERS else row.cell


def _difference(row: CellRow) -> str:
    """Return the percentage points above the target, with a sign; "" where nobody is shown."""
    if row.observed is None or row.observed.n == 0:
        return ""
    text = f"{100 * (row.observed.share - row.target):+.1f}"
    return "0.0" if text in {"+0.0", "-0.0"} else text.replace("-", "−")


def draw_tiles(states: StateCounts) -> list[Tile]:
    """Return the map's squares in the order of the alphabet, shaded by count in four steps."""
    most = max(states.shown.values(), default=0)
    return [
        Tile(
            letters=letters,
            name=name,
            x=column * TILE,
            y=row * TILE,
            css=(shade := _shade(states.shown.get(name), most)),
            text_css="tile-text-on" if shade in {"tile-3", "tile-4"} else "text-ink",
            count=str(states.shown[name]) if name in states.shown else _("kept back"),
            target=formatting.percent(states.targets[name], digits=1)
            if name in states.targets
            else "",
        )
        for name, (letters, column, row) in sorted(TILES.items())
    ]


def _shade(count: int | None, most: int) -> str:
    if count is None:
        return "tile-hidden"
    if count == 0:
        return "tile-0"
    return f"tile-{_quarter(count, most)}"


def _quarter(count: int, most: int) -> int:
    """Return 1 to 4: in which quarter of the way to the largest count this one lies."""
    return min(4, 1 + 4 * (count - 1) // max(1, most))
