"""The record of a model's trials: what was tried, with which files and libraries, what came out.

No torch here: pages and commands read certificates.
"""

from __future__ import annotations

from datetime import datetime
from importlib import metadata
from typing import Literal

from pydantic import BaseModel, ConfigDict

#: A certificate holds for these libraries alone.
LIBRARIES = ("torch", "transformers", "tokenizers")

Outcome = Literal["passed", "failed", "look", "noted"]
#: Whose weights were tried: the model's own, random ones in a model of its kinds of layers, or
#: none so far.
Tried = Literal["weights", "copy", "files"]


class Record(BaseModel):
    """Base of stored records: they never change."""

    model_config = ConfigDict(frozen=True)


class Check(Record):
    """One trial and what it found.

    Attributes
    ----------
    name : short, such as ``leak``; see :data:`QUESTIONS`.
    outcome : ``look`` for what a reader of the scores should know, ``noted`` for what cannot fail.
    result : in words.
    value : the number that decided, such as the largest difference in nats; None without one.
    """

    name: str
    outcome: Outcome
    result: str
    value: float | None = None


class Certificate(Record):
    """What was found out about one model.

    Attributes
    ----------
    tried : whose weights the trials read.
    fingerprint : hub commit, or ``sha256:…`` of the files in a folder.
    stamp : tells cheaply whether the files in a folder are those that were tried.
    abilities : ability → why the model lacks it, empty where it has it.
    settings : measure → what it takes from the model by itself, such as a prior.
    several : words of the library that are several tokens in a plain sentence.
    joined : words that have no tokens of their own there, joined with what is beside them.
    words : how many words were looked at.
    device : where it was tried, such as ``cpu, float32``.
    """

    made_at: datetime
    tried: Tried
    fingerprint: str
    stamp: str
    versions: dict[str, str]
    device: str
    checks: tuple[Check, ...]
    abilities: dict[str, str]
    settings: dict[str, str] = {}
    several: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()
    words: int = 0

    @property
    def failed(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.outcome == "failed")

    def check(self, name: str) -> Check | None:
        """Return the check of that name, None where it was not made."""
        return next((one for one in self.checks if one.name == name), None)

    def outdated(self, stamp: str) -> str:
        """Return why the certificate no longer holds; "" if it does."""
        if self.stamp != stamp:
            return "The model's files have changed."
        now = versions()
        changed = [
            f"{name} {self.versions.get(name, '?')} → {version}"
            for name, version in now.items()
            if self.versions.get(name) != version
        ]
        return f"Libraries have changed: {', '.join(changed)}." if changed else ""


#: Check → its title, and what it asks.
QUESTIONS: dict[str, tuple[str, str]] = {
    "weights": ("Weights", "Are all weights stored and readable?"),
    "form": ("Form", "How are the weights stored, and how are they read?"),
    "leak": ("Leak", "Does a later token change what the model says earlier?"),
    "batches": ("Batches", "Do other texts in the batch, or padding, change a score?"),
    "repeat": ("Repeat", "Does the same reading give the same numbers again?"),
    "prefix": (
        "Shared beginning",
        "Do texts read after a shared beginning score as they do alone?",
    ),
    "rows": ("Output rows", "Are scores the same if only the rows needed are computed?"),
    "words": ("Words", "Which adjectives of the library are several tokens, or have none?"),
    "template": ("Chat template", "Does the model have a chat template?"),
    "length": ("Length", "How many tokens does it read at once?"),
    "speed": ("Speed", "How fast does it read?"),
    "memory": ("Memory", "How much memory do its weights take?"),
}


def versions() -> dict[str, str]:
    """Return the versions of the libraries that a certificate holds for, without importing them."""
    return {name: metadata.version(name) for name in LIBRARIES}
