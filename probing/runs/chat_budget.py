"""Counts the tokens that a run spends with a server, over all of its workers."""

from __future__ import annotations

from django.conf import settings
from django.db.models import F

from probing.lm.errors import SpendCapError
from probing.models import Run


class RunBudget:
    """A run's budget, kept with the run so that all workers and attempts count together.

    Requests that are under way when the budget is used up still count: the sum may exceed it by
    as many answers as are asked for at a time.
    """

    def __init__(self, run_id: int) -> None:
        self._run_id = run_id

    def require(self) -> None:
        """Raise :class:`probing.lm.errors.SpendCapError` if nothing is left. One query."""
        spent = Run.objects.values_list("tokens_spent", flat=True).get(pk=self._run_id)
        if spent >= settings.CHAT_TOKENS_PER_RUN:
            raise SpendCapError(
                f"The run has spent {spent:,} tokens, and CHAT_TOKENS_PER_RUN allows "
                f"{settings.CHAT_TOKENS_PER_RUN:,}. Raise it for the workers and resume the run, "
                "or create a smaller one."
            )

    def spend(self, tokens: int) -> None:
        """Count tokens, of prompts and answers together. One query."""
        Run.objects.filter(pk=self._run_id).update(tokens_spent=F("tokens_spent") + tokens)
