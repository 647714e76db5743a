"""Which arm a submission is in: the one that is farthest behind its share, work in hand counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from django.utils import timezone

from annotation.common.seeded import shuffle
from annotation.instruments.arms import Arm
from annotation.models import PlaceKind, Study, StudyStatus
from annotation.studies.quotas import GroupQuota, add_slots, prepare_slots

_ARMS = prepare_slots(PlaceKind.ARM)


def count_arms(study: Study) -> dict[str, int]:
    """Return how many places are taken in each arm, as places of groups are. One query."""
    counts = add_slots(_ARMS[StudyStatus(study.status)].all(study.pk, timezone.now()))
    return {
        arm: row["accepted"] + row["in_review"] + row["in_progress"]
        for (_study, arm), row in counts.items()
        if arm
    }


def choose_arm(
    arms: Iterable[Arm], taken: Mapping[str, int], quotas: Sequence[GroupQuota], *, seed: int
) -> Arm | None:
    """Return the arm with the fewest places taken for its share, None if none has an open group.

    ``seed`` breaks ties. The caller holds the study's row locked.
    """
    offered = [arm for arm in arms if any(quota.open for quota in offer(arm, quotas))]
    drawn = shuffle(offered, name=lambda arm: arm.name, seed=seed, purpose="arm")
    return min(drawn, key=lambda arm: taken.get(arm.name, 0) / arm.share, default=None)


def offer(arm: Arm | None, quotas: Sequence[GroupQuota]) -> list[GroupQuota]:
    """Return the quotas of the groups that are rated in an arm; all of them without one."""
    return [quota for quota in quotas if arm is None or arm.rates(quota.group.slug)]
