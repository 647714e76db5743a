"""How far every group is from its quota: accepted, waiting for review, being rated now."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q
from django.utils import timezone

from annotation.models import DataDecision, GroupAssignment, Study, StudyGroup, SubmissionState
from annotation.studies.scope import in_scope


@dataclass(frozen=True)
class GroupQuota:
    """Counts of submissions for one group; ``wanted`` is the study's quota of accepted ones."""

    group: StudyGroup
    wanted: int
    accepted: int
    in_review: int
    in_progress: int

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


def count_quotas(study: Study, *, instrument_id: int) -> list[GroupQuota]:
    """Return the counts of every group of an instrument, in its order. Two queries.

    Submissions that saw another version of the instrument count for the group of the same slug.
    A finished submission waits for review with its slot taken unless it failed a check, since
    failed data are excluded as a rule. A slot of work in progress is held until its reservation
    lapses. Repeated groups take no slot of their own. While the study is piloting, the counts are
    the pilot's; otherwise only submissions that count are counted.
    """
    submission = Q(submission__study=study) & in_scope(study, of="submission__")
    now = timezone.now()
    counted = {
        row["group__slug"]: row
        for row in GroupAssignment.objects.filter(submission, is_repeat=False)
        .values("group__slug")
        .annotate(
            accepted=Count("pk", filter=Q(submission__data_decision=DataDecision.ACCEPTED)),
            in_review=Count(
                "pk",
                filter=Q(
                    submission__state=SubmissionState.FINISHED,
                    submission__data_decision=DataDecision.WAITING,
                )
                & ~Q(submission__checks_passed=False),
            ),
            in_progress=Count(
                "pk",
                filter=Q(
                    submission__state=SubmissionState.IN_PROGRESS,
                    submission__reserved_until__gt=now,
                ),
            ),
        )
        .order_by()
    }
    zero = {"accepted": 0, "in_review": 0, "in_progress": 0}
    return [
        GroupQuota(
            group=group,
            wanted=study.quota_per_group,
            accepted=(row := counted.get(group.slug, zero))["accepted"],
            in_review=row["in_review"],
            in_progress=row["in_progress"],
        )
        for group in StudyGroup.objects.filter(instrument_id=instrument_id)
    ]
