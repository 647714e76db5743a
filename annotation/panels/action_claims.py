"""An action in the hands of one worker: claimed before the call, and let go of after it.

Every change is guarded by the claim, so that a worker that was given up cannot overrule the one
that has taken over.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import (
    ActionKind,
    ActionState,
    PanelAction,
    PayDecision,
    Study,
    Submission,
)

# Growing pauses between attempts, in units of PANEL_PAUSE_SECONDS; the last one stays.
PAUSES = (0, 15, 60, 300, 1800)
#: What the platform must have decided for an action to be sent.
DECISIONS = {
    ActionKind.APPROVE: PayDecision.APPROVED,
    ActionKind.SCREEN_OUT: PayDecision.APPROVED,
    ActionKind.BONUS: PayDecision.APPROVED,
    ActionKind.REJECT: PayDecision.REJECTED,
}


@transaction.atomic
def cancel_undecided(*, study: Study) -> None:
    """Take planned actions back whose decision about pay has changed since."""
    for kind, decision in DECISIONS.items():
        stale = PanelAction.objects.filter(
            study=study, kind=kind, state=ActionState.PLANNED
        ).exclude(submission__pay_decision=decision)
        stale.filter(attempts=0).delete()
        PanelAction.objects.filter(pk__in=list(stale.values_list("pk", flat=True))).update(
            state=ActionState.FAILED,
            problem=_("The decision about pay has changed."),
            settled_at=timezone.now(),
        )


@transaction.atomic
def claim_actions(
    *, study: Study, kind: ActionKind, limit: int, besides: Collection[int] = ()
) -> list[PanelAction]:
    """Take up to ``limit`` planned actions of a kind into hand; nobody else gets them.

    Only what is still decided so is taken, and none of ``besides``. A bonus waits while another
    bonus of the same submission is under way or in doubt: the panel lists amounts without names.
    """
    now = timezone.now()
    wanted = PanelAction.objects.filter(
        study=study, kind=kind, state=ActionState.PLANNED, try_at__lte=now
    ).exclude(pk__in=besides)
    if kind == ActionKind.SCREEN_OUT:
        wanted = wanted.exclude(category="")  # a fixed amount comes with the panel's own code
    if kind in DECISIONS:
        wanted = wanted.filter(submission__pay_decision=DECISIONS[kind])
    if kind == ActionKind.BONUS:
        under_way = Q(state__in=[ActionState.SENT, ActionState.UNCLEAR])
        # Asked for once, and perhaps paid: whatever is planned or refused by now.
        in_doubt = Q(bonuses_before__isnull=False) & ~Q(state=ActionState.CONFIRMED)
        busy = PanelAction.objects.filter(study=study, kind=kind)
        rivals = busy.filter(under_way | in_doubt).exclude(pk=OuterRef("pk"))
        wanted = wanted.exclude(Exists(rivals.filter(submission=OuterRef("submission"))))
    found: dict[int, int] = {}
    for pk, submission in wanted.order_by("pk").values_list("pk", "submission"):
        found.setdefault(submission, pk)  # one of a submission at a time
        if len(found) == limit:
            break
    # The decision about pay cannot change while these rows are locked.
    locked = Submission.objects.select_for_update().filter(pk__in=found).order_by("pk")
    decided = DECISIONS.get(kind)
    kept = [row.pk for row in locked if decided is None or row.pay_decision == decided]
    claim = secrets.token_hex(16)
    PanelAction.objects.filter(pk__in=[found[pk] for pk in kept], state=ActionState.PLANNED).update(
        state=ActionState.SENT,
        claim=claim,
        claimed_at=now,
        attempts=F("attempts") + 1,
        called_at=None,
        accepted_at=None,
        batch_reference="",
        problem="",
    )
    return list(PanelAction.objects.filter(claim=claim).order_by("pk"))


def note_call(
    actions: Sequence[PanelAction],
    *,
    batch_reference: str = "",
    bonuses_before: Mapping[str, int] | None = None,
) -> bool:
    """Write down that the call comes now; False if the claim has been lost, or is too old.

    Committed before the call: from here on, the action may have been carried out. For a bonus,
    ``bonuses_before`` is how many of its amount the panel lists by reference; from an earlier call
    of which nobody knows what became of it, the older count stays.
    """
    now = timezone.now()
    fresh = now - timedelta(seconds=settings.PANEL_LEASE_SECONDS / 2)
    with transaction.atomic():
        noted = (
            _in_hand(actions)
            .filter(claimed_at__gt=fresh)
            .update(called_at=now, batch_reference=batch_reference)
        )
        for action in actions if bonuses_before is not None else ():
            if action.bonuses_before is None:
                count = (bonuses_before or {})[action.reference]
                _in_hand([action]).update(bonuses_before=count)
        if noted != len(actions):
            transaction.set_rollback(True)
    return noted == len(actions)


def mark_accepted(actions: Sequence[PanelAction]) -> None:
    """The panel said yes; whether it has done it shows when it is asked again."""
    now = timezone.now()
    _in_hand(actions).update(accepted_at=now, try_at=now)


def mark_unclear(actions: Sequence[PanelAction], problem: str) -> None:
    _in_hand(actions).update(state=ActionState.UNCLEAR, problem=problem, try_at=timezone.now())


def mark_refused(actions: Sequence[PanelAction], problem: str) -> None:
    """The panel said no: nothing was done, and nothing more happens by itself."""
    _in_hand(actions).update(state=ActionState.FAILED, problem=problem, settled_at=timezone.now())


def put_back(actions: Iterable[PanelAction], problem: str) -> None:
    """Nothing was done: the actions are planned again, with a pause that grows."""
    for action in actions:
        _in_hand([action]).update(
            state=ActionState.PLANNED,
            problem=problem,
            try_at=next_try(action.attempts),
            called_at=None,
            batch_reference="",
            bonuses_before=action.bonuses_before,
        )


def next_try(attempts: int) -> datetime:
    """Return when an action with so many attempts behind it is tried again."""
    pause = PAUSES[min(attempts, len(PAUSES) - 1)]
    return timezone.now() + timedelta(seconds=pause * settings.PANEL_PAUSE_SECONDS)


def _in_hand(actions: Iterable[PanelAction]) -> QuerySet[PanelAction]:
    """Return the rows of actions that still are in this worker's hand."""
    condition = Q(pk__in=[])
    rows = list(actions)
    if rows:
        condition = Q(pk__in=[row.pk for row in rows], claim=rows[0].claim)
    return PanelAction.objects.filter(condition, state=ActionState.SENT)
