"""The pages of a study: look-up, rights, head, tabs, buttons and questions before a loss."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Origin, Study, StudyStatus
from annotation.researcher.pages.page import Button, ButtonPage, Confirmation, ResearcherPage, Tabs

#: Before a study is live for the first time, a launch freezes it; later it only opens it again.
BEFORE_LAUNCH = frozenset({StudyStatus.DRAFT, StudyStatus.PILOTING})


def ask_to_close(loss: Any) -> Confirmation:
    """Return the question before a study closes."""
    return Confirmation(
        gettext_lazy("Close this study?"),
        loss,
        gettext_lazy("Close study"),
        tab="overview",
        is_final=False,
    )


def ask_to_launch(freezes: Any, facts: Sequence[str] = ()) -> Confirmation:
    """Return the question before a study goes live for the first time."""
    return Confirmation(
        gettext_lazy("Launch this study?"),
        freezes,
        gettext_lazy("Launch study"),
        tab="overview",
        facts=facts,
    )


class StudyPage(ResearcherPage):
    """A page of one study.

    It does not exist for those who may not see the study; to send something takes the right to
    change it.
    """

    #: The model whose addresses the study's pages have, and the tab under which this one is.
    model_name: ClassVar[str] = "study"
    tab: ClassVar[str] = ""
    viewers_may_post: ClassVar[bool] = False
    #: Whether it is about decisions, which reviewers take who may change nothing else.
    is_review: ClassVar[bool] = False
    study: Study

    def visible_studies(self) -> QuerySet[Study]:
        return Study.objects.surveys().visible_to(self.request.user)

    def find_study(self) -> Study:
        return get_object_or_404(self.visible_studies(), pk=self.kwargs["pk"])

    def prepare(self) -> None:
        self.study = self.find_study()
        if self.request.method == "POST" and not (self.viewers_may_post or self.may_act):
            raise PermissionDenied

    @cached_property
    def may_change(self) -> bool:
        return self.study.is_changeable_by(self.request.user)

    @cached_property
    def may_act(self) -> bool:
        """Whether the user may send what the page sends: a decision, or a change."""
        if self.is_review:
            return self.study.is_reviewable_by(self.request.user)
        return self.may_change

    @classmethod
    def build_tabs(cls, study: Study) -> Tabs:
        """Return the tabs of a study's pages."""
        own: list[tuple[str, str, str]] = []
        if study.origin != Origin.IMPORTED:  # an imported study was paid elsewhere
            own = [
                ("margins", _("Targets"), "margins"),
                ("money", _("Money"), "money"),
                ("panel", _("Panel"), "panel"),
            ]
        queue = reverse("admin:annotation_submission_queue", args=[study.pk])
        return [
            ("overview", _("Overview"), cls.address(study, "overview")),
            ("submissions", _("Submissions"), f"{queue}?show=all"),
            ("instrument", _("Instrument"), cls.address(study, "instrument")),
            *((name, label, cls.address(study, page)) for name, label, page in own),
            ("settings", _("Settings"), cls.address(study, "change")),
            ("colleagues", _("Colleagues"), cls.address(study, "colleagues")),
            ("history", _("History"), cls.address(study, "history")),
        ]

    @classmethod
    def address(cls, study: Study, page: str) -> str:
        """Return the address of one of the study's pages."""
        return reverse(f"admin:annotation_{cls.model_name}_{page}", args=[study.pk])

    @classmethod
    def head(cls, study: Study, tab: str) -> dict[str, Any]:
        """Return what the head of the study's pages shows, those with forms of the admin too."""
        audit = cls.address(study, "audit") if tab == "history" else ""
        return {"study": study, "tab": tab, "study_tabs": cls.build_tabs(study), "audit": audit}

    def get_context_data(self) -> dict[str, Any]:
        head = self.head(self.study, self.tab)
        return {**super().get_context_data(), "title": self.study.title, **head}

    def go_to(self, page: str) -> HttpResponse:
        return redirect(self.address(self.study, page))


class StudyFormPage(StudyPage):
    """A page around one form: those who may not change the study only look at it."""

    stored: ClassVar[Any]  # what is said once it is stored

    def build_form(self, data: Any) -> BaseForm:
        raise NotImplementedError

    def store(self, form: Any) -> None:
        raise NotImplementedError

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        return self.show(form=self.build_form(None), may_change=self.may_change)

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        form = self.build_form(request.POST)
        if not form.is_valid():
            return self.show(form=form, may_change=True, status=422)
        self.store(form)
        messages.success(request, str(self.stored))
        return redirect(request.path)


class ActionPage(ButtonPage, StudyPage):
    """The buttons of a study's life."""

    route = "<int:pk>/do/<slug:action>/"
    name = "action"
    http_method_names = ["post"]

    def address_after(self, pressed: Button) -> str:
        return self.address(self.study, pressed.leads_to or "overview")
