"""Options that several kinds of reports share."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field, field_validator

from evaluation.analyses.direction_gaps import DirectionOptions
from evaluation.metrics.rouge import Tokens
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen, ReportKind, ReportParameters
from evaluation.reports.parts.records import CorpusRecord
from probing.models import WordList, WordPurpose


class IntervalParameters(ReportParameters):
    """Resamples, seed and level of all intervals."""

    resamples: int = Field(
        2000,
        ge=100,
        le=100_000,
        description="Bootstrap resamples for the intervals.",
    )
    seed: int = Field(0, ge=0, le=2**31 - 1, description="The same seed gives the same numbers.")
    level: float = Field(
        0.95,
        gt=0.5,
        lt=1,
        title="Coverage of intervals",
        description="Such as 0.95, for 95 % intervals.",
    )

    @property
    def bootstrap(self) -> dict[str, Any]:
        """Return the three by the names that options of analyses have."""
        return {"seed": self.seed, "n_resamples": self.resamples, "level": self.level}


def split_halves(description: str, *, least: int = 100) -> Any:
    """Return the option of how often people are split into random halves."""
    return Field(1000, ge=least, le=100_000, title="Split halves", description=description)


def level_of_measurement(default: str, of: str) -> Any:
    """Return the option of the level at which Krippendorff's alpha takes ratings."""
    return Field(
        default,
        title="Level of measurement",
        description=f"Level at which Krippendorff's alpha{of} takes the ratings.",
    )


def names_in(text: str | None) -> list[str]:
    """Return the names that a text has with commas between them."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def require_pilot_groups(pilot: Sequence[str], known: set[str], what: str) -> None:
    """Raise `ReportError` with the pilot groups that are not known; ``what`` is who lacks them."""
    absent = [f"“{slug}”" for slug in pilot if slug not in known]
    if absent:
        raise ReportError(
            f"{what} the pilot group{'s' if len(absent) > 1 else ''} {', '.join(absent)}. Groups: "
            f"{', '.join(sorted(known))}."
        )


class ArmParameters(ReportParameters):
    """Of reports on what participants said."""

    arm: str = Field(
        "",
        max_length=40,
        pattern=r"^[-a-z0-9]*$",
        description="Only participants in this arm of the study, by its name in the data; empty "
        "for all of them.",
    )

    @field_validator("arm", mode="before")
    @classmethod
    def _no_value_is_no_arm(cls, value: Any) -> Any:
        """Stored options are read as forms are, where an empty text is no value."""
        return "" if value is None else value


class WordListParameters(IntervalParameters):
    word_list: str | None = Field(
        None,
        description="Slug of a word list; its hits in a text are counted as toxicity. Without one "
        "toxicity is not computed.",
    )


class RougeParameters(ReportParameters):
    """Options of reports with Rouge."""

    rouge_tokens: Tokens = Field(
        "unicode",
        description="What words are in Rouge: “unicode” sees every script and emoji; “ascii”, as "
        "in rouge-score, runs of a to z and digits. They are the same for texts in ASCII.",
    )


def rouge_words(parameters: Mapping[str, Any]) -> str:
    """Return what words are in Rouge, for reports' methods."""
    if parameters["rouge_tokens"] == "ascii":
        return "runs of a to z and digits"
    return (
        "runs of letters and digits of any script, single emoji, and single characters "
        "of scripts without spaces"
    )


class DirectionParameters(WordListParameters):
    """Options of reports that compare two directions."""

    test: Literal["paired", "welch", "student"] = Field(
        "paired",
        description="Test of the gaps: paired, since both sides are of the same pairs; Welch's; or "
        "Student's two-sample test with equal variances, as published.",
    )

    def directions(self, corpus: CorpusRecord) -> DirectionOptions:
        """Return how the varieties of a corpus, by its record, are compared."""
        return DirectionOptions(
            source_variety=corpus["source_variety"],
            target_variety=corpus["target_variety"],
            test=self.test,
            **self.bootstrap,
        )


NO_WORD_LIST = "Toxicity was not computed: no word list was given."
HITS_CAVEAT = (
    "A hit says that a word of the list is there, not that the text is offensive: reclaimed words "
    "count like any other."
)


@dataclass(frozen=True)
class Words:
    """A word list as a report uses it; ``record`` is kept with the report."""

    words: tuple[str, ...]
    record: dict[str, Any]


def load_words(slug: str | None) -> Words | None:
    """Return the word list of that slug, None without one. One query."""
    if slug is None:
        return None
    found = WordList.objects.filter(slug=slug).first()
    if found is None:
        lists = WordList.objects.filter(purpose=WordPurpose.LOOKUP)
        known = ", ".join(lists.values_list("slug", flat=True)) or "none"
        raise ReportError(f"There is no word list “{slug}”. Word lists: {known}.")
    words = tuple(found.words)
    record = {
        "slug": found.slug,
        "title": found.title,
        "n_words": len(words),
        "citation": found.citation,
        "license": found.license,
        "hash": hashlib.sha256("\n".join(words).encode()).hexdigest(),
    }
    return Words(words, record)


class WordListKind(ReportKind):
    """A kind that may count the words of a list."""

    def choices(self, parameter: str) -> list[tuple[str, str]] | None:
        """Return (slug, title) of the word lists that are looked for in texts. One query."""
        if parameter != "word_list":
            return super().choices(parameter)
        lists = WordList.objects.filter(purpose=WordPurpose.LOOKUP)
        return list(lists.values_list("slug", "title"))

    def check(self, chosen: Chosen, parameters: Any) -> None:
        """One query."""
        load_words(parameters.word_list)
