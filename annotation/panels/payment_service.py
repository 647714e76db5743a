"""Carries a study’s planned actions out: ask the panel, settle, send, ask again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings as site
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.common.far_moments import is_far
from annotation.models import ActionKind, ActionState, PanelAction, PanelSettings, Study
from annotation.panels.action_claims import (
    cancel_undecided,
    claim_actions,
    mark_accepted,
    mark_refused,
    mark_unclear,
    note_call,
    put_back,
)
from annotation.panels.base import PanelClient, PanelKind, PanelSubmission
from annotation.panels.dispatch import notify_payer
from annotation.panels.errors import (
    PanelAwayError,
    PanelError,
    PanelRefusedError,
    PanelUnclearError,
)
from annotation.panels.identity_erasure import erase_settled_ids
from annotation.panels.reconciliation import EARLY, OPEN, has_rival, may_send_again, settle
from annotation.panels.registry import PANELS, get_panel
from annotation.panels.study_settings import load_panel_settings

# --- Sends what is planned to the panel ---

Listed = Mapping[str, PanelSubmission]


class Sender:
    """One worker's way through a study's planned actions; ``listed`` was asked for just before."""

    def __init__(
        self,
        study: Study,
        settings: PanelSettings,
        panel: PanelKind,
        client: PanelClient,
        listed: Listed,
        asked_at: datetime,
    ) -> None:
        self.study = study
        self.settings = settings
        self.panel = panel
        self.client = client
        self.listed = listed
        self.asked_at = asked_at

    def send_all(self, *, should_stop: Callable[[], bool] = lambda: False) -> int:
        """Send everything that is due, one request after the other; return how many were taken.

        Raises `PanelAwayError` as soon as the panel is away or too busy; nothing stays in hand.
        """
        taken: set[int] = set()
        for kind, limit, send in (
            (ActionKind.APPROVE, self.panel.rules.largest_batch, self._approve),
            (ActionKind.SCREEN_OUT, 1, self._pay_screening),
            (ActionKind.RETURN, 1, self._request_return),
            (ActionKind.REJECT, 1, self._reject),
            (ActionKind.BONUS, self.panel.rules.largest_batch, self._pay_bonuses),
        ):
            while not should_stop():
                actions = claim_actions(study=self.study, kind=kind, limit=limit, besides=taken)
                if not actions:
                    break
                taken.update(action.pk for action in actions)
                ready = self._sort_out(actions)
                if ready:
                    send(ready)
        return len(taken)

    def _sort_out(self, actions: Sequence[PanelAction]) -> list[PanelAction]:
        """Return what the panel can be asked for now; the rest waits or is refused."""
        ready = []
        for action in actions:
            row = self.listed.get(action.reference)
            if row is None:
                mark_refused([action], _("The panel does not list this submission."))
            elif row.status in EARLY and action.kind != ActionKind.RETURN:
                put_back([action], _("They have not finished at the panel yet."))
            elif action.kind == ActionKind.BONUS and self._is_list_too_old(action):
                put_back([action], _("Another bonus was paid a moment ago."))
            else:
                ready.append(action)
        return ready

    def _is_list_too_old(self, action: PanelAction) -> bool:
        """Whether another bonus of the submission was called or confirmed after the list."""
        others = PanelAction.objects.filter(
            submission=action.submission_id, kind=ActionKind.BONUS
        ).exclude(pk=action.pk)
        since = Q(called_at__gte=self.asked_at) | Q(settled_at__gte=self.asked_at)
        return others.filter(since).exists()

    def _call(
        self,
        actions: Sequence[PanelAction],
        request: Callable[[], None],
        *,
        batch_reference: str = "",
        bonuses_before: Mapping[str, int] | None = None,
        refused: Callable[[Sequence[PanelAction], str], None] = mark_refused,
    ) -> None:
        """Note the call, make it, and mark the actions by what came of it."""
        noted = note_call(actions, batch_reference=batch_reference, bonuses_before=bonuses_before)
        if not noted:
            put_back(actions, _("The worker was too slow to ask the panel."))
            return
        try:
            request()
        except PanelAwayError as problem:
            put_back(actions, str(problem))
            raise
        except PanelRefusedError as problem:
            refused(actions, str(problem))
        except PanelUnclearError as problem:
            mark_unclear(actions, str(problem))
        else:
            mark_accepted(actions)

    def _approve(self, actions: Sequence[PanelAction]) -> None:
        self._call(
            actions,
            lambda: self.client.approve([row.reference for row in actions]),
            refused=self._approve_one_by_one if len(actions) > 1 else mark_refused,
        )

    def _approve_one_by_one(self, actions: Sequence[PanelAction], _problem: str) -> None:
        """A batch was refused, and so none of it done: find out which ones the panel minds."""
        for place, action in enumerate(actions):
            try:
                self._approve([action])
            except PanelAwayError as problem:
                put_back(actions[place + 1 :], str(problem))
                raise

    def _pay_screening(self, actions: Sequence[PanelAction]) -> None:
        (action,) = actions
        code = self.study.completion_codes.get("screened_out", "")
        self._call(
            actions,
            lambda: self.client.pay_share(
                action.reference, code=code, percent=int(action.category), message=action.message
            ),
        )

    def _request_return(self, actions: Sequence[PanelAction]) -> None:
        (action,) = actions
        self._call(
            actions,
            lambda: self.client.request_return(action.reference, reason=action.message),
        )

    def _reject(self, actions: Sequence[PanelAction]) -> None:
        (action,) = actions
        self._call(
            actions,
            lambda: self.client.reject(
                action.reference, category=action.category, message=action.message
            ),
        )

    def _pay_bonuses(self, actions: Sequence[PanelAction]) -> None:
        """Lay a batch down, which pays nothing; store its id; then have it paid."""
        amounts = {action.reference: action.amount_minor for action in actions}
        try:
            batch = self.client.prepare_bonuses(amounts, currency=self.study.currency)
        except PanelRefusedError as problem:
            mark_refused(actions, str(problem))
            return
        except PanelError as problem:  # whatever became of it, nothing was paid
            put_back(actions, str(problem))
            if isinstance(problem, PanelAwayError):
                raise
            return
        before = {
            reference: self.listed[reference].bonuses.count(minor)
            for reference, minor in amounts.items()
        }
        self._call(
            actions,
            lambda: self.client.pay_bonuses(batch),
            batch_reference=batch,
            bonuses_before=before,
        )


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
    cancel_undecided(study=study)
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
    """Ask the panel for its list and bring the ledger to it. Raises `PanelError`."""
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
    notify_payer(study)
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
    cancel_undecided(study=study)
    notify_payer(study)
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
        notify_payer(study)
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
