"""What can go wrong when a counterpart comes in. The text itself is kept as a draft each time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from annotation.counterparts.drafts import Draft


class CounterpartRefused(ValueError):  # noqa: N818
    """A page that its annotator can mend: messages by field."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__("; ".join(f"{field}: {text}" for field, text in problems.items()))
        self.problems = problems


class SameAsSource(Exception):  # noqa: N818 - a question, not a fault
    """The counterpart is the source text unchanged, which may be right: its annotator is asked."""


class StaleDraft(Exception):  # noqa: N818
    """A newer draft is stored under ``number``: this one does not win over it."""

    def __init__(self, number: int, draft: Draft) -> None:
        super().__init__(f"Draft {number} is stored.")
        self.number, self.draft = number, draft
