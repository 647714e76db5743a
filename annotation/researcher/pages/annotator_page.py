"""The pages of writing and judgment studies: both are done by annotators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.annotators.statement import STATEMENT_PARTS, find_statement
from annotation.models import Study, StudyStatus
from annotation.researcher.pages import formatting
from annotation.researcher.pages.audit_page import AuditPage
from annotation.researcher.pages.colleagues import ColleaguesPage
from annotation.researcher.pages.export_page import ExportPage
from annotation.researcher.pages.next_steps import find_study_steps
from annotation.researcher.pages.page import Tabs
from annotation.researcher.pages.study_page import (
    BEFORE_LAUNCH,
    StudyAction,
    StudyPage,
    ask_to_close,
    ask_to_launch,
)
from annotation.studies.lifecycle import archive_study, close_study, pause_study

REFRESHED = {StudyStatus.LIVE, StudyStatus.PAUSED}
OVER = {StudyStatus.CLOSED, StudyStatus.ARCHIVED}


class AnnotatorStudyPage(StudyPage):
    """A page of a study that annotators work on; a kind of study names itself and its tabs."""

    kind: ClassVar[str]
    plural: ClassVar[Any]
    #: The tabs that other kinds do not have: name of the page, label.
    own_tabs: ClassVar[tuple[tuple[str, Any], ...]]

    def visible_studies(self) -> QuerySet[Study]:
        return Study.objects.visible_to(self.request.user).filter(kind=self.kind)

    @classmethod
    def build_tabs(cls, study: Study) -> Tabs:
        pages = (
            ("overview", _("Overview"), "overview"),
            *((page, str(label), page) for page, label in cls.own_tabs),
            ("settings", _("Settings"), "change"),
            ("colleagues", _("Colleagues"), "colleagues"),
            ("history", _("History"), "history"),
        )
        return [(name, label, cls.address(study, page)) for name, label, page in pages]

    def get_context_data(self) -> dict[str, Any]:
        names = f"admin:annotation_{self.model_name}"
        return {
            **super().get_context_data(),
            "status_badge": formatting.study_badge(self.study),
            "may_change": self.may_act,
            "is_draft": self.study.status == StudyStatus.DRAFT,
            "is_refreshed": self.study.status in REFRESHED,
            "is_over": self.study.status in OVER,
            "plural": self.plural,
            "changelist": f"{names}_changelist",
            "action_page": f"{names}_action",
            "settings_page": f"{names}_change",
        }


class OverviewPage(AnnotatorStudyPage):
    """The main page of a study: its progress, design, statement and downloads."""

    route = "<int:pk>/overview/"
    name = tab = "overview"

    def get_context_data(self) -> dict[str, Any]:
        statement = find_statement(self.study)
        return {
            **super().get_context_data(),
            "statement": [
                (str(label), getattr(statement, name)) for name, label in STATEMENT_PARTS.items()
            ],
            "next_steps": find_study_steps(self.study, self.user),
        }


class LivePart(AnnotatorStudyPage):
    """The part of the overview that is fetched again and again."""

    route = "<int:pk>/live/"
    name = "live"
    describe_progress: ClassVar[Callable[..., dict[str, Any]]]

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        context = {
            "study": self.study,
            "is_refreshed": self.study.status in REFRESHED,
            **self.describe_progress(self.study),
        }
        response = TemplateResponse(request, self.get_template_names(), context)
        response["Cache-Control"] = "no-store"
        return response


def shared_pages(kind: type[AnnotatorStudyPage]) -> list[type[AnnotatorStudyPage]]:
    """Return the pages that are the same for every kind of study, as those of one."""
    shared = (ExportPage, AuditPage, ColleaguesPage)
    return [type(f"{kind.__name__}{page.__name__}", (kind, page), {}) for page in shared]


def build_actions(
    launch: Callable[..., Any], *, launched: Any, freezes: Any, paused: Any, ends: Any
) -> dict[str, StudyAction]:
    """Return the buttons of a kind of study.

    launched, paused : what is said afterwards
    freezes, ends : what a launch freezes and a close ends, said before
    """
    return {
        "launch": StudyAction(
            launch, launched, confirmation=ask_to_launch(freezes), asks_in=BEFORE_LAUNCH
        ),
        "pause": StudyAction(pause_study, paused),
        "close": StudyAction(
            close_study, gettext_lazy("The study is closed."), confirmation=ask_to_close(ends)
        ),
        "archive": StudyAction(archive_study, gettext_lazy("The study is archived.")),
    }
