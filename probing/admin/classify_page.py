"""The page that classifies with all models which a fine-tuning has kept."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.researcher.pages.page import ResearcherPage
from probing.admin.probe_forms import ProbeRunForm
from probing.measures.registry import MEASURES
from probing.models import LanguageModel, Run
from probing.runs.access import visible_runs
from probing.runs.errors import RunError
from probing.runs.trained_classification import classify_with_trained, find_trained_classifiers


class ClassifyForm(ProbeRunForm):
    """Sentences and parameters; the models are those of the training."""

    def __init__(self, *args: Any, trained_by: Run, **kwargs: Any) -> None:
        super().__init__(*args, measure=MEASURES["classification"], **kwargs)
        self.trained_by = trained_by
        del self.fields["model"]

    def clean(self) -> dict[str, Any]:
        return self.cleaned_data  # checked as runs are made

    def create_all(self) -> list[Run]:
        """Create the runs; none with the errors in the form where one is refused."""
        try:
            return classify_with_trained(
                run=self.trained_by,
                choice=self.choice(self.cleaned_data),
                parameters=self.parameters(self.cleaned_data),
                seed=self.cleaned_data["seed"],
                created_by=self.user,
                dtype=self.cleaned_data["dtype"],
            )
        except RunError as error:
            self.add_run_error(error)
            return []


class ClassifyPage(ResearcherPage):
    """Asks for sentences, and creates a run for every model of a training."""

    route = "<int:pk>/classify/"
    name = "classify"
    template_name = "admin/probing/run/classify.html"

    def prepare(self) -> None:
        if not self.model_admin.has_add_permission(self.request):
            raise PermissionDenied
        if self.run is None or not self.models:
            raise Http404

    @cached_property
    def run(self) -> Run | None:
        return visible_runs(self.request.user).filter(pk=self.kwargs["pk"]).first()

    @cached_property
    def models(self) -> list[LanguageModel]:
        try:
            return find_trained_classifiers(self.run) if self.run else []
        except RunError:
            return []

    def form(self, data: Any = None) -> ClassifyForm:
        if self.run is None:
            raise Http404
        return ClassifyForm(data, user=self.user, trained_by=self.run)

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        return self.show(form=self.form())

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        form = self.form(request.POST)
        runs = form.create_all() if form.is_valid() else []
        if not runs:
            return self.show(form=form, status=422)
        messages.success(
            request,
            ngettext("%(n)s run is created.", "%(n)s runs are created.", len(runs))
            % {"n": len(runs)},
        )
        return redirect("admin:probing_run_change", form.trained_by.pk)

    def get_context_data(self) -> dict[str, Any]:
        return {
            **super().get_context_data(),
            "opts": self.model_admin.opts,
            "title": _("Classify with the trained models"),
            "run": self.run,
            "models": self.models,
        }
