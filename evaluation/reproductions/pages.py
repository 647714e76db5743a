"""Pages for researchers: do the four papers' numbers come out again? As `manage.py reproduce`.

Values are computed when a page is asked for, from the reports that its reader may see.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.decorators import permission_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from evaluation.reports.selectors import visible_reports
from evaluation.reproductions.items import Outcome, Paper, Sources, Status, reproduce
from evaluation.reproductions.papers import PAPERS

HEADINGS = ("paper", "item", "what", "published", "ours", "difference", "status", "reason")
#: What each status means, and its badge.
MEANINGS = {
    Status.REPRODUCED: (gettext_lazy("Equal to the last printed digit."), "good mark-tick"),
    Status.CLOSE: (gettext_lazy("Within the tolerance that the item states."), "info mark-tick"),
    Status.DIFFERS: (gettext_lazy("The item’s page says what is known."), "warn mark-triangle"),
    Status.NO_RESULT: (
        gettext_lazy("Not run yet, or without data: the reason stands with it."),
        "mark-ring",
    ),
}
may_read = permission_required("evaluation.view_report", raise_exception=True)


def compute(request: HttpRequest, paper: Paper) -> list[Outcome]:
    """Return what comes out of each item that prints numbers, for the request's user."""
    sources = Sources(settings.RELEASED_FILES, visible_reports(request.user))
    return [reproduce(paper, item, sources) for item in paper.items if not item.is_text]


@may_read
@require_safe
def show_all(request: HttpRequest) -> HttpResponse:
    """List the items of every paper with what comes out of them."""
    papers = [(paper, compute(request, paper)) for paper in PAPERS]
    outcomes = [one for _paper, found in papers for one in found]
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": _("Do the four papers’ numbers come out again?"),
        "keys": [
            (_title(status), sum(one.status is status for one in outcomes), meaning)
            for status, (meaning, _badge) in MEANINGS.items()
        ],
        "n": len(outcomes),
        "n_without": sum(item.is_text for paper in PAPERS for item in paper.items),
        "papers": [
            (paper, [(one, *_badge_of(one.status)) for one in found]) for paper, found in papers
        ],
        "folder": settings.RELEASED_FILES,
    }
    return render(request, "admin/evaluation/reproductions.html", context)


@may_read
@require_safe
def show_item(request: HttpRequest, paper: str, item: str) -> HttpResponse:
    """Show each value of an item beside the published one, or what has to be run before."""
    chosen = next((one for one in PAPERS if one.name == paper), None)
    if chosen is None:
        raise Http404
    outcome = next((one for one in compute(request, chosen) if one.item.name == item), None)
    if outcome is None:
        raise Http404
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": f"{outcome.item.title}: {outcome.item.about}",
        "outcome": outcome,
        "badge": _badge_of(outcome.status),
        "rows": [(value, *value.printed, *_badge_of(value.status)) for value in outcome.values],
        "has_reasons": any(value.reason for value in outcome.values),
    }
    return render(request, "admin/evaluation/reproduction.html", context)


@may_read
@require_safe
def download(request: HttpRequest) -> HttpResponse:
    """Send all values of all papers as CSV, an item without values as one row with the reason."""
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="reproductions.csv"'
    writer = csv.writer(response)
    writer.writerow(HEADINGS)
    for paper in PAPERS:
        for outcome in compute(request, paper):
            writer.writerows(_rows(outcome))
    return response


def _rows(outcome: Outcome) -> Iterator[tuple[Any, ...]]:
    named = outcome.paper.name, outcome.item.name
    for value in outcome.values:
        found = value.published, value.ours, value.difference
        yield (*named, value.what, *found, value.status, value.reason)
    if not outcome.values:
        yield (*named, outcome.item.about, "", "", "", outcome.status, outcome.reason)


def _title(status: Status) -> str:
    return str(status).capitalize()


def _badge_of(status: Status) -> tuple[str, str]:
    return _title(status), MEANINGS[status][1]


urlpatterns = [
    path("", admin.site.admin_view(show_all), name="reproductions"),
    path("values.csv", admin.site.admin_view(download), name="reproductions-csv"),
    path("<slug:paper>/<str:item>/", admin.site.admin_view(show_item), name="reproduction"),
]
