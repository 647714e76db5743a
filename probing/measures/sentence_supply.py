"""Checks whether a corpus has enough sentences for every group and adjective."""

from __future__ import annotations

from collections.abc import Iterable

from probing.lm.protocols import EmbeddingModel
from probing.measures.adjectives import Adjectives, both_poles
from probing.measures.base import Problem
from probing.measures.sentence_stimuli import SentenceStimuli, group_key, word_key
from probing.measures.stimuli import Trait

#: With fewer sentences than this, an embedding says as much of the sentences as of the word.
FEW_SENTENCES = 10
_GROUP = "group:"


class SentenceSupply:
    """How many of the drawn sentences the model can read, for every group and adjective.

    Raises StimuliError where sentences with an adjective were never looked for.
    """

    def __init__(
        self, stimuli: SentenceStimuli, adjectives: Adjectives, lm: EmbeddingModel
    ) -> None:
        self._source = stimuli.source
        self._longest = lm.max_length
        self._groups = [group_key(group.slug) for group in stimuli.groups]
        self._traits = [
            [word_key(word) for word in both_poles(trait, adjectives)] for trait in stimuli.traits
        ]
        samples = {group_key(group.slug): stimuli.of_group(group.slug) for group in stimuli.groups}
        self._label = {group_key(group.slug): group.plural for group in stimuli.groups}
        for word in _words(stimuli.traits, adjectives):
            samples[word_key(word)] = stimuli.of_word(word)
            self._label[word_key(word)] = word
        sentences = {o.sentence for sample in samples.values() for o in sample.drawn}
        self._long = {text for text in sentences if len(lm.encode(text)) > lm.max_length}
        self._drawn = {key: len(sample.drawn) for key, sample in samples.items()}
        self._read = {
            key: sum(o.sentence not in self._long for o in sample.drawn)
            for key, sample in samples.items()
        }

    @property
    def single_adjectives(self) -> bool:
        """Whether a trait has one adjective for each pole."""
        return any(len(keys) == 2 for keys in self._traits)

    def problems(self) -> list[Problem]:
        """Return why nothing could be scored, which is fatal, or else what lacks sentences."""
        if fatal := self._fatal():
            return [Problem("sentences", fatal, True)]
        found = [*self._absent(), *self._scarce()]
        if self._long:
            message = (
                f"{len(self._long):,} of the drawn sentences are longer than the "
                f"{self._longest:,} tokens that the model reads, and are left out."
            )
            found.append(Problem("sentences", message, False))
        return found

    def _fatal(self) -> str:
        """Return why not a single score could be computed; empty if some can."""
        n = self._source.n_sentences
        total = f"{n:,} sentence{'' if n == 1 else 's'} of “{self._source.name}”"
        of_groups = [self._read[key] for key in self._groups if self._read[key]]
        if not of_groups:
            return (
                f"None of the groups occurs in the {total} that the model can read. Give "
                "sentences that name the groups."
            )
        of_traits = [
            counts for keys in self._traits if all(counts := [self._read[key] for key in keys])
        ]
        if not of_traits:
            return (
                f"No trait has sentences for all adjectives of both poles in the {total} that the "
                "model can read. Give more sentences."
            )
        if max(of_groups) == 1 and all(counts == [1, 1] for counts in of_traits):
            return (
                f"The {total} say too little: with one sentence for each word the effect is ±√2 "
                "whatever the embeddings. Give more sentences."
            )
        return ""

    def _absent(self) -> list[Problem]:
        found = []
        for key in [key for key, n in self._read.items() if not n]:
            why = (
                f"occurs in “{self._source.name}” only in sentences that are longer than the "
                "model reads"
                if self._drawn[key]
                else f"does not occur in “{self._source.name}”"
            )
            is_group = key.startswith(_GROUP)
            what = "the group gets no score" if is_group else "its trait gets no score"
            where = f"group {key.removeprefix(_GROUP)}" if is_group else "adjectives"
            found.append(Problem(where, f"“{self._label[key]}” {why}: {what}.", False))
        return found

    def _scarce(self) -> list[Problem]:
        few = {key: n for key, n in self._read.items() if 0 < n < FEW_SENTENCES}
        if not few:
            return []
        listed = ", ".join(f"“{self._label[key]}” ({n})" for key, n in few.items())
        message = (
            f"Fewer than {FEW_SENTENCES} sentences hold {listed}. Scores that rest on so few say "
            "as much of the sentences as of the words."
        )
        return [Problem("sentences", message, False)]


def _words(traits: Iterable[Trait], adjectives: Adjectives) -> Iterable[str]:
    """Return all adjectives, each once: lists share some of them."""
    return dict.fromkeys(word for trait in traits for word in both_poles(trait, adjectives))
