"""Changes what may be changed of a stored report: its title and place in lists, never a number."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.audit.record import record
from annotation.models import AuditAction
from evaluation.models import Report, ReportStatus
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.requesting import TITLE_LENGTH


@transaction.atomic
def rename_report(*, report: Report, title: str) -> None:
    """Give a report another title on its page and in lists; built files keep the one of then.

    Raises `ReportError` for a title that is empty or too long.
    """
    title = " ".join(title.replace("\0", "").split())
    if not title:
        raise ReportError(_("Enter a title."))
    if len(title) > TITLE_LENGTH:
        raise ReportError(
            _("The title has %(n)d characters. Enter at most %(most)d.")
            % {"n": len(title), "most": TITLE_LENGTH}
        )
    before, report.title = report.title, title
    report.save(update_fields=["title"])
    record(AuditAction.CHANGED, _target(report), study=report.study_id, detail=f"was “{before}”")


@transaction.atomic
def pin_report(*, report: Report, is_pinned: bool) -> None:
    """Put a report first in the list, or back among the others."""
    report.is_pinned = is_pinned
    report.save(update_fields=["is_pinned"])


@transaction.atomic
def delete_report(*, report: Report, deleted_by: AbstractBaseUser) -> None:
    """Delete a report with its files and links; what it rests on stays.

    Raises `ReportError` while a worker builds it.
    """
    held = Report.objects.select_for_update().get(pk=report.pk)
    if held.status == ReportStatus.BUILDING:
        raise ReportError(_("A worker is building this report. Delete it when it is done."))
    target, study, title = _target(held), held.study_id, held.title
    held.delete()
    record(AuditAction.ERASED, target, actor=deleted_by, study=study, detail=f"report “{title}”")


def _target(report: Report) -> str:
    return f"report {report.public_id}"
