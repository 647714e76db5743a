"""How long submissions took, and which were exceptionally fast by the rule of panels."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from annotation.common.durations import read_seconds
from annotation.models import Study, Submission, SubmissionState

# Below this many finished submissions a standard deviation says nothing about a single one.
FEWEST_FOR_PACE = 10


def load_durations(study: Study) -> list[float]:
    """Return the seconds from start to end of every finished submission. One query."""
    finished = Submission.objects.in_scope(study).filter(
        state=SubmissionState.FINISHED, finished_at__isnull=False
    )
    rows = read_seconds(finished.order_by("pk"), "started_at", "finished_at")
    return [seconds for (seconds,) in rows]


def find_fast_limit(durations: Sequence[float]) -> float | None:
    """Return the seconds under which a submission is exceptionally fast, or None.

    Panels allow a rejection for a time of the whole study more than three standard deviations
    below the mean. None where fewer than ten submissions are finished or where the limit is not
    positive, since nobody can be that fast then.
    """
    if len(durations) < FEWEST_FOR_PACE:
        return None
    limit = statistics.fmean(durations) - 3 * statistics.stdev(durations)
    return limit if limit > 0 and math.isfinite(limit) else None


def is_exceptionally_fast(submission: Submission) -> bool:
    """Whether a finished submission lies under the limit of its study. One query."""
    if submission.finished_at is None or submission.state != SubmissionState.FINISHED:
        return False
    limit = find_fast_limit(load_durations(submission.study))
    seconds = (submission.finished_at - submission.started_at).total_seconds()
    return limit is not None and seconds < limit
