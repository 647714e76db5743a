"""All addresses. Participants first, then reports, API, admin and health."""

from __future__ import annotations

from django.contrib import admin
from django.http import Http404
from django.urls import include, path, re_path
from django.views.defaults import page_not_found

from stereoscope.accounts import SignInByLink
from stereoscope.metrics import show_metrics
from stereoscope.overview.first_steps import turn_first_steps

admin.autodiscover()
handler500 = "stereoscope.failures.answer_failure"

urlpatterns = [
    path("", include("annotation.survey.urls")),
    path("annotate/", include("annotation.annotators.urls")),
    path("annotate/", include("annotation.counterparts.urls")),
    path("annotate/", include("annotation.judgments.urls")),
    path("panels/", include("annotation.panels.urls")),
    path("reports/", include("evaluation.reports.urls")),
    path("account/", include("stereoscope.second_factor.urls")),
    path("account/", include("stereoscope.oidc.urls")),
    path("account/link/<uidb64>/<token>/", SignInByLink.as_view(), name="sign-in-by-link"),
    path("docs/", include("stereoscope.documentation.urls")),
    path("api/", include("stereoscope.api.urls")),
    path(
        "admin/first-steps/", admin.site.admin_view(turn_first_steps), name="overview-first-steps"
    ),
    path("admin/health/", include("stereoscope.health_page.urls")),
    path("admin/reproductions/", include("evaluation.reproductions.pages")),
    # Django's way from a row to its page tells any of the staff the link of a study of others.
    re_path(r"^admin/r/", page_not_found, {"exception": Http404()}),
    path("admin/", admin.site.urls),
    path("metrics", show_metrics, name="metrics"),
]
