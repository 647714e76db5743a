"""Labeled templates, lexicons and labeled texts in the admin: each comes from one file."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display

from annotation.admin.history import HistoryAdmin
from probing.admin.library_entry import LibraryEntryAdmin
from probing.library.labeled_files import stored_groups, stored_texts
from probing.measures.labeled_texts import SPLITS
from probing.measures.probe_stimuli import SENTIMENT
from probing.models import GroupLexicon, LabeledTemplateSet, LabeledTextSet

TEXTS_SHOWN = 100
FACTS = ("title", "slug", "license", "citation")


class LabeledFileAdmin(HistoryAdmin, LibraryEntryAdmin):
    """An entry of the library that comes from one file; another import replaces its rows."""

    #: The kind of import that brings it.
    import_kind: ClassVar[str]
    search_fields = ("title", "slug")
    fields = (*FACTS, "rows")

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Lead to the page that imports a file."""
        return redirect(f"{reverse('admin:probing_run_import')}?kind={self.import_kind}")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("slug", "rows")


@admin.register(LabeledTemplateSet)
class LabeledTemplateSetAdmin(LabeledFileAdmin):
    """Sentences with a true label and a placeholder for the mention of a group."""

    import_kind = "labeled-templates"
    list_display = ("title", "slug", "n_templates", "license")

    @display(description=gettext_lazy("templates"))
    def n_templates(self, entry: LabeledTemplateSet) -> str:
        return f"{len(entry.templates):,}"

    @display(description=gettext_lazy("Templates"))
    def rows(self, entry: LabeledTemplateSet) -> SafeString:
        lines = [(SENTIMENT[one["label"]], one["text"]) for one in entry.templates]
        return render_to_string("admin/probing/labeled_rows.html", {"lines": lines})


@admin.register(GroupLexicon)
class GroupLexiconAdmin(LabeledFileAdmin):
    """Groups with the words that mention them."""

    import_kind = "lexicon"
    list_display = ("title", "slug", "n_groups", "license")

    @display(description=gettext_lazy("groups"))
    def n_groups(self, entry: GroupLexicon) -> str:
        return f"{len(entry.groups):,}"

    @display(description=gettext_lazy("Words"))
    def rows(self, entry: GroupLexicon) -> SafeString:
        lines = [
            (f"{group.name}, {group.role}", ", ".join(group.filler_names))
            for group in stored_groups(entry)
        ]
        return render_to_string("admin/probing/labeled_rows.html", {"lines": lines})


@admin.register(LabeledTextSet)
class LabeledTextSetAdmin(LabeledFileAdmin):
    """Texts with a true label: demonstrations, and what classifiers are trained on."""

    import_kind = "labeled-texts"
    list_display = ("title", "slug", "n_texts", "license")

    @display(description=gettext_lazy("texts"))
    def n_texts(self, entry: LabeledTextSet) -> str:
        return f"{len(entry.texts):,}"

    @display(description=gettext_lazy("Texts"))
    def rows(self, entry: LabeledTextSet) -> SafeString:
        texts = stored_texts(entry)
        counted: Counter[tuple[str, str]] = Counter(
            (one.split, SENTIMENT[one.label]) for one in texts
        )
        return render_to_string(
            "admin/probing/labeled_texts.html",
            {
                "classes": SENTIMENT,
                "counts": [
                    (split or _("not said"), [f"{counted[split, name]:,}" for name in SENTIMENT])
                    for split in (*SPLITS, "")
                    if any(counted[split, name] for name in SENTIMENT)
                ],
                "lines": [(SENTIMENT[one.label], one.text) for one in texts[:TEXTS_SHOWN]],
                "n": f"{len(texts):,}",
            },
        )
