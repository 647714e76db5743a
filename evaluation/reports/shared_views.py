"""A report by its link, without an account: read only, for as long as the link is open.

A token that opens nothing gets one answer, whatever the reason. Search engines are told to stay
away, and no address with a token goes out in a referrer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.audit.record import record
from annotation.common.limits import client_address, is_over_limit
from annotation.models import AuditAction
from evaluation.models import Report, ReportShare
from evaluation.reports import answers
from evaluation.reports.shared_cut import cut_small
from evaluation.reports.shares import find_share

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
