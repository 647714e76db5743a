"""What a file of scores from elsewhere says of its groups, traits and templates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from probing.measures.stimuli import Group, Trait
from probing.measures.stored_stimuli import StoredStimuli, read_trait


@dataclass(frozen=True)
class NamedTemplate:
    """A sentence as the file calls it; without its words, the text is the name."""

    slug: str
    text: str


@dataclass(frozen=True)
class ImportedStimuli(StoredStimuli):
    """Groups and traits of the library, and templates that are names or sentences."""

    groups: tuple[Group, ...]
    traits: tuple[Trait, ...]
    templates: tuple[NamedTemplate, ...]

    def to_dict(self) -> dict[str, Any]:
        return json.loads(json.dumps(asdict(self)))

    @classmethod
    def from_plain(cls, raw: Mapping[str, Any]) -> Self:
        return cls(
            tuple(Group(**entry) for entry in raw["groups"]),
            tuple(read_trait(entry) for entry in raw["traits"]),
            tuple(NamedTemplate(**entry) for entry in raw["templates"]),
        )
