"""Builds a report: loads its inputs, computes, renders, stores. The database guards each step."""

from __future__ import annotations

import importlib.metadata
import logging
import time
import traceback
from datetime import timedelta
from typing import Any

import pandas as pd
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from evaluation.analyses import (
    AlignmentOptions,
    AlignmentResult,
    ScoreTable,
    analyse_alignment,
    from_plain,
    to_plain,
)
from evaluation.models import Report, ReportFile, ReportStatus
from evaluation.reports.document import AlignmentDocument
from evaluation.reports.errors import ReportError
from evaluation.reports.inputs import AlignmentInputs, load_alignment_inputs
from evaluation.reports.rendering import RenderedFile, render_files
from evaluation.reports.requesting import parse_parameters, wake_builder
from probing.models import RunStatus

logger = logging.getLogger(__name__)

LIBRARIES = ("numpy", "scipy", "pandas", "vl-convert-python")
# A worker that has not come back after this long was killed; building takes seconds.
GIVEN_UP_AFTER = timedelta(minutes=10)


def build_report(*, report_id: int) -> Report | None:
    """Build a waiting report whose run is finished; return it, or None if there is nothing to do.

    Called twice, or by two workers at once, it builds once. A report that cannot be built is
    marked as failed with the reason; it is never half stored.
    """
    started = timezone.now()
    claimed = Report.objects.filter(
        pk=report_id, status=ReportStatus.WAITING, run__status=RunStatus.FINISHED
    ).update(status=ReportStatus.BUILDING, started_at=started, error="")
    if not claimed:
        return None
    report = Report.objects.select_related("study", "run__model").get(pk=report_id)
    clock = time.perf_counter()
    try:
        inputs = load_alignment_inputs(study=report.study, run=report.run)
        result = compute_alignment(inputs=inputs, parameters=report.parameters)
        report.inputs = inputs.record
        report.result = to_plain(result)
        report.code_version = settings.CODE_VERSION
        report.library_versions = {name: importlib.metadata.version(name) for name in LIBRARIES}
        report.built_at = timezone.now()
        report.seconds = round(time.perf_counter() - clock, 1)
        report.status = ReportStatus.FINAL
        _store(report, render_files(AlignmentDocument(report)))
    except ReportError as error:
        _mark_failed(report, str(error))
    except Exception:
        logger.exception("report %s could not be built", report_id)
        _mark_failed(report, traceback.format_exc(limit=20))
    report.refresh_from_db()
    return report


def compute_alignment(*, inputs: AlignmentInputs, parameters: dict[str, Any]) -> AlignmentResult:
    """Return the analysis of ``inputs``; the same inputs and parameters give the same numbers."""
    options = parse_parameters(parameters)
    return analyse_alignment(
        ratings=inputs.ratings,
        scores=ScoreTable.from_long(
            inputs.scores, reasons=inputs.score_reasons, level=options.level
        ),
        groups=[group.slug for group in inputs.groups],
        scales=[scale.slug for scale in inputs.scales],
        options=AlignmentOptions(
            seed=options.seed,
            n_resamples=options.resamples,
            n_splits=options.splits,
            level=options.level,
        ),
    )


def find_differences(*, report: Report) -> list[str]:
    """Compute a final report again and return what differs from what is stored; empty if nothing.

    Inputs that have changed since are named by their hashes, numbers by table and row.
    """
    if report.status != ReportStatus.FINAL:
        raise ReportError(f"The report is {report.get_status_display().lower()}, expected final.")
    inputs = load_alignment_inputs(study=report.study, run=report.run)
    found = [
        f"{side} {name}: {report.inputs[side].get(name)} when built, now {value}"
        for side, name in (("study", "ratings_hash"), ("run", "scores_hash"))
        if (value := inputs.record[side][name]) != report.inputs[side].get(name)
    ]
    old = from_plain(AlignmentResult, report.result)
    new = compute_alignment(inputs=inputs, parameters=report.parameters)
    if to_plain(new) != report.result:
        from evaluation.analyses import to_tables

        before, after = to_tables(old), to_tables(new)
        found += [
            f"table {name} differs" for name in before if not _same(before[name], after[name])
        ]
    return found


def wake_waiting_reports() -> int:
    """Wake workers for reports that are ready to be built, and free those of killed workers.

    Part of the workers' sweep: it heals lost messages. Returns how many reports were woken.
    """
    Report.objects.filter(
        status=ReportStatus.BUILDING, started_at__lt=timezone.now() - GIVEN_UP_AFTER
    ).update(status=ReportStatus.WAITING)
    ready = list(Report.objects.filter(status=ReportStatus.WAITING, run__status=RunStatus.FINISHED))
    for report in ready:
        wake_builder(report)
    return len(ready)


@transaction.atomic
def _store(report: Report, files: list[RenderedFile]) -> None:
    """Store result and files together, unless another worker has taken the report over."""
    held = (
        Report.objects.select_for_update()
        .filter(pk=report.pk, status=ReportStatus.BUILDING, started_at=report.started_at)
        .exists()
    )
    if not held:
        return
    report.full_clean()
    report.save()
    report.files.all().delete()
    ReportFile.objects.bulk_create(
        ReportFile(report=report, name=file.name, media_type=file.media_type, content=file.content)
        for file in files
    )


def _mark_failed(report: Report, message: str) -> None:
    Report.objects.filter(
        pk=report.pk, status=ReportStatus.BUILDING, started_at=report.started_at
    ).update(status=ReportStatus.FAILED, error=message)


def _same(before: pd.DataFrame, after: pd.DataFrame) -> bool:
    return before.equals(after)
