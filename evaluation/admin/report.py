"""Reports in the admin: the gallery, and the form that asks for one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import display
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminSelectWidget

from annotation.models import DataDecision
from annotation.studies.access import visible_studies
from evaluation.models import Report, ReportStatus
from evaluation.reports.errors import ReportError
from evaluation.reports.formatting import MISSING, number
from evaluation.reports.requesting import (
    AlignmentParameters,
    check_request,
    request_alignment_report,
)
from evaluation.reports.selectors import visible_reports
from probing.measures.registry import MEASURES
from probing.models import Run, RunStatus

BADGES = {
    ReportStatus.WAITING: "info mark-clock",
    ReportStatus.BUILDING: "info mark-play",
    ReportStatus.FINAL: "good mark-tick",
    ReportStatus.FAILED: "bad mark-cross",
}


def report_badge(report: Report) -> SafeString:
    """Return the status of a report as a badge: a mark and a word."""
    mark = BADGES[ReportStatus(report.status)]
    return format_html('<span class="badge {}">{}</span>', mark, report.get_status_display())


class StudyChoice(forms.ModelChoiceField):
    """Studies by title and id, since titles may repeat."""

    def label_from_instance(self, obj: Any) -> str:
        return f"{obj.title} ({obj.public_id})"


class RunChoice(forms.ModelChoiceField):
    """Runs by number, measure, model and status."""

    def label_from_instance(self, obj: Any) -> str:
        measure = MEASURES[obj.measure].title if obj.measure in MEASURES else obj.measure
        return f"{obj.pk}: {measure}, {obj.model.name}, {obj.get_status_display().lower()}"


class ReportRequestForm(forms.ModelForm):
    """Asks for an alignment report; the service checks and stores it."""

    resamples = forms.IntegerField(
        initial=AlignmentParameters().resamples,
        min_value=100,
        max_value=100_000,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=_("Bootstrap resamples for the intervals."),
    )
    splits = forms.IntegerField(
        initial=AlignmentParameters().splits,
        min_value=100,
        max_value=100_000,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=_("Random halves of the people for the noise ceiling."),
    )
    seed = forms.IntegerField(
        initial=0,
        min_value=0,
        max_value=2**31 - 1,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=_("The same seed gives the same intervals."),
    )

    class Meta:
        model = Report
        fields = ("study", "run")
        widgets = {"study": UnfoldAdminSelectWidget, "run": UnfoldAdminSelectWidget}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["study"].help_text = _(
            "Studies with accepted ratings. Accept submissions in the review queue, or import "
            "published ratings with “manage.py import_abc_ratings”."
        )
        self.fields["run"].help_text = _("The report is built as soon as its run is finished.")

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if cleaned is None or self.errors:
            return cleaned
        try:
            check_request(study=cleaned["study"], run=cleaned["run"])
        except ReportError as error:
            raise forms.ValidationError(str(error)) from error
        return cleaned


@admin.register(Report)
class ReportAdmin(ModelAdmin):
    """The gallery of reports. A report is asked for here and read on its own page."""

    list_display = ("title_link", "study", "run", "status_badge", "tau", "created_at")
    list_display_links = None
    list_filter = ("status", "study")
    search_fields = ("title", "public_id")
    list_per_page = 50
    actions = None
    form = ReportRequestForm
    fields = ("study", "run", "resamples", "splits", "seed")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        return visible_reports(request.user).order_by("-pk")

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "study":
            kwargs["form_class"] = StudyChoice
            kwargs["queryset"] = (
                visible_studies(request.user)
                .filter(submissions__data_decision=DataDecision.ACCEPTED)
                .distinct()
            )
        if db_field.name == "run":
            kwargs["form_class"] = RunChoice
            kwargs["queryset"] = Run.objects.select_related("model").exclude(
                status__in=[RunStatus.FAILED, RunStatus.CANCELLED]
            )
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Report, form: Any, change: bool) -> None:
        requested = request_alignment_report(
            study=obj.study,
            run=obj.run,
            created_by=request.user,  # type: ignore[arg-type]
            parameters={name: form.cleaned_data[name] for name in ("resamples", "splits", "seed")},
        )
        obj.__dict__.update(requested.__dict__)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        context = {
            **(extra_context or {}),
            "title": _("New report"),
            "show_save_and_add_another": False,
            "show_save_and_continue": False,
        }
        return super().changeform_view(request, object_id, form_url, context)

    def response_add(
        self, request: HttpRequest, obj: Report, post_url_continue: str | None = None
    ) -> HttpResponse:
        return redirect("reports:page", obj.public_id)

    def has_change_permission(self, request: HttpRequest, obj: Report | None = None) -> bool:
        return False

    @display(description=_("report"), ordering="title")
    def title_link(self, report: Report) -> str:
        address = reverse("reports:page", args=[report.public_id])
        return format_html('<a href="{}">{}</a>', address, report.title)

    @display(description=_("status"), ordering="status")
    def status_badge(self, report: Report) -> SafeString:
        return report_badge(report)

    @display(description=_("Kendall’s τ"))
    def tau(self, report: Report) -> str:
        if not report.result:
            return MISSING
        return number(report.result["pooled"]["tau"]["value"])
