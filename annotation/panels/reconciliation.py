"""What the panel says has become of a study’s submissions, and what follows for the ledger.

The panel's list is the truth about payments. An action that is unclear is asked for again only
where that can do no harm: approving, rejecting or asking for a return twice does nothing the second
time. A bonus that is asked for twice is paid twice, so that a person has to say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.common.money import take_percent
from annotation.models import (
    VERDICTS,
    ActionKind,
    ActionState,
    PanelAction,
    PanelRecord,
    PanelSettings,
    PanelStatus,
    ParticipantIdentity,
    Study,
    Submission,
    SubmissionState,
)
from annotation.panels.action_claims import next_try
from annotation.panels.base import PanelSubmission
from annotation.panels.study_settings import load_panel_settings

OPEN = (ActionState.PLANNED, ActionState.SENT, ActionState.UNCLEAR)
DONE = {
    ActionKind.APPROVE: {PanelStatus.APPROVED},
    ActionKind.SCREEN_OUT: {PanelStatus.SCREENED_OUT, PanelStatus.PARTIALLY_APPROVED},
    ActionKind.REJECT: {PanelStatus.REJECTED},
    ActionKind.RETURN: {PanelStatus.RETURNED},
}
FINAL = frozenset(
    {
        PanelStatus.APPROVED,
        PanelStatus.REJECTED,
        PanelStatus.RETURNED,
        PanelStatus.SCREENED_OUT,
        PanelStatus.PARTIALLY_APPROVED,
    }
)
PAID_AS: dict[str, ActionKind] = {
    PanelStatus.APPROVED: ActionKind.APPROVE,
    PanelStatus.SCREENED_OUT: ActionKind.SCREEN_OUT,
    PanelStatus.PARTIALLY_APPROVED: ActionKind.SCREEN_OUT,
}
#: Not at the end yet: the panel approves nothing before.
EARLY = frozenset({PanelStatus.RESERVED, PanelStatus.ACTIVE})


def settle(*, study: Study, listed: Mapping[str, PanelSubmission], asked_at: datetime) -> None:
    """Bring actions and records to where the panel's list stands. Calling it twice is harmless.

    ``asked_at`` is when the list was asked for: what was called later may not be in it.
    """
    keep_records(study, listed, asked_at)
    note_paid_by_panel(study, listed)
    for action in PanelAction.objects.filter(study=study, state__in=OPEN).order_by("pk"):
        settle_action(action, listed.get(action.reference), asked_at)
    refused = PanelAction.objects.filter(study=study, state=ActionState.FAILED)
    for action in refused.order_by("pk"):
        row = listed.get(action.reference)
        # Refused the second time, but the first time may have been carried out after all.
        if row is not None and is_done(action, row) and not has_rival(action):
            _change(action, ActionState.CONFIRMED, settled=True)


def settle_action(action: PanelAction, row: PanelSubmission | None, asked_at: datetime) -> None:
    """Bring one open action to where the panel stands."""
    if action.state == ActionState.SENT and action.accepted_at is None and not _is_lapsed(action):
        return  # in the hands of a worker
    if row is not None and is_done(action, row):
        _change(action, ActionState.CONFIRMED, settled=True)
        return
    if action.called_at is not None and action.called_at > asked_at:
        return  # the list is older than the call
    if row is not None and is_impossible(action, row):
        status = PanelStatus(row.status).label
        problem = _("The panel lists the submission as “%(status)s”.") % {"status": status}
        _change(action, ActionState.FAILED, problem, settled=True)
    elif action.state == ActionState.SENT and action.accepted_at is None:
        _give_up_worker(action)
    elif action.state == ActionState.SENT:
        _wait_for_panel(action)
    elif action.state == ActionState.UNCLEAR:
        _look_at_unclear(action, row)


def confirm_by_status(action: PanelAction, row: PanelSubmission) -> None:
    """Confirm an action if the panel says that it is done; anything else waits for its list."""
    if is_done(action, row):
        _change(action, ActionState.CONFIRMED, settled=True)


def is_done(action: PanelAction, row: PanelSubmission) -> bool:
    """Whether the panel lists what was asked for. Bonuses are counted by their amount."""
    if action.kind == ActionKind.BONUS:
        if action.bonuses_before is None:  # no call that may have been carried out
            return False
        return row.bonuses.count(action.amount_minor) > action.bonuses_before
    if action.kind == ActionKind.RETURN and row.return_requested:
        return True
    return row.status in DONE[ActionKind(action.kind)]


def has_rival(action: PanelAction) -> bool:
    """Whether another verdict about the submission stands, so that this one cannot."""
    rivals = PanelAction.objects.filter(submission=action.submission_id, kind__in=VERDICTS)
    return (
        action.kind in VERDICTS
        and rivals.exclude(pk=action.pk).exclude(state=ActionState.FAILED).exists()
    )


def is_impossible(action: PanelAction, row: PanelSubmission) -> bool:
    """Whether the panel has settled the submission in another way."""
    if action.kind == ActionKind.BONUS:
        return False
    return row.status in FINAL


def keep_records(study: Study, listed: Mapping[str, PanelSubmission], asked_at: datetime) -> None:
    """Keep what the panel says of each submission that is known here.

    Four queries, and some for each status that has changed.
    """
    known = submissions_by_reference(study)
    records = {
        record.submission_id: record
        for record in PanelRecord.objects.filter(submission__study=study)
    }
    for reference, row in listed.items():
        submission = known.get(reference)
        if submission is None or row.status not in PanelStatus.values:
            continue
        record = records.get(submission.pk)
        if record is None or record.status != row.status:
            apply_status(submission=submission, status=row.status, at=asked_at)
    PanelRecord.objects.filter(submission__in=[row.pk for row in known.values()]).update(
        seen_at=timezone.now()
    )


@transaction.atomic
def apply_status(*, submission: Submission, status: str, at: datetime) -> PanelRecord:
    """Keep a submission's new status at the panel. Who returned it frees its places at once."""
    record, _created = PanelRecord.objects.update_or_create(
        submission=submission,
        defaults={"status": status, "status_at": at, "seen_at": timezone.now()},
    )
    if status == PanelStatus.RETURNED:
        Submission.objects.filter(pk=submission.pk, state=SubmissionState.IN_PROGRESS).update(
            reserved_until=None
        )
    return record


def submissions_by_reference(study: Study) -> dict[str, Submission]:
    """Return submissions by the panel's id of them. Two queries."""
    by_person = {row.participant_id: row for row in Submission.objects.filter(study=study)}
    identities = ParticipantIdentity.objects.filter(study=study).exclude(session_id="")
    return {
        session: by_person[person]
        for person, session in identities.values_list("participant", "session_id")
        if person in by_person
    }


def note_paid_by_panel(study: Study, listed: Mapping[str, PanelSubmission]) -> None:
    """Enter what the panel paid without this platform, so that it is never paid again.

    Panels approve by themselves after some weeks, and researchers do so on the panel's own pages.
    """
    paid = {ref: row for ref, row in listed.items() if row.status in PAID_AS}
    if not paid:
        return
    known = submissions_by_reference(study)
    with_verdict = set(
        PanelAction.objects.filter(study=study, kind__in=VERDICTS)
        .exclude(state=ActionState.FAILED)
        .values_list("submission", flat=True)
    )
    now = timezone.now()
    for reference, row in paid.items():
        submission = known.get(reference)
        if submission is None or submission.pk in with_verdict:
            continue
        PanelAction.objects.update_or_create(
            submission=submission,
            kind=PAID_AS[row.status],
            key="",
            defaults={"state": ActionState.CONFIRMED, "settled_at": now, "problem": ""},
            create_defaults={
                "study": study,
                "amount_minor": amount_of(row.status, study, load_panel_settings(study)),
                "currency": study.currency,
                "reference": reference,
                "state": ActionState.CONFIRMED,
                "settled_at": now,
                "try_at": now,
                "by_panel": True,
            },
        )


def amount_of(status: str, study: Study, panel_settings: PanelSettings) -> int:
    """Return what a submission with this status at the panel has cost, in minor units."""
    if status == PanelStatus.SCREENED_OUT:
        return panel_settings.screen_out_minor
    if status == PanelStatus.PARTIALLY_APPROVED:
        return take_percent(study.reward_cents, Decimal(panel_settings.screen_out_percent))
    return study.reward_cents if status == PanelStatus.APPROVED else 0


def _is_lapsed(action: PanelAction) -> bool:
    lease = timedelta(seconds=settings.PANEL_LEASE_SECONDS)
    # A claim from the future was made before the clock was set back.
    return action.claimed_at is None or abs(timezone.now() - action.claimed_at) > lease


def _give_up_worker(action: PanelAction) -> None:
    """The worker was killed: before the call nothing was done, after it nobody knows."""
    if action.called_at is None:
        _plan_again(action, _("The worker was stopped before it asked the panel."))
    else:
        problem = _("The worker was stopped while it asked the panel.")
        _change(action, ActionState.UNCLEAR, problem)


def _wait_for_panel(action: PanelAction) -> None:
    """The panel said yes, but its list does not show it yet."""
    if action.accepted_at is not None and not _has_settled(action.accepted_at):
        _postpone(action)
    elif action.kind == ActionKind.BONUS:
        problem = _("The panel took the bonus on, but does not list it.")
        _change(action, ActionState.UNCLEAR, problem)
    else:
        _plan_again(action, _("The panel took it on, but has not done it."))


def _look_at_unclear(action: PanelAction, row: PanelSubmission | None) -> None:
    if action.kind != ActionKind.BONUS and row is not None:
        _plan_again(action, action.problem)
    else:
        _postpone(action)


def _has_settled(moment: datetime) -> bool:
    return moment < timezone.now() - timedelta(seconds=settings.PANEL_SETTLE_SECONDS)


def may_send_again(action: PanelAction) -> bool:
    """Whether a person may have an unclear bonus sent again: the panel has had its time."""
    return (
        action.kind == ActionKind.BONUS
        and action.state == ActionState.UNCLEAR
        and action.called_at is not None
        and _has_settled(action.called_at)
    )


def _plan_again(action: PanelAction, problem: str) -> None:
    _guarded(action).update(
        state=ActionState.PLANNED,
        problem=problem,
        try_at=next_try(action.attempts),
        claim="",
        called_at=None,
        accepted_at=None,
        batch_reference="",
    )


def _postpone(action: PanelAction) -> None:
    pause = timedelta(seconds=settings.PANEL_SETTLE_SECONDS / 20)
    _guarded(action).update(try_at=timezone.now() + pause)


def _change(
    action: PanelAction, state: ActionState, problem: str = "", *, settled: bool = False
) -> None:
    now = timezone.now()
    _guarded(action).update(
        state=state,
        problem=problem,
        try_at=now,
        settled_at=now if settled else None,
        by_panel=state == ActionState.CONFIRMED and action.attempts == 0,
    )


def _guarded(action: PanelAction) -> QuerySet[PanelAction]:
    """Return the row if it still stands as it was read: another worker may have gone on."""
    return PanelAction.objects.filter(pk=action.pk, state=action.state, claim=action.claim)
