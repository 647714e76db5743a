"""What all stimuli that are kept with a run have in common: plain values, and a hash of these."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from probing.measures.stimuli import StimuliError, Trait


@dataclass(frozen=True)
class StoredStimuli:
    """Base of stimuli; a subclass says in `from_plain` how its fields are read."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: str | bytes | Mapping[str, Any]) -> Self:
        """Return the stimuli that `to_dict` described; :class:`StimuliError` where none are."""
        try:
            return cls.from_plain(json.loads(data) if isinstance(data, str | bytes) else data)
        except StimuliError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise StimuliError(f"The stored stimuli cannot be read ({error}).") from error

    @classmethod
    def from_plain(cls, raw: Mapping[str, Any]) -> Self:
        """Return the stimuli of these plain values."""
        return cls(**raw)

    def content_hash(self) -> str:
        """Return the SHA-256 of the stimuli in canonical JSON."""
        return hash_plain(self.to_dict())


def hash_plain(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of plain values in canonical JSON."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def read_trait(entry: Mapping[str, Any]) -> Trait:
    """Return the trait of plain values, which have lists for its tuples."""
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()
    }
    return Trait(**values)
