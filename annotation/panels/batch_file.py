"""A panel’s file of results: whose code stands in it, and the same file with the decisions.

Mechanical Turk's batch page gives a CSV with AssignmentId, WorkerId, AssignmentStatus and the
answers as columns “Answer.…”; it takes the file back with “x” under Approve or a text under Reject.
Ids of workers are neither stored nor shown.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import (
    ActionKind,
    ActionState,
    PanelAction,
    PanelStatus,
    ParticipantIdentity,
    PayDecision,
    Study,
    Submission,
)
from annotation.panels.action_plan import Plan, propose_rejections, propose_rewards, store_plan
from annotation.panels.base import PanelSubmission
from annotation.panels.reconciliation import settle
from annotation.panels.survey_codes import index_survey_codes, read_survey_code

LARGEST_FILE = 20 * 1024 * 1024
ASSIGNMENT, STATUS, APPROVE, REJECT = "AssignmentId", "AssignmentStatus", "Approve", "Reject"
STATUSES = {
    "submitted": PanelStatus.AWAITING_REVIEW,
    "approved": PanelStatus.APPROVED,
    "rejected": PanelStatus.REJECTED,
}


@dataclass(frozen=True)
class BatchRow:
    """One line of the file, counted from 1 at its head; ``submission`` None for an unknown code."""

    line: int
    reference: str
    code: str
    status: str
    submission: Submission | None
    cells: dict[str, str]


@dataclass(frozen=True)
class Batch:
    """What the codes of a file say. A code that stands there twice counts for nobody."""

    columns: list[str]
    rows: list[BatchRow]
    matched: list[BatchRow] = field(default_factory=list)
    unknown: list[BatchRow] = field(default_factory=list)
    duplicates: list[BatchRow] = field(default_factory=list)


def read_batch(study: Study, content: bytes, *, code_column: str = "") -> Batch:
    """Return a file's rows with the submissions of their codes. One query.

    Raises `ValidationError` that says what the file lacks.
    """
    columns, lines = _read_csv(content)
    column = code_column or _find_code_column(columns)
    for wanted in (ASSIGNMENT, column):
        if wanted not in columns:
            raise ValidationError(
                _("The file has no column “%(column)s”. It has: %(columns)s.")
                % {"column": wanted, "columns": ", ".join(columns[:30])}
            )
    known = index_survey_codes(Submission.objects.filter(study=study).select_related("participant"))
    rows = []
    for number, cells in enumerate(lines, start=2):
        code = read_survey_code(cells[column])
        status = STATUSES.get(cells.get(STATUS, "").strip().lower(), "")
        reference = cells[ASSIGNMENT].strip()
        rows.append(BatchRow(number, reference, code, status, known.get(code), cells))
    return _sort_rows(columns, rows)


@transaction.atomic
def store_batch(*, study: Study, batch: Batch) -> None:
    """Keep which of the panel's submissions belongs to which of ours, and how it stands there."""
    now = timezone.now()
    for row in batch.matched:
        assert row.submission is not None
        ParticipantIdentity.objects.filter(
            study=study, participant=row.submission.participant_id
        ).update(session_id=row.reference)
    listed = {
        row.reference: PanelSubmission(row.reference, row.status)
        for row in batch.matched
        if row.status
    }
    settle(study=study, listed=listed, asked_at=now)


def fill_decisions(*, study: Study, batch: Batch) -> bytes:
    """Return the file with the decisions about pay filled in, and enter them into the ledger.

    Only what is decided and not settled at the panel is filled in. The ledger say “sent” until a
    later file says that the panel has done it.
    """
    store_batch(study=study, batch=batch)
    for propose in (propose_rewards, propose_rejections):
        mine = _only(propose, batch)
        fingerprint = mine(study).fingerprint
        store_plan(study=study, propose=mine, fingerprint=fingerprint, planned_by=None)
    references = [row.reference for row in batch.matched]
    actions = PanelAction.objects.filter(
        study=study,
        reference__in=references,
        kind__in=[ActionKind.APPROVE, ActionKind.REJECT],
        state__in=[ActionState.PLANNED, ActionState.SENT],
    ).select_related("submission")
    decided = {
        ActionKind.APPROVE: PayDecision.APPROVED,
        ActionKind.REJECT: PayDecision.REJECTED,
    }
    filled = {
        action.reference: action
        for action in actions
        if action.submission.pay_decision == decided[ActionKind(action.kind)]
    }
    now = timezone.now()
    PanelAction.objects.filter(pk__in=[action.pk for action in filled.values()]).update(
        state=ActionState.SENT, called_at=now, accepted_at=now, try_at=now
    )
    return _write(batch, filled)


def _only(propose: Callable[[Study], Plan], batch: Batch) -> Callable[[Study], Plan]:
    """Return the same proposals for the people of a file alone."""
    keys = {row.submission.pk for row in batch.matched if row.submission is not None}

    def propose_some(study: Study) -> Plan:
        plan = propose(study)
        kept = tuple(item for item in plan.proposals if item.submission.pk in keys)
        return Plan(study, kept, plan.left_out)

    return propose_some


def _write(batch: Batch, filled: dict[str, PanelAction]) -> bytes:
    extra = [name for name in (APPROVE, REJECT) if name not in batch.columns]
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, [*batch.columns, *extra], extrasaction="ignore")
    writer.writeheader()
    matched = {row.line for row in batch.matched}
    for row in batch.rows:
        action = filled.get(row.reference) if row.line in matched else None
        is_reward = action is not None and action.kind == ActionKind.APPROVE
        writer.writerow(
            {
                **row.cells,
                APPROVE: "x" if is_reward else "",
                REJECT: action.message if action is not None and not is_reward else "",
            }
        )
    return buffer.getvalue().encode()


def _sort_rows(columns: list[str], rows: list[BatchRow]) -> Batch:
    times = Counter(row.code for row in rows)
    references = Counter(row.reference for row in rows)
    batch = Batch(columns, rows)
    for row in rows:
        if row.submission is None:
            batch.unknown.append(row)
        elif times[row.code] > 1 or references[row.reference] > 1 or not row.reference:
            batch.duplicates.append(row)
        else:
            batch.matched.append(row)
    return batch


def _read_csv(content: bytes) -> tuple[list[str], list[dict[str, str]]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValidationError(_("The file is no text in UTF-8.")) from None
    reader = csv.DictReader(io.StringIO(text, newline=""), restval="", strict=True)
    try:
        lines = list(reader)
    except csv.Error as problem:
        raise ValidationError(
            _("The file is no CSV: %(problem)s.") % {"problem": problem}
        ) from None
    columns = list(reader.fieldnames or ())
    if any(None in line for line in lines):
        raise ValidationError(_("A line has more cells than the head of the file."))
    if not lines:
        raise ValidationError(_("The file has no line below its head."))
    return columns, lines


def _find_code_column(columns: list[str]) -> str:
    """Return the answer that holds the code: the one called so, else the only answer there is."""
    answers = [name for name in columns if name.startswith("Answer.")]
    named = [name for name in answers if "code" in name.lower()]
    found = named if named else answers
    if len(found) != 1:
        raise ValidationError(
            _("Which column holds the code is not clear, expected one called “Answer.surveycode”.")
        )
    return found[0]
