"""Asks for a report: checks what it rests on, stores it as waiting and wakes a worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pydantic
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from annotation.models import Corpus, Study
from evaluation.models import Report, ReportStatus
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import (
    Chosen,
    ReportKind,
    ReportParameters,
    RunsInput,
    StudyInput,
)
from evaluation.reports.registry import get_kind
from probing.models import Run, RunStatus
from probing.runs.dispatch import send_message

BUILD_TASK = "evaluation.build_report"
TITLE_LENGTH = 240
DEAD_RUNS = (RunStatus.FAILED, RunStatus.CANCELED)
# How people write “no value” in a form or on the command line.
NO_VALUE = ("", "none")


def parse_parameters(kind: ReportKind, values: Mapping[str, Any] | None) -> ReportParameters:
    """Return validated options; raises `ReportError` naming the option, its value and the limit."""
    parameters, problems = read_parameters(kind, values)
    if parameters is None:
        found = "; ".join(f"“{name}” {text}" if name else text for name, text in problems)
        raise ReportError(f"The options of the report are not valid: {found}.")
    return parameters


def read_parameters(
    kind: ReportKind, values: Mapping[str, Any] | None
) -> tuple[ReportParameters | None, list[tuple[str, str]]]:
    """Return the options, or None with what is wrong: the option, and what it is and should be.

    A rule about several options together has no name.
    """
    read = {
        name: None if isinstance(value, str) and value.strip().lower() in NO_VALUE else value
        for name, value in (values or {}).items()
    }
    for name, value in read.items():
        if isinstance(value, str) and "\0" in value:
            raise ReportError(f"“{name}” holds a null character, expected text.")
    try:
        return kind.Parameters.model_validate(read), []
    except pydantic.ValidationError as error:
        return None, [_explain(fault) for fault in error.errors()]


def _explain(fault: Any) -> tuple[str, str]:
    name = ".".join(map(str, fault["loc"]))
    expected = fault["msg"].removeprefix("Value error, ").replace("Input should be", "expected")
    return name, f"is “{fault['input']}”, {expected}" if name else expected


def check_request(kind: ReportKind, chosen: Chosen, parameters: ReportParameters) -> None:
    """Raise `ReportError` if a report on what was chosen could never be built."""
    _check_study(kind, kind.study, chosen.study, "study")
    _check_study(kind, kind.second_study, chosen.second_study, "second study")
    if kind.corpus and chosen.corpus is None:
        raise ReportError("A corpus is missing. Choose one.")
    if not kind.corpus and chosen.corpus is not None:
        raise ReportError(f"A report of the kind “{kind.name}” takes no corpus.")
    _check_runs(kind, chosen)
    kind.check(chosen, parameters)


def _check_study(
    kind: ReportKind, wanted: StudyInput | None, study: Study | None, what: str
) -> None:
    if study is None:
        if wanted and wanted.required:
            raise ReportError(f"A {what} is missing. Choose one.")
        return
    if not wanted:
        raise ReportError(f"A report of the kind “{kind.name}” takes no {what}.")
    if study.kind != wanted.kind:
        raise ReportError(
            f"“{study}” is a study of the kind “{study.kind}”, expected “{wanted.kind}”."
        )


def _check_runs(kind: ReportKind, chosen: Chosen) -> None:
    wanted = kind.runs or RunsInput("", (), least=0, most=0)
    n = len(chosen.runs)
    if n < wanted.least:
        raise ReportError(
            f"{n} run was chosen, expected at least {wanted.least}."
            if n
            else f"A run is missing. Choose {'one' if wanted.least == 1 else wanted.least}."
        )
    if wanted.most is not None and n > wanted.most:
        raise ReportError(f"{n} runs were chosen, expected at most {wanted.most}.")
    for run in chosen.runs:
        if wanted.measures is not None and run.measure not in wanted.measures:
            expected = " or ".join(f"“{name}”" for name in wanted.measures)
            raise ReportError(f"{run} is of the measure “{run.measure}”, expected {expected}.")
        if run.status in DEAD_RUNS:
            raise ReportError(
                f"{run} is {run.get_status_display().lower()}. Resume it, or choose another run."
            )
        if chosen.corpus is not None and run.corpus_id != chosen.corpus.pk:
            where = f"“{run.corpus}”" if run.corpus_id else "no corpus"
            raise ReportError(f"{run} worked on {where}, expected “{chosen.corpus}”.")


@transaction.atomic
def request_report(
    *,
    kind: str,
    study: Study | None = None,
    second_study: Study | None = None,
    corpus: Corpus | None = None,
    runs: Sequence[Run] = (),
    created_by: AbstractBaseUser | None = None,
    parameters: Mapping[str, Any] | None = None,
    title: str = "",
) -> Report:
    """Store a waiting report; a worker builds it as soon as all its runs are finished.

    Raises `ReportError` if it could never be built.
    """
    found = get_kind(kind)
    options = parse_parameters(found, parameters)
    chosen = Chosen(study, corpus, tuple(dict.fromkeys(runs)), second_study)
    check_request(found, chosen, options)
    report = Report(
        kind=kind,
        study=study,
        second_study=second_study,
        corpus=corpus,
        parameters=options.model_dump(mode="json"),
        title=(title or found.default_title(chosen))[:TITLE_LENGTH],
        created_by=created_by,  # type: ignore[misc]
        code_version=settings.CODE_VERSION,
    )
    report.full_clean()
    report.save()
    report.runs.set(chosen.runs)
    if all(run.status == RunStatus.FINISHED for run in chosen.runs):
        wake_builder(report)
    return report


@transaction.atomic
def retry_report(*, report: Report) -> None:
    """Put a failed report back in the queue. Asked twice, or for another state, it does nothing."""
    waiting = Report.objects.filter(pk=report.pk, status=ReportStatus.FAILED).update(
        status=ReportStatus.WAITING, error=""
    )
    if waiting:
        wake_builder(report)


def rebuild_report(*, report: Report, created_by: AbstractBaseUser | None) -> Report:
    """Ask for the same report anew, from the data as they are now; the old one stays as it is.

    Raises `ReportError` if it could not be built any more.
    """
    return request_report(
        kind=report.kind,
        study=report.study,
        second_study=report.second_study,
        corpus=report.corpus,
        runs=list(report.runs.all()),
        created_by=created_by,
        parameters=report.parameters,
        title=report.title,
    )


def wake_builder(report: Report) -> None:
    """Have a report built once the transaction is through; without a broker the sweep does it."""
    transaction.on_commit(lambda: send_message(BUILD_TASK, report.pk))
