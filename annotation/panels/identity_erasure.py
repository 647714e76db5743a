"""Erases what a panel calls a person who withdrew, as soon as their payment is settled."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.models import (
    VERDICTS,
    ActionKind,
    ActionState,
    Panel,
    PanelAction,
    PanelRecord,
    PanelStatus,
    ParticipantIdentity,
    Submission,
    Withdrawal,
)
from annotation.panels.reconciliation import FINAL, OPEN

ENDED_AT_PANEL = FINAL | {PanelStatus.TIMED_OUT}


def erase_settled_ids(*, submission: Submission | None = None) -> int:
    """Erase the panel's ids of people who withdrew and are owed nothing more.

    ``submission`` limits it to one. Returns how many people; calling it twice is harmless. Three
    queries where there is nothing to do, five for each person.
    """
    withdrawals = _find_settled()
    if submission is not None:
        withdrawals = withdrawals.filter(submission=submission)
    found = list(withdrawals.select_related("submission"))
    for withdrawal in found:
        erase_ids(withdrawal.submission)
    return len(found)


@transaction.atomic
def erase_ids(submission: Submission) -> int:
    """Erase a submission's ids, also in the records of its payments; return how many there were."""
    identities = ParticipantIdentity.objects.filter(
        study=submission.study_id, participant=submission.participant_id
    )
    number, _by_model = identities.delete()
    actions = PanelAction.objects.filter(submission=submission)
    # Amounts and times stay; what a person was told about their answers does not.
    actions.update(reference="", message="")
    Withdrawal.objects.filter(submission=submission).update(ids_erased_at=timezone.now())
    return number


def _find_settled() -> QuerySet[Withdrawal]:
    """Return withdrawals whose ids are still here and have served their purpose.

    A plain link has an opaque id of the browser's alone, by which it finds its page again; it says
    nothing of who somebody is.
    """
    actions = PanelAction.objects.filter(submission=OuterRef("submission"))
    settled_kinds = (*VERDICTS, ActionKind.RETURN)
    ended = PanelRecord.objects.filter(submission=OuterRef("submission"), status__in=ENDED_AT_PANEL)
    own_id_only = Q(submission__study__panel=Panel.LINK) & (
        Q(submission__study__panel_settings__isnull=True)
        | Q(submission__study__panel_settings__person_parameter="")
    )
    return (
        Withdrawal.objects.filter(ids_erased_at=None)
        .exclude(own_id_only)
        .exclude(Exists(actions.filter(state__in=OPEN)))
        .filter(
            Q(Exists(actions.filter(kind__in=settled_kinds, state=ActionState.CONFIRMED)))
            | Q(Exists(ended))
            | Q(submission__study__reward_cents=0)
        )
    )
