"""Records of made-up visits, for tests of the rules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from annotation.studies.quality.record import LineAnswer, PageRecord, Record

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
VARIED = (12, 80, 33, 61, 5, 94, 47, 70)


def lines(*places: float, changes: int | None = 1) -> tuple[LineAnswer, ...]:
    return tuple(LineAnswer(place, changes) for place in places)


def page(step: int, seconds: float | None, **options: Any) -> PageRecord:
    return PageRecord(key=(1, step), seconds=seconds, is_rating=True, **options)


def visit(
    seconds: Sequence[float | None] = (40, 40, 40, 40, 40),
    pages: Sequence[Sequence[LineAnswer]] | None = None,
    **options: Any,
) -> Record:
    """Return a visit with a rating page for each of ``seconds``, varied unless told otherwise."""
    values: dict[str, Any] = {
        "started_at": START,
        "finished_at": START + timedelta(minutes=5),
        "pages": tuple(page(step, time) for step, time in enumerate(seconds)),
        "lines": tuple(pages if pages is not None else [lines(*VARIED)] * len(seconds)),
        "same_identities": 0,
        "other_studies": 0,
    }
    return Record(**{**values, **options})
