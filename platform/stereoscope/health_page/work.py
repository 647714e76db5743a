"""Work that stands still or has failed: runs, reports, payments, the audit log's seals."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import ActionState, PanelAction
from evaluation.models import Report, ReportStatus
from probing.models import Run, RunEvent, RunStatus, Shard
from stereoscope.health_page.findings import Finding, State, good

#: Without any event for so long, an open run stands still.
STILL = timedelta(minutes=30)
RECENT = timedelta(days=7)


def find_work() -> Iterator[Finding]:
    """Yield how runs, reports and payments go on. Five queries."""
    yield _find_runs()
    yield _find_failures()
    yield _find_payments()


def _find_runs() -> Finding:
    now, title = timezone.now(), _("Open runs")
    events = RunEvent.objects.filter(run=OuterRef("pk"), at__gte=now - STILL)
    leases = Shard.objects.filter(run=OuterRef("pk"), lease_until__gte=now)
    open_runs = Run.objects.filter(status__in=[RunStatus.WAITING, RunStatus.RUNNING])
    n = open_runs.count()
    still = list(
        open_runs.filter(~Exists(events), ~Exists(leases), created_at__lt=now - STILL)
        .order_by("pk")
        .values_list("pk", flat=True)
    )
    if not n:
        return good(title, _("No run is open."))
    if not still:
        return good(title, ngettext("%(n)d, at work.", "%(n)d, none stands still.", n) % {"n": n})
    said = _("Nothing has happened for %(minutes)d minutes in run %(runs)s.") % {
        "minutes": STILL.total_seconds() // 60,
        "runs": ", ".join(map(str, still[:5])),
    }
    remedy = _("Look whether a worker runs and what its log says; a run can be cancelled.")
    return Finding(title, State.WARN, said, remedy, "measures.html")


def _find_failures() -> Finding:
    since, title = timezone.now() - RECENT, _("Failed work")
    runs = Run.objects.filter(status=RunStatus.FAILED, finished_at__gte=since).count()
    reports = Report.objects.filter(status=ReportStatus.FAILED, started_at__gte=since).count()
    if not runs + reports:
        return good(title, _("No run and no report in a week."))
    said = _("In a week %(runs)d runs and %(reports)d reports.") % {
        "runs": runs,
        "reports": reports,
    }
    remedy = _("Their pages say why; they can be resumed or built again there.")
    return Finding(title, State.WARN, said, remedy, "reports.html")


def _find_payments() -> Finding:
    title = _("Payments")
    unclear = PanelAction.objects.filter(
        state__in=[ActionState.UNCLEAR, ActionState.FAILED]
    ).count()
    if not unclear:
        return good(title, _("None is unclear or refused."))
    said = ngettext("%(n)d is unclear or refused.", "%(n)d are unclear or refused.", unclear)
    remedy = _("Open “Money” of the study: it says what each of them waits for.")
    return Finding(title, State.WARN, said % {"n": unclear}, remedy, "studies/group-ratings.html")
