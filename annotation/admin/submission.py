"""Submissions in the admin: the list over all studies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.contrib.admin import RelatedOnlyFieldListFilter, SimpleListFilter
from django.contrib.admin.views.main import ChangeList
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy
from unfold.admin import ModelAdmin
from unfold.decorators import display

from annotation.admin.base import StudyScoped
from annotation.models import (
    DataDecision,
    Origin,
    Submission,
    SubmissionOrigin,
    SubmissionState,
)
from annotation.researcher.pages import formatting
from annotation.researcher.submissions.decision import DecisionPage
from annotation.researcher.submissions.queue import QueuePage
from annotation.researcher.submissions.review import ReviewPage
from annotation.studies.pace import load_pace
from annotation.studies.queue import PREVIEWS, SHOWN
from annotation.studies.submission_summary import notice_submissions


class ShowFilter(SimpleListFilter):
    """What waits for a person comes first; everything else is one click away."""

    title = gettext_lazy("show")
    parameter_name = "show"
    choices_by_name = SHOWN

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return [(name, label) for name, (label, _q) in self.choices_by_name.items()]

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        shown = self.value() or "waiting"
        for name, (label, _q) in self.choices_by_name.items():
            yield {
                "selected": name == shown,
                "query_string": changelist.get_query_string({self.parameter_name: name}),
                "display": label,
            }

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        shown = self.value() or "waiting"
        _label, condition = self.choices_by_name.get(shown, self.choices_by_name["waiting"])
        if shown != PREVIEWS:
            condition &= ~Q(origin=SubmissionOrigin.PREVIEW)
        return queryset.filter(condition)


class NoticingChangeList(ChangeList):
    """Looks at the submissions of one page at once. Two queries, and one for each study on it."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = list(self.result_list)
        limits = {
            study.pk: load_pace(study).fast_limit
            for study in {submission.study for submission in self.result_list}
        }
        for study_id, limit in limits.items():
            of_study = [item for item in self.result_list if item.study_id == study_id]
            for noticed in notice_submissions(of_study, fast_limit=limit):
                noticed.submission.noticed = noticed  # type: ignore[attr-defined]


@admin.register(Submission)
class SubmissionAdmin(StudyScoped, ModelAdmin):
    pages = (ReviewPage, QueuePage, DecisionPage)
    list_display = (
        "name",
        "study_title",
        "badge",
        "time",
        "checks",
        "agreement",
        "remarks",
        "proposal",
    )
    list_display_links = None
    list_filter = (
        ShowFilter,
        ("study", RelatedOnlyFieldListFilter),
        "checks_passed",
    )
    list_filter_sheet = False
    search_fields = ("public_id__startswith",)
    search_help_text = gettext_lazy("The beginning of a submission's name, such as S-3f9k.")
    list_per_page = 50
    show_full_result_count = False
    ordering = ("finished_at", "-pk")
    actions = ("accept_selected", "exclude_selected")
    empty_template = "admin/annotation/submission/empty.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Submission]:
        return Submission.objects.visible_to(request.user).select_related("study")

    def get_list_display(self, request: HttpRequest) -> tuple[str, ...]:
        """What waits needs no column that says so; what is decided needs no proposal."""
        waits = request.GET.get("show", "waiting") in {"", "waiting"}
        left_out = {"badge"} if waits else {"proposal"}
        if "study__id__exact" in request.GET:
            left_out.add("study_title")
        return tuple(name for name in self.list_display if name not in left_out)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return NoticingChangeList

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip().lower().removeprefix("s-")
        return super().get_search_results(request, queryset, term)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if not self.has_module_permission(request):
            return False
        return obj is None or obj.study.is_reviewable_by(request.user)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> Any:
        submission = self.get_object(request, object_id)
        if submission is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)
        return redirect("admin:annotation_submission_review", submission.pk)

    @display(description=gettext_lazy("submission"))
    def name(self, submission: Submission) -> SafeString:
        return format_html(
            '<a class="mono" href="{}">{}</a>',
            reverse("admin:annotation_submission_review", args=[submission.pk]),
            submission,
        )

    @display(description=gettext_lazy("study"), ordering="study__title")
    def study_title(self, submission: Submission) -> str:
        return submission.study.title

    @display(description=gettext_lazy("decision"), ordering="data_decision")
    def badge(self, submission: Submission) -> SafeString:
        return formatting.submission_badge(submission)

    @display(description=gettext_lazy("time"))
    def time(self, submission: Any) -> str:
        if submission.study.origin == Origin.IMPORTED:
            return formatting.MISSING
        return formatting.duration(submission.noticed.seconds)

    @display(description=gettext_lazy("checks passed"))
    def checks(self, submission: Any) -> str:
        return formatting.checks_passed(submission.noticed)

    @display(description=gettext_lazy("self-agreement"), ordering="self_agreement")
    def agreement(self, submission: Any) -> str:
        return formatting.agreement(submission.self_agreement, submission.noticed.agreement_rule)

    @display(description=gettext_lazy("what the platform noticed"))
    def remarks(self, submission: Any) -> str:
        return "; ".join(submission.noticed.remarks) or formatting.MISSING

    @display(description=gettext_lazy("proposal"))
    def proposal(self, submission: Any) -> SafeString | str:
        waits = submission.data_decision == DataDecision.WAITING
        if submission.state != SubmissionState.FINISHED or not waits:
            return formatting.MISSING
        return formatting.proposal_badge(submission.noticed.proposal)

    def decide(
        self, request: HttpRequest, queryset: QuerySet[Submission], decision: str
    ) -> HttpResponse:
        page = DecisionPage(model_admin=self)
        page.setup(request)
        return page.decide(queryset, decision)

    @admin.action(description=gettext_lazy("Accept data, approve pay"))
    def accept_selected(self, request: HttpRequest, queryset: QuerySet[Submission]) -> HttpResponse:
        return self.decide(request, queryset, "accept")

    @admin.action(description=gettext_lazy("Exclude data, approve pay"))
    def exclude_selected(
        self, request: HttpRequest, queryset: QuerySet[Submission]
    ) -> HttpResponse:
        return self.decide(request, queryset, "exclude")
