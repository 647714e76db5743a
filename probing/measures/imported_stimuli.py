"""What a file of scores from elsewhere says of its groups, traits and templates."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from probing.measures.stimuli import Group, Trait


@dataclass(frozen=True)
class NamedTemplate:
    """A sentence as the file calls it; without its words, the text is the name."""

    slug: str
    text: str


@dataclass(frozen=True)
class ImportedStimuli:
    """Groups and traits of the library, and templates that are names or sentences."""

    groups: tuple[Group, ...]
    traits: tuple[Trait, ...]
    templates: tuple[NamedTemplate, ...]

    def to_dict(self) -> dict[str, Any]:
        return json.loads(json.dumps(asdict(self)))

    def content_hash(self) -> str:
        """Return the SHA-256 of the stimuli in canonical JSON."""
        text = json.dumps(self.to_dict(), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ImportedStimuli:
        """Return the stimuli that `to_dict` described."""
        return cls(
            tuple(Group(**entry) for entry in data["groups"]),
            tuple(Trait(**_with_tuples(entry)) for entry in data["traits"]),
            tuple(NamedTemplate(**entry) for entry in data["templates"]),
        )


def _with_tuples(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {k: tuple(value) if isinstance(value, list) else value for k, value in entry.items()}
