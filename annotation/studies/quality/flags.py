"""A flag: one thing about a submission that a person should know before deciding."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class FlagName(TextChoices):
    SPEEDING = "speeding", _("Faster than others")
    HURRIED_PAGE = "hurried_page", _("Page too fast to read")
    STRAIGHT_LINING = "straight_lining", _("Lines at one place")
    FEW_TOUCHES = "few_touches", _("Lines not touched")
    IMPOSSIBLE_TIMES = "impossible_times", _("Impossible times")
    COPIED_TEXT = "copied_text", _("Same text as another")
    PASTED_TEXT = "pasted_text", _("Pasted text")
    HIDDEN_FIELD = "hidden_field", _("Hidden field filled")
    SAME_IDENTITY = "same_identity", _("Panel id twice")
    OTHER_STUDIES = "other_studies", _("In other studies")


class Severity(TextChoices):
    """A note is worth knowing and no reason against anybody; a warning asks for a closer look."""

    NOTE = "note", _("Worth knowing")
    WARNING = "warning", _("Look closer")


@dataclass(frozen=True)
class Flag:
    """``why`` is a sentence without a full stop; ``value`` is what was found."""

    name: FlagName
    value: float
    threshold: float
    why: str
    severity: Severity = Severity.WARNING

    def describe(self) -> dict[str, Any]:
        """Return the flag as a history keeps it."""
        return {**asdict(self), "name": self.name.value, "severity": self.severity.value}


@dataclass(frozen=True)
class Undefined:
    """A flag about which nothing is known, and why."""

    name: FlagName
    reason: str


@dataclass(frozen=True)
class Assessment:
    """What was found about one submission. A name that is in neither list was not conspicuous."""

    flags: tuple[Flag, ...] = ()
    undefined: tuple[Undefined, ...] = ()

    @property
    def has_warning(self) -> bool:
        return any(flag.severity == Severity.WARNING for flag in self.flags)

    def find(self, name: FlagName) -> Flag | None:
        return next((flag for flag in self.flags if flag.name == name), None)
