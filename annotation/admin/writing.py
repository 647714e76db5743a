"""Writing studies in the admin: the list, creation, settings, the life cycle, people, downloads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.http import (
    HttpRequest,
    HttpResponse,
)
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display

from annotation.admin.access import staff_user
from annotation.admin.annotator_form import STATEMENT_FIELDSET, STUDY_FIELDS
from annotation.admin.annotator_study import AnnotatorStudyAdmin, StudyPages, share_history
from annotation.admin.writing_adjudication import AdjudicationViews
from annotation.admin.writing_form import WritingForm
from annotation.admin.writing_page import (
    build_writing_tabs,
    find_agreement_address,
    overview_context,
    progress_context,
)
from annotation.admin.writing_people import PeopleViews
from annotation.counterparts.creation import change_design, create_writing_study
from annotation.counterparts.lifecycle import launch_writing_study
from annotation.exports.counterparts import WRITING_EXPORTS
from annotation.models import (
    StudyKind,
    WritingStudy,
)
from annotation.studies.lifecycle import archive_study, close_study, pause_study

WRITING_ACTIONS: dict[str, tuple[Callable[..., Any], Any]] = {
    "launch": (
        launch_writing_study,
        gettext_lazy("The study is live. Its texts are given out and its design is frozen."),
    ),
    "pause": (
        pause_study,
        gettext_lazy("The study is paused. Drafts are kept, nothing can be submitted."),
    ),
    "close": (close_study, gettext_lazy("The study is closed.")),
    "archive": (archive_study, gettext_lazy("The study is archived.")),
}

share_history(WritingStudy)


@admin.register(WritingStudy)
class WritingStudyAdmin(PeopleViews, AdjudicationViews, AnnotatorStudyAdmin):
    kind = StudyKind.COUNTERPART_WRITING
    tasks_name = "writing_tasks"
    design_name = "writing"
    folder = "admin/annotation/writing"
    create = staticmethod(create_writing_study)
    change_design = staticmethod(change_design)
    build_tabs = staticmethod(build_writing_tabs)
    study_actions = WRITING_ACTIONS
    study_exports = WRITING_EXPORTS
    form = WritingForm
    change_form_outer_before_template = "admin/annotation/writing/head.html"
    fieldsets = (
        (None, {"fields": STUDY_FIELDS}),
        (
            gettext_lazy("Texts"),
            {"fields": ("corpus", "n_texts", "weighted_by_features", "seed")},
        ),
        (gettext_lazy("Overlap"), {"fields": ("common_texts", "shared_percent")}),
        (gettext_lazy("For annotators"), {"fields": ("guidelines",)}),
        STATEMENT_FIELDSET,
    )

    # --- lists and forms --------------------------------------------------------------------

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> Any:
        messages.success(
            request, _("“%(study)s” is a draft. Invite its annotators.") % {"study": obj}
        )
        return redirect("admin:annotation_writingstudy_annotators", obj.pk)

    @display(description=gettext_lazy("counterparts"))
    def n_done(self, study: Any) -> str:
        return super().n_done(study)

    # --- pages of one study -----------------------------------------------------------------

    def study_pages(self) -> StudyPages:
        return (
            ("overview", "overview", self.overview_view),
            ("live", "live", self.live_view),
            *super().study_pages(),
            *self.people_pages(),
            *self.adjudication_pages(),
        )

    def overview_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        study = self.find(request, pk)
        return self.show(request, "overview", overview_context(study, staff_user(request)))

    def live_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        study = self.find(request, pk)
        context = progress_context(study) | {"agreement_address": find_agreement_address(study)}
        return self.show_live(request, context)
