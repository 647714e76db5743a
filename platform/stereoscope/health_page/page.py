"""The page itself, for administrators alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db import Error
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from stereoscope.health_page.configuration import find_configuration, list_versions
from stereoscope.health_page.findings import Finding, State
from stereoscope.health_page.parts import find_clock, find_disk, find_services
from stereoscope.health_page.work import find_work
from stereoscope.templatetags.help import docs_address

PERMISSION = "stereoscope.view_workerpresence"


@never_cache
@require_safe
def show_health(request: HttpRequest) -> HttpResponse:
    """Say of each part how it stands, the worst first, with the remedy."""
    if not request.user.has_perm(PERMISSION):
        raise PermissionDenied
    findings = sorted(find_all(), key=lambda finding: list(State).index(finding.state))
    context = {
        **admin.site.each_context(request),
        "title": _("Health"),
        "now": timezone.now(),
        "lines": [(finding, docs_address(finding.docs)) for finding in findings],
        "n_wrong": sum(finding.state != State.GOOD for finding in findings),
        "versions": list_versions(),
    }
    return render(request, "admin/stereoscope/health.html", context)


def find_all() -> list[Finding]:
    """Return what all checks say; a check that fails is a finding itself."""
    findings: list[Finding] = []
    checks: tuple[Callable[[], Iterable[Finding]], ...] = (
        find_services,
        lambda: [find_clock()],
        find_work,
        find_disk,
        find_configuration,
    )
    for check in checks:
        try:
            findings += check()
        except (Error, OSError) as error:
            remedy = _("Look into the log of the web server.")
            findings.append(Finding(_("A check"), State.BAD, type(error).__name__, remedy))
    return findings
