"""Serves the built documentation, to everybody: it says nothing about an installation."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.static import serve

# Named by their content, so that browsers may keep them.
KEPT = ("assets/javascripts/", "assets/stylesheets/")
SECONDS_KEPT = 86_400


@require_safe
def show_documentation(request: HttpRequest, path: str) -> HttpResponseBase:
    """Return one file of the site, with the strict policy that every page has."""
    if not (settings.DOCS_ROOT / "index.html").exists():
        return render(request, "stereoscope/docs_missing.html", status=404)
    response = serve(request, path, document_root=str(settings.DOCS_ROOT))
    kept = f"max-age={SECONDS_KEPT}" if path.startswith(KEPT) else "no-cache"
    response.headers["Cache-Control"] = kept
    return response
