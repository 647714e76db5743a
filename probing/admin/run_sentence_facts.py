"""What the page of a run says of the sentences that it reads its groups in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeGuard

from probing.measures.ceat import P_VALUE
from probing.measures.sentence_stimuli import SentenceStimuli, group_key
from probing.models import Run


@dataclass(frozen=True)
class SentenceWords:
    """Where the sentences come from, with numbers as the page prints them."""

    name: str
    total: str
    per_word: str
    sha256: str
    has_p_values: bool


@dataclass(frozen=True)
class SupplyRow:
    """How many sentences were drawn for a word, out of those in which it was found."""

    word: str
    drawn: str
    found: str


def is_read_in_sentences(stimuli: Any) -> TypeGuard[SentenceStimuli]:
    """Return whether a run's stimuli are sentences, not templates or texts."""
    return isinstance(stimuli, SentenceStimuli)


def sentence_words(run: Run, stimuli: SentenceStimuli) -> SentenceWords:
    """One query."""
    return SentenceWords(
        name=stimuli.source.name,
        total=f"{stimuli.source.n_sentences:,}",
        per_word=f"{stimuli.source.per_word:,}",
        sha256=stimuli.source.sha256,
        has_p_values=run.scores.filter(name=P_VALUE).exists(),
    )


def sentence_supply(stimuli: SentenceStimuli) -> list[SupplyRow]:
    """Return one row for every group and adjective, groups first."""
    plurals = {group_key(group.slug): group.plural for group in stimuli.groups}
    return [
        SupplyRow(
            plurals.get(key) or key.partition(":")[2],
            f"{len(sample.drawn):,}",
            f"{sample.n_found:,}",
        )
        for key, sample in stimuli.contexts.items()
    ]
