"""Links that open a report without an account: made, found again by their token, revoked."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.audit.record import record
from annotation.models import AuditAction
from annotation.models.tokens import new_token
from evaluation.models import Report, ReportShare, ReportStatus
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.selectors import visible_reports

LONGEST_DAYS = 90
USUAL_DAYS = 14


@transaction.atomic
def share_report(*, report: Report, created_by: User, days: int) -> str:
    """Make a link for so many days and return its full address, which nothing can show again.

    Raises `ReportError` for a report that is not built, or another number of days.
    """
    if report.status != ReportStatus.FINAL:
        raise ReportError(_("Only a built report can be shared."))
    if not 1 <= days <= LONGEST_DAYS:
        raise ReportError(
            _("Enter a whole number of days from 1 to %(most)d.") % {"most": LONGEST_DAYS}
        )
    token = new_token()
    share = ReportShare(
        report=report,
        digest=digest_of(token),
        created_by=created_by,
        expires_at=timezone.now() + timedelta(days=days),
    )
    share.full_clean()
    share.save()
    record(
        AuditAction.ACCESS,
        f"report {report.public_id}",
        actor=created_by,
        study=report.study_id,
        detail=f"share link {share.pk} until {share.expires_at:%-d %B %Y}",
    )
    return settings.SITE_URL + reverse("reports:shared-page", args=[token])


@transaction.atomic
def revoke_share(*, share: ReportShare, revoked_by: User) -> None:
    """End a link now. Asked twice, it does nothing."""
    ended = ReportShare.objects.filter(pk=share.pk, revoked_at__isnull=True).update(
        revoked_at=timezone.now()
    )
    if ended:
        record(
            AuditAction.ACCESS,
            f"report {share.report.public_id}",
            actor=revoked_by,
            study=share.report.study_id,
            detail=f"share link {share.pk} revoked",
        )


def open_shares() -> QuerySet[ReportShare]:
    """Return the links that have neither ended nor been revoked."""
    return ReportShare.objects.filter(revoked_at__isnull=True, expires_at__gt=timezone.now())


def find_share(token: str) -> ReportShare | None:
    """Return the open link of a token whose maker may still see its report; None otherwise."""
    share = (
        open_shares().select_related("report", "created_by").filter(digest=digest_of(token)).first()
    )
    if share is None or share.report.status != ReportStatus.FINAL:
        return None
    visible = visible_reports(share.created_by).filter(pk=share.report_id)
    return share if visible.exists() else None


def digest_of(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
