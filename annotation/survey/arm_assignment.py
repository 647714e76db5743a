"""Which arm a submission is in: the one that is farthest behind its share, work in hand counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from django.db.models import Count

from annotation.common.seeded import shuffle
from annotation.instruments.arms import Arm
from annotation.models import Study, Submission
from annotation.studies.quotas import GroupQuota
from annotation.studies.target_quotas import takes_place


def count_arms(study: Study) -> dict[str, int]:
    """Return how many places are taken in each arm, as places of groups are. One query."""
    rows = Submission.objects.in_scope(study).exclude(arm="").values("arm").order_by()
    return {row["arm"]: row["n"] for row in rows.annotate(n=Count("pk", filter=takes_place()))}


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
