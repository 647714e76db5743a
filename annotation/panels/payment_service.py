"""Carries a study’s planned actions out: ask the panel, settle, send, ask again."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings as site
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.common.far_moments import is_far
from annotation.models import ActionState, PanelAction, Study
from annotation.panels.action_claims import drop_undecided
from annotation.panels.action_delivery import Listed, Sender
from annotation.panels.base import PanelClient
from annotation.panels.dispatch import wake_payer
from annotation.panels.errors import PanelAwayError, PanelError
from annotation.panels.identity_erasure import erase_settled_ids
from annotation.panels.reconciliation import OPEN, has_rival, may_send_again, settle
from annotation.panels.registry import PANELS, get_panel
from annotation.panels.study_settings import load_panel_settings

logger = logging.getLogger(__name__)

# A study whose settings lack something is tried again when they may have been mended.
SETUP_PAUSE = timedelta(minutes=5)


@dataclass(frozen=True)
class Pass:
    """What one pass did: ``sent`` to the panel, still ``open`` afterwards, and what stopped it."""

    sent: int
    open: int
    problem: str = ""


def pay_study(*, study: Study, should_stop: Callable[[], bool] = lambda: False) -> Pass:
    """Do what is planned for a study and due, as far as its panel lets; never anything twice.

    Safe to call at any time, by any number of workers, and after any of them was killed. Makes
    network calls, so never within a transaction.
    """
    drop_undecided(study=study)
    if not _open_actions(study).exists():
        return Pass(0, 0)
    settings, panel = load_panel_settings(study), get_panel(study.panel)
    sent, problem = 0, ""
    try:
        client = panel.connect(study, settings)
    except PanelError as refusal:
        _postpone_all(study, str(refusal))
        return Pass(0, _open_actions(study).count(), str(refusal))
    try:
        asked_at = timezone.now()
        listed = look(study=study, client=client)
        sender = Sender(study, settings, panel, client, listed, asked_at)
        sent = sender.send_all(should_stop=should_stop)
        _postpone_untaken(study)
        if sent:
            look(study=study, client=client)
    except PanelError as refusal:
        problem = str(refusal)
        _postpone_all(study, problem)
        if not isinstance(refusal, PanelAwayError):
            logger.warning("study %s: the panel refuses to be asked", study.public_id)
    finally:
        client.close()
    return Pass(sent, _open_actions(study).count(), problem)


def look(*, study: Study, client: PanelClient) -> Listed:
    """Ask the panel for its list and bring the books to it. Raises `PanelError`."""
    asked_at = timezone.now()
    listed = {row.reference: row for row in client.list_submissions()}
    settle(study=study, listed=listed, asked_at=asked_at)
    return listed


def refresh_study(*, study: Study) -> None:
    """Ask the panel where everything stands, and send nothing. Raises `PanelError`.

    For a person who waits for the answer: nothing is tried twice.
    """
    client = get_panel(study.panel).connect(study, load_panel_settings(study), patient=False)
    try:
        look(study=study, client=client)
    finally:
        client.close()


def send_again(*, study: Study) -> int:
    """Have unclear bonuses sent again that the panel does not list after all its time.

    A person's decision. The panel is asked first, here and once more right before the call; what it
    lists by then is confirmed instead. Returns how many; raises `PanelError`.
    """
    refresh_study(study=study)
    actions = PanelAction.objects.filter(study=study, state=ActionState.UNCLEAR)
    keys = [action.pk for action in actions if may_send_again(action)]
    # Call and count stay, so that the old payment is still recognized if it shows up late.
    number = PanelAction.objects.filter(pk__in=keys, state=ActionState.UNCLEAR).update(
        state=ActionState.PLANNED, try_at=timezone.now(), claim=""
    )
    wake_payer(study)
    return number


@transaction.atomic
def plan_refused_again(*, study: Study) -> int:
    """Plan again what the panel refused, where the decision stands and nothing else came of it."""
    number = 0
    for action in PanelAction.objects.filter(study=study, state=ActionState.FAILED):
        if has_rival(action):
            continue
        number += PanelAction.objects.filter(pk=action.pk, state=ActionState.FAILED).update(
            state=ActionState.PLANNED,
            try_at=timezone.now(),
            settled_at=None,
            problem="",
            claim="",
            called_at=None,
        )
    drop_undecided(study=study)
    wake_payer(study)
    return number


def sweep_payments() -> int:
    """Wake workers for studies with actions that are due. Part of the workers' sweep.

    Ids of people who withdrew, and whose payment is settled by now, are erased.
    """
    erase_settled_ids()
    due = (
        PanelAction.objects.filter(state__in=OPEN, try_at__lte=timezone.now())
        .exclude(study__panel__in=[name for name, panel in PANELS.items() if not panel.has_api])
        .values("study")
    )
    lapsed = PanelAction.objects.filter(
        is_far("claimed_at", timedelta(seconds=site.PANEL_LEASE_SECONDS)),
        state=ActionState.SENT,
    ).values("study")
    studies = Study.objects.filter(pk__in=due) | Study.objects.filter(pk__in=lapsed)
    found = list(studies.distinct())
    for study in found:
        wake_payer(study)
    return len(found)


def _open_actions(study: Study) -> QuerySet[PanelAction]:
    return PanelAction.objects.filter(study=study, state__in=OPEN)


def _postpone_untaken(study: Study) -> None:
    """What was due and not taken waits for something else: it need not be asked for at once."""
    now = timezone.now()
    pause = timedelta(seconds=site.PANEL_SETTLE_SECONDS / 20)
    _open_actions(study).filter(state=ActionState.PLANNED, try_at__lte=now).update(
        try_at=now + pause
    )


def _postpone_all(study: Study, problem: str) -> None:
    """Nothing could be asked: say so where nothing else is said, and come back later."""
    now = timezone.now()
    pause = min(SETUP_PAUSE, timedelta(seconds=site.PANEL_PAUSE_SECONDS * 150))
    _open_actions(study).filter(try_at__lte=now).update(try_at=now + pause)
    _open_actions(study).filter(state=ActionState.PLANNED).update(problem=problem)
