"""Pages of a writing study: its forms, its annotators, and the decisions on gold counterparts."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

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
from annotation.counterparts.assignment_service import (
    add_writer,
    assign_unassigned,
    describe_changes,
    find_unassigned,
    hand_over,
    remove_writer,
)
from annotation.counterparts.creation import DEFAULT_GUIDELINES, check_numbers, parse_guidelines
from annotation.counterparts.progress import load_progress
from annotation.models import StudyStatus, TextPair, WritingDesign, WritingStudy
from annotation.researcher.pages.annotators import STUDY_FIELDS, AnnotatorStudyForm, PeoplePage
from annotation.researcher.pages.fields import (
    NumberField,
    ParagraphField,
    SwitchField,
    WholeNumberField,
)
from annotation.researcher.pages.page import button, refusals_shown
from annotation.researcher.writing.overview import WritingPage

# --- The page on which annotators of a writing study are invited and their texts are moved


class WritersPage(WritingPage, PeoplePage):
    route = "<int:pk>/annotators/"
    name = tab = "annotators"
    invite = staticmethod(add_writer)
    remove = staticmethod(remove_writer)
    removed = gettext_lazy("%(who)s is removed. Finished texts stay, open ones went to the others.")

    def get_context_data(self) -> dict[str, Any]:
        draft = self.study.status == StudyStatus.DRAFT
        writers = load_progress(self.study).writers
        people = self.describe_people({one.annotator.pk: one.open for one in writers})
        return {
            **super().get_context_data(),
            **people,
            "active": [
                row.annotator for row in people["people"] if row.annotator.removed_at is None
            ],
            "unassigned": 0 if draft else len(find_unassigned(self.study)),
        }

    @button("hand-over")
    def move_texts(self) -> str:
        receiver = self.find_place("receiver") if self.request.POST.get("receiver") else None
        giver = self.find_place()
        moved, dropped = describe_changes(hand_over(giver=giver, receiver=receiver))
        said = ngettext("%(n)d text was moved.", "%(n)d texts were moved.", moved) % {"n": moved}
        if dropped:
            said += " " + ngettext(
                "%(n)d more was only taken from %(who)s: the others have it already.",
                "%(n)d more were only taken from %(who)s: the others have them already.",
                len(dropped),
            ) % {"n": len(dropped), "who": giver}
        return said

    @button("assign")
    def assign_texts(self) -> str:
        n_texts = assign_unassigned(study=self.study)
        text = ngettext("%(n)d text was assigned.", "%(n)d texts were assigned.", n_texts)
        return text % {"n": n_texts}


# --- The forms that create a writing study and that change its settings and design


class WritingForm(AnnotatorStudyForm):
    """The texts, their overlap and the guidelines."""

    design_model = WritingDesign
    design_fields = (
        "corpus",
        "n_texts",
        "weighted_by_features",
        "common_texts",
        "per_source",
        "shared_percent",
        "seed",
        "guidelines",
    )
    help_texts = AnnotatorStudyForm.help_texts | {
        "corpus": gettext_lazy("Its texts without a gold counterpart are rewritten."),
    }

    n_texts = WholeNumberField(
        label=gettext_lazy("Number of texts"),
        required=False,
        min_value=1,
        help_text=gettext_lazy("How many are drawn; empty takes all of them."),
    )
    weighted_by_features = SwitchField(
        label=gettext_lazy("Draw texts with more features of the variety more often"),
        help_text=gettext_lazy(
            "By features for each word, as the page of the corpus finds them. It needs a number of "
            "texts below that of the corpus; the seed is kept."
        ),
    )
    common_texts = WholeNumberField(
        label=gettext_lazy("Common texts"),
        min_value=0,
        initial=0,
        help_text=gettext_lazy("How many texts every annotator rewrites."),
    )
    per_source = SwitchField(
        label=gettext_lazy("Both numbers are of every source"),
        help_text=gettext_lazy(
            "With 62 and 12, every source gives 62 texts, 12 of which everybody rewrites: the "
            "50 and 12 of Deas et al. (2023)."
        ),
    )
    shared_percent = NumberField(
        label=gettext_lazy("Shared percentage"),
        min_value=0,
        max_value=100,
        initial=10,
        help_text=gettext_lazy("Of the other texts, what each pair of annotators has in common."),
    )
    guidelines = ParagraphField(
        label=gettext_lazy("Guidelines"),
        rows=9,
        help_text=gettext_lazy(
            "One per line, as annotators read them. A line “text → counterpart” is an example."
        ),
    )

    class Meta:
        model = WritingStudy
        fields = STUDY_FIELDS

    def show_design(self) -> dict[str, Any]:
        guidelines = self.design.guidelines if self.design else DEFAULT_GUIDELINES
        return super().show_design() | {"guidelines": "\n".join(guidelines)}

    def clean_guidelines(self) -> list[str]:
        guidelines = parse_guidelines(self.cleaned_data["guidelines"])
        if not guidelines:
            raise ValidationError(gettext_lazy("Write at least one guideline."))
        return guidelines

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.is_draft and cleaned.get("corpus") and cleaned.get("common_texts") is not None:
            try:
                check_numbers(
                    corpus=cleaned["corpus"],
                    n_texts=cleaned.get("n_texts"),
                    common_texts=cleaned["common_texts"],
                    weighted=cleaned.get("weighted_by_features", False),
                    per_source=cleaned.get("per_source", False),
                )
            except ValidationError as refusal:
                self.add_error(None, refusal)
        return cleaned


# --- Deciding on one gold counterpart for each text


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
