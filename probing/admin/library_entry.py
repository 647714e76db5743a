"""Base of the library's entries in the admin: a slug is given once."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin

from annotation.admin.base import HasTabs
from annotation.admin.library import KeptWhileUsed

#: What models are asked with, as the tabs of the lists name it.
MATERIAL_TABS = (
    ("template", _("Templates")),
    ("templateset", _("Sets of templates")),
    ("prompt", _("Prompts")),
    ("wordlist", _("Word lists")),
    ("labeledtemplateset", _("Labeled templates")),
    ("grouplexicon", _("Lexicons of groups")),
    ("labeledtextset", _("Labeled texts")),
)


class MaterialAdmin(HasTabs, ModelAdmin):
    """The lists of what models are asked with: each leads to the others."""

    list_before_template = "admin/annotation/library/tabs.html"
    tab_names = MATERIAL_TABS

    class Media:
        css = {"all": ["annotation/library.css"]}


class LibraryEntryAdmin(KeptWhileUsed, MaterialAdmin):
    """Entries that scores and reports name by their slug."""

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("slug",) if obj else ()

    def get_prepopulated_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return {} if obj else self.prepopulated_fields
