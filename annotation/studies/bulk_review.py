"""Decisions about several submissions at once: what they would do, and doing it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from annotation.models import DataDecision, PayDecision, RejectionGround, Study, Submission
from annotation.studies.quality import Assessment, assess_submissions
from annotation.studies.rejection_grounds import rejection_grounds
from annotation.studies.review_service import review_submission, validate_state

#: What can be decided: data, pay.
DECISIONS: dict[str, tuple[DataDecision, PayDecision]] = {
    "accept": (DataDecision.ACCEPTED, PayDecision.APPROVED),
    "exclude": (DataDecision.EXCLUDED, PayDecision.APPROVED),
    "reject": (DataDecision.EXCLUDED, PayDecision.REJECTED),
}
MOST_REJECTED = 50


@dataclass(frozen=True)
class StudySum:
    """``people`` of a study, and the rewards of those whose pay was not approved before."""

    study: Study
    people: int
    newly_approved: int

    @property
    def cents(self) -> int:
        return self.newly_approved * self.study.reward_cents


@dataclass(frozen=True)
class DecisionPlan:
    """What a decision would do: ``possible`` submissions, and why others are refused.

    ``grounds`` are those that hold for every possible submission; only a rejection asks for them.
    """

    decision: str
    possible: Sequence[Submission]
    refused: Counter[str]
    sums: Sequence[StudySum]
    flagged: int
    grounds: Sequence[RejectionGround] = ()
    assessments: dict[int, Assessment] = field(default_factory=dict)


@dataclass(frozen=True)
class Decided:
    done: int
    refused: Counter[str]


def plan_decision(
    submissions: Sequence[Submission], *, decision: str, user: AbstractBaseUser | AnonymousUser
) -> DecisionPlan:
    """Return what ``decision`` would do to ``submissions``; nothing is stored.

    Some ten queries for each study, and three for each submission whose pay would be rejected.
    Raises `ValidationError` for an unknown decision and for more than 50 rejections at once.
    """
    if decision not in DECISIONS:
        raise ValidationError(_("Choose one of the decisions."))
    data_decision, _pay = DECISIONS[decision]
    changeable = set(
        Study.objects.reviewable_by(user)
        .filter(pk__in={item.study_id for item in submissions})
        .values_list("pk", flat=True)
    )
    possible, refused = [], Counter[str]()
    for submission in submissions:
        problem = _find_problem(submission, data_decision, changeable)
        if problem:
            refused[problem] += 1
        else:
            possible.append(submission)
    if decision == "reject" and len(possible) > MOST_REJECTED:
        raise ValidationError(
            _("%(n)d rejections at once, expected at most %(most)d.")
            % {"n": len(possible), "most": MOST_REJECTED}
        )
    assessments = assess_submissions(possible)
    return DecisionPlan(
        decision=decision,
        possible=possible,
        refused=refused,
        sums=_add_up(possible),
        flagged=sum(found.has_warning for found in assessments.values()),
        grounds=_common_grounds(possible) if decision == "reject" else (),
        assessments=assessments,
    )


def carry_out(
    plan: DecisionPlan, *, reviewer: User, reason: str = "", on_ground: str = ""
) -> Decided:
    """Review every possible submission of a plan, each by itself; say what was refused and why."""
    data_decision, pay_decision = DECISIONS[plan.decision]
    done, refused = 0, Counter(plan.refused)
    for submission in plan.possible:
        try:
            review_submission(
                submission=submission,
                reviewer=reviewer,
                data_decision=data_decision,
                pay_decision=pay_decision,
                reason=reason,
                on_ground=on_ground,
                assessment=plan.assessments[submission.pk],
            )
        except ValidationError as error:
            refused[" ".join(error.messages)] += 1
        else:
            done += 1
    return Decided(done, refused)


def _find_problem(submission: Submission, data_decision: DataDecision, changeable: set[int]) -> str:
    if submission.study_id not in changeable:
        return _("You may see “%(study)s” but not change it.") % {"study": submission.study}
    try:
        validate_state(submission, data_decision)
    except ValidationError as error:
        return " ".join(error.messages)
    return ""


def _add_up(submissions: Sequence[Submission]) -> list[StudySum]:
    by_study: dict[Study, list[Submission]] = {}
    for submission in submissions:
        by_study.setdefault(submission.study, []).append(submission)
    return [
        StudySum(study, len(rows), sum(row.pay_decision != PayDecision.APPROVED for row in rows))
        for study, rows in by_study.items()
    ]


def _common_grounds(submissions: Sequence[Submission]) -> list[RejectionGround]:
    """Return the grounds that hold for every submission: only on these can pay be rejected."""
    common: set[RejectionGround] | None = None
    for submission in submissions:
        found = {ground.ground for ground in rejection_grounds(submission)}
        common = found if common is None else common & found
    return [ground for ground in RejectionGround if ground in (common or set())]
