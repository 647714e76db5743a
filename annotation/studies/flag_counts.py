"""Flags of a whole study for its page: counted at once, or by a worker where that takes seconds."""

from __future__ import annotations

import hashlib
import logging
from functools import lru_cache
from typing import Any

from celery import current_app
from django.conf import settings
from django.core.cache import cache
from django.db.models import Count, Max

from annotation.models import KeptFlagCounts, Study, Submission, SubmissionState
from annotation.studies.quality import FlagCounts, FlagName, count_flags

logger = logging.getLogger(__name__)

COUNT_TASK = "annotation.count_study_flags"
MOST_KEPT = 64
#: More finished submissions than these are counted by a worker.
MOST_AT_ONCE = 1_000
#: How long a worker has, before it is asked again.
PATIENCE_SECONDS = 60


def recall_flags(study: Study) -> FlagCounts | None:
    """Return the study's flags as of its last finished submission; None while a worker counts.

    Two queries at most where they are known; those of a small study otherwise as `count_flags`.
    """
    state, finished = _describe_state(study)
    if finished <= MOST_AT_ONCE:
        return _count(study.pk, state)
    kept = KeptFlagCounts.objects.filter(study=study).first()
    if kept is None or kept.state != state:
        _wake_worker(study, state)
    if kept is None:
        return None
    return FlagCounts(
        finished=kept.finished,
        flagged=kept.flagged,
        by_name={name: kept.by_name.get(name.value, 0) for name in FlagName},
    )


def keep_flags(*, study: Study) -> KeptFlagCounts:
    """Count the flags of a study and keep them; nothing is counted twice for one state."""
    state, _finished = _describe_state(study)
    kept = KeptFlagCounts.objects.filter(study=study, state=state).first()
    if kept is not None:
        return kept
    counts = count_flags(study)
    values: dict[str, Any] = {
        "state": state,
        "finished": counts.finished,
        "flagged": counts.flagged,
        "by_name": {name.value: n for name, n in counts.by_name.items()},
    }
    return KeptFlagCounts.objects.update_or_create(study=study, defaults=values)[0]


def _describe_state(study: Study) -> tuple[str, int]:
    """Return a digest of what the counts depend on, but for people's other studies. One query."""
    row = (
        Submission.objects.in_scope(study)
        .filter(state=SubmissionState.FINISHED)
        .aggregate(finished=Count("pk"), last=Max("finished_at"))
    )
    parts = (
        study.status,
        sorted(study.quality_thresholds.items()),
        row["finished"],
        row["last"],
        settings.CODE_VERSION,
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest(), row["finished"]


@lru_cache(maxsize=MOST_KEPT)
def _count(study: int, state: str) -> FlagCounts:
    return count_flags(Study.objects.get(pk=study))


def _wake_worker(study: Study, state: str) -> None:
    """Ask a worker once a minute; a page that is looked at asks again."""
    if not cache.add(f"flags:{study.pk}:{state}", 1, PATIENCE_SECONDS):
        return
    try:
        current_app.send_task(COUNT_TASK, args=[study.pk], retry=False, ignore_result=True)
    except Exception as error:  # every transport raises its own kind
        logger.warning("no worker was woken to count flags: %s", error)
