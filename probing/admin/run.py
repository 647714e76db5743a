"""Runs in the admin: the list, the form that creates one, and the monitor."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import getdoc
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
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
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import display

from annotation.admin.base import HasImports, do_to_each
from annotation.researcher.pages.links import find_report_gallery
from annotation.researcher.pages.page import page_urls
from probing.admin import run_charts
from probing.admin.classify_page import ClassifyPage
from probing.admin.import_page import ImportPage
from probing.admin.run_downloads import (
    stream_answers,
    stream_log,
    stream_run_list,
    stream_scores,
    stream_training,
)
from probing.admin.run_form import Subject
from probing.admin.run_page import (
    answers_context,
    counterparts_context,
    live_context,
    page_context,
)
from probing.admin.stimuli_forms import FORMS
from probing.measures.base import AnyMeasure, ResultKind
from probing.measures.registry import MEASURES
from probing.models import LanguageModel, Run, ShardStatus
from probing.runs.access import visible_runs
from probing.runs.answers import keeps_answers
from probing.runs.certificates import measure_fits
from probing.runs.control import cancel_run, resume_run
from probing.runs.creation import dry_run
from probing.runs.errors import RunError


@admin.register(Run)
class RunAdmin(HasImports, ModelAdmin):
    """Runs are created, canceled and resumed through the services; nothing is edited."""

    list_display = ("title", "model_name", "status_badge", "progress", "created_at", "created_by")
    # Of models and corpora only those that the runs in sight have: names of others are not shown.
    list_filter = (
        "status",
        "measure",
        ("model", admin.RelatedOnlyFieldListFilter),
        ("corpus", admin.RelatedOnlyFieldListFilter),
    )
    search_fields = (
        "=id",
        "public_id",
        "measure",
        "model__name",
        "corpus__name",
        "created_by__username",
    )
    list_per_page = 50
    actions = ("cancel_selected", "resume_selected", "export_selected")
    imports = ("scores", "probing.add_run")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        stored = Count("shards", filter=Q(shards__status=ShardStatus.STORED))
        runs = super().get_queryset(request).select_related("model", "created_by")
        seen = visible_runs(request.user).values("pk")
        return runs.filter(pk__in=seen).defer("stimuli").annotate(stored=stored)

    def get_urls(self) -> list[URLPattern]:
        def guarded(view: Any) -> Any:
            return self.admin_site.admin_view(view)

        own = [
            ("live", self.live_view),
            ("cancel", self.cancel_view),
            ("resume", self.resume_view),
            ("scores", self.scores_view),
            ("log", self.log_view),
            ("training", self.training_view),
            ("counterparts", self.counterparts_view),
            ("answers", self.answers_view),
        ]
        return [
            *(
                path(f"<int:pk>/{name}/", guarded(view), name=f"probing_run_{name}")
                for name, view in own
            ),
            *page_urls([ImportPage, ClassifyPage], self),
            *super().get_urls(),
        ]

    def has_delete_permission(self, request: HttpRequest, obj: Run | None = None) -> bool:
        return False  # a run is the record of how scores came about

    @admin.action(description=_("Cancel"), permissions=["change"])
    def cancel_selected(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        do_to_each(request, queryset, _refusing(cancel_run), gettext("Canceled: %(n)d."))

    @admin.action(description=_("Resume"), permissions=["change"])
    def resume_selected(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        do_to_each(request, queryset, _refusing(resume_run), gettext("Resumed: %(n)d."))

    @admin.action(description=_("Download the list as CSV"), permissions=["view"])
    def export_selected(self, request: HttpRequest, queryset: QuerySet[Run]) -> HttpResponseBase:
        """Send what was run with which model and parameters; scores are on each run's page."""
        return stream_run_list(queryset.select_related("model", "corpus", "created_by"))

    # --- the list ---------------------------------------------------------------------------

    @display(description=_("run"), ordering="pk")
    def title(self, run: Run) -> str:
        measure = MEASURES.get(run.measure)
        return f"{run.pk}: {measure.title if measure else run.measure}"

    @display(description=_("model"), ordering="model__name")
    def model_name(self, run: Run) -> str:
        if not run.model.is_demo:
            return run.model.name
        return format_html(
            '{} <span class="badge warn mark-triangle">{}</span>', run.model.name, _("meaningless")
        )

    @display(description=_("status"), ordering="status")
    def status_badge(self, run: Run) -> str:
        return run_charts.run_badge(run)

    @display(description=_("shards stored"))
    def progress(self, run: Run) -> str:
        stored: int = run.stored  # type: ignore[attr-defined] # annotated above
        return format_html(
            '{} <span class="dim">{}</span>', stored, _("of %(n)s") % {"n": run.shard_count}
        )

    # --- creating ---------------------------------------------------------------------------

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        user = cast(User, request.user)
        measure = MEASURES.get(str(request.GET.get("measure")), MEASURES["set"])
        model = LanguageModel.objects.filter(public_id=request.GET.get("model", "")).first()
        fits = {fit.name: fit for fit in measure_fits(model)} if model else {}
        form = FORMS[measure.stimuli_type](
            request.POST or None,
            request.FILES or None,
            measure=measure,
            user=user,
            initial={
                **{name: request.GET[name] for name in ("study", "corpus") if name in request.GET},
                **({"model": model.pk} if model else {}),
            },
        )
        tried = None
        if request.method == "POST" and form.is_valid():
            if "create" in request.POST and (run := form.create(user)):
                messages.success(request, _("Run %(n)s is created.") % {"n": run.pk})
                return redirect("admin:probing_run_change", run.pk)
            if form.is_valid():
                tried = dry_run(**form.request)
        return self._page(
            request,
            "add",
            title=_("New run"),
            form=form,
            subjects=_list_measures(
                one for one in MEASURES.values() if one.name not in fits or fits[one.name].can
            ),
            model=model,
            unfit=[fit for fit in fits.values() if not fit.can],
            tried=tried,
            cost=run_charts.cost(tried) if tried else None,
        )

    # --- the monitor ------------------------------------------------------------------------

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        run = self._find(request, object_id)
        may_change = self.has_change_permission(request, run)
        title = _("Run %(n)s") % {"n": run.pk}
        return self._page(
            request,
            "monitor",
            title=title,
            may_change=may_change,
            report_address=_find_report_form(request, run),
            **page_context(run),
        )

    def live_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        run = self._find(request, pk)
        context = {
            "may_change": self.has_change_permission(request, run),
            "report_address": _find_report_form(request, run),
            **live_context(run),
        }
        return TemplateResponse(request, "admin/probing/run/live.html", context)

    def scores_view(self, request: HttpRequest, pk: int) -> StreamingHttpResponse:
        return stream_scores(self._find(request, pk))

    def counterparts_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        run = self._find(request, pk)
        if MEASURES[run.measure].result is not ResultKind.COUNTERPARTS:
            raise Http404
        title = _("Counterparts of run %(n)s") % {"n": run.pk}
        return self._page(
            request, "counterparts", title=title, **counterparts_context(run, request.GET)
        )

    def answers_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        run = self._find(request, pk)
        if not keeps_answers(run):
            raise Http404
        if "download" in request.GET:
            return stream_answers(run, request.GET)
        title = _("Answers of run %(n)s") % {"n": run.pk}
        return self._page(request, "answers", title=title, **answers_context(run, request.GET))

    def training_view(self, request: HttpRequest, pk: int) -> StreamingHttpResponse:
        return stream_training(self._find(request, pk))

    def log_view(self, request: HttpRequest, pk: int) -> StreamingHttpResponse:
        return stream_log(self._find(request, pk), download="download" in request.GET)

    def cancel_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return self._steer(request, pk, cancel_run)

    def resume_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return self._steer(request, pk, resume_run)

    def _page(self, request: HttpRequest, name: str, **context: Any) -> TemplateResponse:
        shared = {**self.admin_site.each_context(request), "opts": self.opts}
        return TemplateResponse(request, f"admin/probing/run/{name}.html", {**shared, **context})

    def _steer(self, request: HttpRequest, pk: int, service: Callable[..., Run]) -> HttpResponse:
        run = self._find(request, pk)
        if not self.has_change_permission(request, run):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        try:
            service(run=run)
        except RunError as error:
            messages.error(request, str(error))
        return redirect("admin:probing_run_change", run.pk)

    def _find(self, request: HttpRequest, pk: int | str) -> Run:
        """Return the run, or refuse; before the run is looked for, so that nothing leaks."""
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        known = visible_runs(request.user).select_related("model", "created_by", "corpus")
        return get_object_or_404(known, pk=pk if str(pk).isdigit() else 0)


def _list_measures(
    measures: Iterable[AnyMeasure],
) -> list[tuple[Subject, list[tuple[AnyMeasure, str]]]]:
    """Return measures with what each does in one sentence, by what they ask about."""
    known = [one for one in measures if one.stimuli_type in FORMS]
    return [
        (subject, found)
        for subject in Subject
        if (
            found := [
                (one, str(getdoc(type(one))).partition("\n")[0])
                for one in known
                if FORMS[one.stimuli_type].subject == subject
            ]
        )
    ]


def _find_report_form(request: HttpRequest, run: Run) -> str:
    """Return where a report on the run is asked for; "" for those who may not ask for any."""
    return find_report_gallery(cast(User, request.user), runs=run.pk)


def _refusing(service: Callable[..., Run]) -> Callable[[Run], None]:
    """Return the service with its refusals as the admin knows them."""

    def do(run: Run) -> None:
        try:
            service(run=run)
        except RunError as error:
            raise ValidationError(str(error)) from error

    return do
