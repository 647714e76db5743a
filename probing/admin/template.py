"""Templates and sets of templates in the admin, and the page to read their sentences on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from annotation.admin.history import HistoryAdmin
from annotation.admin.library import LibraryFiles
from annotation.models import SocialGroup, TraitPair
from annotation.researcher.library.entry_form import CheckedForm
from probing.admin.library_entry import LibraryEntryAdmin
from probing.admin.stimuli_forms import GroupFields, TemplateFields
from probing.library.sentences import Sentence, article_problems, check_template, render
from probing.library.template_kind import TemplateKind
from probing.measures.adjectives import pole_words
from probing.measures.templates import TemplateError
from probing.models import Template, TemplateSet
from probing.runs.stimuli import DEFAULT_GROUPS, DEFAULT_TEMPLATE_SET, load_traits

SENTENCES = "probing_template_sentences"
SENTENCES_SHOWN = 2000


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


class TemplateLibraryAdmin(LibraryEntryAdmin):
    """What templates and their sets have in common: a page on which their sentences are read."""

    def list_tabs(self, here: str = "") -> list[tuple[Any, str, bool]]:
        page = (gettext("Read the sentences"), reverse(f"admin:{SENTENCES}"), here == SENTENCES)
        tabs = super().list_tabs(here)
        return [*tabs[:2], page, *tabs[2:]]


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
        """Show every sentence of the chosen templates and groups, wrong ones marked."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        form = SentenceForm(_with_defaults(request))
        parts: list[TemplateSentences] = []
        counts: dict[str, int] = {}
        if form.is_valid():
            parts, counts = _render(*form.chosen(), only_wrong=form.cleaned_data["only_wrong"])
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Read the sentences"),
            "library_tabs": self.list_tabs(SENTENCES),
            "form": form,
            "parts": parts,
            "most": SENTENCES_SHOWN,
            **counts,
        }
        return TemplateResponse(request, "admin/probing/template/sentences.html", context)


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


class SentenceForm(GroupFields, TemplateFields):
    """Groups and templates, and whether all of their sentences are shown."""

    only_wrong = forms.BooleanField(label=_("Only sentences that may read wrong"), required=False)

    def chosen(self) -> tuple[list[Template], list[SocialGroup]]:
        """Return the templates and groups of the sets and single entries. Two queries."""
        given = self.cleaned_data
        templates = Template.objects.filter(sets__slug__in=given["templates"]) | (
            Template.objects.filter(slug__in=given["single_templates"])
        )
        groups = SocialGroup.objects.filter(sets__slug__in=given["groups"]) | (
            SocialGroup.objects.filter(slug__in=given["single_groups"])
        )
        return list(templates.distinct().order_by("slug")), list(groups.distinct().order_by("slug"))


@dataclass(frozen=True)
class TemplateSentences:
    """One template with its sentences; `findings` hold for every group."""

    template: Template
    findings: Sequence[Any]
    sentences: list[Sentence]


def _with_defaults(request: HttpRequest) -> Any:
    """Return what the address asks for, with what a run begins with where it says nothing."""
    given = request.GET.copy()
    if not given.getlist("templates") and not given.getlist("single_templates"):
        given.setlist("templates", [DEFAULT_TEMPLATE_SET])
    if not given.getlist("groups") and not given.getlist("single_groups"):
        given.setlist("groups", [DEFAULT_GROUPS])
    return given


def _render(
    templates: Sequence[Template], groups: Sequence[SocialGroup], *, only_wrong: bool
) -> tuple[list[TemplateSentences], dict[str, int]]:
    adjectives = [
        word
        for trait in (load_traits() if TraitPair.objects.exists() else ())
        for pole in ("low", "high")
        for word in pole_words(trait, pole, "lists")
    ]
    parts, n_shown, n_wrong = [], 0, 0
    for template in templates:
        shown = []
        for group in groups:
            sentence = render(template, group, adjectives)
            n_wrong += bool(sentence.findings)
            if n_shown < SENTENCES_SHOWN and (sentence.findings or not only_wrong):
                n_shown += 1
                shown.append(sentence)
        findings = check_template(template.text, adjectives)
        if shown or findings or not only_wrong:
            parts.append(TemplateSentences(template, findings, shown))
    total = len(templates) * len(groups)
    return parts, {"n_sentences": total, "n_wrong": n_wrong, "n_shown": n_shown}
