"""Builds a report: loads its inputs, computes, renders, stores. The database guards each step."""

from __future__ import annotations

import importlib.metadata
import logging
import math
import time
import traceback
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotation.common.far_moments import is_far
from annotation.common.memory import give_back_memory, seldom_collected
from evaluation.models import Report, ReportFile, ReportStatus
from evaluation.reports.drawings import every_figure, keep_drawings
from evaluation.reports.parts.document import Document
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen, Loaded, ReportParameters
from evaluation.reports.registry import get_kind
from evaluation.reports.rendering import RenderedFile, render_files
from evaluation.reports.requesting import parse_parameters, wake_builder
from evaluation.reports.selectors import ready_reports

logger = logging.getLogger(__name__)

# A worker that has not come back after this long was killed; most reports take seconds.
GIVEN_UP_AFTER = timedelta(minutes=10)
# Where the hashes of the inputs stand in the stored record.
HASHES = "hashes"


def build_report(*, report_id: int) -> Report | None:
    """Build a waiting report whose runs are finished; return it, or None if there is nothing to do.

    Called twice, or by two workers at once, it builds once. A report that cannot be built is
    marked as failed with the reason; it is never half stored.
    """
    started = timezone.now()
    claimed = (
        ready_reports()
        .filter(pk=report_id)
        .update(status=ReportStatus.BUILDING, started_at=started, error="")
    )
    if not claimed:
        return None
    report = Report.objects.select_related("study", "corpus").get(pk=report_id)
    clock = time.perf_counter()
    try:
        kind = get_kind(report.kind)
        loaded, parameters = _load(report)
        give_back_memory()
        report.result = kind.compute(loaded, parameters)
        report.inputs = {**loaded.record, HASHES: loaded.hashes}
        del loaded  # with all ratings; drawing needs room of its own
        give_back_memory()
        report.code_version = settings.CODE_VERSION
        report.library_versions = {
            name: importlib.metadata.version(name) for name in kind.libraries
        }
        report.built_at = timezone.now()
        report.seconds = round(time.perf_counter() - clock, 1)
        report.status = ReportStatus.FINAL
        with seldom_collected():
            document = kind.document(report, {})
            _store(report, document, render_files(report, document))
    except ReportError as error:
        _mark_failed(report, str(error))
    except Exception:
        logger.exception("report %s could not be built", report_id)
        _mark_failed(report, traceback.format_exc(limit=20))
    report.refresh_from_db()
    return report


def _load(report: Report) -> tuple[Loaded, ReportParameters]:
    kind = get_kind(report.kind)
    parameters = parse_parameters(kind, report.parameters)
    runs = tuple(report.runs.select_related("model", "corpus").order_by("pk"))
    chosen = Chosen(report.study, report.corpus, runs, report.second_study)
    return kind.load(chosen, parameters), parameters


def find_differences(*, report: Report) -> list[str]:
    """Compute a final report again and return what differs from what is stored; empty if nothing.

    Inputs that have changed since are named by their hashes, numbers by table. What processors
    round in ways of their own is not compared.
    """
    if report.status != ReportStatus.FINAL:
        raise ReportError(f"The report is {report.get_status_display().lower()}, expected final.")
    kind = get_kind(report.kind)
    loaded, parameters = _load(report)
    stored: dict[str, Any] = report.inputs.get(HASHES, {})
    found = [
        f"{name}: {stored.get(name)} when built, now {value}"
        for name, value in loaded.hashes.items()
        if value != stored.get(name)
    ]
    result = kind.compute(loaded, parameters)
    if not agree(report.result, result):
        before = kind.document(report, {}).frames
        report.result, report.inputs = result, {**loaded.record, HASHES: loaded.hashes}
        after = kind.document(report, {}).frames
        changed = [
            name
            for name, frame in before.items()
            if name not in after or not agree(frame.to_dict("list"), after[name].to_dict("list"))
        ]
        found += [f"table {name} differs" for name in changed]
        report.refresh_from_db()
        if not changed:
            found.append("the result differs, though no table does")
    return found


def agree(old: Any, new: Any) -> bool:
    """Return whether two results are the same but for the last digits of their decimals.

    Sums are taken in another order on another sort of processor: 1e-9 of a number is no difference.
    """
    if isinstance(old, float) and isinstance(new, float):
        both_undefined = math.isnan(old) and math.isnan(new)
        return both_undefined or math.isclose(old, new, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(agree(old[key], new[key]) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(agree, old, new))
    return old is new or (type(old) is type(new) and bool(old == new))


def wake_waiting_reports() -> int:
    """Wake workers for reports that are ready to be built, and free those of killed workers.

    Part of the workers' sweep: it heals lost messages. Returns how many reports were woken.
    """
    Report.objects.filter(
        is_far("started_at", GIVEN_UP_AFTER), status=ReportStatus.BUILDING
    ).update(status=ReportStatus.WAITING)
    ready = list(ready_reports())
    for report in ready:
        wake_builder(report)
    return len(ready)


@transaction.atomic
def _store(report: Report, document: Document, files: list[RenderedFile]) -> None:
    """Store result, files and drawings together, unless another worker has taken the report over.

    Without files nothing was drawn, and nothing is.
    """
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
    report.drawings.all().delete()
    if files:
        keep_drawings(report, every_figure(document))


def _mark_failed(report: Report, message: str) -> None:
    Report.objects.filter(
        pk=report.pk, status=ReportStatus.BUILDING, started_at=report.started_at
    ).update(status=ReportStatus.FAILED, error=message)
