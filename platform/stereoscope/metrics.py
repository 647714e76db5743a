"""Metrics for Prometheus: requests of all web processes, and what the database says of the work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db.models import Count, Model
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

# Processes count into files that every one of them can add up; the library reads this once.
if settings.METRICS_TOKEN:
    _folder = Path(settings.VAR_DIR) / "metrics"
    _folder.mkdir(exist_ok=True)
    os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", str(_folder))

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_registry = CollectorRegistry()
REQUESTS = Counter(
    "stereoscope_requests", "Answers.", ["page", "method", "status"], registry=_registry
)
SECONDS = Histogram(
    "stereoscope_request_seconds",
    "How long answers took, streamed bodies left out.",
    ["page"],
    buckets=(0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
    registry=_registry,
)
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


def count_request(page: str, method: str, status: int, seconds: float) -> None:
    """Count an answer by the name of its page, never by an address."""
    if not settings.METRICS_TOKEN:
        return
    REQUESTS.labels(page or "none", method if method in METHODS else "other", str(status)).inc()
    SECONDS.labels(page or "none").observe(seconds)


class WorkCollector:
    """Counts in the database, asked for at each scrape. Six queries."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        from annotation.models import PageEvent, PanelAction, Submission
        from probing.models import Run, Shard
        from stereoscope.models import WorkerPresence

        for name, model, field in (
            ("submissions", Submission, "state"),
            ("runs", Run, "status"),
            ("shards", Shard, "status"),
            ("payments", PanelAction, "state"),
        ):
            yield _count(name, model, field)
        now = timezone.now()
        yield GaugeMetricFamily(
            "stereoscope_pages_submitted",
            "Pages that participants have sent.",
            value=PageEvent.objects.count(),
        )
        leased = Shard.objects.filter(lease_until__gt=now)
        yield GaugeMetricFamily(
            "stereoscope_leases", "Shards under a lease that is in force.", value=leased.count()
        )
        yield GaugeMetricFamily(
            "stereoscope_workers", "Workers that are known.", value=WorkerPresence.objects.count()
        )


def _count(name: str, model: type[Model], field: str) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"stereoscope_{name}", f"{name.title()} by {field}.", labels=[field])
    rows = model._default_manager.order_by().values_list(field).annotate(n=Count("pk"))
    for value, n in rows:
        family.add_metric([str(value)], n)
    return family


@never_cache
@require_GET
def show_metrics(request: HttpRequest) -> HttpResponse:
    """Answer a scrape that brings METRICS_TOKEN as a bearer token; without one set, 404."""
    token = settings.METRICS_TOKEN
    if not token:
        return HttpResponse(status=404)
    if not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {token}"):
        return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
    registry = CollectorRegistry()
    MultiProcessCollector(registry)
    registry.register(WorkCollector())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE)
