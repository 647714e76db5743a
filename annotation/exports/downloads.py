"""HTTP answers that stream a table, and the names of their files.

It does not carry the submission's public id, so that it cannot be joined with exports of data.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from django.db.models import Case, OuterRef, QuerySet, Subquery, Sum, When
from django.http import StreamingHttpResponse
from django.utils import timezone

from annotation.common.table_formats import TABLE_FORMATS, TableFormat, split_file_name
from annotation.common.tables import Cell, Column, ColumnType, Table, stream_csv
from annotation.exports.study_tables import list_study_tables
from annotation.models import (
    VERDICTS,
    ActionKind,
    ActionState,
    DataDecision,
    Outcome,
    PanelAction,
    PanelRecord,
    PanelStatus,
    ParticipantIdentity,
    PayDecision,
    RejectionGround,
    Review,
    Study,
    Submission,
    SubmissionState,
)
from annotation.panels.registry import PANELS, get_panel
from annotation.panels.survey_codes import make_survey_code

# --- Whom a panel shall pay: the one export that names people by their panel's ids ----------------

TEXT, NUMBER = ColumnType.TEXT, ColumnType.NUMBER

PAYMENT_COLUMNS = (
    Column("panel", TEXT, ", ".join(PANELS), "the panel"),
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
    Column("panel_status", TEXT, ", ".join(PanelStatus.values), "what the panel said last"),
    Column("payment_state", TEXT, ", ".join(ActionState.values), "reward or rejection, so far"),
    Column("paid_minor", NUMBER, "0 or more", "reward confirmed, smallest unit of the currency"),
    Column("bonus_minor", NUMBER, "0 or more", "bonuses confirmed, smallest unit"),
)


def build_payment_table(study: Study) -> Table:
    """Return the table of a study's payments, ordered by external id. One query."""

    def load() -> Iterator[Sequence[Cell]]:
        submission = Submission.objects.filter(study=study, participant=OuterRef("participant"))
        newest = Review.objects.filter(
            submission__study=study, submission__participant=OuterRef("participant")
        ).order_by("-created_at", "-pk")
        record = PanelRecord.objects.filter(
            submission__study=study, submission__participant=OuterRef("participant")
        )
        actions = PanelAction.objects.filter(
            study=study, submission__participant=OuterRef("participant")
        ).order_by()
        # What was refused counts only where nothing else stands.
        verdicts = actions.filter(kind__in=VERDICTS).order_by(
            Case(When(state=ActionState.FAILED, then=1), default=0), "-pk"
        )
        rows = (
            ParticipantIdentity.objects.filter(study=study)
            .annotate(
                state=Subquery(submission.values("state")[:1]),
                outcome=Subquery(submission.values("outcome")[:1]),
                pay_decision=Subquery(submission.values("pay_decision")[:1]),
                pay_ground=Subquery(newest.values("pay_ground")[:1]),
                reason=Subquery(newest.values("reason")[:1]),
                token=Subquery(submission.values("token")[:1]),
                panel_status=Subquery(record.values("status")[:1]),
                payment_state=Subquery(verdicts.values("state")[:1]),
                paid=Subquery(_sum_confirmed(verdicts)),
                bonus=Subquery(_sum_confirmed(actions.filter(kind=ActionKind.BONUS))),
            )
            .order_by()
            .values_list(
                "panel",
                "external_id",
                "session_id",
                "state",
                "outcome",
                "pay_decision",
                "pay_ground",
                "reason",
                "token",
                "panel_status",
                "payment_state",
                "paid",
                "bonus",
            )
        )
        has_own_codes = get_panel(study.panel).has_own_codes
        # In the order of ids, which only those see who have read them.
        for row in sorted(rows.iterator(chunk_size=2000), key=lambda row: row[:2]):
            panel, external, session, state, outcome, decision, ground, reason, token, *paid = row
            rejected = decision == PayDecision.REJECTED
            code = study.completion_codes.get(outcome, "") if outcome else ""
            yield [
                panel,
                external,
                session,
                state,
                outcome,
                make_survey_code(token) if has_own_codes and code and token else code,
                decision,
                ground if rejected else "",
                reason if rejected else "",
                study.reward_cents,
                study.currency,
                paid[0] or "",
                paid[1] or "",
                paid[2] or 0,
                paid[3] or 0,
            ]

    return Table("payments", PAYMENT_COLUMNS, load)


def _sum_confirmed(actions: QuerySet[PanelAction]) -> QuerySet[PanelAction, int]:
    """Return the confirmed amounts of one person's actions, as one row to select."""
    confirmed = actions.filter(state=ActionState.CONFIRMED).order_by()
    return (
        confirmed.values("submission__participant")
        .annotate(total=Sum("amount_minor"))
        .values_list("total", flat=True)
    )


PAYMENT_FILE = "payments.csv"


def list_files(study: Study) -> list[str]:
    """Return the names of all data exports of a study. One query at the utmost."""
    return [f"{table}{end}" for table in list_study_tables(study) for end in TABLE_FORMATS]


def stream_file(
    study: Study, name: str, *, bom: bool = False, include: Collection[str] = ()
) -> tuple[Iterator[bytes], TableFormat]:
    """Return the chunks of the file ``name`` of `list_files`, and its format.

    ``include``: pilot, preview, excluded. Raises `KeyError` for an unknown name and `ValueError`
    for a table that its format cannot hold.
    """
    tables = list_study_tables(study)
    table, form = split_file_name(name)
    wanted = [tables[table], *(tables[companion] for companion in tables[table].companions)]
    built = [_say_scope(one.build(study, include), include) for one in wanted]
    return form.stream(built, bom), form


def _say_scope(table: Table, include: Collection[str]) -> Table:
    """Say in the codebook whether excluded submissions are among the rows."""
    said = "in" if DataDecision.EXCLUDED in include else "not in"
    columns = [
        replace(one, meaning=f"{one.meaning}; excluded submissions are {said} this file")
        if one.name == "data_decision"
        else one
        for one in table.columns
    ]
    return replace(table, columns=columns)


def build_download(
    study: Study, name: str, *, bom: bool = False, include: Collection[str] = ()
) -> StreamingHttpResponse:
    """Return the streamed file ``name`` of `list_files`; raises as `stream_file` does.

    The caller has checked who asks.
    """
    chunks, form = stream_file(study, name, bom=bom, include=include)
    return build_attachment(chunks, name_file(study, name, include), media_type=form.media_type)


def build_payment_download(study: Study, *, bom: bool = False) -> StreamingHttpResponse:
    """Return the streamed table of payments, which names people; the caller has checked rights."""
    chunks = stream_csv(build_payment_table(study), bom=bom)
    return build_attachment(chunks, name_file(study, PAYMENT_FILE))


def build_attachment(
    chunks: Iterator[bytes], file_name: str, *, media_type: str = "text/csv; charset=utf-8"
) -> StreamingHttpResponse:
    """Return a streamed attachment; the browser keeps no copy of data about people."""
    response = StreamingHttpResponse(chunks, content_type=media_type)
    response["Content-Disposition"] = f'attachment; filename="{file_name}"'
    response["Cache-Control"] = "no-store"
    return response


def name_file(study: Study, name: str, include: Collection[str] = ()) -> str:
    """Return the name of a file that leaves the platform, with its study and today's date.

    include : what it holds besides the submissions that count; the name says so
    """
    stem, _, suffix = name.rpartition(".")
    stem = "-with-".join([stem, *include])
    return f"stereoscope-{study.public_id}-{stem}-{timezone.localdate():%Y-%m-%d}.{suffix}"
