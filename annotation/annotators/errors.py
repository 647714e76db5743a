"""What can go wrong on the way to a place in a study, and with work of any kind in it."""

from __future__ import annotations

from enum import Enum


class LinkState(Enum):
    """What became of an invitation link."""

    OPEN = "open"
    UNKNOWN = "unknown"
    USED = "used"
    EXPIRED = "expired"
    REMOVED = "removed"
    OVER = "over"


class LinkNotOpen(Exception):  # noqa: N818 - a state of the link, not a fault
    """The invitation cannot be accepted; ``state`` says why."""

    def __init__(self, state: LinkState) -> None:
        super().__init__(f"The invitation is {state.value}.")
        self.state = state


class PlaceRefused(ValueError):  # noqa: N818
    """This account cannot take the place; the message says why and what to do."""


class InvitationNotSent(Exception):  # noqa: N818
    """The place was created and its link works, but no mail went out."""


class WorkRefused(ValueError):  # noqa: N818
    """A page that its annotator can correct: messages by field."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__("; ".join(f"{field}: {text}" for field, text in problems.items()))
        self.problems = problems


class NotLive(Exception):  # noqa: N818
    """The study accepts no work at the moment; ``status`` says why."""

    def __init__(self, status: str) -> None:
        super().__init__(f"The study is {status}.")
        self.status = status


class TaskTaken(Exception):  # noqa: N818
    """The task was given to somebody else."""
