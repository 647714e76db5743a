"""The submissions of a study as a table: times, checks, decisions, demographics; no identity."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from itertools import islice

from django.db.models import Prefetch

from annotation.common.tables import (
    Cell,
    Column,
    ColumnType,
    Table,
    choice_column,
    name_variables,
)
from annotation.exports.step_answers import describe_steps, write_step_answers
from annotation.instruments.demographics import text_option
from annotation.models import (
    AgreementRule,
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
    SubmissionOrigin,
    SubmissionState,
)
from annotation.models.submission import exported
from annotation.studies.quality import Assessment, FlagName, StudyAssessor

TEXT, NUMBER, INTEGER = ColumnType.TEXT, ColumnType.NUMBER, ColumnType.INTEGER
BOOLEAN, TIME = ColumnType.BOOLEAN, ColumnType.TIME

DECLINED = "[declined]"
CHECK_RESULTS = {True: "passed", False: "failed", None: "not asked"}
UNDEFINED = "not defined"
SUBMISSIONS_PER_READ = 500

FIXED_COLUMNS = (
    Column("study", TEXT, "12 letters and digits", "public id of the study"),
    choice_column("origin", Origin, "where the study's data come from"),
    Column("submission", TEXT, "12 letters and digits", "one participant's pass, no identity"),
    choice_column("state", SubmissionState, "where it stood at this export"),
    choice_column(
        "submission_origin",
        SubmissionOrigin,
        "live, or from a pilot or preview of the study",
    ),
    choice_column("outcome", Outcome, "how it ended; empty: not ended"),
    choice_column("data_decision", DataDecision, "whether the data count"),
    choice_column("pay_decision", PayDecision, "whether it is paid"),
    Column("checks_passed", BOOLEAN, "empty: not known", "every attention check passed"),
    *(
        Column(
            f"check_{kind.value}",
            TEXT,
            ", ".join(CHECK_RESULTS.values()),
            f"attention check: {kind.label}; failed if one of several failed"
            + (f"; {UNDEFINED}: no agreement" if kind == CheckKind.REPEATED_GROUP else ""),
        )
        for kind in CheckKind
    ),
    Column(
        "self_agreement",
        NUMBER,
        "0 to 1, or -1 to 1",
        "of the repeated group, by self_agreement_rule; empty: not defined",
    ),
    choice_column(
        "self_agreement_rule",
        AgreementRule,
        "same_side, within: share of matching scales; kendall: Kendall's tau-b",
    ),
    Column("self_agreement_at_least", NUMBER, "number", "what had to be reached"),
    Column("started_at", TIME, "UTC", "start; empty for imported data"),
    Column("consented_at", TIME, "UTC", "consent"),
    Column("finished_at", TIME, "UTC", "end"),
    Column("seconds", NUMBER, "0 or more", "from start to end"),
    Column("language", TEXT, "language code", "language of the pages"),
    Column("instrument_version", INTEGER, "1 or more", "version that the participant saw"),
    Column("instrument_hash", TEXT, "SHA-256", "content of that version"),
    Column("arm", TEXT, "name; empty: no arms", "arm of the instrument that it is in"),
    *(
        Column(
            f"flag_{name.value}",
            BOOLEAN,
            "empty: not known",
            f"quality flag by the study's thresholds at this export: {name.label}",
        )
        for name in FlagName
    ),
)


def build_submission_table(study: Study, *, include: Collection[str] = ()) -> Table:
    """Return the table of a study's submissions.

    It has one column per demographic question and per question of the flow, and rows for the
    submissions that count and for those in ``include``: pilot, preview, excluded. Reading it
    takes one query for the questions, one for the flows, three for what is usual in the study, and
    some ten for every 500 submissions.
    """
    questions = list_questions(study)
    steps = describe_steps(study)
    columns = name_variables(
        [
            *FIXED_COLUMNS,
            *(column for question in questions for column in _describe_question(question)),
            *steps.values(),
        ]
    )

    def load() -> Iterator[Sequence[Cell]]:
        submissions = (
            Submission.objects.filter(exported(include), study=study)
            .select_related("instrument")
            .prefetch_related(
                "checks",
                "step_answers",
                Prefetch("answers", DemographicAnswer.objects.select_related("question")),
            )
            .order_by("pk")
        )
        assessor = StudyAssessor(study)
        rows = submissions.iterator(chunk_size=SUBMISSIONS_PER_READ)
        while chunk := list(islice(rows, SUBMISSIONS_PER_READ)):
            found = assessor.assess(chunk)
            for submission in chunk:
                yield [
                    *_write_fixed(study, submission),
                    *_write_flags(submission, found[submission.pk]),
                    *_write_answers(submission, questions),
                    *write_step_answers(submission, steps),
                ]

    return Table("submissions", columns, load)


def list_questions(study: Study) -> list[DemographicQuestion]:
    """Return one question per slug over all versions of the instrument, the newest. One query."""
    newest: dict[str, DemographicQuestion] = {}
    for question in DemographicQuestion.objects.filter(instrument__study=study).order_by(
        "-instrument__version", "position", "pk"
    ):
        newest.setdefault(question.slug, question)
    return list(newest.values())


def _describe_question(question: DemographicQuestion) -> list[Column]:
    """Return the question's column, and one for words of one's own where it asks for them."""
    is_number = question.kind == QuestionKind.NUMBER
    if question.options:
        values = "; ".join(str(option) for option in question.options)
    else:
        values = "number" if is_number else "text"
    columns = [
        Column(
            f"demographic_{question.slug}",
            NUMBER if is_number else TEXT,
            f"{values}; {DECLINED}: prefers not to say; empty: not answered",
            question.label,
            ((DECLINED, "prefers not to say"),) if is_number else (),
        )
    ]
    option = text_option(question)
    if option is not None:
        columns.append(
            Column(
                f"demographic_{question.slug}_own_words",
                TEXT,
                f"text; empty without “{option}”",
                f"{question.label} In the participant's own words: may tell who wrote them, do "
                "not publish",
            )
        )
    return columns


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
        submission.origin,
        submission.outcome,
        submission.data_decision,
        submission.pay_decision,
        submission.checks_passed,
        *(_write_check(kind, checks) for kind in CheckKind),
        submission.self_agreement,
        *_write_agreement_rule(checks),
        started,
        submission.consented_at,
        finished,
        seconds,
        submission.language,
        submission.instrument.version,
        submission.instrument.content_hash,
        submission.arm or None,
    ]


def _write_flags(submission: Submission, assessment: Assessment) -> list[Cell]:
    """Return whether each flag is raised; nothing for a submission that is not finished."""
    if submission.state != SubmissionState.FINISHED:
        return [None] * len(FlagName)
    unknown = {flag.name for flag in assessment.undefined}
    return [None if name in unknown else assessment.find(name) is not None for name in FlagName]


def _write_agreement_rule(checks: list[CheckResponse]) -> list[Cell]:
    """Return the rule of the repeated group and what it asked for, as its check kept them."""
    for check in checks:
        if check.kind == CheckKind.REPEATED_GROUP:
            rule = check.expected.get("rule", AgreementRule.SAME_SIDE.value)
            return [str(rule), check.expected.get("at_least")]
    return [None, None]


def _write_check(kind: CheckKind, checks: list[CheckResponse]) -> str | None:
    """Return the result of one kind of check: failed if any failed, passed if any was asked."""
    checks = [check for check in checks if check.kind == kind]
    results = {check.passed for check in checks}
    if kind == CheckKind.REPEATED_GROUP and results == {None} and any(c.answer for c in checks):
        return UNDEFINED
    for result in (False, True, None):
        if result in results:
            return CHECK_RESULTS[result]
    return None


def _write_answers(submission: Submission, questions: Sequence[DemographicQuestion]) -> list[Cell]:
    answers = {answer.question.slug: answer for answer in submission.answers.all()}
    cells: list[Cell] = []
    for question in questions:
        answer = answers.get(question.slug)
        cells.append(_write_answer(answer))
        if text_option(question) is not None:
            cells.append(answer.own_words or None if answer else None)
    return cells


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
