"""What the rooms above may hear of the engine; nothing in here depends on a listener."""

from django.dispatch import Signal

#: Sent with ``run`` after a run and its scores are stored.
run_finished = Signal()

#: Sent after a sweep that found idle places in its worker: the time to look for forgotten work.
swept = Signal()
