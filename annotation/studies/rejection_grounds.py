"""On what ground pay could be rejected: found by the platform itself, never taken on trust.

Panels allow few grounds. Checks that rest on memory and self-agreement are none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.instruments.checks import CHECK_RULES
from annotation.models import (
    CheckKind,
    CheckResponse,
    MissingRating,
    Rating,
    RejectionGround,
    Submission,
)
from annotation.studies.pace import is_exceptionally_fast
from annotation.studies.quality.response_indices import measure_straightness, shown_place

# On every page, this share of the lines at one place is low effort throughout.
STRAIGHT_SHARE = 0.75

# Prolific: one failed check is enough in a study of under five minutes; from five minutes on it
# takes two. The time is the one that the study announces to participants.
SHORT_MINUTES = 5
FAILED_IN_SHORT, FAILED_IN_LONG = 1, 2
REJECTABLE_CHECKS = frozenset(kind for kind in CheckKind if CHECK_RULES[kind].may_reject)


@dataclass(frozen=True)
class GroundFound:
    """A ground that holds for a submission, and what it rests on."""

    ground: RejectionGround
    why: str


def rejection_grounds(submission: Submission) -> tuple[GroundFound, ...]:
    """Return the grounds on which a submission's pay could be rejected; empty for most.

    One query for each ground. After a withdrawal nothing is left to find a ground in.
    """
    return tuple(
        GroundFound(ground, why) for ground, find in FINDERS.items() if (why := find(submission))
    )


def find_fast(submission: Submission) -> str:
    """Return why it was too fast; never for one that left out a line, which takes less time."""
    if MissingRating.objects.filter(assignment__submission=submission).exists():
        return ""
    return _("Exceptionally fast by the times of the study") * is_exceptionally_fast(submission)


def find_low_effort(submission: Submission) -> str:
    """Return why effort was low throughout: on every page, nearly all lines at one place."""
    pages: dict[int, list[float]] = {}
    for page, value, flipped in Rating.objects.filter(
        assignment__submission=submission
    ).values_list("assignment", "value", "flipped"):
        pages.setdefault(page, []).append(shown_place(value, flipped=flipped))
    straight = [
        (found := measure_straightness(places)) is not None and found.share >= STRAIGHT_SHARE
        for places in pages.values()
    ]
    if not straight or not all(straight):
        return ""
    return _("On every one of %(n)d pages, at least %(percent)d %% of the lines at one place") % {
        "n": len(straight),
        "percent": round(100 * STRAIGHT_SHARE),
    }


def failures_needed(estimated_minutes: int) -> int:
    """Return how many failed checks that may cost pay it takes in a study of that length."""
    return FAILED_IN_SHORT if estimated_minutes < SHORT_MINUTES else FAILED_IN_LONG


def find_failed_checks(submission: Submission) -> str:
    """Return which checks of reading alone were failed, if they were enough of them."""
    minutes = submission.study.estimated_minutes
    failed = CheckResponse.objects.filter(
        submission=submission, passed=False, kind__in=REJECTABLE_CHECKS
    ).count()
    if failed < failures_needed(minutes):
        return ""
    return ngettext(
        "Failed %(n)d attention check that asks for an answer, in a study of %(minutes)d min",
        "Failed %(n)d attention checks that ask for an answer, in a study of %(minutes)d min",
        failed,
    ) % {"n": failed, "minutes": minutes}


# Another ground is a member of `RejectionGround`, a line here, and one in each panel's categories.
FINDERS: dict[RejectionGround, Callable[[Submission], str]] = {
    RejectionGround.TOO_FAST: find_fast,
    RejectionGround.LOW_EFFORT: find_low_effort,
    RejectionGround.FAILED_CHECK: find_failed_checks,
}
