"""What is computed of a study's finished submissions alone, kept while they are the same."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Generic, TypeVar

from django.db.models import Count, Max, QuerySet, Sum

from annotation.models import Study, Submission, SubmissionState
from annotation.studies.quality.visit_cache import Shelf

Value = TypeVar("Value")

#: A study with its state, and which submissions are finished there: how many, the last, their sum.
CrowdKey = tuple[int, str, int, datetime | None, int | None]


def select_finished(study: Study) -> QuerySet[Submission]:
    return Submission.objects.in_scope(study).filter(state=SubmissionState.FINISHED)


def name_crowd(study: Study) -> CrowdKey:
    """Return what stands for exactly the finished submissions of a study. One query."""
    row = select_finished(study).aggregate(n=Count("pk"), last=Max("finished_at"), total=Sum("pk"))
    return study.pk, study.public_id, row["n"], row["last"], row["total"]


def keeps_answers(study: Study) -> bool:
    """Return whether what finished submissions answered stays as it is: not after closing.

    Answers of a closed study are erased after their period, by another process.
    """
    return study.closed_at is None


class KeptOfCrowd(Generic[Value]):
    """What ``load`` reads of finished submissions, in the memory of this process.

    It may depend on nothing that changes after somebody has finished.
    """

    def __init__(self, size: int, load: Callable[[Study], Value]) -> None:
        self._load = load
        self._shelf: Shelf[CrowdKey, Value] = Shelf(size)

    def get(self, study: Study, crowd: CrowdKey | None = None) -> Value:
        """Return what is known, or load it. ``crowd`` spares a query where it was named before."""
        key = crowd or name_crowd(study)
        known = self._shelf.find([key])
        if key in known:
            return known[key]
        value = self._load(study)
        self._shelf.keep({key: value})
        return value

    def forget(self, study: int) -> None:
        self._shelf.forget(lambda key: key[0] == study)
