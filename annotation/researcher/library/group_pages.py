"""Pages about groups: proposed forms and how they read, and the pairing of a set."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from annotation.library.english_forms import FORMS, Forms, check_forms, propose_forms, show
from annotation.library.paired_groups import create_paired_groups
from annotation.models import GroupSet
from annotation.researcher.library.entry_form import FORM_FIELDS, propose_slug
from annotation.researcher.pages.page import ResearcherPage, refusals_shown


class GroupForms(ResearcherPage):
    """Answers the page's script: forms proposed from the singular, and how they read."""

    route = "forms/"
    name = "forms"

    def prepare(self) -> None:
        admin, request = self.model_admin, self.request
        if not (admin.has_add_permission(request) or admin.has_change_permission(request)):
            raise PermissionDenied

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        given = {name: request.GET.get(name, "")[:200] for name in FORM_FIELDS}
        proposed: dict[str, str] = {}
        if (singular := given["singular"]).strip():
            forms = propose_forms(singular)
            proposed = {name: getattr(forms, name) for name in FORM_FIELDS}
            proposed["slug"] = propose_slug(singular)
        return JsonResponse({"proposed": proposed, "reads": describe_reading(Forms(**given))})


class PairGroups(ResearcherPage):
    """The button of a set that creates its paired groups."""

    route = "<int:pk>/pair/"
    name = "pair"
    http_method_names = ["post"]

    def prepare(self) -> None:
        if not self.model_admin.has_add_permission(self.request):
            raise PermissionDenied

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        pair_groups(request, get_object_or_404(GroupSet, pk=pk))
        return redirect("admin:annotation_groupset_change", pk)


def pair_groups(request: HttpRequest, group_set: GroupSet) -> None:
    """Create the paired groups of a set, and say how many there are."""
    with refusals_shown(request):
        made = create_paired_groups(group_set=group_set)
        text = _("“%(title)s” holds %(n)d paired groups, %(new)d of them new.")
        found = {"title": made.group_set.title, "n": made.n_groups, "new": made.n_created}
        messages.success(request, text % found)


def describe_reading(given: Forms) -> str:
    """Return the sentences that show a group's forms, with what is wrong in them."""
    sentences = dict.fromkeys(
        show(name, getattr(given, name)) for name in FORMS if getattr(given, name).strip()
    )
    found = check_forms(given) if given.singular.strip() else []
    findings = {finding.message: finding for finding in reversed(found)}.values()
    return render_to_string(
        "admin/annotation/library/reading.html",
        {"sentences": list(sentences), "findings": list(findings)[::-1]},
    )
