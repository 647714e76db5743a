"""How long submissions took, and which were exceptionally fast by the rule of panels."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from annotation.common.durations import read_seconds
from annotation.models import Study, Submission, SubmissionState
from annotation.studies.quality.crowd import CrowdKey, KeptOfCrowd, select_finished

# Below this many finished submissions a standard deviation says nothing about a single one.
FEWEST_FOR_PACE = 10
# Quartiles of fewer times are the times themselves.
FEWEST_FOR_QUARTILES = 4


@dataclass(frozen=True)
class Pace:
    """How long the finished submissions of a study took.

    durations : seconds from start to end of every one
    fast_limit : `find_fast_limit` of them
    """

    durations: tuple[float, ...]
    fast_limit: float | None

    @cached_property
    def median_seconds(self) -> float | None:
        return statistics.median(self.durations) if self.durations else None

    @cached_property
    def quartiles_seconds(self) -> tuple[float, float] | None:
        """The times between which the middle half of submissions lies; None for fewer than four.

        Both ends are among the times or between two of them (Hyndman and Fan 1996, type 7).
        """
        if len(self.durations) < FEWEST_FOR_QUARTILES:
            return None
        low, _, high = statistics.quantiles(self.durations, n=4, method="inclusive")
        return low, high


def load_pace(study: Study, crowd: CrowdKey | None = None) -> Pace:
    """Return the pace of a study. One query where this process knows it, else two.

    ``crowd`` stands for the finished submissions; naming them is one of the queries.
    """
    return _paces.get(study, crowd)


def _read_pace(study: Study) -> Pace:
    finished = select_finished(study).filter(finished_at__isnull=False)
    rows = read_seconds(finished.order_by("pk"), "started_at", "finished_at")
    durations = tuple(seconds for (seconds,) in rows)
    return Pace(durations, find_fast_limit(durations))


_paces = KeptOfCrowd(16, _read_pace)


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
    """Whether a finished submission lies under the limit of its study. Two queries at most."""
    if submission.finished_at is None or submission.state != SubmissionState.FINISHED:
        return False
    limit = load_pace(submission.study).fast_limit
    seconds = (submission.finished_at - submission.started_at).total_seconds()
    return limit is not None and seconds < limit
