"""Asks for a report: stores it as waiting and wakes a worker."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from annotation.models import DataDecision, Study
from evaluation.models import Report, ReportStatus
from evaluation.reports.errors import ReportError
from probing.models import Run, RunStatus
from probing.runs.waking import send_message

BUILD_TASK = "evaluation.build_report"


class AlignmentParameters(BaseModel):
    """The options of an alignment report."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    resamples: int = Field(
        2000, ge=100, le=100_000, description="Bootstrap resamples for the intervals."
    )
    splits: int = Field(
        1000, ge=100, le=100_000, description="Random halves for the noise ceiling."
    )
    seed: int = Field(0, ge=0, le=2**31 - 1, description="Seed of resamples and halves.")
    level: float = Field(0.95, gt=0.5, lt=1, description="Coverage of the intervals.")


def parse_parameters(values: dict[str, Any] | None) -> AlignmentParameters:
    """Return validated options; raises `ReportError` naming the option, its value and the limit."""
    try:
        return AlignmentParameters.model_validate(values or {})
    except ValidationError as error:
        found = "; ".join(
            f"“{'.'.join(map(str, problem['loc']))}” is {problem.get('input')!r}: {problem['msg']}"
            for problem in error.errors()
        )
        raise ReportError(f"The options of the report are not valid: {found}.") from error


def check_request(*, study: Study, run: Run) -> None:
    """Raise `ReportError` if a report on ``study`` and ``run`` could never be built. One query."""
    if not study.submissions.filter(data_decision=DataDecision.ACCEPTED).exists():
        raise ReportError(
            f"“{study}” has no accepted ratings. Accept submissions in the review queue, or "
            "import ratings."
        )
    if run.status in {RunStatus.FAILED, RunStatus.CANCELLED}:
        raise ReportError(
            f"{run} is {run.get_status_display().lower()}. Resume it, or choose another run."
        )


@transaction.atomic
def request_alignment_report(
    *,
    study: Study,
    run: Run,
    created_by: AbstractBaseUser | None = None,
    parameters: dict[str, Any] | None = None,
    title: str = "",
) -> Report:
    """Store a waiting report; a worker builds it as soon as its run is finished.

    Raises `ReportError` if it could never be built.
    """
    options = parse_parameters(parameters)
    check_request(study=study, run=run)
    report = Report(
        study=study,
        run=run,
        parameters=options.model_dump(),
        title=title or f"Do the group associations of {run.model.name} follow people’s?",
        created_by=created_by,  # type: ignore[misc]
        code_version=settings.CODE_VERSION,
    )
    report.full_clean()
    report.save()
    if run.status == RunStatus.FINISHED:
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


def wake_builder(report: Report) -> None:
    """Have a report built once the transaction is through; without a broker the sweep does it."""
    transaction.on_commit(lambda: send_message(BUILD_TASK, report.pk))
