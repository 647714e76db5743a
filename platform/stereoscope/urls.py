"""All addresses. Participants first, then reports, API, admin and health."""

from __future__ import annotations

from django.contrib import admin
from django.http import Http404
from django.urls import include, path, re_path
from django.views.defaults import page_not_found

from stereoscope.metrics import show_metrics

admin.autodiscover()

urlpatterns = [
    path("", include("annotation.survey.urls")),
    path("annotate/", include("annotation.annotators.urls")),
    path("annotate/", include("annotation.counterparts.urls")),
    path("annotate/", include("annotation.judgments.urls")),
    path("panels/", include("annotation.panels.urls")),
    path("reports/", include("evaluation.reports.urls")),
    path("account/", include("stereoscope.second_factor.urls")),
    path("account/", include("stereoscope.oidc.urls")),
    path("api/", include("stereoscope.api.urls")),
    # Django's way from a row to its page tells any of the staff the link of a study of others.
    re_path(r"^admin/r/", page_not_found, {"exception": Http404()}),
    path("admin/", admin.site.urls),
    path("metrics", show_metrics, name="metrics"),
]
