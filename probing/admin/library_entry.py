"""Base of the library's entries in the admin: a slug is given once."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from unfold.admin import ModelAdmin

from annotation.admin.library import KeptWhileUsed


class LibraryEntryAdmin(KeptWhileUsed, ModelAdmin):
    """Entries that scores and reports name by their slug."""

    class Media:
        css = {"all": ["annotation/library.css"]}

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("slug",) if obj else ()

    def get_prepopulated_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return {} if obj else self.prepopulated_fields
