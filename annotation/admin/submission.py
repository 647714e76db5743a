"""The review queue and the page on which one submission is reviewed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import RelatedOnlyFieldListFilter, SimpleListFilter
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.admin import ModelAdmin
from unfold.decorators import display

from annotation.admin import wording
from annotation.admin.access import StudyScoped, staff_user
from annotation.admin.queue import QueuePages
from annotation.admin.review_page import find_next, review_context
from annotation.admin.study import build_tabs
from annotation.models import (
    DataDecision,
    Origin,
    PayDecision,
    Study,
    Submission,
    SubmissionOrigin,
    SubmissionState,
)
from annotation.studies.access import can_change_study, visible_submissions
from annotation.studies.deciding import DECISIONS
from annotation.studies.noticing import notice_submissions
from annotation.studies.pace import find_fast_limit, load_durations
from annotation.studies.queue import PREVIEWS, SHOWN
from annotation.studies.reviewing import review_submission


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
            study.pk: find_fast_limit(load_durations(study))
            for study in {submission.study for submission in self.result_list}
        }
        for study_id, limit in limits.items():
            of_study = [item for item in self.result_list if item.study_id == study_id]
            for noticed in notice_submissions(of_study, fast_limit=limit):
                noticed.submission.noticed = noticed  # type: ignore[attr-defined]


@admin.register(Submission)
class SubmissionAdmin(QueuePages, StudyScoped, ModelAdmin):
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
        return visible_submissions(request.user).select_related("study")

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

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        review = path(
            "<int:pk>/review/",
            self.admin_site.admin_view(self.review_view),
            name="annotation_submission_review",
        )
        return [review, *self.queue_pages(), *super().get_urls()]

    def study_tabs(self, study: Study) -> list[tuple[str, str, str]]:
        return build_tabs(study)

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> Any:
        submission = self.get_object(request, object_id)
        if submission is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)
        return redirect("admin:annotation_submission_review", submission.pk)

    # --- the queue --------------------------------------------------------------------------

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
        return wording.submission_badge(submission)

    @display(description=gettext_lazy("time"))
    def time(self, submission: Any) -> str:
        if submission.study.origin == Origin.IMPORTED:
            return wording.MISSING
        return wording.duration(submission.noticed.seconds)

    @display(description=gettext_lazy("checks passed"))
    def checks(self, submission: Any) -> str:
        noticed = submission.noticed
        if not noticed.asked:
            return wording.MISSING
        return _("%(passed)d of %(asked)d") % {"passed": noticed.passed, "asked": noticed.asked}

    @display(description=gettext_lazy("self-agreement"), ordering="self_agreement")
    def agreement(self, submission: Any) -> str:
        return wording.agreement(submission.self_agreement, submission.noticed.agreement_rule)

    @display(description=gettext_lazy("what the platform noticed"))
    def remarks(self, submission: Any) -> str:
        return "; ".join(submission.noticed.remarks) or wording.MISSING

    @display(description=gettext_lazy("proposal"))
    def proposal(self, submission: Any) -> SafeString | str:
        waits = submission.data_decision == DataDecision.WAITING
        if submission.state != SubmissionState.FINISHED or not waits:
            return wording.MISSING
        return wording.proposal_badge(submission.noticed.proposal)

    @admin.action(description=gettext_lazy("Accept data, approve pay"))
    def accept_selected(self, request: HttpRequest, queryset: QuerySet[Submission]) -> HttpResponse:
        return self.confirm(request, queryset, "accept")

    @admin.action(description=gettext_lazy("Exclude data, approve pay"))
    def exclude_selected(
        self, request: HttpRequest, queryset: QuerySet[Submission]
    ) -> HttpResponse:
        return self.confirm(request, queryset, "exclude")

    # --- one submission ---------------------------------------------------------------------

    def review_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        submission = get_object_or_404(
            visible_submissions(request.user).select_related("study", "instrument", "participant"),
            pk=pk,
        )
        may_change = can_change_study(request.user, submission.study)
        problems: list[str] = []
        if request.method == "POST":
            if not may_change:
                raise PermissionDenied
            problems = self._review(request, submission)
            if not problems:
                return self._go_on(request, submission)
        context = {
            **self.admin_site.each_context(request),
            **review_context(submission),
            "title": str(submission),
            "tab": "submissions",
            "study_tabs": build_tabs(submission.study),
            "may_change": may_change,
            "problems": problems,
            "sent": request.POST,
        }
        return TemplateResponse(
            request,
            "admin/annotation/submission/review.html",
            context,
            status=422 if problems else 200,
        )

    def _review(self, request: HttpRequest, submission: Submission) -> list[str]:
        """Store the decision that was sent; return what was wrong with it."""
        decision = request.POST.get("decision", "")
        if decision not in DECISIONS:
            return [_("“%(value)s” is no decision.") % {"value": decision[:60]}]
        data_decision, pay_decision = DECISIONS[decision]
        rejected = decision == "reject"
        try:
            review_submission(
                submission=submission,
                reviewer=staff_user(request),
                data_decision=data_decision,
                pay_decision=pay_decision,
                reason=request.POST.get("rejection_reason" if rejected else "reason", ""),
                on_ground=request.POST.get("ground", "") if rejected else "",
            )
        except ValidationError as error:
            return error.messages
        return []

    def _go_on(self, request: HttpRequest, submission: Submission) -> HttpResponseRedirect:
        """Lead to the next submission that waits, or back to the study."""
        said = {
            DataDecision.ACCEPTED: _("%(submission)s: data accepted, pay approved."),
            DataDecision.EXCLUDED: _("%(submission)s: data excluded, pay approved."),
        }[DataDecision(submission.data_decision)]
        if submission.pay_decision == PayDecision.REJECTED:
            said = _("%(submission)s: data excluded, pay rejected.")
        messages.success(request, said % {"submission": submission})
        following = find_next(submission)
        if following is not None:
            return redirect("admin:annotation_submission_review", following.pk)
        return redirect("admin:annotation_study_overview", submission.study_id)
