"""The submissions of a study as a table: times, checks, decisions, demographics; no identity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.db.models import Prefetch

from annotation.exports.tables import Cell, Column, ColumnType, Table
from annotation.models import (
    CheckKind,
    CheckResponse,
    DataDecision,
    DemographicAnswer,
    DemographicQuestion,
    Origin,
    Outcome,
    PayDecision,
    QuestionKind,
    Study,
    Submission,
    SubmissionState,
)

TEXT, NUMBER = ColumnType.TEXT, ColumnType.NUMBER
BOOLEAN, TIME = ColumnType.BOOLEAN, ColumnType.TIME

DECLINED = "[declined]"
CHECK_RESULTS = {True: "passed", False: "failed", None: "not asked"}
SUBMISSIONS_PER_READ = 500

FIXED_COLUMNS = (
    Column("study", TEXT, "12 letters and digits", "public id of the study"),
    Column("origin", TEXT, ", ".join(Origin.values), "where the study's data come from"),
    Column("submission", TEXT, "12 letters and digits", "one participant's pass, no identity"),
    Column("state", TEXT, ", ".join(SubmissionState.values), "where it stood at this export"),
    Column("outcome", TEXT, ", ".join(Outcome.values), "how it ended; empty: not ended"),
    Column("data_decision", TEXT, ", ".join(DataDecision.values), "whether the data count"),
    Column("pay_decision", TEXT, ", ".join(PayDecision.values), "whether it is paid"),
    Column("checks_passed", BOOLEAN, "empty: not known", "every attention check passed"),
    *(
        Column(
            f"check_{kind.value}",
            TEXT,
            ", ".join(CHECK_RESULTS.values()),
            f"attention check: {kind.label}; failed if one of several failed",
        )
        for kind in CheckKind
    ),
    Column("self_agreement", NUMBER, "0 to 1", "share of matching scales of the repeated group"),
    Column("started_at", TIME, "UTC", "start; empty for imported data"),
    Column("consented_at", TIME, "UTC", "consent"),
    Column("finished_at", TIME, "UTC", "end"),
    Column("seconds", NUMBER, "0 or more", "from start to end"),
    Column("language", TEXT, "language code", "language of the pages"),
    Column("instrument_version", NUMBER, "1 or more", "version that the participant saw"),
    Column("instrument_hash", TEXT, "SHA-256", "content of that version"),
)


def build_submission_table(study: Study) -> Table:
    """Return the table of a study's submissions, one column per demographic question.

    Reading it takes one query for the questions and three for every 500 submissions.
    """
    questions = list_questions(study)
    columns = [*FIXED_COLUMNS, *(_describe_question(question) for question in questions)]
    slugs = [question.slug for question in questions]

    def load() -> Iterator[Sequence[Cell]]:
        submissions = (
            Submission.objects.filter(study=study)
            .select_related("instrument")
            .prefetch_related(
                "checks",
                Prefetch("answers", DemographicAnswer.objects.select_related("question")),
            )
            .order_by("pk")
        )
        for submission in submissions.iterator(chunk_size=SUBMISSIONS_PER_READ):
            yield [*_write_fixed(study, submission), *_write_answers(submission, slugs)]

    return Table("submissions", columns, load)


def list_questions(study: Study) -> list[DemographicQuestion]:
    """Return one question per slug over all versions of the instrument, the newest. One query."""
    newest: dict[str, DemographicQuestion] = {}
    for question in DemographicQuestion.objects.filter(instrument__study=study).order_by(
        "-instrument__version", "position", "pk"
    ):
        newest.setdefault(question.slug, question)
    return list(newest.values())


def _describe_question(question: DemographicQuestion) -> Column:
    is_number = question.kind == QuestionKind.NUMBER
    if question.options:
        values = "; ".join(str(option) for option in question.options)
    else:
        values = "number" if is_number else "text"
    return Column(
        f"demographic_{question.slug}",
        NUMBER if is_number else TEXT,
        f"{values}; {DECLINED}: prefers not to say; empty: not answered",
        question.label,
    )


def _write_fixed(study: Study, submission: Submission) -> list[Cell]:
    # An import stores its rows when it runs; that moment is nobody's start.
    started: datetime | None = None if study.origin == Origin.IMPORTED else submission.started_at
    finished = submission.finished_at
    seconds = round((finished - started).total_seconds(), 3) if started and finished else None
    checks = list(submission.checks.all())
    return [
        study.public_id,
        study.origin,
        submission.public_id,
        submission.state,
        submission.outcome,
        submission.data_decision,
        submission.pay_decision,
        submission.checks_passed,
        *(_write_check(kind, checks) for kind in CheckKind),
        submission.self_agreement,
        started,
        submission.consented_at,
        finished,
        seconds,
        submission.language,
        submission.instrument.version,
        submission.instrument.content_hash,
    ]


def _write_check(kind: CheckKind, checks: list[CheckResponse]) -> str | None:
    """Return the result of one kind of check: failed if any failed, passed if any was asked."""
    results = {check.passed for check in checks if check.kind == kind}
    for result in (False, True, None):
        if result in results:
            return CHECK_RESULTS[result]
    return None


def _write_answers(submission: Submission, slugs: Sequence[str]) -> list[Cell]:
    answers = {answer.question.slug: answer for answer in submission.answers.all()}
    return [_write_answer(answers.get(slug)) for slug in slugs]


def _write_answer(answer: DemographicAnswer | None) -> Cell:
    if answer is None:
        return None
    if answer.declined:
        return DECLINED
    if isinstance(answer.value, list):
        return "; ".join(str(item) for item in answer.value)
    if answer.value is None or isinstance(answer.value, bool | int | float):
        return answer.value
    return str(answer.value)
