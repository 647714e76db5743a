"""How far every group is from its quota: accepted, waiting for review, being rated now."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from annotation.common.prepared_sql import PreparedQuery
from annotation.instruments.content import load_content
from annotation.models import (
    DataDecision,
    GroupAssignment,
    Instrument,
    Study,
    StudyGroup,
    StudyStatus,
    SubmissionState,
)
from annotation.models.submission import in_review, scope_of


@dataclass(frozen=True)
class GroupQuota:
    """Counts of submissions for one group; ``wanted`` is the study's quota of accepted ones.

    ``doubtful`` of them wait for review after a failed check: others may have their slot.
    """

    group: StudyGroup
    wanted: int
    accepted: int
    in_review: int
    in_progress: int
    doubtful: int = 0

    @property
    def waiting(self) -> int:
        """Finished submissions that nobody has decided on."""
        return self.in_review + self.doubtful

    @property
    def taken(self) -> int:
        """Slots that are filled or may still be filled by somebody who has started."""
        return self.accepted + self.in_review + self.in_progress

    @property
    def open(self) -> int:
        return max(0, self.wanted - self.taken)

    @property
    def is_full(self) -> bool:
        return self.accepted >= self.wanted


def find_slow(quotas: Sequence[GroupQuota]) -> tuple[GroupQuota, ...]:
    """Return up to five groups that lag at least two slots behind the median, farthest first."""
    if len(quotas) < 2:
        return ()
    middle = statistics.median(quota.open for quota in quotas)
    slow = sorted(
        (quota for quota in quotas if quota.open >= middle + 2),
        key=lambda quota: (-quota.open, quota.group.position),
    )
    return tuple(slow) if len(slow) <= 5 else ()


def count_quotas(study: Study, *, instrument: Instrument) -> list[GroupQuota]:
    """Return the counts of every group of an instrument, in its order.

    One query, and one for the groups of an instrument that is not frozen or was not met before.

    Submissions that saw another version of the instrument count for the group of the same slug.
    A finished submission waits for review with its slot taken unless it failed a check, since
    failed data are excluded as a rule. A slot of work in progress is held until its reservation
    lapses. Groups that are repeated or were left out take no slot. While the study is piloting, the
    counts are the pilot's; otherwise only submissions that count are counted.
    """
    counts = _COUNTS[StudyStatus(study.status)].all(study.pk, timezone.now())
    counted = {row["group__slug"]: row for row in counts}
    return [
        build_quota(study, group, counted.get(group.slug))
        for group in load_content(instrument).groups.values()
    ]


def build_quota(study: Study, group: StudyGroup, row: Mapping[str, int] | None) -> GroupQuota:
    """Return a group's quota with what `slot_counts` counted of it; None where it is not met."""
    names = ("accepted", "in_review", "in_progress", "doubtful")
    counts = {name: row[name] if row else 0 for name in names}
    return GroupQuota(group=group, wanted=study.quota_per_group, **counts)


def slot_counts(now: datetime) -> dict[str, Count]:
    """Return what is counted of assignments, by the name of its field in a quota."""
    waiting = in_review(of="submission__")
    failed = Q(submission__checks_passed=False)
    in_progress = Q(
        submission__state=SubmissionState.IN_PROGRESS, submission__reserved_until__gt=now
    )
    return {
        "accepted": Count("pk", filter=Q(submission__data_decision=DataDecision.ACCEPTED)),
        "in_review": Count("pk", filter=waiting & ~failed),
        "in_progress": Count("pk", filter=in_progress),
        "doubtful": Count("pk", filter=waiting & failed),
    }


def _prepare_counts(status: StudyStatus) -> PreparedQuery[dict[str, Any]]:
    """Return the query that counts the slots of a study, for studies of one status."""
    scope = scope_of(status, of="submission__")

    def build(study: int, now: datetime) -> QuerySet[Any, Any]:
        return (
            GroupAssignment.objects.filter(
                scope, submission__study=study, is_repeat=False, skipped=""
            )
            .values("group__slug")
            .annotate(**slot_counts(now))
            .order_by()
        )

    return PreparedQuery(build)


_COUNTS = {status: _prepare_counts(status) for status in StudyStatus}
