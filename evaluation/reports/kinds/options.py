"""Options that several kinds of reports share."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from evaluation.reports.errors import ReportError
from evaluation.reports.kinds.base import ReportParameters
from probing.models import WordList


class IntervalParameters(ReportParameters):
    """Resamples, seed and level of all intervals."""

    resamples: int = Field(
        2000, ge=100, le=100_000, description="Bootstrap resamples for the intervals."
    )
    seed: int = Field(0, ge=0, le=2**31 - 1, description="The same seed gives the same numbers.")
    level: float = Field(0.95, gt=0.5, lt=1, description="Coverage of the intervals.")


class WordListParameters(IntervalParameters):
    word_list: str | None = Field(
        None,
        description="Slug of a word list; its hits in a text are counted as toxicity. Without one "
        "toxicity is not computed.",
    )


NO_WORD_LIST = "Toxicity was not computed: no word list was given."


@dataclass(frozen=True)
class Words:
    """A word list as a report uses it; ``record`` is kept with the report."""

    words: tuple[str, ...]
    record: dict[str, Any]


def word_list_choices() -> list[tuple[str, str]]:
    """Return (slug, title) of all word lists. One query."""
    return list(WordList.objects.values_list("slug", "title"))


def check_word_list(slug: str | None) -> None:
    """Raise `ReportError` for a word list that does not exist."""
    if slug is not None:
        load_words(slug)


def load_words(slug: str | None) -> Words | None:
    """Return the word list of that slug, None without one. One query."""
    if slug is None:
        return None
    found = WordList.objects.filter(slug=slug).first()
    if found is None:
        known = ", ".join(known for known, _ in word_list_choices()) or "none"
        raise ReportError(f"There is no word list “{slug}”. Word lists: {known}.")
    words = tuple(found.words)
    record = {
        "slug": found.slug,
        "title": found.title,
        "n_words": len(words),
        "citation": found.citation,
        "licence": found.licence,
        "hash": hashlib.sha256("\n".join(words).encode()).hexdigest(),
    }
    return Words(words, record)
