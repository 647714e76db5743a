"""What can go wrong between a participant and a study. Nothing is stored when one is raised."""

from __future__ import annotations


class StudyNotOpen(Exception):  # noqa: N818 - a state of the study, not a fault
    """Nobody new can start; ``status`` says why."""

    def __init__(self, status: str) -> None:
        super().__init__(f"The study is {status}.")
        self.status = status


class StudyFull(Exception):  # noqa: N818
    """Every slot is filled or held by somebody who has started."""


class StartedElsewhere(Exception):  # noqa: N818
    """Another browser started the visit, and this one has nothing but the panel's id."""


class StudyOver(Exception):  # noqa: N818
    """The study was closed and the submission's reservation has lapsed."""


class GroupTaken(Exception):  # noqa: N818
    """The page's group went to somebody else while the reservation had lapsed."""


class WithdrawalClosed(Exception):  # noqa: N818
    """The last day on which answers can be erased has passed."""
