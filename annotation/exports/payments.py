"""Whom a panel shall pay: the one export that names people by their panel's ids.

It does not carry the submission's public id, so that it cannot be joined with exports of data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db.models import OuterRef, Subquery

from annotation.exports.tables import Cell, Column, ColumnType, Table
from annotation.models import (
    Outcome,
    Panel,
    ParticipantIdentity,
    PayDecision,
    RejectionGround,
    Review,
    Study,
    Submission,
    SubmissionState,
)

TEXT, NUMBER = ColumnType.TEXT, ColumnType.NUMBER

PAYMENT_COLUMNS = (
    Column("panel", TEXT, ", ".join(Panel.values), "the panel"),
    Column("external_id", TEXT, "the panel's own", "the person at the panel"),
    Column("session_id", TEXT, "the panel's own", "the submission at the panel"),
    Column("state", TEXT, ", ".join(SubmissionState.values), "where it stood at this export"),
    Column("outcome", TEXT, ", ".join(Outcome.values), "how it ended"),
    Column("completion_code", TEXT, "8 characters", "the code that was shown"),
    Column("pay_decision", TEXT, ", ".join(PayDecision.values), "whether it is paid"),
    Column("pay_ground", TEXT, ", ".join(RejectionGround.values), "ground of a rejection"),
    Column("reason", TEXT, "text", "reason of a rejection, as the person is told it"),
    Column("reward_cents", NUMBER, "0 or more", "the study's reward"),
    Column("currency", TEXT, "ISO 4217", "its currency"),
)


def build_payment_table(study: Study) -> Table:
    """Return the table of a study's payments, ordered by external id. One query."""

    def load() -> Iterator[Sequence[Cell]]:
        submission = Submission.objects.filter(study=study, participant=OuterRef("participant"))
        newest = Review.objects.filter(
            submission__study=study, submission__participant=OuterRef("participant")
        ).order_by("-created_at", "-pk")
        rows = (
            ParticipantIdentity.objects.filter(study=study)
            .annotate(
                state=Subquery(submission.values("state")[:1]),
                outcome=Subquery(submission.values("outcome")[:1]),
                pay_decision=Subquery(submission.values("pay_decision")[:1]),
                pay_ground=Subquery(newest.values("pay_ground")[:1]),
                reason=Subquery(newest.values("reason")[:1]),
            )
            .order_by("panel", "external_id")
            .values_list(
                "panel",
                "external_id",
                "session_id",
                "state",
                "outcome",
                "pay_decision",
                "pay_ground",
                "reason",
            )
        )
        for panel, external, session, state, outcome, decision, ground, reason in rows.iterator(
            chunk_size=2000
        ):
            rejected = decision == PayDecision.REJECTED
            yield [
                panel,
                external,
                session,
                state,
                outcome,
                study.completion_codes.get(outcome, "") if outcome else "",
                decision,
                ground if rejected else "",
                reason if rejected else "",
                study.reward_cents,
                study.currency,
            ]

    return Table("payments", PAYMENT_COLUMNS, load)
