"""Why a training stops early, with messages that say what to do."""

from __future__ import annotations


class TrainingError(Exception):
    """A training that cannot continue; what was saved stays."""


class NoRoomError(TrainingError):
    """The disk, or what may be used of it, is full."""


class DivergedError(TrainingError):
    """The loss became NaN or infinite."""


class TrainingPausedError(Exception):
    """The training saved its state and stopped, as asked; it can continue later."""


class TrainingStoppedError(Exception):
    """The run was canceled, or another worker has taken the training over."""
