from __future__ import annotations

from django.urls import path

from stereoscope.documentation.views import show_documentation

urlpatterns = [
    path("", show_documentation, {"path": "index.html"}, name="docs"),
    path("<path:path>", show_documentation, name="docs-page"),
]
