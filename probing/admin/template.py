"""Templates and sets of templates in the admin."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import display

from annotation.admin.history import HistoryAdmin
from annotation.admin.library import build_tabs
from annotation.admin.library_file import LibraryFiles
from annotation.admin.library_form import CheckedForm
from annotation.admin.library_use import KeptWhileUsed
from annotation.models import SocialGroup
from probing.admin.sentences import sentences_view
from probing.library.sentences import article_problems, check_template
from probing.library.template_kind import TemplateKind
from probing.measures.templates import TemplateError
from probing.models import Template, TemplateSet
from probing.runs.stimuli import DEFAULT_GROUPS

TEMPLATE_TABS = (("template", _("Templates")), ("templateset", _("Sets of templates")))
SENTENCES = "probing_template_sentences"


class TemplateForm(CheckedForm):
    """A sentence with its slots; its words are checked as far as they hold for every group."""

    class Meta:
        model = Template
        fields = ("text", "slug")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        try:
            found = check_template(cleaned.get("text") or "")
        except TemplateError:
            return cleaned  # the field itself says what is wrong
        self.take_findings(found)
        return cleaned


class TemplateLibraryAdmin(KeptWhileUsed, ModelAdmin):
    """What templates and their sets have in common: tabs, and slugs that are given once."""

    list_before_template = "admin/annotation/library/tabs.html"

    class Media:
        css = {"all": ["annotation/library.css"]}

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        tabs = build_tabs(TEMPLATE_TABS, "probing", str(self.opts.model_name))
        tabs.append((gettext("Read the sentences"), reverse(f"admin:{SENTENCES}"), False))
        return super().changelist_view(request, {"library_tabs": tabs, **(extra_context or {})})

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("slug",) if obj else ()  # scores go by it

    def get_prepopulated_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return {} if obj else self.prepopulated_fields


@admin.register(Template)
class TemplateAdmin(LibraryFiles, HistoryAdmin, TemplateLibraryAdmin):
    """The library of templates; a run keeps its own copy, so an edit changes no score."""

    form = TemplateForm
    list_display = ("text", "slug", "set_titles")
    list_filter = ("sets",)
    search_fields = ("text", "slug")
    prepopulated_fields = {"slug": ("text",)}
    library_kind = TemplateKind()

    def get_fields(self, request: HttpRequest, obj: Template | None = None) -> Any:
        may_edit = (
            self.has_add_permission(request)
            if obj is None
            else self.has_change_permission(request, obj)
        )
        return ("text", "slug", "as_written") if may_edit else ("text", "slug")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Template]:
        return super().get_queryset(request).prefetch_related("sets")

    @display(description=_("sets"))
    def set_titles(self, template: Template) -> str:
        return "; ".join(chosen.title for chosen in template.sets.all()) or "–"

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        form.tell_remarks(request)
        groups = SocialGroup.objects.filter(sets__slug=DEFAULT_GROUPS)
        for problem in article_problems(groups, [obj]):
            messages.warning(request, problem.message)
        address = f"{reverse(f'admin:{SENTENCES}')}?single_templates={obj.slug}"
        messages.info(
            request,
            format_html(
                '<a href="{}">{}</a>', address, gettext("Read its sentences with every group.")
            ),
        )

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.sentences_view)
        return [path("sentences/", view, name=SENTENCES), *super().get_urls()]

    def sentences_view(self, request: HttpRequest) -> HttpResponse:
        tabs = build_tabs(TEMPLATE_TABS, "probing", "")
        tabs.append((gettext("Read the sentences"), reverse(f"admin:{SENTENCES}"), True))
        return sentences_view(self, request, tabs)


@admin.register(TemplateSet)
class TemplateSetAdmin(TemplateLibraryAdmin):
    """Named choices of templates."""

    list_display = ("title", "slug", "template_count")
    search_fields = ("title", "slug")
    prepopulated_fields = {"slug": ("title",)}
    filter_horizontal = ("templates",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[TemplateSet]:
        return super().get_queryset(request).annotate(number=Count("templates"))

    @display(description=_("templates"), ordering="number")
    def template_count(self, chosen: TemplateSet) -> int:
        return chosen.number  # type: ignore[attr-defined] # annotated above
