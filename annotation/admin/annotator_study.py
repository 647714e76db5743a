"""What writing and judgment studies have in common in the admin: both are done by annotators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Count, Q, QuerySet
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    StreamingHttpResponse,
)
from django.http.response import HttpResponseBase
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
from annotation.admin.annotator_form import STUDY_FIELDS
from annotation.admin.annotator_page import Tabs
from annotation.admin.history import HistoryAdmin
from annotation.admin.study import MembershipInline
from annotation.annotators.statement import record_statement
from annotation.corpora.access import visible_corpora
from annotation.exports.downloads import build_attachment
from annotation.models import Corpus, Study, StudyMembership, StudyStatus, TaskState
from annotation.studies.access import can_change_study, visible_studies

#: (address, name, view) of each page.
StudyPages = tuple[tuple[str, str, Callable[..., HttpResponseBase]], ...]
JSON_LINES = "application/x-ndjson; charset=utf-8"


def share_history(proxy: type[Study]) -> None:
    """Let a proxy have the history of its study, which the library does not find by itself."""
    proxy._meta.simple_history_manager_attribute = (  # type: ignore[attr-defined]
        Study._meta.simple_history_manager_attribute  # type: ignore[attr-defined]
    )


class ProxyMembershipInline(MembershipInline):
    model = StudyMembership
    fk_name = "study"


class AnnotatorStudyAdmin(StudyScoped, HistoryAdmin, ModelAdmin):
    """The list, access, buttons and downloads; a kind of study adds its forms and pages."""

    #: The kind of the studies, and where its tasks, its design and its templates are.
    kind: ClassVar[str]
    tasks_name: ClassVar[str]
    design_name: ClassVar[str]
    folder: ClassVar[str]
    #: The services of its design, and the tabs of its pages.
    create: ClassVar[Callable[..., Study]]
    change_design: ClassVar[Callable[..., Any]]
    build_tabs: ClassVar[Callable[..., Tabs]]
    #: What the buttons do, with what is said afterwards.
    study_actions: ClassVar[Mapping[str, tuple[Callable[..., Any], Any]]]
    study_exports: ClassVar[Mapping[str, Callable[..., Any]]]

    list_display = ("title_link", "status_badge", "corpus", "n_done", "n_people", "created")
    list_display_links = None
    list_filter = ("status",)
    search_fields = ("title", "public_id")
    list_per_page = 50
    actions = None
    view_on_site = False
    inlines = (ProxyMembershipInline,)

    # --- lists and forms --------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        live = ~Q(**{f"{self.tasks_name}__state": TaskState.WITHDRAWN})
        done = Q(**{f"{self.tasks_name}__state": TaskState.DONE})
        return (
            self.model.objects.filter(kind=self.kind, pk__in=visible_studies(request.user))
            .select_related(f"{self.design_name}__corpus")
            .annotate(
                tasks=Count(self.tasks_name, filter=live, distinct=True),
                done=Count(self.tasks_name, filter=done, distinct=True),
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
            chosen = getattr(obj, self.design_name).corpus_id
            corpora = corpora | Corpus.objects.filter(pk=chosen)
        form.base_fields["corpus"].queryset = corpora.distinct()
        return form

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        fields = {name: form.cleaned_data[name] for name in STUDY_FIELDS}
        if not change:
            study = self.create(owner=staff_user(request), **fields, **form.design_options())
            obj.__dict__.update(study.__dict__)
        else:
            study = Study.objects.get(pk=obj.pk)
            for name, value in fields.items():
                setattr(study, name, value)
            study.save()
            if study.status == StudyStatus.DRAFT:
                self.change_design(design=getattr(study, self.design_name), **form.design_options())
        record_statement(study=study, **form.statement_parts())

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
            extra |= {"study": study, "tab": "settings", "study_tabs": self.build_tabs(study)}
        try:
            return super().changeform_view(request, object_id, form_url, extra)
        except ValidationError as refusal:  # what changed between the form's check and the service
            for problem in refusal.messages:
                messages.error(request, problem)
            return redirect(request.path)

    def history_context(self, study: Any) -> dict[str, Any]:
        return {"study": study, "tab": "history", "study_tabs": self.build_tabs(study)}

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        return self.inlines if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if obj is None:
            return False
        empty = obj.status == StudyStatus.DRAFT and not getattr(obj, self.tasks_name).exists()
        return empty and self.has_change_permission(request, obj)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        # A draft goes with its design and its invitations, which have no pages of their own.
        to_delete, counts, _needed, protected = super().get_deleted_objects(objs, request)
        return to_delete, counts, set(), protected

    @display(description=gettext_lazy("study"), ordering="title")
    def title_link(self, study: Study) -> SafeString:
        address = reverse(self.name_of("overview"), args=[study.pk])
        return format_html('<a href="{}">{}</a>', address, study.title)

    @display(description=gettext_lazy("status"), ordering="status")
    def status_badge(self, study: Study) -> SafeString:
        return wording.study_badge(study)

    @display(description=gettext_lazy("corpus"))
    def corpus(self, study: Study) -> str:
        return str(getattr(study, self.design_name).corpus)

    @display(description=gettext_lazy("done"))
    def n_done(self, study: Any) -> str:
        return _("%(n)s of %(wanted)s") % {"n": f"{study.done:,}", "wanted": f"{study.tasks:,}"}

    @display(description=gettext_lazy("annotators"), ordering="people")
    def n_people(self, study: Any) -> str:
        return f"{study.people:,}"

    @display(description=gettext_lazy("created"), ordering="created_at")
    def created(self, study: Study) -> str:
        return f"{study.created_at:%Y-%m-%d}"

    # --- pages of one study -----------------------------------------------------------------

    def name_of(self, page: str) -> str:
        """Return the name of the address of one of the study's pages."""
        return f"admin:annotation_{self.opts.model_name}_{page}"

    def study_pages(self) -> StudyPages:
        """Return (address, name, view) of the study's own pages."""
        return (
            ("do/<slug:action>", "action", self.action_view),
            ("export/<str:name>", "export", self.export_view),
        )

    def get_urls(self) -> list[URLPattern]:
        return [
            path(
                f"<int:pk>/{address}/",
                self.admin_site.admin_view(view),
                name=self.name_of(name).removeprefix("admin:"),
            )
            for address, name, view in self.study_pages()
        ] + super().get_urls()

    def find(self, request: HttpRequest, pk: int, *, to_change: bool = False) -> Study:
        """Return a study that the user may see, and change where ``to_change``; else 404 or 403."""
        study = get_object_or_404(visible_studies(request.user).filter(kind=self.kind), pk=pk)
        if to_change and not can_change_study(request.user, study):
            raise PermissionDenied
        return study

    def show(self, request: HttpRequest, name: str, context: dict[str, Any]) -> HttpResponse:
        return TemplateResponse(
            request,
            f"{self.folder}/{name}.html",
            {**self.admin_site.each_context(request), **context},
        )

    def show_live(self, request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
        """Return the part of the overview that is fetched again and again."""
        response = TemplateResponse(request, f"{self.folder}/live.html", context)
        response["Cache-Control"] = "no-store"
        return response

    def action_view(self, request: HttpRequest, pk: int, action: str) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        study = self.find(request, pk, to_change=True)
        try:
            service, said = self.study_actions[action]
        except KeyError:
            raise Http404 from None
        try:
            service(study=study)
        except ValidationError as refusal:
            for problem in refusal.messages:
                messages.error(request, problem)
        else:
            messages.success(request, str(said))
        return redirect(self.name_of("overview"), pk)

    def export_view(self, request: HttpRequest, pk: int, name: str) -> StreamingHttpResponse:
        study = self.find(request, pk)
        try:
            stream = self.study_exports[name]
        except KeyError:
            raise Http404 from None
        response = build_attachment(
            stream(study, request.GET.get("bom") == "1"), f"stereoscope-{study.public_id}-{name}"
        )
        if name.endswith(".jsonl"):
            response["Content-Type"] = JSON_LINES
        return response
