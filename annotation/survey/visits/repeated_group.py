"""The group that is rated a second time, and how a visit is given another group."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.common.seeded import shuffle
from annotation.models import GroupAssignment, StudyGroup


def choose_repeat(groups: Sequence[StudyGroup], *, seed: int) -> StudyGroup:
    """Return the group to rate again: not the one rated last, unless there is no other."""
    candidates = groups[:-1] or groups
    return shuffle(candidates, name=lambda group: group.slug, seed=seed, purpose="repeat")[0]


def give_group(assignment: GroupAssignment, group: StudyGroup) -> None:
    """Put another group in the place of one that has not been rated."""
    assignment.group, assignment.item = group, group.item
    assignment.save(update_fields=["group", "item"])
