"""What the panel would be asked to do about a study’s submissions: proposed, then written down.

A proposal costs nothing and changes nothing. It is stored only if it is still what was confirmed.
Only what the platform's own decision about pay says is ever proposed.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.audit.record import record
from annotation.common.money import take_percent
from annotation.models import (
    VERDICTS,
    ActionKind,
    ActionState,
    AuditAction,
    Outcome,
    PanelAction,
    PanelRecord,
    PanelSettings,
    PanelStatus,
    ParticipantIdentity,
    PayDecision,
    Review,
    ScreenOutPay,
    Study,
    Submission,
    SubmissionOrigin,
    SubmissionState,
)
from annotation.panels.base import PanelKind
from annotation.panels.registry import get_panel
from annotation.panels.study_settings import load_panel_settings

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: These ends of a submission are no work to pay for: the person is asked to return their place.
RETURNED_OUTCOMES = frozenset({Outcome.NO_CONSENT, Outcome.QUOTA_FULL})


@dataclass(frozen=True)
class Proposal:
    """One action that could be planned; ``reference`` is the panel's id of the submission."""

    submission: Submission
    kind: ActionKind
    amount_minor: int
    reference: str
    key: str = ""
    category: str = ""
    message: str = ""


@dataclass(frozen=True)
class Plan:
    """Proposals of one kind of button. ``left_out`` counts submissions by the reason why not."""

    study: Study
    proposals: tuple[Proposal, ...]
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def people(self) -> int:
        return len(self.proposals)

    @property
    def amount_minor(self) -> int:
        return sum(proposal.amount_minor for proposal in self.proposals)

    @property
    def fingerprint(self) -> str:
        """Stands for exactly these people and amounts: what somebody confirmed."""
        lines = sorted(
            f"{item.submission.pk}:{item.kind}:{item.key}:{item.amount_minor}:{item.message}"
            for item in self.proposals
        )
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class PlanTotals:
    """How many people a plan is about and what it costs, without who they are."""

    people: int
    amount_minor: int
    left_out: dict[str, int]


#: Says of a submission what could be planned, or the reason against it.
Judge = Callable[[Submission], Proposal | str]
#: Submissions with what is said of each: for `collect_plan` and `total_plan`.
Asked = tuple[QuerySet[Submission], Judge]


class PlanChangedError(Exception):
    """What was confirmed is not what would be done now; nothing was stored."""


def propose_rewards(study: Study) -> Plan:
    """Return the rewards of everyone whose pay is approved and who has none yet. Two queries."""
    return collect_plan(study, *ask_for_rewards(study))


def propose_rejections(study: Study) -> Plan:
    """Return the rejections that were decided, as far as the panel allows them. Two queries."""
    return collect_plan(study, *ask_for_rejections(study))


def propose_returns(study: Study) -> Plan:
    """Return requests to return: no consent, no place, stopped midway, or an unpaid screening.

    These are no rejections, and never cost the person anything. Two queries.
    """
    return collect_plan(study, *ask_for_returns(study))


def ask_for_rewards(study: Study) -> Asked:
    """Return whose pay is approved without a reward yet, and what each would get."""
    settings, panel = load_panel_settings(study), get_panel(study.panel)
    rows = select_unsettled(study).filter(pay_decision=PayDecision.APPROVED)
    return rows, lambda row: _propose_reward(row, study, settings, panel)


def ask_for_rejections(study: Study) -> Asked:
    """Return whose pay is rejected, and what the panel would be told of each."""
    panel = get_panel(study.panel)
    newest = Review.objects.filter(submission=OuterRef("pk")).order_by("-created_at", "-pk")
    rows = (
        select_unsettled(study)
        .filter(pay_decision=PayDecision.REJECTED)
        .annotate(
            ground=Subquery(newest.values("pay_ground")[:1]),
            told=Subquery(newest.values("reason")[:1]),
        )
    )
    return rows, lambda row: _propose_rejection(row, panel)


def ask_for_returns(study: Study) -> Asked:
    """Return who may be asked to return their place, and why."""
    settings, panel = load_panel_settings(study), get_panel(study.panel)
    outcomes = set(RETURNED_OUTCOMES)
    if settings.screen_out_pay == ScreenOutPay.NOTHING:
        outcomes.add(Outcome.SCREENED_OUT)
    rows = (
        select_unsettled(study)
        .filter(
            Q(state=SubmissionState.ENDED, outcome__in=outcomes)
            | Q(state=SubmissionState.WITHDRAWN, outcome="")
        )
        .exclude(pay_decision=PayDecision.REJECTED)
        .exclude(outcome__in=["", Outcome.QUOTA_FULL], pay_decision=PayDecision.APPROVED)
        .exclude(panel_actions__kind=ActionKind.RETURN)
    )
    return rows, lambda row: _propose_return(row, panel)


#: What can be asked of a panel as a whole, by the name that pages, command and API use.
PROPOSERS: dict[str, Callable[[Study], Plan]] = {
    "rewards": propose_rewards,
    "returns": propose_returns,
    "rejections": propose_rejections,
}


def select_unsettled(study: Study) -> QuerySet[Submission]:
    """Return ended submissions about which the panel has not been told anything final."""
    settled = PanelAction.objects.filter(study=study, kind__in=VERDICTS).values("submission")
    return select_payable(study).exclude(pk__in=settled)


def select_payable(study: Study) -> QuerySet[Submission]:
    """Return the ended submissions of real people with what the panel calls them.

    ``reference`` is the panel's id, ``panel_status`` what it said last; both may be missing.
    """
    identity = ParticipantIdentity.objects.filter(study=study, participant=OuterRef("participant"))
    record = PanelRecord.objects.filter(submission=OuterRef("pk"))
    return (
        Submission.objects.filter(study=study)
        .exclude(state=SubmissionState.IN_PROGRESS)
        .exclude(origin=SubmissionOrigin.PREVIEW)
        .annotate(
            reference=Subquery(identity.values("session_id")[:1]),
            panel_status=Subquery(record.values("status")[:1]),
        )
        .order_by("pk")
    )


@transaction.atomic
def store_plan(
    *,
    study: Study,
    propose: Callable[[Study], Plan],
    fingerprint: str,
    planned_by: User | None,
    is_done: bool = False,
) -> int:
    """Write down what was confirmed; return the number of actions.

    ``propose`` is asked again with the study locked. Raises `PlanChangedError` if it proposes
    anything else than ``fingerprint`` stands for. ``is_done`` records what was done elsewhere.
    """
    locked = Study.objects.select_for_update().get(pk=study.pk)
    plan = propose(locked)
    if plan.fingerprint != fingerprint:
        raise PlanChangedError
    now = timezone.now()
    PanelAction.objects.bulk_create(
        PanelAction(
            study=locked,
            submission=item.submission,
            kind=item.kind,
            key=item.key,
            amount_minor=item.amount_minor,
            currency=locked.currency,
            reference=item.reference,
            category=item.category,
            message=item.message,
            planned_by=planned_by,
            try_at=now,
            state=ActionState.CONFIRMED if is_done else ActionState.PLANNED,
            settled_at=now if is_done else None,
        )
        for item in plan.proposals
    )
    if plan.people:
        kinds = ", ".join(sorted({item.kind for item in plan.proposals}))
        total = f"{plan.people} people, {plan.amount_minor} {locked.currency} (minor units)"
        record(AuditAction.PAID, kinds, actor=planned_by, study=locked, detail=total)
    return plan.people


def collect_plan(study: Study, rows: Iterable[Submission], propose: Judge) -> Plan:
    """Return the plan of what ``propose`` says of each row: a proposal, or a reason against it."""
    proposals: list[Proposal] = []
    left_out: Counter[str] = Counter()
    for row in rows:
        found = propose(row)
        if isinstance(found, Proposal):
            proposals.append(found)
        else:
            left_out[found] += 1
    return Plan(study, tuple(proposals), dict(left_out))


def total_plan(rows: QuerySet[Submission], propose: Judge) -> PlanTotals:
    """Return what `collect_plan` would come to. One query, whose rows are the different cases.

    ``propose`` may look at the outcome, at what the rows are annotated with, and at whether there
    is a reference: what it is differs between people, and is encrypted.
    """
    shared = sorted(set(rows.query.annotations) - {"reference"})
    cases = (
        rows.order_by()
        .annotate(has_reference=Q(reference__gt=""))
        .values("outcome", "has_reference", *shared)
        .annotate(n=Count("pk"))
    )
    people = amount_minor = 0
    left_out: Counter[str] = Counter()
    for case in cases:
        row = Submission(outcome=case["outcome"])
        row.reference = "known" if case["has_reference"] else ""  # type: ignore[attr-defined]
        for name in shared:
            setattr(row, name, case[name])
        found = propose(row)
        if isinstance(found, Proposal):
            people += case["n"]
            amount_minor += case["n"] * found.amount_minor
        else:
            left_out[found] += case["n"]
    return PlanTotals(people, amount_minor, dict(left_out))


def find_obstacle(submission: Submission, panel: PanelKind) -> str:
    """Return why the panel cannot be asked about a submission, "" if it can."""
    if not submission.reference:  # type: ignore[attr-defined]
        if panel.has_own_codes:
            return _("Their code was in no file of the panel yet.")
        if panel.has_api:
            return _("The panel’s id of their submission is not known.")
    if submission.panel_status == PanelStatus.RETURNED:  # type: ignore[attr-defined]
        return _("They returned their submission at the panel.")
    return ""


def _propose_reward(
    row: Submission, study: Study, settings: PanelSettings, panel: PanelKind
) -> Proposal | str:
    if obstacle := find_obstacle(row, panel):
        return obstacle
    reference: str = row.reference or ""  # type: ignore[attr-defined]
    if row.outcome == Outcome.NO_CONSENT:
        return _("They did not take part: ask them to return their place.")
    if row.outcome != Outcome.SCREENED_OUT:
        return Proposal(row, ActionKind.APPROVE, study.reward_cents, reference)
    if settings.screen_out_pay == ScreenOutPay.NOTHING:
        return _("They were screened out, and the study pays nothing for that.")
    if settings.screen_out_pay == ScreenOutPay.FIXED:
        return Proposal(row, ActionKind.SCREEN_OUT, settings.screen_out_minor, reference)
    share = take_percent(study.reward_cents, Decimal(settings.screen_out_percent))
    return Proposal(
        row,
        ActionKind.SCREEN_OUT,
        share,
        reference,
        category=str(settings.screen_out_percent),
        message=_("Thank you. This study needed other people; you are paid for your time."),
    )


def _propose_rejection(row: Submission, panel: PanelKind) -> Proposal | str:
    if obstacle := find_obstacle(row, panel):
        return obstacle
    rules = panel.rules
    ground, told = row.ground, row.told or ""  # type: ignore[attr-defined]
    category = rules.categories.get(ground, "")
    if rules.categories and not category:
        return _("The panel does not allow the ground of their rejection.")
    if len(told) < rules.least_message:
        return _("The reason has fewer than %(least)d characters, which the panel wants.") % {
            "least": rules.least_message
        }
    reference: str = row.reference or ""  # type: ignore[attr-defined]
    return Proposal(row, ActionKind.REJECT, 0, reference, category=category, message=told)


def _propose_return(row: Submission, panel: PanelKind) -> Proposal | str:
    if obstacle := find_obstacle(row, panel):
        return obstacle
    if row.panel_status in {PanelStatus.APPROVED, PanelStatus.REJECTED}:  # type: ignore[attr-defined]
        return _("The panel has settled them already.")
    reasons = {
        "": _("Withdrew consent"),
        Outcome.NO_CONSENT: _("Withdrew consent"),
        Outcome.QUOTA_FULL: _("The study was full when you came"),
        Outcome.SCREENED_OUT: _("The study needs people with other answers to its first questions"),
    }
    reference: str = row.reference or ""  # type: ignore[attr-defined]
    reason = reasons[row.outcome]
    return Proposal(row, ActionKind.RETURN, 0, reference, message=reason)
