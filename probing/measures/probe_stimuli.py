"""Stimuli of classification: labeled templates, and groups with the words that mention them.

Kohankhaki et al., §3.1. A group may have several fillers; placebo adjectives and the sentence
without a mention are further groups with a role of their own (*ours*).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal, Self, get_args

from probing.measures.probe_templates import fill
from probing.measures.stimuli import StimuliError
from probing.measures.stored_stimuli import StoredStimuli, hash_plain

#: What a group is there for: to be compared, to show the spread of words that name no group, or
#: to stand for no mention at all.
Role = Literal["group", "placebo", "unmarked"]
ROLES: tuple[Role, ...] = get_args(Role)
#: Labels of sentiment by their numbers.
SENTIMENT = ("negative", "neutral", "positive")
NO_WORD = "no word"


@dataclass(frozen=True)
class ProbeTemplate:
    """A template with its true label; `slug` and `text` are empty where they are not known."""

    slug: str
    text: str
    label: int


@dataclass(frozen=True)
class ProbeGroup:
    """A group with its fillers: text by placeholder; without any, its words are not known."""

    slug: str
    name: str
    fillers: tuple[Mapping[str, str], ...]
    role: Role = "group"

    @property
    def filler_names(self) -> tuple[str, ...]:
        return tuple(filler_name(filler) for filler in self.fillers)


@dataclass(frozen=True)
class ProbeSentence:
    """One expanded sentence; `template` and `filler` are empty where they are not known."""

    text: str
    template: str
    group: str
    filler: str
    label: int


@dataclass(frozen=True)
class ProbeStimuli(StoredStimuli):
    """Labeled sentences about groups.

    name : of the data set, as reports print it
    classes : names of the labels by their numbers
    cells : (template, group, filler) of every sentence by their places; None = every template with
        every filler of every group
    """

    templates: tuple[ProbeTemplate, ...]
    groups: tuple[ProbeGroup, ...]
    name: str = ""
    classes: tuple[str, ...] = SENTIMENT
    cells: tuple[tuple[int, int, int], ...] | None = None

    def __post_init__(self) -> None:
        for name, entries in (("templates", self.templates), ("groups", self.groups)):
            if not entries:
                raise StimuliError(f"There are no {name}. Choose at least one.")
        doubled = [slug for slug, n in Counter(g.slug for g in self.groups).items() if n > 1]
        if doubled:
            raise StimuliError(f"The group '{doubled[0]}' comes twice. Name every group once.")
        for template in self.templates:
            if not 0 <= template.label < len(self.classes):
                raise StimuliError(
                    f"The template '{template.slug}' has the label {template.label}. Labels go "
                    f"from 0 to {len(self.classes) - 1}: {', '.join(self.classes)}."
                )

    @cached_property
    def sentences(self) -> tuple[ProbeSentence, ...]:
        """Every sentence; those that need a mention are left out of the unmarked ones."""
        return tuple(self._expand())

    def _expand(self) -> Iterator[ProbeSentence]:
        cells = self.cells or (
            (t, g, f)
            for t in range(len(self.templates))
            for g, group in enumerate(self.groups)
            for f in range(len(group.fillers))
        )
        for t, g, f in cells:
            template, group = self.templates[t], self.groups[g]
            filler = group.fillers[f] if group.fillers else {}
            text = fill(template.text, filler)
            if text is not None:
                name = filler_name(filler) if group.fillers else ""
                yield ProbeSentence(text, template.slug, group.slug, name, template.label)

    def counts(self) -> dict[tuple[str, str, int], int]:
        """Return the number of sentences by group, filler and label."""
        return dict(Counter((s.group, s.filler, s.label) for s in self.sentences))

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "classes": list(self.classes),
            "labelled_templates": [asdict(template) for template in self.templates],
            "group_words": [
                asdict(group) | {"fillers": [dict(filler) for filler in group.fillers]}
                for group in self.groups
            ],
            "cells": None if self.cells is None else [list(cell) for cell in self.cells],
        }

    @classmethod
    def from_plain(cls, raw: Mapping[str, Any]) -> Self:
        return cls(
            templates=tuple(ProbeTemplate(**entry) for entry in raw["labelled_templates"]),
            groups=tuple(
                ProbeGroup(**{**entry, "fillers": tuple(entry["fillers"])})
                for entry in raw["group_words"]
            ),
            name=raw["name"],
            classes=tuple(raw["classes"]),
            cells=None if raw["cells"] is None else tuple((t, g, f) for t, g, f in raw["cells"]),
        )

    def sentences_hash(self) -> str:
        """Return the SHA-256 of the sentences alone, the same whoever is asked and how."""
        return hash_plain(ProbeStimuli.to_dict(self))


def filler_name(filler: Mapping[str, str]) -> str:
    """Return how tables call a filler: its first text."""
    return next((text for text in filler.values() if text), NO_WORD)
