"""Prolific’s API over HTTP: https://docs.prolific.com/api-reference.

Requests go one after the other, since Prolific answers 429 to contention. What only reads is tried
again; a payment never is, because a bonus that is asked for twice is paid twice.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings as site
from django.utils.translation import gettext as _

from annotation.common.key_hosts import is_meant_for, is_safe_way
from annotation.common.money import count_decimals, write_decimal
from annotation.models import PanelSettings
from annotation.panels.base import PanelStudy, PanelSubmission
from annotation.panels.caller import Caller
from annotation.panels.errors import PanelSetupError, PanelUnclearError

PAGE = 100
MOST_PAGES = 2_000


def connect_prolific(settings: PanelSettings, *, patient: bool) -> ProlificClient:
    """Return the client of a study. Raises `PanelSetupError` where its settings lack something."""
    if not settings.panel_study_id:
        raise PanelSetupError(
            _("The study has no id at Prolific yet. Enter it on the page “Panel”.")
        )
    variable = settings.api_token_variable
    if not variable:
        raise PanelSetupError(
            _("No environment variable is named that holds the token for Prolific’s API.")
        )
    if not is_meant_for(variable, site.PROLIFIC_API_URL, site.PANEL_KEY_HOSTS):
        raise PanelSetupError(
            _(
                "The token in %(name)s is not meant for %(host)s. Ask the administrator to add "
                "%(name)s=%(host)s to PANEL_KEY_HOSTS, or name the variable of this panel."
            )
            % {"name": variable, "host": urlsplit(site.PROLIFIC_API_URL).netloc}
        )
    if not is_safe_way(site.PROLIFIC_API_URL, plain_here=site.PLAIN_LOOPBACK_KEYS):
        raise PanelSetupError(
            _("Tokens are sent by https alone. Ask the administrator to correct PROLIFIC_API_URL.")
        )
    token = os.environ.get(variable, "")
    if not token:
        raise PanelSetupError(
            _("The environment variable %(name)s is not set where this runs.") % {"name": variable}
        )
    caller = Caller(
        site.PROLIFIC_API_URL,
        headers={"Authorization": f"Token {token}"},
        title="Prolific",
        attempts=site.PANEL_ATTEMPTS if patient else 1,
        timeout=site.PANEL_TIMEOUT_SECONDS if patient else min(10, site.PANEL_TIMEOUT_SECONDS),
        pause=site.PANEL_PAUSE_SECONDS,
    )
    return ProlificClient(caller, settings.panel_study_id)


class ProlificClient:
    """See `annotation.panels.base.PanelClient`."""

    def __init__(self, caller: Caller, study_id: str) -> None:
        self._caller = caller
        self._study_id = study_id

    def close(self) -> None:
        self._caller.close()

    # --- reading ----------------------------------------------------------------------------

    def list_submissions(self) -> list[PanelSubmission]:
        """Return every submission of the study, page by page."""
        found: dict[str, PanelSubmission] = {}
        for page in range(MOST_PAGES):
            answer = self._caller.read(
                f"studies/{self._study_id}/submissions/", {"limit": PAGE, "offset": page * PAGE}
            )
            rows = _rows(answer)
            found.update((row.reference, row) for row in map(_read_submission, rows))
            if len(rows) < PAGE:
                break
        return list(found.values())

    def count_submissions(self) -> Mapping[str, int]:
        answer = self._caller.read(f"studies/{self._study_id}/submissions/counts/")
        return {str(name): count for name, count in answer.items() if isinstance(count, int)}

    def read_study(self) -> PanelStudy:
        answer = self._caller.read(f"studies/{self._study_id}/")
        return PanelStudy(
            status=str(answer.get("status", "")),
            places=_whole(answer.get("total_available_places")),
            taken=_whole(answer.get("places_taken")),
        )

    # --- asking for something -----------------------------------------------------------------

    def approve(self, references: Sequence[str]) -> None:
        """Approve submissions. Many at once are approved in the minutes that follow."""
        if len(references) == 1:
            self._transition(references[0], {"action": "APPROVE"})
            return
        self._caller.send("POST", "submissions/bulk-approve/", {"submission_ids": list(references)})

    def reject(self, reference: str, *, category: str, message: str) -> None:
        self._transition(
            reference, {"action": "REJECT", "message": message, "rejection_category": category}
        )

    def request_return(self, reference: str, *, reason: str) -> None:
        self._caller.send(
            "POST",
            f"submissions/{reference}/request-return/",
            {"request_return_reasons": [reason]},
        )

    def pay_share(self, reference: str, *, code: str, percent: int, message: str) -> None:
        data = {"percentage_of_reward": percent, "message_to_participant": message}
        self._transition(
            reference,
            {"action": "COMPLETE", "completion_code": code, "completion_code_data": data},
        )

    def prepare_bonuses(self, amounts: Mapping[str, int], *, currency: str) -> str:
        """Lay a batch of bonuses down and return its id. Nothing is paid by this."""
        places = count_decimals(currency)
        lines = "\n".join(f"{who},{write_decimal(minor, places)}" for who, minor in amounts.items())
        answer = self._caller.send(
            "POST",
            "submissions/bonus-payments/",
            {"study_id": self._study_id, "csv_bonuses": lines},
        )
        batch = answer.get("id")
        if not isinstance(batch, str) or not batch:
            raise PanelUnclearError(_("Prolific’s answer names no batch of bonuses."))
        return batch

    def pay_bonuses(self, batch_reference: str) -> None:
        """Pay a batch, in the minutes that follow. Asked twice, Prolific pays twice."""
        self._caller.send("POST", f"bulk-bonus-payments/{batch_reference}/pay/", {})

    def increase_places(self, total: int) -> None:
        """Set the number of places; the same number asked for twice changes nothing."""
        self._caller.send(
            "PATCH",
            f"studies/{self._study_id}/",
            {"total_available_places": total},
            try_again=True,
        )

    def change_status(self, action: str) -> None:
        self._caller.send("POST", f"studies/{self._study_id}/transition/", {"action": action})

    def _transition(self, reference: str, content: Mapping[str, Any]) -> None:
        self._caller.send("POST", f"submissions/{reference}/transition/", content)


def _rows(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    rows = answer.get("results")
    if not isinstance(rows, list):
        raise PanelUnclearError(_("Prolific’s answer lists no submissions."))
    return [row for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)]


def _read_submission(row: Mapping[str, Any]) -> PanelSubmission:
    bonuses = row.get("bonus_payments")
    return PanelSubmission(
        reference=str(row["id"]),
        status=read_status(row.get("status")),
        status_at=_read_time(row.get("completed_at") or row.get("started_at")),
        return_requested=bool(row.get("return_requested")),
        bonuses=tuple(_whole(amount) for amount in bonuses) if isinstance(bonuses, list) else (),
    )


def read_status(text: object) -> str:
    """Return a status as `PanelStatus` spells it; Prolific itself writes some in two ways."""
    spelled = str(text or "").upper().replace("_", " ")
    return spelled.replace("TIMED OUT", "TIMED-OUT")


def _read_time(text: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def _whole(value: object) -> int:
    return round(value) if isinstance(value, int | float) else 0
