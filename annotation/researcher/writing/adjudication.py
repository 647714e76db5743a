"""The pages on which researchers decide on one gold counterpart for each text."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.common.language_codes import describe_variety
from annotation.corpora.gold_pairs import GoldResult
from annotation.counterparts.adjudication import (
    Case,
    CaseState,
    adjudicate,
    collect_gold,
    count_unpublished,
    find_last_decision,
    find_queue,
    load_cases,
    publish_gold,
    undo_adjudication,
)
from annotation.models import TextPair, WritingDesign
from annotation.researcher.pages.page import refusals_shown
from annotation.researcher.writing.overview import WritingPage


class AdjudicationPage(WritingPage):
    """A page about texts on their way to a gold counterpart."""

    tab = "adjudication"
    is_review = True

    @cached_property
    def cases(self) -> list[Case]:
        return load_cases(self.study)

    def find_case(self) -> Case:
        case = next((one for one in self.cases if one.text.slug == self.kwargs["slug"]), None)
        if case is None:
            raise Http404("There is no such text.")
        return case


class AdjudicationList(AdjudicationPage):
    route = "<int:pk>/adjudication/"
    name = "adjudication"

    def get_context_data(self) -> dict[str, Any]:
        return {
            **super().get_context_data(),
            "may_publish": self.may_change,
            "last": find_last_decision(self.study),
            "cases": self.cases,
            "queue": find_queue(self.cases),
            "gold": collect_gold(self.cases),
            "unpublished": count_unpublished(self.study, self.cases),
            "published": TextPair.objects.filter(study=self.study).count(),
        }


class CasePage(AdjudicationPage):
    """One text with all its counterparts, on which a decision is made."""

    route = "<int:pk>/adjudication/text/<slug:slug>/"
    name = "case"
    case: Case

    def prepare(self) -> None:
        super().prepare()
        self.case = self.find_case()
        if self.case.state == CaseState.WAITING:
            raise Http404("This text has nothing to decide.")

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        choice = request.POST.get("choice", "")
        try:
            adjudicate(
                study=self.study,
                text=self.case.text,
                decided_by=self.user,
                chosen=next((one for one in self.case.written if str(one.pk) == choice), None),
                body=request.POST.get("body", "") if choice == "other" else "",
                not_interpretable=choice == "not-interpretable",
                note=request.POST.get("note", ""),
            )
        except ValidationError as refusal:
            return self.show(problems=refusal.messages, status=422)
        rest = [one for one in find_queue(self.cases) if one is not self.case]
        later = [one for one in rest if one.text.slug > self.case.text.slug]
        following = next(iter(later + rest), None)
        if following is None:
            return self.go_to("adjudication")
        return redirect("admin:annotation_writingstudy_case", self.study.pk, following.text.slug)

    def get_context_data(self) -> dict[str, Any]:
        queue = [one.text.slug for one in find_queue(self.cases)]
        here, decided, sent = self.case.text.slug, self.case.adjudication, self.request.POST
        corpus = WritingDesign.objects.select_related("corpus").get(study=self.study).corpus
        return {
            **super().get_context_data(),
            "case": self.case,
            "options": [
                (number, one, str(one.pk)) for number, one in enumerate(self.case.written, 1)
            ],
            "decided": decided,
            "choice": sent.get("choice") or self._decided_choice(),
            "body": sent.get("body", decided.body if decided else ""),
            "note": sent.get("note", decided.note if decided else ""),
            "waiting": len(queue),
            "before": next((slug for slug in reversed(queue) if slug < here), ""),
            "after": next((slug for slug in queue if slug > here), ""),
            "last": find_last_decision(self.study),
            "source_variety": describe_variety(corpus.source_variety),
            "target_variety": describe_variety(corpus.target_variety),
        }

    def _decided_choice(self) -> str:
        """Return the value of the form that stands for the decision so far."""
        decided = self.case.adjudication
        if decided is None:
            single = self.case.state == CaseState.SINGLE
            return str(self.case.written[0].pk) if single else ""
        if decided.chosen_id is not None:
            return str(decided.chosen_id)
        return "not-interpretable" if decided.not_interpretable else "other"


class UndoPage(AdjudicationPage):
    route = "<int:pk>/adjudication/undo/<slug:slug>/"
    name = "undo"
    http_method_names = ["post"]

    def post(self, request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponse:
        undo_adjudication(study=self.study, text=self.find_case().text)
        messages.success(request, _("The decision about “%(text)s” is undone.") % {"text": slug})
        return redirect("admin:annotation_writingstudy_case", self.study.pk, slug)


class PublishPage(AdjudicationPage):
    route = "<int:pk>/adjudication/publish/"
    name = "publish"
    is_review = False
    http_method_names = ["post"]

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        with refusals_shown(request):
            _tell_published(request, publish_gold(study=self.study, published_by=self.user))
        return self.go_to("adjudication")


def _tell_published(request: HttpRequest, result: GoldResult) -> None:
    stored = len(result.added) + len(result.replaced)
    said = [
        ngettext("%(n)d gold pair was stored.", "%(n)d gold pairs were stored.", stored)
        % {"n": stored}
    ]
    if result.unchanged:
        said.append(_("%(n)d texts are as they were.") % {"n": len(result.unchanged)})
    if result.removed:
        said.append(_("Pairs taken back: %(n)d.") % {"n": len(result.removed)})
    messages.success(request, " ".join(said))
    for name, reason in result.refused.items():
        messages.warning(request, f"{name}: {reason}")
