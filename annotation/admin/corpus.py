"""Corpora in the admin: the list, and the form that describes one."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from unfold.admin import ModelAdmin
from unfold.decorators import display

from annotation.admin.base import HasPages, ReadByStaff, count_column
from annotation.admin.history import HeadedAdmin
from annotation.corpora.access import (
    can_change_corpus,
    can_see_corpus,
    changeable_corpora,
    visible_corpora,
)
from annotation.corpora.summary import with_counts
from annotation.models import Corpus
from annotation.researcher.corpora.pages import (
    STATEMENT_SECTIONS,
    CorpusExports,
    CorpusOverview,
    CorpusPage,
    CorpusTexts,
)
from annotation.researcher.corpora.upload import AddTexts, NewCorpus


@admin.register(Corpus)
class CorpusAdmin(HasPages, ReadByStaff, HeadedAdmin, ModelAdmin):
    page = CorpusPage
    form_tab = "describe"
    pages = (CorpusOverview, CorpusTexts, AddTexts, CorpusExports)
    list_display = ("name_link", "varieties", "n_texts", "n_pairs", "license", "sharing")
    list_display_links = None
    list_filter = ("is_shared", "source_variety", "target_variety", "license")
    search_fields = ("name", "public_id", "description", "citation")
    list_per_page = 50
    actions = ("share", "stop_sharing")
    view_on_site = False
    empty_template = "admin/annotation/corpus/empty.html"
    change_form_outer_before_template = "admin/annotation/corpus/head.html"
    fieldsets = (
        (
            None,
            {"fields": ("name", "description", "license", "access_note", "citation", "is_shared")},
        ),
        (
            gettext_lazy("Data statement"),
            {
                "fields": tuple(STATEMENT_SECTIONS),
                "description": gettext_lazy(
                    "What no record can answer, after Bender and Friedman (2018). Reports print "
                    "these sections beside the numbers, and say which are not written."
                ),
            },
        ),
    )

    # --- access -----------------------------------------------------------------------------

    def has_view_permission(self, request: HttpRequest, obj: Corpus | None = None) -> bool:
        if not self.has_module_permission(request):
            return False
        return obj is None or can_see_corpus(request.user, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_module_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Corpus | None = None) -> bool:
        if not self.has_module_permission(request):
            return False
        return obj is None or can_change_corpus(request.user, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Corpus | None = None) -> bool:
        return self.has_change_permission(request, obj)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        # Texts and pairs go with their corpus; what studies work on is protected.
        to_delete, counts, _needed, protected = super().get_deleted_objects(objs, request)
        others = [
            _("“%(name)s” is not yours to delete.") % {"name": corpus.name}
            for corpus in objs
            if not self.has_delete_permission(request, corpus)
        ]
        return to_delete, counts, set(), [*protected, *others]

    # --- several at once --------------------------------------------------------------------

    @admin.action(description=gettext_lazy("Show to every researcher"), permissions=["change"])
    def share(self, request: HttpRequest, queryset: QuerySet[Corpus]) -> None:
        self._set_shared(request, queryset, is_shared=True)

    @admin.action(description=gettext_lazy("Show to owner and studies"), permissions=["change"])
    def stop_sharing(self, request: HttpRequest, queryset: QuerySet[Corpus]) -> None:
        self._set_shared(request, queryset, is_shared=False)

    def _set_shared(
        self, request: HttpRequest, chosen: QuerySet[Corpus], *, is_shared: bool
    ) -> None:
        keys = list(chosen.values_list("pk", flat=True))
        own = list(changeable_corpora(request.user).filter(pk__in=keys))
        for corpus in own:  # one by one, so that each is in the history
            corpus.is_shared = is_shared
            corpus.save(update_fields=["is_shared"])
        if own:
            messages.success(request, _("Changed: %(n)d.") % {"n": len(own)})
        if left_out := len(keys) - len(own):
            text = ngettext(
                "%(n)d corpus is not yours to change.",
                "%(n)d corpora are not yours to change.",
                left_out,
            )
            messages.error(request, text % {"n": left_out})

    # --- the list ---------------------------------------------------------------------------

    n_texts = count_column("n_texts", gettext_lazy("texts"))
    n_pairs = count_column("n_pairs", gettext_lazy("pairs"))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Corpus]:
        return with_counts(visible_corpora(request.user))

    @display(description=gettext_lazy("corpus"), ordering="name")
    def name_link(self, corpus: Corpus) -> SafeString:
        page = reverse("admin:annotation_corpus_overview", args=[corpus.pk])
        return format_html('<a href="{}">{}</a>', page, corpus.name)

    @display(description=gettext_lazy("varieties"), ordering="source_variety")
    def varieties(self, corpus: Corpus) -> str:
        return f"{corpus.source_variety} → {corpus.target_variety}"

    @display(description=gettext_lazy("seen by"), ordering="is_shared")
    def sharing(self, corpus: Corpus) -> str:
        return _("Every researcher") if corpus.is_shared else _("Owner and studies")

    # --- forms ------------------------------------------------------------------------------

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponseBase:
        if not self.has_add_permission(request):
            raise PermissionDenied
        return NewCorpus.as_view(model_admin=self)(request)

    def response_change(self, request: HttpRequest, obj: Corpus) -> Any:
        if "_continue" in request.POST:
            return super().response_change(request, obj)
        messages.success(request, _("The description of “%(name)s” is saved.") % {"name": obj.name})
        return redirect("admin:annotation_corpus_overview", obj.pk)
