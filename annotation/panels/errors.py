"""What can go wrong between the platform and a panel. The difference is what may have happened."""

from __future__ import annotations


class ArrivalRefused(ValueError):  # noqa: N818 - as PageRefused, which it becomes
    """A link that this panel cannot have made; the message is for the participant."""


class PanelError(Exception):
    """The message is for the researcher and holds neither tokens nor ids of people."""


class PanelSetupError(PanelError):
    """The study’s settings do not let the platform speak with the panel; nothing was asked."""


class PanelAwayError(PanelError):
    """The panel was not reached or was too busy. Nothing was done; it can be tried again."""


class PanelRefusedError(PanelError):
    """The panel said no. Nothing was done, and the same request would be refused again."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class PanelUnclearError(PanelError):
    """The request was sent and no clear answer came: it may have been done."""
