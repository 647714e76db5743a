"""Corpora in the admin: the list, the upload, the pages of one corpus, downloads."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.admin import ModelAdmin
from unfold.decorators import display

from annotation.admin.access import staff_user
from annotation.admin.corpus_form import NewCorpusForm, UploadForm
from annotation.admin.corpus_page import (
    STATEMENT_SECTIONS,
    build_corpus_tabs,
    overview_context,
    texts_context,
)
from annotation.admin.history import HistoryAdmin
from annotation.corpora.access import can_change_corpus, can_see_corpus, visible_corpora
from annotation.corpora.corpus_rows import CorpusFileError
from annotation.corpora.importing import BadRowsError, ImportResult, import_corpus
from annotation.corpora.summary import with_counts
from annotation.exports.corpora import CORPUS_EXPORTS, build_corpus_download
from annotation.models import Corpus

PROBLEMS_SHOWN = 500


@admin.register(Corpus)
class CorpusAdmin(HistoryAdmin, ModelAdmin):
    list_display = ("name_link", "varieties", "n_texts", "n_pairs", "licence", "sharing")
    list_display_links = None
    list_filter = ("is_shared",)
    search_fields = ("name", "public_id")
    list_per_page = 50
    actions = None
    view_on_site = False
    empty_template = "admin/annotation/corpus/empty.html"
    change_form_outer_before_template = "admin/annotation/corpus/head.html"
    fieldsets = (
        (
            None,
            {"fields": ("name", "description", "licence", "access_note", "citation", "is_shared")},
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

    def has_module_permission(self, request: HttpRequest) -> bool:
        return request.user.is_active and request.user.is_staff

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
        return obj is not None and self.has_change_permission(request, obj)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        # Texts and pairs go with their corpus; what studies work on is protected.
        to_delete, counts, _needed, protected = super().get_deleted_objects(objs, request)
        return to_delete, counts, set(), protected

    # --- the list ---------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Corpus]:
        return with_counts(visible_corpora(request.user))

    @display(description=gettext_lazy("corpus"), ordering="name")
    def name_link(self, corpus: Corpus) -> SafeString:
        page = reverse("admin:annotation_corpus_overview", args=[corpus.pk])
        return format_html('<a href="{}">{}</a>', page, corpus.name)

    @display(description=gettext_lazy("varieties"), ordering="source_variety")
    def varieties(self, corpus: Corpus) -> str:
        return f"{corpus.source_variety} → {corpus.target_variety}"

    @display(description=gettext_lazy("texts"), ordering="n_texts")
    def n_texts(self, corpus: Any) -> str:
        return f"{corpus.n_texts:,}"

    @display(description=gettext_lazy("pairs"), ordering="n_pairs")
    def n_pairs(self, corpus: Any) -> str:
        return f"{corpus.n_pairs:,}"

    @display(description=gettext_lazy("seen by"), ordering="is_shared")
    def sharing(self, corpus: Corpus) -> str:
        return _("Every researcher") if corpus.is_shared else _("Owner and studies")

    # --- the upload -------------------------------------------------------------------------

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        return self._upload(request, NewCorpusForm(request.POST or None, request.FILES or None))

    def import_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        corpus = get_object_or_404(visible_corpora(request.user), pk=pk)
        if not can_change_corpus(request.user, corpus):
            raise PermissionDenied
        return self._upload(
            request, UploadForm(request.POST or None, request.FILES or None), corpus
        )

    def _upload(
        self, request: HttpRequest, form: UploadForm, corpus: Corpus | None = None
    ) -> HttpResponse:
        tried, refused = None, None
        if request.method == "POST" and form.is_valid():
            dry_run = "check" in request.POST
            try:
                result = self._import(request, form, corpus, dry_run=dry_run)
            except BadRowsError as error:
                refused = error
            except CorpusFileError as error:
                form.add_error("file", str(error))
            except ValidationError as error:
                form.add_error(None, error)
            else:
                if not dry_run and result.corpus is not None:
                    return self._welcome(request, result, result.corpus)
                tried = result
        failed = bool(form.errors or refused)
        problems = refused.problems if refused else tried.skipped if tried else ()
        return TemplateResponse(
            request,
            "admin/annotation/corpus/upload.html",
            {
                **self.admin_site.each_context(request),
                "opts": self.opts,
                "title": _("Add texts") if corpus else _("New corpus"),
                "form": form,
                "corpus": corpus,
                "tried": tried,
                "refused": refused,
                "problems": problems[:PROBLEMS_SHOWN],
                "n_problems": len(problems),
            },
            status=422 if failed else 200,
        )

    def _import(
        self, request: HttpRequest, form: UploadForm, corpus: Corpus | None, *, dry_run: bool
    ) -> ImportResult:
        file = form.cleaned_data["file"]
        user = staff_user(request)
        facts = {"into": corpus} if corpus else {"owner": user}
        if isinstance(form, NewCorpusForm):
            facts |= form.facts()
        return import_corpus(
            content=file.read(),
            file_name=file.name,
            user=user,
            skip_bad_rows=form.cleaned_data["skip_bad_rows"],
            dry_run=dry_run,
            **facts,
        )

    def _welcome(self, request: HttpRequest, result: ImportResult, corpus: Corpus) -> HttpResponse:
        messages.success(
            request,
            _("%(texts)s texts and %(pairs)s pairs are in “%(name)s”. %(skipped)s rows left out.")
            % {
                "texts": f"{result.n_texts:,}",
                "pairs": f"{result.n_pairs:,}",
                "name": corpus.name,
                "skipped": f"{result.n_skipped:,}",
            },
        )
        return redirect("admin:annotation_corpus_overview", corpus.pk)

    # --- pages of one corpus ----------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        def guarded(view: Any) -> Any:
            return self.admin_site.admin_view(view)

        return [
            path(f"<int:pk>/{address}/", guarded(view), name=f"annotation_corpus_{name}")
            for address, name, view in (
                ("overview", "overview", self.overview_view),
                ("texts", "texts", self.texts_view),
                ("import", "import", self.import_view),
                ("export/<str:name>", "export", self.export_view),
            )
        ] + super().get_urls()

    def overview_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        corpus = get_object_or_404(visible_corpora(request.user).select_related("owner"), pk=pk)
        return self._page(
            request, corpus, "overview", overview_context(corpus, staff_user(request))
        )

    def texts_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        corpus = get_object_or_404(visible_corpora(request.user), pk=pk)
        return self._page(request, corpus, "texts", texts_context(corpus, request.GET))

    def export_view(self, request: HttpRequest, pk: int, name: str) -> StreamingHttpResponse:
        corpus = get_object_or_404(visible_corpora(request.user), pk=pk)
        if name not in CORPUS_EXPORTS:
            raise Http404
        return build_corpus_download(corpus, name, bom="bom" in request.GET)

    def _page(
        self, request: HttpRequest, corpus: Corpus, tab: str, context: dict[str, Any]
    ) -> HttpResponse:
        return TemplateResponse(
            request,
            f"admin/annotation/corpus/{tab}.html",
            {
                **self.admin_site.each_context(request),
                **context,
                "opts": self.opts,
                "title": corpus.name,
                "tab": tab,
                "corpus_tabs": build_corpus_tabs(corpus),
                "may_change": can_change_corpus(request.user, corpus),
            },
        )

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        extra = dict(extra_context or {}, show_save_and_add_another=False, show_history=False)
        corpus = self.get_object(request, object_id) if object_id else None
        if corpus is not None:
            tabs = build_corpus_tabs(corpus)
            extra |= {"corpus": corpus, "tab": "describe", "corpus_tabs": tabs}
        return super().changeform_view(request, object_id, form_url, extra)

    def history_context(self, corpus: Corpus) -> dict[str, Any]:
        tabs = build_corpus_tabs(corpus)
        return {"corpus": corpus, "tab": "history", "corpus_tabs": tabs}

    def response_change(self, request: HttpRequest, obj: Corpus) -> Any:
        if "_continue" in request.POST:
            return super().response_change(request, obj)
        messages.success(request, _("The description of “%(name)s” is saved.") % {"name": obj.name})
        return redirect("admin:annotation_corpus_overview", obj.pk)
