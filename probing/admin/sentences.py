"""The page on which a researcher reads what templates and groups give, wrong ones marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _

from annotation.models import GroupSet, SocialGroup, TraitPair
from probing.library.sentences import Sentence, check_template, render
from probing.measures.adjectives import pole_words
from probing.models import Template, TemplateSet
from probing.runs.defaults import DEFAULT_TEMPLATE_SET
from probing.runs.stimuli import DEFAULT_GROUPS, load_traits

SENTENCES_SHOWN = 2000


class SentenceForm(forms.Form):
    """Groups and templates, by sets or one by one."""

    templates = forms.MultipleChoiceField(
        label=_("Templates"), widget=forms.CheckboxSelectMultiple, required=False
    )
    single_templates = forms.MultipleChoiceField(
        label=_("Single templates"), widget=forms.CheckboxSelectMultiple, required=False
    )
    groups = forms.MultipleChoiceField(
        label=_("Groups"), widget=forms.CheckboxSelectMultiple, required=False
    )
    single_groups = forms.MultipleChoiceField(
        label=_("Single groups"), widget=forms.CheckboxSelectMultiple, required=False
    )
    only_wrong = forms.BooleanField(label=_("Only sentences that may read wrong"), required=False)

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        self._offer("templates", TemplateSet.objects.annotate(number=Count("templates")))
        self._offer("single_templates", Template.objects.all())
        self._offer("groups", GroupSet.objects.annotate(number=Count("groups")))
        # Paired groups are chosen by their set: there are thousands.
        self._offer("single_groups", SocialGroup.objects.filter(component_links=None))

    def _offer(self, name: str, entries: QuerySet[Any]) -> None:
        field: Any = self.fields[name]
        field.choices = [
            (entry.slug, f"{entry} ({entry.number})" if hasattr(entry, "number") else str(entry))
            for entry in entries
        ]

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
class Part:
    """One template with its sentences; `findings` hold for every group."""

    template: Template
    findings: Sequence[Any]
    sentences: list[Sentence]


def sentences_view(admin: Any, request: HttpRequest, tabs: Any) -> HttpResponse:
    """Answer with every sentence of the chosen templates and groups."""
    if not admin.has_view_permission(request):
        raise PermissionDenied
    form = SentenceForm(_with_defaults(request))
    parts: list[Part] = []
    counts: dict[str, int] = {}
    if form.is_valid():
        parts, counts = _render(*form.chosen(), only_wrong=form.cleaned_data["only_wrong"])
    return TemplateResponse(
        request,
        "admin/probing/template/sentences.html",
        {
            **admin.admin_site.each_context(request),
            "opts": admin.opts,
            "title": _("Read the sentences"),
            "library_tabs": tabs,
            "form": form,
            "parts": parts,
            "most": SENTENCES_SHOWN,
            **counts,
        },
    )


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
) -> tuple[list[Part], dict[str, int]]:
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
            parts.append(Part(template, findings, shown))
    total = len(templates) * len(groups)
    return parts, {"n_sentences": total, "n_wrong": n_wrong, "n_shown": n_shown}
