"""Coming back after the reservation has lapsed, in a study whose quotas are hard.

The same holds where a study chooses people by their answers; with soft quotas, for this alone.

Meanwhile the places were free for others. Whoever comes back takes them again, in the same queue as
everybody who starts:

- places that are still free are theirs again;
- a group that they have not rated yet and whose place is gone is exchanged for one that is open, or
  left out if none is;
- a group that they have rated and whose place is gone would be one too many: the visit ends, its
  data are excluded, and the study's rule says whether it is paid or a person decides;
- where nothing is left to rate and nothing was rated, the study is full for them as for others;
- who was chosen by their answers and whose place went to somebody else leaves like those who are
  not chosen, or as above if they have rated a group.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import zip_longest

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from annotation.models import (
    DataDecision,
    GroupAssignment,
    LateReturn,
    Outcome,
    PayDecision,
    QuotaRule,
    Rating,
    ReturnResult,
    StudyGroup,
    StudyStatus,
    Submission,
    SubmissionOrigin,
    SubmissionState,
)
from annotation.studies.lifecycle import lock_study
from annotation.studies.pilot import has_pilot_place
from annotation.studies.quotas import count_quotas
from annotation.studies.review_service import review_submission
from annotation.survey.arm_assignment import offer
from annotation.survey.group_assignment import choose_for
from annotation.survey.progression import advance, reservation_end
from annotation.survey.visit_end import end_submission
from annotation.survey.visits.repeated_group import choose_repeat, give_group
from annotation.survey.visits.target_screening import keeps_place, settle_screening
from annotation.survey.visits.visit import Visit


@dataclass(frozen=True)
class ReturnPlan:
    """What a return leads to. ``changes`` are new groups by position, None for one left out."""

    result: ReturnResult
    changes: dict[int, StudyGroup | None] = field(default_factory=dict)


def is_place_bound(submission: Submission) -> bool:
    """Return whether others get the place of a visit that is away for too long."""
    study = submission.study
    is_piloting = study.status == StudyStatus.PILOTING
    holds_places = (
        submission.origin == SubmissionOrigin.PILOT if is_piloting else submission.is_counted
    )
    return holds_places and (study.quota_rule == QuotaRule.HARD or study.samples_by_margins)


def count_minutes_left(submission: Submission) -> int:
    """Return for how many minutes more the place of a visit is its own; 0 where nobody waits."""
    if not submission.reserved_until or submission.state != SubmissionState.IN_PROGRESS:
        return 0
    left = submission.reserved_until - timezone.now()
    return max(0, math.ceil(left.total_seconds() / 60)) if is_place_bound(submission) else 0


def is_lapsed(submission: Submission) -> bool:
    """Return whether a visit in progress has to take its places again before it goes on."""
    reserved_until = submission.reserved_until
    return (
        submission.state == SubmissionState.IN_PROGRESS
        and is_place_bound(submission)
        and (reserved_until is None or reserved_until <= timezone.now())
    )


@transaction.atomic
def settle_return(*, token: str) -> ReturnResult | None:
    """Take the places of a lapsed visit again, or others, or end it; keep on record which.

    None where there is nothing to settle: the visit has not lapsed, has ended, or its study has.
    The study's row is locked first, as for a start. Raises `Submission.DoesNotExist`.
    """
    lock_study(Visit.load(token).study)
    visit = Visit.load(token, lock=True)
    submission = visit.submission
    if not is_lapsed(submission) or visit.is_cut_off:
        return None
    lapsed_at = submission.reserved_until or submission.started_at
    before, plan = _list_groups(visit), plan_return(visit)
    if plan.result == ReturnResult.LOST:
        _end(visit)
    else:
        _change_groups(visit, plan)
        _go_on(visit, plan)
    LateReturn.objects.create(
        submission=submission,
        lapsed_at=lapsed_at,
        returned_at=timezone.now(),
        result=plan.result,
        groups_before=before,
        groups_after=_list_groups(visit),
    )
    return plan.result


def may_reconsider(submission: Submission) -> bool:
    """Return whether somebody who declined can go back to the consent page.

    For as long as a place is reserved, and until the panel was told. Two queries for who declined.
    """
    if submission.outcome != Outcome.NO_CONSENT or not submission.study.is_open:
        return False
    since = timezone.now() - timedelta(minutes=submission.study.reservation_minutes)
    return (
        submission.pages.filter(step_index=submission.step_index, submitted_at__gt=since).exists()
        and not submission.panel_actions.exists()
    )


@transaction.atomic
def reconsider(*, token: str) -> None:
    """Let somebody who declined decide again; places that others took meanwhile stay theirs."""
    lock_study(Visit.load(token).study)
    submission = Visit.load(token, lock=True).submission
    if not may_reconsider(submission):
        return
    submission.pages.filter(step_index=submission.step_index).delete()
    submission.state = SubmissionState.IN_PROGRESS
    submission.outcome = ""
    submission.step_opened_at = timezone.now()
    # Its places are free for others since then: they are taken again like after a late return.
    submission.reserved_until = timezone.now()
    submission.save()
    if is_lapsed(submission):
        settle_return(token=token)
    else:
        submission.reserved_until = reservation_end(submission.study)
        submission.save(update_fields=["reserved_until"])


def plan_return(visit: Visit) -> ReturnPlan:
    """Return what becomes of a lapsed visit as things are now, nothing stored.

    Five queries, three more where people are chosen by their answers.
    """
    submission = visit.submission
    if not keeps_place(submission):
        return ReturnPlan(ReturnResult.LOST)
    if visit.study.quota_rule != QuotaRule.HARD:
        return ReturnPlan(ReturnResult.KEPT)
    arm = visit.content.arms.get(submission.arm)
    quotas = offer(arm, count_quotas(visit.study, instrument=visit.instrument))
    is_open = {quota.group.slug: bool(quota.open) for quota in quotas}
    held = [assignment for assignment in visit.assignments.values() if not assignment.is_repeat]
    # One that was left out takes no place.
    gone = [
        assignment
        for assignment in held
        if not assignment.skipped and not is_open[assignment.group.slug]
    ]
    rated = _find_rated(submission)
    if any(assignment.pk in rated for assignment in gone) or not has_pilot_place(visit.study):
        return ReturnPlan(ReturnResult.LOST)
    kept = [assignment.group for assignment in held if assignment not in gone]
    fresh = choose_for(
        submission,
        quotas,
        wanted=len(gone),
        rule=QuotaRule.HARD,
        kept=kept,
        met=_find_met(visit) if gone else (),
    )
    if not kept and not fresh:
        return ReturnPlan(ReturnResult.LOST)
    positions = [assignment.position for assignment in gone]
    return ReturnPlan(
        ReturnResult.CHANGED if gone else ReturnResult.KEPT,
        dict(zip_longest(positions, fresh)),
    )


def _change_groups(visit: Visit, plan: ReturnPlan) -> None:
    """Put new groups in the place of those that are gone; choose the repeated one again."""
    for position, group in plan.changes.items():
        assignment = visit.assignments[position]
        if group is None:
            assignment.delete()
            del visit.assignments[position]
        else:
            give_group(assignment, group)
    if not plan.changes:
        return
    held = [
        assignment.group for assignment in visit.assignments.values() if not _repeats(assignment)
    ]
    for assignment in filter(_repeats, visit.assignments.values()):
        # The one chosen at first stays, if it can: it is rated already, or comes before the last.
        if assignment.group not in (held[:-1] or held):
            give_group(assignment, choose_repeat(held, seed=visit.submission.seed))


def _find_met(visit: Visit) -> set[str]:
    """Return the items whose texts the visit was ever given: the page of one that is gone may have
    been read. One query for a study of texts."""
    if not visit.study.rates_texts:
        return set()
    returns = LateReturn.objects.filter(submission=visit.submission)
    slugs = {*_list_groups(visit)}.union(*returns.values_list("groups_before", flat=True))
    return {group.item for group in visit.content.groups.values() if group.slug in slugs}


def _go_on(visit: Visit, plan: ReturnPlan) -> None:
    """Renew the reservation; a page whose group is gone is opened anew, or passed over."""
    submission, step = visit.submission, visit.step
    if step is not None and step.position in plan.changes:
        advance(visit, [step, *visit.list_following(step)])
        return
    submission.reserved_until = reservation_end(visit.study)
    submission.save(update_fields=["reserved_until"])


def _end(visit: Visit) -> None:
    """End a visit whose place is gone; who has rated a group is paid as the study's rule says."""
    submission = visit.submission
    if not _find_rated(submission):
        if keeps_place(submission):
            end_submission(submission=submission, outcome=Outcome.QUOTA_FULL)
        else:
            end_submission(submission=submission, outcome=Outcome.SCREENED_OUT)
            settle_screening(submission)
        return
    end_submission(submission=submission, outcome=Outcome.TIMED_OUT)
    review_submission(
        submission=submission,
        reviewer=None,
        data_decision=DataDecision.EXCLUDED,
        pay_decision=PayDecision.APPROVED if visit.study.pay_lost_places else PayDecision.WAITING,
        reason="Came back after the reservation had lapsed and the place was taken.",
    )


def _find_rated(submission: Submission) -> set[int]:
    """Return the keys of assignments whose page was sent, those left out too. One query."""
    sent = ~Q(skipped="") | Exists(Rating.objects.filter(assignment=OuterRef("pk")))
    return set(submission.assignments.filter(sent).values_list("pk", flat=True))


def _list_groups(visit: Visit) -> list[str]:
    return [assignment.group.slug for assignment in visit.assignments.values()]


def _repeats(assignment: GroupAssignment) -> bool:
    return assignment.is_repeat
