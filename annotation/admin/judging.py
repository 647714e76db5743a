"""Judgment studies in the admin: the list, creation, the life cycle, judges, downloads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Count, Q, QuerySet
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    StreamingHttpResponse,
)
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from simple_history.admin import SimpleHistoryAdmin
from unfold.admin import ModelAdmin
from unfold.decorators import display

from annotation.admin import wording
from annotation.admin.access import StudyScoped, staff_user
from annotation.admin.judging_form import STUDY_FIELDS, JudgingForm
from annotation.admin.judging_page import (
    build_judging_tabs,
    judges_context,
    overview_context,
    progress_context,
)
from annotation.admin.judging_people import JudgeViews
from annotation.admin.study import MembershipInline
from annotation.corpora.access import visible_corpora
from annotation.exports.downloads import build_attachment
from annotation.exports.judgments import JUDGMENT_EXPORTS
from annotation.judgments.creation import change_design, create_judgment_study
from annotation.judgments.lifecycle import launch_judgment_study
from annotation.models import (
    ASPECTS,
    Corpus,
    JudgmentDesign,
    JudgmentStudy,
    Study,
    StudyKind,
    StudyMembership,
    StudyStatus,
    TaskState,
)
from annotation.studies.access import can_change_study, visible_studies
from annotation.studies.lifecycle import archive_study, close_study, pause_study

JUDGING_ACTIONS: dict[str, tuple[Callable[..., Any], Any]] = {
    "launch": (
        launch_judgment_study,
        gettext_lazy("The study is live. Its counterparts are given out, its design is frozen."),
    ),
    "pause": (pause_study, gettext_lazy("The study is paused. Nothing can be judged.")),
    "close": (close_study, gettext_lazy("The study is closed.")),
    "archive": (archive_study, gettext_lazy("The study is archived.")),
}

# The history of a study is the history of its proxy, which the library does not find by itself.
JudgmentStudy._meta.simple_history_manager_attribute = (  # type: ignore[attr-defined]
    Study._meta.simple_history_manager_attribute  # type: ignore[attr-defined]
)


class JudgingMembershipInline(MembershipInline):
    model = StudyMembership
    fk_name = "study"


@admin.register(JudgmentStudy)
class JudgmentStudyAdmin(JudgeViews, StudyScoped, SimpleHistoryAdmin, ModelAdmin):
    list_display = ("title_link", "status_badge", "corpus", "n_done", "n_people", "created")
    list_display_links = None
    list_filter = ("status",)
    search_fields = ("title", "public_id")
    list_per_page = 50
    actions = None
    view_on_site = False
    form = JudgingForm
    inlines = (JudgingMembershipInline,)
    change_form_outer_before_template = "admin/annotation/judging/head.html"
    fieldsets = (
        (None, {"fields": STUDY_FIELDS}),
        (
            gettext_lazy("What is judged"),
            {"fields": ("corpus", "runs", "include_human", "n_texts", "complete")},
        ),
        (gettext_lazy("Assignment"), {"fields": ("overlap_percent", "seed")}),
        (
            gettext_lazy("Questions"),
            {
                "fields": tuple(
                    f"{aspect}_{part}" for aspect in ASPECTS for part in ("question", "answers")
                ),
                "description": gettext_lazy(
                    "As in Deas et al. (2023), appendix C.2. Answers go from 1 to 5, higher is "
                    "better."
                ),
            },
        ),
    )

    # --- lists and forms --------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        live = ~Q(judgment_tasks__state=TaskState.WITHDRAWN)
        done = Q(judgment_tasks__state=TaskState.DONE)
        return (
            JudgmentStudy.objects.filter(
                kind=StudyKind.COUNTERPART_JUDGMENT, pk__in=visible_studies(request.user)
            )
            .select_related("judging__corpus")
            .annotate(
                tasks=Count("judgment_tasks", filter=live, distinct=True),
                done=Count("judgment_tasks", filter=done, distinct=True),
                people=Count(
                    "annotators", filter=Q(annotators__removed_at__isnull=True), distinct=True
                ),
            )
        )

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        kwargs["fields"] = STUDY_FIELDS  # the others are no columns of a study
        form = super().get_form(request, obj, change, **kwargs)
        corpora = visible_corpora(request.user)
        if obj is not None:
            corpora = corpora | Corpus.objects.filter(judgment_studies__study=obj.pk)
        form.base_fields["corpus"].queryset = corpora.distinct()
        return form

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        return self.inlines if obj else ()

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not change:
            created = create_judgment_study(
                owner=staff_user(request),
                **{name: form.cleaned_data[name] for name in STUDY_FIELDS},
                **form.design_options(),
            )
            obj.__dict__.update(created.__dict__)
            return
        study = Study.objects.get(pk=obj.pk)
        for name in STUDY_FIELDS:
            setattr(study, name, form.cleaned_data[name])
        study.save()
        if study.status == StudyStatus.DRAFT:
            design = JudgmentDesign.objects.get(study=study)
            change_design(design=design, **form.design_options())

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        extra = dict(extra_context or {}, show_save_and_add_another=False, show_history=False)
        study = self.get_object(request, object_id) if object_id else None
        if study is not None:
            extra |= {"study": study, "tab": "settings", "study_tabs": build_judging_tabs(study)}
        try:
            return super().changeform_view(request, object_id, form_url, extra)
        except ValidationError as refusal:  # what changed between the form's check and the service
            for problem in refusal.messages:
                messages.error(request, problem)
            return redirect(request.path)

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> Any:
        messages.success(request, _("“%(study)s” is a draft. Invite its judges.") % {"study": obj})
        return redirect("admin:annotation_judgmentstudy_judges", obj.pk)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if obj is None:
            return False
        empty = obj.status == StudyStatus.DRAFT and not obj.judgment_items.exists()
        return empty and self.has_change_permission(request, obj)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        # A draft goes with its design and its invitations, which have no pages of their own.
        to_delete, counts, _needed, protected = super().get_deleted_objects(objs, request)
        return to_delete, counts, set(), protected

    @display(description=gettext_lazy("study"), ordering="title")
    def title_link(self, study: Study) -> SafeString:
        address = reverse("admin:annotation_judgmentstudy_overview", args=[study.pk])
        return format_html('<a href="{}">{}</a>', address, study.title)

    @display(description=gettext_lazy("status"), ordering="status")
    def status_badge(self, study: Study) -> SafeString:
        return wording.study_badge(study)

    @display(description=gettext_lazy("corpus"))
    def corpus(self, study: Study) -> str:
        return str(study.judging.corpus)

    @display(description=gettext_lazy("judgments"))
    def n_done(self, study: Any) -> str:
        return _("%(n)s of %(wanted)s") % {"n": f"{study.done:,}", "wanted": f"{study.tasks:,}"}

    @display(description=gettext_lazy("judges"), ordering="people")
    def n_people(self, study: Any) -> str:
        return f"{study.people:,}"

    @display(description=gettext_lazy("created"), ordering="created_at")
    def created(self, study: Study) -> str:
        return f"{study.created_at:%Y-%m-%d}"

    # --- pages of one study -----------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        pages = (
            ("overview", "overview", self.overview_view),
            ("live", "live", self.live_view),
            ("judges", "judges", self.judges_view),
            ("do/<slug:action>", "action", self.action_view),
            ("export/<str:name>", "export", self.export_view),
        )
        return [
            path(
                f"<int:pk>/{address}/",
                self.admin_site.admin_view(view),
                name=f"annotation_judgmentstudy_{name}",
            )
            for address, name, view in pages
        ] + super().get_urls()

    def find(self, request: HttpRequest, pk: int, *, to_change: bool = False) -> Study:
        """Return a study that the user may see, and change where ``to_change``; else 404 or 403."""
        studies = visible_studies(request.user).filter(kind=StudyKind.COUNTERPART_JUDGMENT)
        study = get_object_or_404(studies, pk=pk)
        if to_change and not can_change_study(request.user, study):
            raise PermissionDenied
        return study

    def show(self, request: HttpRequest, name: str, context: dict[str, Any]) -> HttpResponse:
        return TemplateResponse(
            request,
            f"admin/annotation/judging/{name}.html",
            {**self.admin_site.each_context(request), **context},
        )

    def overview_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        study = self.find(request, pk)
        return self.show(request, "overview", overview_context(study, staff_user(request)))

    def live_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        study = self.find(request, pk)
        response = TemplateResponse(
            request, "admin/annotation/judging/live.html", progress_context(study)
        )
        response["Cache-Control"] = "no-store"
        return response

    def judges_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        if request.method == "POST":
            self.act_on_judges(request, self.find(request, pk, to_change=True))
            return redirect("admin:annotation_judgmentstudy_judges", pk)
        study = self.find(request, pk)
        return self.show(request, "judges", judges_context(study, staff_user(request)))

    def action_view(self, request: HttpRequest, pk: int, action: str) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        study = self.find(request, pk, to_change=True)
        try:
            service, said = JUDGING_ACTIONS[action]
        except KeyError:
            raise Http404 from None
        try:
            service(study=study)
        except ValidationError as refusal:
            for problem in refusal.messages:
                messages.error(request, problem)
        else:
            messages.success(request, str(said))
        return redirect("admin:annotation_judgmentstudy_overview", pk)

    def export_view(self, request: HttpRequest, pk: int, name: str) -> StreamingHttpResponse:
        study = self.find(request, pk)
        try:
            stream = JUDGMENT_EXPORTS[name]
        except KeyError:
            raise Http404 from None
        return build_attachment(
            stream(study, request.GET.get("bom") == "1"), f"stereoscope-{study.public_id}-{name}"
        )
