"""What a check of English found: an error where it is certain, otherwise a remark to look at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that reads wrong, or may.

    Attributes
    ----------
    certain : an error if True; otherwise a person should read `sentence` and decide.
    message : what is wrong and what is expected.
    field : where it was entered, such as ``plural``; empty where no single field is at fault.
    sentence : the words as a reader meets them; empty where `message` says enough.
    firm : an error that nobody can wave through, since it is not about English.
    """

    certain: bool
    message: str
    field: str = ""
    sentence: str = ""
    firm: bool = False

    def __str__(self) -> str:
        return f"{self.message} It reads “{self.sentence}”." if self.sentence else self.message


def firm(message: str, field: str = "") -> Finding:
    """Return an error that is not about English."""
    return Finding(True, message, field, firm=True)
