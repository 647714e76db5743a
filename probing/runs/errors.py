"""Why a run cannot be created, canceled or resumed, with messages for the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from probing.measures.base import Problem


class RunError(Exception):
    """A request that cannot be met; nothing was stored.

    ``problems`` say where each one was entered (``model``, ``groups``, ``parameters.gamma`` …),
    what was wrong and what is expected.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.messages))

    @property
    def messages(self) -> list[str]:
        return [problem.message for problem in self.problems]

    @classmethod
    def at(cls, where: str, message: str) -> RunError:
        """Return the error for one problem."""
        from probing.measures.base import Problem

        return cls([Problem(where=where, message=message, fatal=True)])
