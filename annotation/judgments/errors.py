"""What can go wrong when a judgment comes in."""

from __future__ import annotations


class JudgmentRefused(ValueError):  # noqa: N818
    """A page that its judge can mend: messages by field. Nothing is stored."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__("; ".join(f"{field}: {text}" for field, text in problems.items()))
        self.problems = problems


class OwnCounterpart(Exception):  # noqa: N818
    """The judge wrote or decided a counterpart of the text: the task is taken away."""
