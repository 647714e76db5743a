"""What the rules look at: one submission's answers and times, and what is usual in its study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

# An instrument and a step in its flow.
PageKey = tuple[int, int]


@dataclass(frozen=True, slots=True)
class LineAnswer:
    """``place`` on the drawn line; ``changes`` None where the browser recorded none."""

    place: float
    changes: int | None


@dataclass(frozen=True, slots=True)
class PageRecord:
    """One page: seconds between opening and sending by the server's clock, and the browser's own.

    ``open_seconds`` and ``visible_seconds`` are None where the browser said nothing. ``restored``:
    answers came back after a reload, so that the browser's times are those of its last view.
    ``skipped``: all that the page asked for was left out, so that it has no lines.
    """

    key: PageKey
    seconds: float | None
    open_seconds: float | None = None
    visible_seconds: float | None = None
    restored: bool = False
    pastes: int | None = None
    filled_hidden_field: bool = False
    is_rating: bool = False
    skipped: bool = False

    @property
    def reading_seconds(self) -> float | None:
        """How long the page can have been read: in view, where the browser knows."""
        if self.visible_seconds is None or self.restored:
            return self.seconds
        if self.seconds is None:
            return self.visible_seconds
        return min(self.seconds, self.visible_seconds)


@dataclass(frozen=True, slots=True)
class Visited:
    """What a visit left in numbers: its pages, and its lines by page from the top down."""

    pages: tuple[PageRecord, ...]
    lines: tuple[tuple[LineAnswer, ...], ...]


@dataclass(frozen=True)
class Record:
    """``lines`` by page from the top down; ``texts`` are normalized; no identity, only counts.

    ``same_identities`` counts other submissions of the study under the same id of the panel,
    ``other_studies`` the other studies in which that id took part.
    """

    started_at: datetime
    finished_at: datetime | None
    pages: tuple[PageRecord, ...] = ()
    lines: tuple[tuple[LineAnswer, ...], ...] = ()
    texts: tuple[str, ...] = ()
    same_identities: int | None = None
    other_studies: int | None = None
    is_timed: bool = True


@dataclass(frozen=True)
class Usual:
    """What is usual in a study: median seconds of each page, and how often each text was given."""

    page_medians: Mapping[PageKey, float] = field(default_factory=dict)
    texts: Mapping[str, int] = field(default_factory=dict)
