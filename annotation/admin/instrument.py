"""The instrument of a study: its pages; it has no list and no form of the admin."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.admin import ModelAdmin

from annotation.admin.base import StudyScoped
from annotation.models import Instrument, Study
from annotation.researcher.instruments.arms import ArmsPage
from annotation.researcher.instruments.designer import (
    DesignerLibrary,
    DesignerPage,
    DraftTexts,
    DrawStep,
    SaveDraft,
)
from annotation.researcher.instruments.files import (
    FileList,
    FilesPage,
    InstrumentFile,
    ReplaceInstrument,
)
from annotation.researcher.instruments.languages import (
    LanguageActions,
    LanguageFile,
    LanguagesPage,
)
from annotation.researcher.instruments.pages import ClearPreviews, ComparePage, PreviewPage
from annotation.researcher.instruments.question_library import KeepQuestion, QuestionPicker


@admin.register(Instrument)
class InstrumentAdmin(StudyScoped, ModelAdmin):
    pages = (
        DesignerPage,
        SaveDraft,
        DraftTexts,
        DrawStep,
        DesignerLibrary,
        QuestionPicker,
        KeepQuestion,
        InstrumentFile,
        ReplaceInstrument,
        LanguagesPage,
        LanguageFile,
        LanguageActions,
        PreviewPage,
        ClearPreviews,
        ComparePage,
        ArmsPage,
        FilesPage,
        FileList,
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Instrument]:
        studies = Study.objects.visible_to(request.user)
        return Instrument.objects.filter(study__in=studies).select_related("study")

    def get_model_perms(self, request: HttpRequest) -> dict[str, bool]:
        return {}  # an instrument is reached through its study

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    # It is edited on its own page.
    has_change_permission = has_add_permission

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return redirect("admin:annotation_study_changelist")
