"""Stimuli of direct ratings: a study's own question, its groups and its trait scales."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from probing.measures.stimuli import Group, StimuliError, Trait
from probing.measures.stored_stimuli import StoredStimuli, read_trait

GROUP_SLOT, LEFT_SLOT, RIGHT_SLOT = "{group}", "{low}", "{high}"


@dataclass(frozen=True)
class RatingStimuli(StoredStimuli):
    """What people were asked in a study, as one version of its instrument has it.

    Attributes
    ----------
    question : with ``{group}`` for the group in the plural, perhaps with ``{low}`` and ``{high}``
        for the words at the left and the right end.
    lead : what stands below the question; may be empty.
    study, title, version, instrument_hash : which study and version of its instrument.
    language : in which all of it is written.
    """

    groups: tuple[Group, ...]
    traits: tuple[Trait, ...]
    question: str
    lead: str = ""
    study: str = ""
    title: str = ""
    version: int = 1
    instrument_hash: str = ""
    language: str = "en"

    def __post_init__(self) -> None:
        for name, entries in (("groups", self.groups), ("trait scales", self.traits)):
            if not entries:
                raise StimuliError(f"There are no {name}. Choose a study that has some.")
            twice = [slug for slug, n in Counter(one.slug for one in entries).items() if n > 1]
            if twice:
                raise StimuliError(f"'{twice[0]}' is listed twice among the {name}. Name it once.")
        if GROUP_SLOT not in self.question:
            raise StimuliError(
                f"The question “{self.question}” has no {GROUP_SLOT}, so that a model would not "
                "know whom it is about. Put it where the group's name belongs."
            )

    def ask(self, group: Group, left: str, right: str) -> str:
        """Return the question about a group between two words, with what stands below it."""
        text = "\n".join(filter(None, (self.question, self.lead)))
        slots = ((GROUP_SLOT, group.plural), (LEFT_SLOT, left), (RIGHT_SLOT, right))
        for slot, word in slots:
            text = text.replace(slot, word)
        return text

    @cached_property
    def _groups(self) -> dict[str, Group]:
        return {group.slug: group for group in self.groups}

    def group(self, slug: str) -> Group:
        """Return the group `slug`; :class:`StimuliError` where there is none."""
        if slug not in self._groups:
            raise StimuliError(f"There is no group '{slug}' in these stimuli.")
        return self._groups[slug]

    @classmethod
    def from_plain(cls, raw: Mapping[str, Any]) -> Self:
        return cls(
            **{
                **raw,
                "groups": tuple(Group(**entry) for entry in raw["groups"]),
                "traits": tuple(map(read_trait, raw["traits"])),
            }
        )
