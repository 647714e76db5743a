"""How far every group is from its quota: accepted, waiting for review, being rated now."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, F, QuerySet, Value
from django.utils import timezone

from annotation.common.prepared_sql import PreparedQuery
from annotation.instruments.content import load_content
from annotation.models import (
    GroupAssignment,
    Instrument,
    PlaceCount,
    PlaceKind,
    PlaceScope,
    Study,
    StudyGroup,
    StudyStatus,
    Submission,
    SubmissionState,
)
from annotation.models.submission import scope_of

SLOT_NAMES = ("accepted", "in_review", "doubtful")


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
    counted = add_slots(_COUNTS[StudyStatus(study.status)].all(study.pk, timezone.now()))
    return [
        build_quota(study, group, counted.get((study.pk, group.slug)))
        for group in load_content(instrument).groups.values()
    ]


def build_quota(study: Study, group: StudyGroup, row: Mapping[str, int] | None) -> GroupQuota:
    """Return a group's quota with what `add_slots` found of it; None where it is not met."""
    counts = {name: row[name] if row else 0 for name in (*SLOT_NAMES, "in_progress")}
    return GroupQuota(group=group, wanted=study.quota_per_group, **counts)


def list_slots(
    studies: Sequence[Any], status: str, now: datetime, kind: PlaceKind = PlaceKind.GROUP
) -> QuerySet[Any, Any]:
    """Return rows with ``study``, ``place`` and parts of its counts, for studies of one status.

    Those of finished submissions are kept, those in progress are counted: one query does both, so
    that nobody who finishes meanwhile is in neither. It reads no submission that has ended.
    """
    is_pilot = status == StudyStatus.PILOTING
    scope = PlaceScope.PILOT if is_pilot else PlaceScope.COUNTED
    no_one = {name: Value(0) for name in SLOT_NAMES}
    kept = PlaceCount.objects.filter(study__in=studies, scope=scope, kind=kind).order_by()
    is_on_the_way = {
        "study__in": studies,
        "state": SubmissionState.IN_PROGRESS,
        "reserved_until__gt": now,
    }
    rows: QuerySet[Any, Any]
    if kind == PlaceKind.ARM:
        rows, place = Submission.objects.filter(scope_of(status), **is_on_the_way), F("arm")
        study = F("study_id")
    else:
        conditions = {f"submission__{name}": value for name, value in is_on_the_way.items()}
        rows = GroupAssignment.objects.filter(
            scope_of(status, of="submission__"), is_repeat=False, skipped="", **conditions
        )
        place, study = F("group__slug"), F("submission__study_id")
    begun = rows.order_by().annotate(of_study=study, place=place).values("of_study", "place")
    return (
        kept.annotate(of_study=F("study_id"), place=F("key"), in_progress=Value(0))
        .values("of_study", "place", *SLOT_NAMES, "in_progress")
        .union(begun.annotate(**no_one, in_progress=Count("pk")), all=True)
    )


def add_slots(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[int, str], Counter[str]]:
    """Return the counts by study and place."""
    found: dict[tuple[int, str], Counter[str]] = defaultdict(Counter)
    for row in rows:
        found[row["of_study"], row["place"]].update(
            {name: row[name] for name in (*SLOT_NAMES, "in_progress")}
        )
    return found


def prepare_slots(kind: PlaceKind) -> dict[StudyStatus, PreparedQuery[dict[str, Any]]]:
    """Return the query of `list_slots` for one study, by the study's status."""

    def prepare(status: StudyStatus) -> PreparedQuery[dict[str, Any]]:
        return PreparedQuery(lambda study, now: list_slots([study], status, now, kind))

    return {status: prepare(status) for status in StudyStatus}


_COUNTS = prepare_slots(PlaceKind.GROUP)
