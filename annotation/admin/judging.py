"""Judgment studies in the admin: the list, creation, the life cycle, judges, downloads."""

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
from annotation.admin.judging_form import JudgingForm
from annotation.admin.judging_page import (
    build_judging_tabs,
    judges_context,
    overview_context,
    progress_context,
)
from annotation.admin.judging_people import JudgeViews
from annotation.exports.judgments import JUDGMENT_EXPORTS
from annotation.judgments.creation import change_design, create_judgment_study
from annotation.judgments.lifecycle import launch_judgment_study
from annotation.models import (
    ASPECTS,
    JudgmentStudy,
    StudyKind,
)
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

share_history(JudgmentStudy)


@admin.register(JudgmentStudy)
class JudgmentStudyAdmin(JudgeViews, AnnotatorStudyAdmin):
    kind = StudyKind.COUNTERPART_JUDGMENT
    tasks_name = "judgment_tasks"
    design_name = "judging"
    folder = "admin/annotation/judging"
    create = staticmethod(create_judgment_study)
    change_design = staticmethod(change_design)
    build_tabs = staticmethod(build_judging_tabs)
    study_actions = JUDGING_ACTIONS
    study_exports = JUDGMENT_EXPORTS
    form = JudgingForm
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
        STATEMENT_FIELDSET,
    )

    # --- lists and forms --------------------------------------------------------------------

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> Any:
        messages.success(request, _("“%(study)s” is a draft. Invite its judges.") % {"study": obj})
        return redirect("admin:annotation_judgmentstudy_judges", obj.pk)

    @display(description=gettext_lazy("judgments"))
    def n_done(self, study: Any) -> str:
        return super().n_done(study)

    @display(description=gettext_lazy("judges"), ordering="people")
    def n_people(self, study: Any) -> str:
        return super().n_people(study)

    # --- pages of one study -----------------------------------------------------------------

    def study_pages(self) -> StudyPages:
        return (
            ("overview", "overview", self.overview_view),
            ("live", "live", self.live_view),
            ("judges", "judges", self.judges_view),
            *super().study_pages(),
        )

    def overview_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        study = self.find(request, pk)
        return self.show(request, "overview", overview_context(study, staff_user(request)))

    def live_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return self.show_live(request, progress_context(self.find(request, pk)))

    def judges_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        if request.method == "POST":
            self.act_on_judges(request, self.find(request, pk, to_change=True))
            return redirect("admin:annotation_judgmentstudy_judges", pk)
        study = self.find(request, pk)
        return self.show(request, "judges", judges_context(study, staff_user(request)))
