"""Sends what is planned to the panel: claimed, noted, called, and marked by what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from django.db.models import Q
from django.utils.translation import gettext as _

from annotation.models import ActionKind, PanelAction, PanelSettings, Study
from annotation.panels.action_claims import (
    claim_actions,
    mark_accepted,
    mark_refused,
    mark_unclear,
    note_call,
    put_back,
)
from annotation.panels.base import PanelClient, PanelKind, PanelSubmission
from annotation.panels.errors import (
    PanelAwayError,
    PanelError,
    PanelRefusedError,
    PanelUnclearError,
)
from annotation.panels.reconciliation import EARLY

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
