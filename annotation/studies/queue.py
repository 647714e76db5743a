"""The review queue of a study: which submissions it shows, in which order, page by page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.core.exceptions import ValidationError
from django.db.models import DurationField, ExpressionWrapper, F, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import (
    DataDecision,
    PayDecision,
    RejectionGround,
    Study,
    Submission,
    SubmissionOrigin,
    SubmissionState,
)
from annotation.models.submission import in_review
from annotation.studies.pace import load_pace
from annotation.studies.quality import Assessment, FlagName, assess_submissions
from annotation.studies.review_service import rejection_grounds, review_submission, validate_state
from annotation.studies.submission_summary import Noticed, Proposal, notice_submissions

# --- Decisions about several submissions at once: what they would do, and doing it

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


# --- The queue

ROWS = 25
WAITING, PREVIEWS = "waiting", "previews"
ANY_FLAG, NO_FLAG = "any", "none"

#: What the queue can show: a name, its words, a condition on submissions.
SHOWN: dict[str, tuple[Any, Q]] = {
    WAITING: (gettext_lazy("Waiting for review"), in_review()),
    "unpaid": (
        gettext_lazy("Waiting for a decision about pay"),
        Q(pay_decision=PayDecision.WAITING) & ~Q(state=SubmissionState.IN_PROGRESS),
    ),
    "accepted": (gettext_lazy("Accepted"), Q(data_decision=DataDecision.ACCEPTED)),
    "excluded": (
        gettext_lazy("Excluded"),
        Q(state=SubmissionState.FINISHED, data_decision=DataDecision.EXCLUDED),
    ),
    "in-progress": (gettext_lazy("In progress"), Q(state=SubmissionState.IN_PROGRESS)),
    "ended": (
        gettext_lazy("Ended early or withdrawn"),
        Q(state__in=[SubmissionState.ENDED, SubmissionState.WITHDRAWN]),
    ),
    "all": (gettext_lazy("All"), Q()),
    "pilot": (gettext_lazy("Pilot"), Q(origin=SubmissionOrigin.PILOT)),
    PREVIEWS: (gettext_lazy("Previews"), Q(origin=SubmissionOrigin.PREVIEW)),
}

#: Columns that the database sorts by.
STORED_ORDER = {"finished": "finished_at", "time": "took", "agreement": "self_agreement"}
PROPOSALS = [Proposal.EXCLUDE, Proposal.LOOK, Proposal.ACCEPT]


def _count_warnings(noticed: Noticed) -> float:
    return len(noticed.assessment.flags) + noticed.assessment.has_warning


#: Columns whose value is computed for each submission.
COMPUTED_ORDER: dict[str, Callable[[Noticed], float]] = {
    "checks": lambda noticed: noticed.passed / noticed.asked if noticed.asked else math.inf,
    "flags": _count_warnings,
    "proposal": lambda noticed: PROPOSALS.index(noticed.proposal),
}
COLUMNS = (*STORED_ORDER, *COMPUTED_ORDER)


@dataclass(frozen=True)
class QueueView:
    """What somebody wants to see. ``flag`` is a flag's name, “any”, “none” or "" for all."""

    show: str = WAITING
    flag: str = ""
    proposal: str = ""
    name: str = ""
    sort: str = "finished"
    descending: bool = False
    page: int = 1

    @property
    def needs_all(self) -> bool:
        """Whether every submission has to be looked at to know which ones are on a page."""
        return bool(self.flag or self.proposal or self.sort in COMPUTED_ORDER)


@dataclass(frozen=True)
class QueuePage:
    """``rows`` of page ``number`` of ``n_pages``; ``total`` submissions answer to the view."""

    rows: Sequence[Noticed]
    number: int
    n_pages: int
    total: int


def read_view(sent: Any) -> QueueView:
    """Return the view that an address names; what it does not know is as if left out."""

    def pick(name: str, known: Sequence[str], otherwise: str) -> str:
        return value if (value := sent.get(name, "")) in known else otherwise

    sort = sent.get("sort", "")
    page = sent.get("page", "")
    return QueueView(
        show=pick("show", list(SHOWN), WAITING),
        flag=pick("flag", [*FlagName.values, ANY_FLAG, NO_FLAG], ""),
        proposal=pick("proposal", Proposal.values, ""),
        name=sent.get("q", "").strip().lower().removeprefix("s-")[:12],
        sort=sort.removeprefix("-") if sort.removeprefix("-") in COLUMNS else "finished",
        descending=sort.startswith("-") and sort[1:] in COLUMNS,
        page=int(page) if page.isascii() and page.isdigit() and len(page) < 7 else 1,
    )


def load_queue(study: Study, view: QueueView) -> QueuePage:
    """Return one page of the queue. Some fifteen queries, whatever the size of the study.

    Where flags or proposals choose or order, every submission that is shown is looked at.
    """
    submissions = _select(study, view)
    limit = load_pace(study).fast_limit
    if view.needs_all:
        found = [
            noticed
            for noticed in notice_submissions(list(submissions), fast_limit=limit)
            if _is_wanted(noticed, view)
        ]
        if view.sort in COMPUTED_ORDER:
            found.sort(key=COMPUTED_ORDER[view.sort], reverse=view.descending)
        total = len(found)
        number, n_pages = _clamp(view.page, total)
        return QueuePage(found[ROWS * (number - 1) : ROWS * number], number, n_pages, total)
    total = submissions.count()
    number, n_pages = _clamp(view.page, total)
    chosen = list(submissions[ROWS * (number - 1) : ROWS * number])
    return QueuePage(notice_submissions(chosen, fast_limit=limit), number, n_pages, total)


def _select(study: Study, view: QueueView) -> QuerySet[Submission]:
    _label, condition = SHOWN[view.show]
    if view.show != PREVIEWS:
        condition &= ~Q(origin=SubmissionOrigin.PREVIEW)
    took = ExpressionWrapper(F("finished_at") - F("started_at"), output_field=DurationField())
    field = F(STORED_ORDER.get(view.sort, "finished_at"))
    order = (
        field.desc(nulls_last=True)
        if view.descending and view.sort in STORED_ORDER
        else field.asc(nulls_last=True)
    )
    return (
        Submission.objects.filter(condition, study=study, public_id__startswith=view.name)
        .select_related("study")
        .annotate(took=took)
        .order_by(order, "pk")
    )


def _is_wanted(noticed: Noticed, view: QueueView) -> bool:
    flags = noticed.assessment
    if view.proposal and noticed.proposal != view.proposal:
        return False
    if view.flag == ANY_FLAG:
        return bool(flags.flags)
    if view.flag == NO_FLAG:
        return not flags.flags
    return not view.flag or flags.find(FlagName(view.flag)) is not None


def _clamp(page: int, total: int) -> tuple[int, int]:
    n_pages = max(1, math.ceil(total / ROWS))
    return min(max(1, page), n_pages), n_pages
