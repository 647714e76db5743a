"""How far several studies are, for lists: each count is one grouped query for all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from django.db.models import Count, Min, Q, QuerySet
from django.utils import timezone

from annotation.models import (
    SURVEY_KINDS,
    Instrument,
    JudgmentTask,
    PayDecision,
    Study,
    StudyGroup,
    StudyStatus,
    Submission,
    SubmissionOrigin,
    TaskState,
    WritingTask,
)
from annotation.models.submission import in_review, scope_of
from annotation.studies.quotas import GroupQuota, add_slots, build_quota, find_slow, list_slots


@dataclass(frozen=True)
class Progress:
    """How far a study is.

    accepted, wanted : ratings of groups or texts; of annotators the tasks that are done, and all
    approved : submissions whose pay is approved
    slow : groups that fill more slowly than the rest
    """

    accepted: int = 0
    wanted: int = 0
    approved: int = 0
    slow: tuple[GroupQuota, ...] = ()

    @property
    def share(self) -> float:
        """From 0 to 1, 0 where nothing is wanted yet."""
        return min(1.0, self.accepted / self.wanted) if self.wanted else 0.0


@dataclass(frozen=True)
class Waiting:
    """Submissions of a study that wait for review, and when the first of them was finished."""

    n: int
    since: datetime | None


def count_waiting(studies: QuerySet[Study] | Collection[Study]) -> dict[int, Waiting]:
    """Return what waits for review by study, longest waiting first. One query."""
    rows = (
        Submission.objects.filter(in_review(), study__in=studies)
        .exclude(origin=SubmissionOrigin.PREVIEW)
        .order_by()
        .values("study")
        .annotate(n=Count("pk"), since=Min("finished_at"))
        .order_by("since")
    )
    return {row["study"]: Waiting(row["n"], row["since"]) for row in rows}


def load_progress(studies: Collection[Study]) -> dict[int, Progress]:
    """Return how far each study is, by key. Ten queries at most, whatever number of studies."""
    surveys = [study for study in studies if study.kind in SURVEY_KINDS]
    others = [study.pk for study in studies if study.kind not in SURVEY_KINDS]
    return _load_surveys(surveys) | _load_tasks(others)


def _load_surveys(studies: Collection[Study]) -> dict[int, Progress]:
    if not studies:
        return {}
    approved = dict(
        Submission.objects.filter(_in_scope(studies), pay_decision=PayDecision.APPROVED)
        .order_by()
        .values_list("study")
        .annotate(n=Count("pk"))
    )
    quotas = _count_slots(studies)
    return {
        study.pk: Progress(
            accepted=sum(quota.accepted for quota in quotas[study.pk]),
            wanted=sum(quota.wanted for quota in quotas[study.pk]),
            approved=approved.get(study.pk, 0),
            slow=find_slow(quotas[study.pk]),
        )
        for study in studies
    }


def _count_slots(studies: Collection[Study]) -> dict[int, list[GroupQuota]]:
    """Return the slots of every group as `count_quotas` does. Two queries, one for each status."""
    newest = dict(
        Instrument.objects.filter(study__in=studies).order_by("version").values_list("study", "pk")
    )
    groups: dict[int, list[StudyGroup]] = defaultdict(list)
    for group in StudyGroup.objects.filter(instrument__in=newest.values()).order_by("position"):
        groups[group.instrument_id].append(group)
    by_status: dict[str, list[int]] = defaultdict(list)
    for study in studies:
        by_status[study.status].append(study.pk)
    rows = (list_slots(some, status, timezone.now()) for status, some in by_status.items())
    counted = add_slots(chain.from_iterable(rows))
    return {
        study.pk: [
            build_quota(study, group, counted.get((study.pk, group.slug)))
            for group in groups[newest.get(study.pk, 0)]
        ]
        for study in studies
    }


def _in_scope(studies: Collection[Study], *, of: str = "") -> Q:
    """Return the condition that a submission is one that its study's numbers are about."""
    piloting = [study.pk for study in studies if study.status == StudyStatus.PILOTING]
    others = [study.pk for study in studies if study.status != StudyStatus.PILOTING]
    key = f"{of}study__in"
    return Q(**{key: others}) & scope_of("", of=of) | Q(**{key: piloting}) & scope_of(
        StudyStatus.PILOTING, of=of
    )


def _load_tasks(studies: Collection[int]) -> dict[int, Progress]:
    found: dict[int, Progress] = {}
    for tasks in (WritingTask, JudgmentTask) if studies else ():
        rows = (
            tasks._default_manager.filter(study__in=studies)
            .exclude(state=TaskState.WITHDRAWN)
            .order_by()
            .values("study")
            .annotate(n=Count("pk"), done=Count("pk", filter=Q(state=TaskState.DONE)))
        )
        found |= {row["study"]: Progress(row["done"], row["n"]) for row in rows}
    return {key: found.get(key, Progress()) for key in studies}
