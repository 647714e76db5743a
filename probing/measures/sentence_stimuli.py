"""Stimuli of CEAT: groups, traits, and sentences of a corpus in which they occur."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Self

from probing.measures.adjectives import Adjectives, pole_words
from probing.measures.occurrences import Occurrence, Sample, sample_occurrences
from probing.measures.stimuli import Group, StimuliError, Trait
from probing.measures.stored_stimuli import StoredStimuli, hash_plain, read_trait


@dataclass(frozen=True)
class SentenceSource:
    """Where the sentences come from: the corpus's name, hash and size, and how they were drawn."""

    name: str
    sha256: str
    n_sentences: int
    per_word: int
    seed: int


@dataclass(frozen=True)
class SentenceStimuli(StoredStimuli):
    """Groups and traits with the sentences that were drawn for each of their words.

    contexts : key of a group or adjective → its sample; see `group_key` and `word_key`
    """

    groups: tuple[Group, ...]
    traits: tuple[Trait, ...]
    contexts: Mapping[str, Sample]
    source: SentenceSource

    def __post_init__(self) -> None:
        for name, entries in (("groups", self.groups), ("traits", self.traits)):
            if not entries:
                raise StimuliError(f"There are no {name}. Choose at least one.")

    def of_group(self, slug: str) -> Sample:
        """Return the sentences in which the group occurs."""
        return self.contexts[group_key(slug)]

    def of_word(self, word: str) -> Sample:
        """Return the sentences in which the adjective occurs.

        Raises StimuliError where none were ever looked for.
        """
        try:
            return self.contexts[word_key(word)]
        except KeyError:
            raise StimuliError(
                f"Sentences with “{word}” were not looked for. Draw them again with these "
                "adjectives."
            ) from None

    @cached_property
    def n_drawn(self) -> int:
        """How many sentences were drawn, for all words together."""
        return sum(len(sample.drawn) for sample in self.contexts.values())

    def group(self, slug: str) -> Group:
        for group in self.groups:
            if group.slug == slug:
                return group
        raise StimuliError(f"There is no group '{slug}' in these stimuli.")

    def to_dict(self) -> dict[str, Any]:
        return {
            "groups": [asdict(group) for group in self.groups],
            "traits": [asdict(trait) for trait in self.traits],
            "contexts": {
                key: {
                    "n_found": sample.n_found,
                    "drawn": [[o.sentence, o.start, o.end] for o in sample.drawn],
                }
                for key, sample in self.contexts.items()
            },
            "source": asdict(self.source),
        }

    @classmethod
    def from_plain(cls, raw: Mapping[str, Any]) -> Self:
        return cls(
            groups=tuple(Group(**entry) for entry in raw["groups"]),
            traits=tuple(read_trait(entry) for entry in raw["traits"]),
            contexts={
                key: Sample(
                    tuple(Occurrence(*entry) for entry in sample["drawn"]), sample["n_found"]
                )
                for key, sample in raw["contexts"].items()
            },
            source=SentenceSource(**raw["source"]),
        )

    def content_hash(self) -> str:
        """Return the SHA-256 of the stimuli in canonical JSON; megabytes, so computed once."""
        return self._hash

    @cached_property
    def _hash(self) -> str:
        return hash_plain(self.to_dict())


def group_key(slug: str) -> str:
    return f"group:{slug}"


def word_key(word: str) -> str:
    return f"word:{word}"


def draw_sentences(
    sentences: Iterable[str],
    *,
    groups: Sequence[Group],
    traits: Sequence[Trait],
    name: str,
    per_word: int,
    seed: int,
    adjectives: Adjectives = "pole",
) -> SentenceStimuli:
    """Return the stimuli with a sample of sentences for every group and adjective.

    sentences : read once
    name : of the corpus, as reports print it
    per_word : the most sentences for a group or an adjective
    adjectives : which words stand for a pole

    A group is found by any of its surface forms. Raises StimuliError for an empty corpus.
    """
    phrases: dict[str, Sequence[str]] = {
        group_key(group.slug): (group.singular, group.plural, group.plural_capitalised)
        for group in groups
    }
    for trait in traits:
        for pole in ("low", "high"):
            for word in pole_words(trait, pole, adjectives):
                phrases[word_key(word)] = (word,)
    counted = _Counted(sentences)
    contexts = sample_occurrences(counted, phrases, per_key=per_word, seed=seed)
    if not counted.n:
        raise StimuliError(f"“{name}” holds no sentences, expected at least one for a group.")
    return SentenceStimuli(
        groups=tuple(groups),
        traits=tuple(traits),
        contexts=contexts,
        source=SentenceSource(name, counted.digest.hexdigest(), counted.n, per_word, seed),
    )


class _Counted:
    """Sentences without white space at their ends, blank ones left out, counted and hashed."""

    def __init__(self, sentences: Iterable[str]) -> None:
        self._sentences = sentences
        self.n = 0
        self.digest = hashlib.sha256()

    def __iter__(self) -> Any:
        for line in self._sentences:
            sentence = line.strip()
            if sentence:
                self.n += 1
                self.digest.update(sentence.encode() + b"\n")
                yield sentence
