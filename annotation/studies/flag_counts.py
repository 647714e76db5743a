"""Flags of a whole study for its page: seconds of work, done once for each state of a study."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from django.db.models import Count, Max

from annotation.models import Study, Submission, SubmissionState
from annotation.studies.quality import FlagCounts, count_flags

MOST_KEPT = 64


@dataclass(frozen=True)
class _State:
    """What the counts of a study depend on, but for flags about its people in other studies."""

    study: int
    status: str
    thresholds: str
    finished: int
    last: datetime | None


def recall_flags(study: Study) -> FlagCounts:
    """Return the study's flags as of its last finished submission.

    One query where they are known to this process; otherwise as `count_flags`.
    """
    row = (
        Submission.objects.in_scope(study)
        .filter(state=SubmissionState.FINISHED)
        .aggregate(finished=Count("pk"), last=Max("finished_at"))
    )
    thresholds = str(sorted(study.quality_thresholds.items()))
    return _count(_State(study.pk, study.status, thresholds, row["finished"], row["last"]))


@lru_cache(maxsize=MOST_KEPT)
def _count(state: _State) -> FlagCounts:
    return count_flags(Study.objects.get(pk=state.study))
