"""Signals for the packages above; nothing here depends on a listener."""

from django.dispatch import Signal

#: Sent with ``run`` after a run and its scores are stored.
run_finished = Signal()

#: Sent after a sweep whose worker had idle processes: the time to look for forgotten work.
swept = Signal()
