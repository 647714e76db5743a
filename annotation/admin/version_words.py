"""Differences between versions as the page shows them: by part, word by word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext_lazy

from annotation.admin.word_diff import Change, word_diff
from annotation.admin.wording import MISSING
from annotation.studies.comparing import Difference, Part

HEADINGS = {
    Part.STEPS: gettext_lazy("Steps"),
    Part.TEXTS: gettext_lazy("Texts"),
    Part.GROUPS: gettext_lazy("Groups"),
    Part.SCALES: gettext_lazy("Trait scales"),
    Part.QUESTIONS: gettext_lazy("Demographic questions"),
    Part.SETTINGS: gettext_lazy("Settings"),
}
ORDER = gettext_lazy("Order")


@dataclass(frozen=True)
class ChangedRow:
    label: str
    changes: Sequence[Change]


@dataclass(frozen=True)
class ChangedPart:
    heading: str
    rows: Sequence[ChangedRow]


def describe_changes(differences: Iterable[Difference]) -> list[ChangedPart]:
    """Return the parts that differ, each with its rows; empty if none does."""
    found = list(differences)
    parts = []
    for part, heading in HEADINGS.items():
        rows = [
            ChangedRow(
                one.label or (MISSING if part == Part.STEPS else str(ORDER)),
                word_diff(one.before, one.after),
            )
            for one in found
            if one.part == part
        ]
        if rows:
            parts.append(ChangedPart(str(heading), rows))
    return parts
