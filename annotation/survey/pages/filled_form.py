"""What a page holds that comes again: the answers as they were sent, and what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.http import QueryDict


@dataclass(frozen=True)
class FilledForm:
    """Answers and problems by field; both are empty where a page is asked for the first time."""

    sent: QueryDict = field(default_factory=QueryDict)
    problems: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not self.sent and not self.problems

    def text(self, name: str) -> str:
        """Return what was sent in a field, "" for nothing."""
        return self.sent.get(name, "")

    def problem(self, name: str) -> str:
        """Return what is wrong with a field, "" for nothing."""
        return self.problems.get(name, "")
