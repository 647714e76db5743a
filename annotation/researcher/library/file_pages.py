"""Downloads of library entries."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

from annotation.exports.downloads import build_attachment
from annotation.library.library_export import stream_example, stream_library
from annotation.library.library_kind import LibraryKind
from annotation.researcher.pages.page import ResearcherPage


class LibraryFilePage(ResearcherPage):
    """A page below the list of a kind of entries, whose model admin has a ``library_kind``."""

    def prepare(self) -> None:
        if not self.model_admin.has_view_permission(self.request):
            raise PermissionDenied

    @property
    def kind(self) -> LibraryKind:
        return self.model_admin.library_kind  # type: ignore[attr-defined]


class LibraryExport(LibraryFilePage):
    route = "library.csv"
    name = "export"

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        name = f"stereoscope-{self.kind.name}-{timezone.localdate():%Y-%m-%d}.csv"
        return build_attachment(stream_library(self.kind, bom="bom" in request.GET), name)


class LibraryExample(LibraryFilePage):
    route = "example.csv"
    name = "example"

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        name = f"stereoscope-{self.kind.name}-example.csv"
        return build_attachment(stream_example(self.kind, bom="bom" in request.GET), name)
