"""A report by its link, without an account: read only, for as long as the link is open.

A token that opens nothing gets one answer, whatever the reason. Search engines are told to stay
away, and no address with a token goes out in a referrer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from annotation.audit.record import record
from annotation.common.limits import client_address, is_over_limit
from annotation.common.small_cells import DEFAULT_MINIMUM
from annotation.models import AuditAction
from annotation.models.tokens import new_token
from evaluation.models import Report, ReportShare, ReportStatus
from evaluation.reports import answers
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.provenance import WITHHELD
from evaluation.reports.selectors import visible_reports

# --- What a shared report leaves out: every number that rests on fewer than five participants

REASON = "fewer than five participants; not shown in shared reports"
#: How records of results count the participants that they rest on.
COUNTS = ("n_people", "n_raters", "n_submissions")
#: What records of people's mean ratings have; they count their people under ``n``.
MEAN_RATING = {"mean", "sd", "n"}
SIDES = ("first", "second")
#: Choices of the report and names, which say nothing about anybody.
KEPT = ("options", "resampling", "level")


def cut_small(report: Report) -> None:
    """Empty in memory what rests on too few participants, and note that; nothing is stored."""
    cut = _cut(report.result)
    if cut != report.result:
        report.result = cut
        report.inputs = report.inputs | {WITHHELD: REASON}


def _cut(value: Any, name: str = "", *, small: bool = False) -> Any:
    if isinstance(value, Mapping):
        small = small or _is_small(value)
        if "subgroups" in value and "differences" in value:
            value = {**value, "differences": _cut_differences(value)}
        return {
            key: part if key in KEPT else _cut(part, key, small=small)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [_cut(part, name, small=small) for part in value]
    if small and (isinstance(value, float) or name == "rank"):
        return None
    if small and isinstance(value, str) and name.endswith("reason"):
        return REASON
    return value


def _cut_differences(result: Mapping[str, Any]) -> list[Any]:
    """Cut differences of which one side is cut: with the other, they would tell it."""
    small = {(one["question"], one["answer"]) for one in result["subgroups"] if _is_small(one)}
    return [
        _cut(one, small=not small.isdisjoint((one["question"], one[side]) for side in SIDES))
        for one in result["differences"]
    ]


def _is_small(record: Mapping[str, Any]) -> bool:
    found = [record.get(key) for key in COUNTS]
    if record.keys() >= MEAN_RATING:
        found.append(record["n"])
    if str(record.get("picture", "")).startswith("people"):
        found.append(record["estimate"]["n"])
    return any(isinstance(n, int) and 0 < n < DEFAULT_MINIMUM for n in found)


# --- Links that open a report without an account: made, found again by their token, revoked

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


# --- Pages

# Somebody who reads on is one entry of the audit log in so many seconds.
ONE_ENTRY_SECONDS = 300

Answer = Callable[..., HttpResponse]


def _shared(action: AuditAction) -> Callable[[Answer], Answer]:
    """Turn a view of a report into one of a token; ``action`` is how the audit log calls it."""

    def decorate(answer: Answer) -> Answer:
        @require_GET
        @wraps(answer)
        def view(request: HttpRequest, token: str, **kwargs: str) -> HttpResponse:
            response = _answer(request, token, answer, action, kwargs)
            response["X-Robots-Tag"] = "noindex, nofollow, noarchive"
            response["Referrer-Policy"] = "no-referrer"
            response["Cache-Control"] = "private, no-store"
            return response

        return view

    return decorate


def _answer(
    request: HttpRequest, token: str, answer: Answer, action: AuditAction, kwargs: dict[str, str]
) -> HttpResponse:
    most = settings.SHARED_REPORT_REQUESTS_PER_MINUTE
    if is_over_limit("shared-report", client_address(request), most=most, seconds=60):
        return render(
            request,
            "evaluation/shared_closed.html",
            {"is_busy": True},
            status=HTTPStatus.TOO_MANY_REQUESTS,
        )
    share = find_share(token)
    if share is None:
        return render(request, "evaluation/shared_closed.html", status=HTTPStatus.NOT_FOUND)
    request.shared = share  # type: ignore[attr-defined]
    cut_small(share.report)
    response = answer(request, share.report, **kwargs)
    _log(share, action, str(kwargs.get("name", kwargs.get("number", ""))))
    return response


def _log(share: ReportShare, action: AuditAction, name: str) -> None:
    """Log that somebody came by a link; who it was is not known."""
    if not cache.add(f"shared:{share.digest}:{action}:{name}", 1, ONE_ENTRY_SECONDS):
        return
    record(
        action,
        f"report {share.report.public_id} {name}".strip(),
        study=share.report.study_id,
        detail=f"by share link {share.pk}, without an account",
    )


@_shared(AuditAction.VIEWED)
def page(request: HttpRequest, report: Report) -> HttpResponse:
    context = answers.page_context(request, report) | {"share": request.shared}  # type: ignore[attr-defined]
    return render(request, "evaluation/shared_page.html", context)


@_shared(AuditAction.VIEWED)
def figure(request: HttpRequest, report: Report, name: str, form: str) -> HttpResponse:
    return answers.answer_figure(request, report, name, form)


@_shared(AuditAction.EXPORTED)
def table(request: HttpRequest, report: Report, number: int) -> HttpResponse:
    return answers.answer_table(request, report, number)


@_shared(AuditAction.EXPORTED)
def references(request: HttpRequest, report: Report) -> HttpResponse:
    return answers.answer_references(report)


@_shared(AuditAction.EXPORTED)
def file(request: HttpRequest, report: Report, name: str) -> HttpResponse:
    return answers.answer_file(report, name)
