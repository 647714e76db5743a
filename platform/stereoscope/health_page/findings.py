"""What a check says: how a part stands, and where something is wrong, what to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from django.utils.translation import gettext_lazy as _

DEPLOYMENT = "deployment.html"


class State(Enum):
    """The word for a state, and its badge. The worst come first on the page."""

    BAD = (_("Mend now"), "bad mark-cross")
    WARN = (_("Look at this"), "warn mark-triangle")
    GOOD = (_("In order"), "good mark-tick")

    @property
    def word(self) -> str:
        return str(self.value[0])

    @property
    def css(self) -> str:
        return str(self.value[1])


@dataclass(frozen=True)
class Finding:
    """One part. ``remedy`` says what to do where it is not in order; ``docs`` is a page."""

    title: str
    state: State
    said: str
    remedy: str = ""
    docs: str = f"{DEPLOYMENT}#health"


def good(title: str, said: str) -> Finding:
    return Finding(title, State.GOOD, said)
