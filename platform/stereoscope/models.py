"""Which workers are alive, as the health page needs to know."""

from __future__ import annotations

from django.db import models


class WorkerPresence(models.Model):
    """A worker that is running. It renews ``seen_at`` every few seconds and goes when it stops."""

    name = models.CharField(max_length=160, unique=True, help_text="Celery's name of the worker.")
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
