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
    ``skipped``: all that the page asked for was left out, so that it has no lines; ``answered`` is
    the share of its lines that was not.
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
    answered: float = 1.0

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

    @property
    def rated_pages(self) -> list[PageRecord]:
        """Rating pages with an answer, in the order of ``lines``."""
        return [page for page in self.pages if page.is_rating and not page.skipped]


@dataclass(frozen=True)
class Usual:
    """What is usual in a study: median seconds of each page, and how often each text was given.

    A median is that of a page with all its lines: times count for each line that was answered.
    """

    page_medians: Mapping[PageKey, float] = field(default_factory=dict)
    texts: Mapping[str, int] = field(default_factory=dict)

    def seconds_for(self, page: PageRecord) -> float:
        """Return how long the lines that were answered usually take, 0 where it is not known."""
        return self.page_medians.get(page.key, 0.0) * page.answered
