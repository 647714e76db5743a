"""Studies in the admin: the list, the main page, settings, the life cycle, downloads."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Count, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotAllowed,
    StreamingHttpResponse,
)
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import display

from annotation.admin import wording
from annotation.admin.access import StudyScoped, staff_user
from annotation.admin.asking import AskingPages
from annotation.admin.dashboard_page import flags_context
from annotation.admin.fragments import answer_fragment
from annotation.admin.history import HistoryAdmin
from annotation.admin.margins import MarginPages
from annotation.admin.money import MoneyPages
from annotation.admin.study_actions import ASKED_FIRST, STUDY_ACTIONS, TO_INSTRUMENT
from annotation.admin.study_figures import build_figure_table
from annotation.admin.study_form import (
    CREATION_FIELDSETS,
    SETTINGS_FIELDSETS,
    StudyCreationForm,
    StudySettingsForm,
)
from annotation.admin.study_page import live_context, page_context
from annotation.exports.downloads import (
    DATA_EXPORTS,
    PAYMENT_EXPORTS,
    build_attachment,
    build_download,
)
from annotation.exports.tables import stream_csv
from annotation.models import (
    DataDecision,
    GroupAssignment,
    Instrument,
    Origin,
    Study,
    StudyGroup,
    StudyMembership,
    StudyStatus,
    SubmissionOrigin,
)
from annotation.studies.access import (
    PAYMENT_PERMISSION,
    can_change_study,
    visible_surveys,
)
from annotation.studies.creation import create_study
from annotation.studies.lifecycle import current_instrument
from annotation.studies.scope import EXTRA_ORIGINS
from annotation.survey.previewing import clear_previews


class MembershipInline(TabularInline):
    model = StudyMembership
    extra = 0
    hide_title = True
    verbose_name = gettext_lazy("member")
    verbose_name_plural = gettext_lazy("Members")

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "user":
            kwargs["queryset"] = User.objects.filter(is_staff=True, is_active=True)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def has_view_permission(self, request: HttpRequest, obj: Study | None = None) -> bool:
        return True

    def has_change_permission(self, request: HttpRequest, obj: Study | None = None) -> bool:
        return obj is not None and can_change_study(request.user, obj)

    has_add_permission = has_change_permission
    has_delete_permission = has_change_permission


@admin.register(Study)
class StudyAdmin(AskingPages, MarginPages, MoneyPages, StudyScoped, HistoryAdmin, ModelAdmin):
    list_display = (
        "title_link",
        "status_badge",
        "origin_badge",
        "accepted_of_wanted",
        "n_submissions",
        "created",
    )
    list_display_links = None
    list_filter = ("status", "origin")
    search_fields = ("title", "public_id")
    list_per_page = 50
    actions = None
    view_on_site = False
    inlines = (MembershipInline,)
    change_form_outer_before_template = "admin/annotation/study/head.html"
    guarded_fields = frozenset({"completion_codes", "quality_thresholds"})

    # --- lists and forms --------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Study]:
        accepted = (
            GroupAssignment.objects.filter(
                submission__study=OuterRef("pk"),
                submission__data_decision=DataDecision.ACCEPTED,
                submission__is_counted=True,
                is_repeat=False,
            )
            .order_by()
            .values("submission__study")
            .annotate(n=Count("pk"))
            .values("n")
        )
        newest = (
            Instrument.objects.filter(study=OuterRef("instrument__study"))
            .order_by("-version")
            .values("pk")[:1]
        )
        groups = (
            StudyGroup.objects.filter(instrument__study=OuterRef("pk"), instrument=Subquery(newest))
            .order_by()
            .values("instrument__study")
            .annotate(n=Count("pk"))
            .values("n")
        )
        return visible_surveys(request.user).annotate(
            accepted=Coalesce(Subquery(accepted, IntegerField()), 0),
            n_groups=Coalesce(Subquery(groups, IntegerField()), 0),
            submitted=Count(
                "submissions",
                filter=~Q(submissions__origin=SubmissionOrigin.PREVIEW),
                distinct=True,
            ),
        )

    def get_form(
        self, request: HttpRequest, obj: Study | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        kwargs["form"] = StudySettingsForm if obj else StudyCreationForm
        return super().get_form(request, obj, change, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: Study | None = None) -> Any:
        if obj is None:
            return CREATION_FIELDSETS
        if obj.origin == Origin.IMPORTED:
            return ((None, {"fields": ("title",)}),)
        # Whoever knows a completion code can claim it: viewers have no use for them, nor for
        # thresholds that they cannot set.
        may_change = self.has_change_permission(request, obj)
        return SETTINGS_FIELDSETS if may_change else SETTINGS_FIELDSETS[:-2]

    def get_readonly_fields(self, request: HttpRequest, obj: Study | None = None) -> Any:
        # Who has started was promised this payment by this panel.
        if obj is not None and (obj.launched_at or obj.pilot_started_at):
            return ("panel", "currency")
        return ()

    def get_inlines(self, request: HttpRequest, obj: Study | None) -> Any:
        return self.inlines if obj else ()

    def save_model(self, request: HttpRequest, obj: Study, form: Any, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
            return
        created = create_study(
            owner=staff_user(request),
            groups=form.cleaned_data["groups"],
            trait_pairs=form.cleaned_data["trait_pairs"],
            instrument_options=form.instrument_options(),
            **form.study_options(),
        )
        obj.__dict__.update(created.__dict__)

    def response_add(self, request: HttpRequest, obj: Study, post_url_continue: Any = None) -> Any:
        messages.success(
            request, _("“%(study)s” is a draft. Launch it when it is ready.") % {"study": obj}
        )
        return redirect("admin:annotation_study_overview", obj.pk)

    def has_delete_permission(self, request: HttpRequest, obj: Study | None = None) -> bool:
        if obj is None:
            return False
        people = obj.submissions.exclude(origin=SubmissionOrigin.PREVIEW)
        empty = obj.status == StudyStatus.DRAFT and not people.exists()
        return empty and self.has_change_permission(request, obj)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        # A draft goes with its instrument, which nobody may delete on its own, and with previews,
        # the only submissions that it can have.
        to_delete, counts, _needed, _protected = super().get_deleted_objects(objs, request)
        return to_delete, counts, set(), []

    def delete_model(self, request: HttpRequest, obj: Study) -> None:
        clear_previews(study=obj)
        super().delete_model(request, obj)

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
            extra |= {"study": study, "tab": "settings", "study_tabs": build_tabs(study)}
        return super().changeform_view(request, object_id, form_url, extra)

    def history_context(self, study: Study) -> dict[str, Any]:
        return {"study": study, "tab": "history", "study_tabs": build_tabs(study)}

    @display(description=gettext_lazy("study"), ordering="title")
    def title_link(self, study: Study) -> SafeString:
        return format_html(
            '<a href="{}">{}</a>',
            reverse("admin:annotation_study_overview", args=[study.pk]),
            study.title,
        )

    @display(description=gettext_lazy("status"), ordering="status")
    def status_badge(self, study: Study) -> SafeString:
        return wording.study_badge(study)

    @display(description=gettext_lazy("origin"), ordering="origin")
    def origin_badge(self, study: Study) -> SafeString | str:
        return wording.origin_badge(study)

    @display(description=gettext_lazy("accepted ratings of groups"))
    def accepted_of_wanted(self, study: Any) -> str:
        if study.origin == Origin.IMPORTED:
            return f"{study.accepted:,}"
        wanted = f"{study.n_groups * study.quota_per_group:,}"
        return _("%(n)s of %(wanted)s") % {"n": f"{study.accepted:,}", "wanted": wanted}

    @display(description=gettext_lazy("submissions"), ordering="submitted")
    def n_submissions(self, study: Any) -> str:
        return f"{study.submitted:,}"

    @display(description=gettext_lazy("created"), ordering="created_at")
    def created(self, study: Study) -> str:
        return f"{study.created_at:%Y-%m-%d}"

    # --- pages of one study -----------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        def guarded(view: Any) -> Any:
            return self.admin_site.admin_view(view)

        return [
            path(
                f"<int:pk>/{address}/",
                guarded(view),
                name=f"annotation_study_{name}",
            )
            for address, name, view in (
                ("overview", "overview", self.overview_view),
                ("live", "live", self.live_view),
                ("flags", "flags", self.flags_view),
                ("instrument", "instrument", self.instrument_view),
                ("do/<slug:action>", "action", self.action_view),
                ("export/<str:name>", "export", self.export_view),
                ("figure/<slug:name>", "figure", self.figure_view),
                *self.margin_pages(),
                *self.money_pages(),
            )
        ] + super().get_urls()

    def study_tabs(self, study: Study) -> list[tuple[str, str, str]]:
        return build_tabs(study)

    def overview_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        study = get_object_or_404(visible_surveys(request.user), pk=pk)
        context = {
            **self.admin_site.each_context(request),
            **page_context(study, staff_user(request)),
            "title": study.title,
            "tab": "overview",
            "study_tabs": build_tabs(study),
        }
        return TemplateResponse(request, "admin/annotation/study/overview.html", context)

    def live_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        study = get_object_or_404(visible_surveys(request.user), pk=pk)
        context = live_context(study, staff_user(request))
        html = render_to_string("admin/annotation/study/live.html", context, request)
        return answer_fragment(request, html)

    def flags_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        study = get_object_or_404(visible_surveys(request.user), pk=pk)
        context = flags_context(study)
        html = render_to_string("admin/annotation/study/flags.html", context, request)
        return answer_fragment(request, html)

    def instrument_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        study = get_object_or_404(visible_surveys(request.user), pk=pk)
        instrument = current_instrument(study)
        if instrument is None:
            raise Http404
        return redirect("admin:annotation_instrument_change", instrument.pk)

    def action_view(self, request: HttpRequest, pk: int, action: str) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        study = get_object_or_404(visible_surveys(request.user), pk=pk)
        if not can_change_study(request.user, study):
            raise PermissionDenied
        if action not in STUDY_ACTIONS:
            raise Http404
        if action in ASKED_FIRST and "confirmed" not in request.POST:
            back = reverse("admin:annotation_study_instrument", args=[study.pk])
            return self.ask_first(request, study, ASKED_FIRST[action], back=back)
        service, said = STUDY_ACTIONS[action]
        try:
            service(study=study)
        except ValidationError as error:
            for message in error.messages:
                messages.error(request, message)
        else:
            messages.success(request, said)
        page = "instrument" if action in TO_INSTRUMENT else "overview"
        return redirect(f"admin:annotation_study_{page}", study.pk)

    def export_view(self, request: HttpRequest, pk: int, name: str) -> StreamingHttpResponse:
        study = get_object_or_404(visible_surveys(request.user), pk=pk)
        if name in PAYMENT_EXPORTS:
            allowed = can_change_study(request.user, study)
            if not (allowed and request.user.has_perm(PAYMENT_PERMISSION)):
                raise PermissionDenied
        elif name not in DATA_EXPORTS:
            raise Http404
        include = [origin for origin in EXTRA_ORIGINS if origin in request.GET]
        return build_download(study, name, bom="bom" in request.GET, include=include)

    def figure_view(self, request: HttpRequest, pk: int, name: str) -> StreamingHttpResponse:
        study = get_object_or_404(visible_surveys(request.user), pk=pk)
        try:
            table = build_figure_table(study, name)
        except KeyError:
            raise Http404 from None
        return build_attachment(
            stream_csv(table), f"stereoscope-{study.public_id}-{table.name}.csv"
        )


def build_tabs(study: Study) -> list[tuple[str, str, str]]:
    """Return the tabs of a study's pages: name, label, address."""
    return [
        ("overview", _("Overview"), reverse("admin:annotation_study_overview", args=[study.pk])),
        (
            "submissions",
            _("Submissions"),
            f"{reverse('admin:annotation_submission_queue', args=[study.pk])}?show=all",
        ),
        (
            "instrument",
            _("Instrument"),
            reverse("admin:annotation_study_instrument", args=[study.pk]),
        ),
        *_money_tabs(study),
        (
            "settings",
            _("Settings and members"),
            reverse("admin:annotation_study_change", args=[study.pk]),
        ),
        ("history", _("History"), reverse("admin:annotation_study_history", args=[study.pk])),
    ]


def _money_tabs(study: Study) -> list[tuple[str, str, str]]:
    """An imported study was paid elsewhere."""
    if study.origin == Origin.IMPORTED:
        return []
    return [
        ("margins", _("Targets"), reverse("admin:annotation_study_margins", args=[study.pk])),
        ("money", _("Money"), reverse("admin:annotation_study_money", args=[study.pk])),
        ("panel", _("Panel"), reverse("admin:annotation_study_panel", args=[study.pk])),
    ]
