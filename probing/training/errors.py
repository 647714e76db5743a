"""What keeps a training from going on, with messages that say what to do."""

from __future__ import annotations


class TrainingError(Exception):
    """A training that cannot go on; what was saved stays."""


class NoRoomError(TrainingError):
    """The disk, or what may be used of it, is full."""


class DivergedError(TrainingError):
    """The loss is no number any more."""


class TrainingPausedError(Exception):
    """The training saved its state and left, as it was asked to; it can go on later."""


class TrainingStoppedError(Exception):
    """Nobody wants the training any more, or somebody else goes on with it."""
