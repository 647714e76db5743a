"""The pages on which researchers decide on one gold counterpart for each text."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.admin.access import staff_user
from annotation.admin.writing_page import adjudication_context, writing_head
from annotation.corpora.gold_pairs import GoldResult
from annotation.counterparts.adjudication import (
    Case,
    CaseState,
    adjudicate,
    find_last_decision,
    find_queue,
    load_cases,
    undo_adjudication,
)
from annotation.counterparts.gold import publish_gold
from annotation.counterparts.varieties import describe_variety
from annotation.models import Study, WritingDesign


class AdjudicationViews:
    """The part of a writing study's admin that leads from counterparts to gold pairs."""

    def adjudication_pages(self) -> list[tuple[str, str, Any]]:
        return [
            ("adjudication", "adjudication", self.adjudication_view),
            ("adjudication/publish", "publish", self.publish_view),
            ("adjudication/undo/<slug:slug>", "undo", self.undo_view),
            ("adjudication/text/<slug:slug>", "case", self.case_view),
        ]

    def adjudication_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        study = self.find(request, pk)  # type: ignore[attr-defined]
        context = adjudication_context(study, staff_user(request))
        return self.show(request, "adjudication", context)  # type: ignore[attr-defined]

    def case_view(self, request: HttpRequest, pk: int, slug: str) -> HttpResponse:
        study = self.find(request, pk, to_change=request.method == "POST")  # type: ignore[attr-defined]
        cases = load_cases(study)
        case = next((one for one in cases if one.text.slug == slug), None)
        if case is None or case.state in {CaseState.WAITING, CaseState.SINGLE}:
            raise Http404("This text has nothing to decide.")
        problems: list[str] = []
        if request.method == "POST":
            try:
                _decide(request, study, case)
            except ValidationError as refusal:
                problems = refusal.messages
            else:
                return _go_on(study, cases, case)
        context = {
            **writing_head(study, staff_user(request), "adjudication"),
            **_describe_case(study, cases, case, request),
            "problems": problems,
        }
        response = self.show(request, "case", context)  # type: ignore[attr-defined]
        response.status_code = 422 if problems else 200
        return response

    def undo_view(self, request: HttpRequest, pk: int, slug: str) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        study = self.find(request, pk, to_change=True)  # type: ignore[attr-defined]
        case = next((one for one in load_cases(study) if one.text.slug == slug), None)
        if case is None:
            raise Http404
        undo_adjudication(study=study, text=case.text)
        messages.success(request, _("The decision about “%(text)s” is undone.") % {"text": slug})
        return redirect("admin:annotation_writingstudy_case", pk, slug)

    def publish_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        study = self.find(request, pk, to_change=True)  # type: ignore[attr-defined]
        try:
            result = publish_gold(study=study, published_by=staff_user(request))
        except ValidationError as refusal:
            for problem in refusal.messages:
                messages.error(request, problem)
        else:
            _tell_published(request, result)
        return redirect("admin:annotation_writingstudy_adjudication", pk)


def _tell_published(request: HttpRequest, result: GoldResult) -> None:
    stored = len(result.added) + len(result.replaced)
    same = len(result.unchanged)
    messages.success(
        request,
        ngettext("%(n)d gold pair was stored.", "%(n)d gold pairs were stored.", stored)
        % {"n": stored}
        + (" " + _("%(n)d texts are as they were.") % {"n": same} if same else "")
        + (
            " " + _("Pairs taken back: %(n)d.") % {"n": len(result.removed)}
            if result.removed
            else ""
        ),
    )
    for name, reason in result.refused.items():
        messages.warning(request, f"{name}: {reason}")


def _decide(request: HttpRequest, study: Study, case: Case) -> None:
    choice = request.POST.get("choice", "")
    chosen = next((one for one in case.written if str(one.pk) == choice), None)
    adjudicate(
        study=study,
        text=case.text,
        decided_by=staff_user(request),
        chosen=chosen,
        body=request.POST.get("body", "") if choice == "other" else "",
        not_interpretable=choice == "not-interpretable",
        note=request.POST.get("note", ""),
    )


def _go_on(study: Study, cases: list[Case], case: Case) -> HttpResponse:
    rest = [one for one in find_queue(cases) if one is not case]
    later = [one for one in rest if one.text.slug > case.text.slug]
    following = next(iter(later + rest), None)
    if following is None:
        return redirect("admin:annotation_writingstudy_adjudication", study.pk)
    return redirect("admin:annotation_writingstudy_case", study.pk, following.text.slug)


def _describe_case(
    study: Study, cases: list[Case], case: Case, request: HttpRequest
) -> dict[str, Any]:
    queue = find_queue(cases)
    slugs = [one.text.slug for one in queue]
    here = case.text.slug
    corpus = WritingDesign.objects.select_related("corpus").get(study=study).corpus
    decided = case.adjudication
    choice = request.POST.get("choice", "")
    if not choice and decided is not None:
        if decided.chosen_id is not None:
            choice = str(decided.chosen_id)
        else:
            choice = "not-interpretable" if decided.not_interpretable else "other"
    return {
        "case": case,
        "options": [(number, one, str(one.pk)) for number, one in enumerate(case.written, 1)],
        "decided": decided,
        "choice": choice,
        "body": request.POST.get("body", decided.body if decided else ""),
        "note": request.POST.get("note", decided.note if decided else ""),
        "waiting": len(queue),
        "before": next((slug for slug in reversed(slugs) if slug < here), ""),
        "after": next((slug for slug in slugs if slug > here), ""),
        "last": find_last_decision(study),
        "source_variety": describe_variety(corpus.source_variety),
        "target_variety": describe_variety(corpus.target_variety),
    }
