"""Studies with participants in the admin: the list, creation and settings."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.shortcuts import redirect
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display
from unfold.views import ChangeList

from annotation.admin.base import count_column
from annotation.admin.study_base import BaseStudyAdmin
from annotation.corpora.access import visible_corpora
from annotation.instruments.previews import clear_previews
from annotation.models import (
    GroupAssignment,
    Instrument,
    Origin,
    Study,
    StudyKind,
    Submission,
    SubmissionOrigin,
)
from annotation.models.submission import accepted
from annotation.researcher.money.pages import (
    BatchFilePage,
    MoneyActions,
    MoneyOverview,
    PanelPage,
    PlanPage,
)
from annotation.researcher.pages import formatting
from annotation.researcher.pages.audit_page import AuditPage
from annotation.researcher.pages.colleagues import ColleaguesPage, JoinPage
from annotation.researcher.pages.page import staff_user
from annotation.researcher.pages.study_page import StudyPage
from annotation.researcher.studies.gallery import BeginStudy, StudyGallery
from annotation.researcher.studies.guise_form import GUISE_FIELDSETS, GuiseCreationForm
from annotation.researcher.studies.pages import (
    CurrentInstrument,
    FigureTable,
    FlagsFragment,
    LiveFragment,
    StudyActions,
    StudyExports,
    StudyOverview,
)
from annotation.researcher.studies.study_form import (
    CREATION_FIELDSETS,
    SETTINGS_FIELDSETS,
    StudyCreationForm,
    StudySettingsForm,
)
from annotation.researcher.studies.target_quotas import TargetPage
from annotation.studies.creation import create_guise_study, create_study


class StudyChangeList(ChangeList):
    """The list of studies. What its rows count is asked for the page's studies alone."""

    def get_results(self, request: HttpRequest) -> None:
        """Two queries more than the rows."""
        super().get_results(request)
        keys = [study.pk for study in self.result_list]
        rated = dict(
            GroupAssignment.objects.filter(
                accepted(of="submission__"),
                submission__study__in=keys,
                is_repeat=False,
                skipped="",
            )
            .order_by()
            .values_list("submission__study")
            .annotate(n=Count("pk"))
        )
        # In the order of versions: of each study the newest one's count stays.
        groups = dict(
            Instrument.objects.filter(study__in=keys)
            .order_by("version")
            .values_list("study")
            .annotate(n=Count("groups"))
        )
        for study in self.result_list:
            study.accepted = rated.get(study.pk, 0)
            study.n_groups = groups.get(study.pk, 0)


@admin.register(Study)
class StudyAdmin(BaseStudyAdmin):
    page = StudyPage
    pages = (
        StudyGallery,
        BeginStudy,
        StudyOverview,
        LiveFragment,
        FlagsFragment,
        CurrentInstrument,
        StudyActions,
        StudyExports,
        FigureTable,
        TargetPage,
        MoneyOverview,
        PlanPage,
        MoneyActions,
        BatchFilePage,
        PanelPage,
        AuditPage,
        ColleaguesPage,
        JoinPage,
    )
    list_display = (
        "title_link",
        "status_badge",
        "origin_badge",
        "accepted_of_wanted",
        "n_submissions",
        "created",
    )
    list_filter = ("kind", "status", "origin")
    imports = ("ratings", "annotation.add_study")
    change_form_outer_before_template = "admin/annotation/study/head.html"
    guarded_fields = frozenset({"completion_codes", "quality_thresholds"})

    def get_queryset(self, request: HttpRequest) -> QuerySet[Study]:
        submitted = (
            Submission.objects.filter(study=OuterRef("pk"))
            .exclude(origin=SubmissionOrigin.PREVIEW)
            .order_by()
            .values("study")
            .annotate(n=Count("pk"))
            .values("n")
        )
        return (
            Study.objects.surveys()
            .visible_to(request.user)
            .annotate(submitted=Coalesce(Subquery(submitted, IntegerField()), 0))
        )

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return StudyChangeList

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> Any:
        # Every “New study” leads to the ways to begin; a form is one of them.
        if request.method == "GET" and "kind" not in request.GET:
            return redirect("admin:annotation_study_gallery")
        extra = dict(extra_context or {})
        if _asks_for_guises(request):
            extra["title"] = _("Add a study of the speakers of texts")
        return super().add_view(request, form_url, extra)

    def get_form(
        self, request: HttpRequest, obj: Study | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        asks_for_guises = obj is None and _asks_for_guises(request)
        creation = GuiseCreationForm if asks_for_guises else StudyCreationForm
        kwargs["form"] = StudySettingsForm if obj else creation
        form = super().get_form(request, obj, change, **kwargs)
        if asks_for_guises:
            paired = visible_corpora(request.user).filter(pairs__isnull=False).distinct()
            form.base_fields["corpus"].queryset = paired
        return form

    def get_fieldsets(self, request: HttpRequest, obj: Study | None = None) -> Any:
        if obj is None:
            return GUISE_FIELDSETS if _asks_for_guises(request) else CREATION_FIELDSETS
        if obj.origin == Origin.IMPORTED:
            return ((None, {"fields": ("title",)}),)
        # Whoever knows a completion code can claim it: viewers do not need them, nor thresholds
        # that they cannot set.
        may_change = self.has_change_permission(request, obj)
        return SETTINGS_FIELDSETS if may_change else SETTINGS_FIELDSETS[:-2]

    def get_readonly_fields(self, request: HttpRequest, obj: Study | None = None) -> Any:
        # Participants who have started were promised this payment by this panel.
        if obj is not None and (obj.launched_at or obj.pilot_started_at):
            return ("panel", "currency")
        return ()

    def save_model(self, request: HttpRequest, obj: Study, form: Any, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
            return
        create = create_guise_study if isinstance(form, GuiseCreationForm) else create_study
        created = create(
            owner=staff_user(request),
            trait_pairs=form.cleaned_data["trait_pairs"],
            instrument_options=form.instrument_options(),
            **form.study_options(),
        )
        obj.__dict__.update(created.__dict__)

    def response_add(self, request: HttpRequest, obj: Study, post_url_continue: Any = None) -> Any:
        said = _("“%(study)s” is a draft. Launch it when it is ready.")
        return self.go_to_draft(request, obj, "overview", said)

    def has_work(self, study: Study) -> bool:
        return study.submissions.exclude(origin=SubmissionOrigin.PREVIEW).exists()

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        # A draft goes with its instrument, which nobody may delete on its own, and with previews,
        # the only submissions that it can have.
        to_delete, counts, _needed, _protected = super().get_deleted_objects(objs, request)
        return to_delete, counts, set(), []

    def delete_model(self, request: HttpRequest, obj: Study) -> None:
        clear_previews(study=obj)
        super().delete_model(request, obj)

    @display(description=gettext_lazy("origin"), ordering="origin")
    def origin_badge(self, study: Study) -> SafeString | str:
        return formatting.origin_badge(study)

    @display(description=gettext_lazy("accepted ratings"))
    def accepted_of_wanted(self, study: Any) -> str:
        if study.origin == Origin.IMPORTED:
            return f"{study.accepted:,}"
        wanted = f"{study.n_groups * study.quota_per_group:,}"
        return _("%(n)s of %(wanted)s") % {"n": f"{study.accepted:,}", "wanted": wanted}

    n_submissions = count_column("submitted", gettext_lazy("submissions"))


def _asks_for_guises(request: HttpRequest) -> bool:
    """Return whether the form of a new study asks for texts in place of groups."""
    return request.GET.get("kind") == StudyKind.GUISE_RATING
