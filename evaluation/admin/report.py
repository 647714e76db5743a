"""Reports in the admin: the gallery, the choice of a kind, and the form that asks for a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import BooleanField, Count, ExpressionWrapper, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget

from annotation.admin.base import do_to_each
from annotation.corpora.access import visible_corpora
from annotation.models import Study
from annotation.researcher.pages.fields import ChoiceField, TextField
from evaluation.models import Report, ReportStatus
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import MISSING
from evaluation.reports.parts.kind import ReportKind, RunsInput, Topic
from evaluation.reports.registry import KINDS, headline, title_of
from evaluation.reports.requesting import (
    TITLE_LENGTH,
    read_parameters,
    rebuild_report,
    request_report,
)
from evaluation.reports.selectors import (
    changeable_reports,
    fitting_measures,
    fitting_runs,
    is_changeable_by,
    visible_reports,
)
from evaluation.reports.views import delete_report, pin_report
from probing.admin.run_charts import value_label
from probing.admin.run_form import plain_field
from probing.measures.registry import MEASURES
from probing.models import Run, RunStatus
from probing.runs.access import visible_runs

# --- The form that asks for a report; its fields follow from what the kind needs ------------------

NOTHING_FITS = {
    "study": _("No study fits yet."),
    "second_study": _("No second study fits yet."),
    "corpus": _("No corpus fits yet."),
    "runs": _("No finished run fits yet."),
}
INPUTS = tuple(NOTHING_FITS)
NONE_LABEL = _("none")


def run_label(run: Any) -> str:
    """Return a run by number, measure, model, corpus and status."""
    measure = MEASURES[run.measure].title if run.measure in MEASURES else run.measure
    corpus = f", {run.corpus}" if run.corpus_id else ""
    state = run.get_origin_display() if run.is_imported else run.get_status_display()
    return f"{run.pk}: {measure}, {run.model.name}{corpus}, {state.lower()}"


class StudyChoice(forms.ModelChoiceField):
    """Studies by title and id, since titles may repeat."""

    def label_from_instance(self, obj: Any) -> str:
        return f"{obj.title} ({obj.public_id})"


class RunChoice(forms.ModelChoiceField):
    def label_from_instance(self, obj: Any) -> str:
        return run_label(obj)


class RunsChoice(forms.ModelMultipleChoiceField):
    def label_from_instance(self, obj: Any) -> str:
        return run_label(obj)


class ReportForm(forms.Form):
    """Study, corpus and runs as far as ``kind`` needs them, its options, and a title.

    A valid form has asked for its report: ``report`` is it.
    """

    def __init__(
        self, data: Any = None, *, kind: ReportKind, user: User, initial: Any = None
    ) -> None:
        super().__init__(data, initial=initial)
        self.kind = kind
        self.user = user
        self.report: Report | None = None
        visible = Study.objects.visible_to(user)
        for name, wanted, fitting in (
            ("study", kind.study, kind.fitting_studies),
            ("second_study", kind.second_study, kind.fitting_second_studies),
        ):
            if wanted:
                self.fields[name] = StudyChoice(
                    queryset=fitting(visible),
                    label=wanted.label or _("Study"),
                    required=wanted.required,
                    empty_label=_("Choose a study") if wanted.required else NONE_LABEL,
                    widget=UnfoldAdminSelectWidget,
                    help_text=wanted.help,
                )
        if kind.corpus:
            self.fields["corpus"] = forms.ModelChoiceField(
                queryset=visible_corpora(user),
                label=_("Corpus"),
                empty_label=_("Choose a corpus"),
                widget=UnfoldAdminSelectWidget,
                help_text=kind.corpus.help,
            )
        if kind.runs:
            self._add_runs()
        for name, described in kind.Parameters.model_json_schema()["properties"].items():
            self.fields[name] = _parameter_field(described, kind.choices(name))
        self.fields["title"] = TextField(
            label=_("Title"),
            required=False,
            max_length=TITLE_LENGTH,
            help_text=_("A question, without a verdict. Left empty, the kind’s own is taken."),
        )

    def _add_runs(self) -> None:
        wanted = self.kind.runs
        if wanted is None:
            return
        common: dict[str, Any] = {
            "queryset": fitting_runs(wanted, self.user).filter(
                pk__in=list_fitting_runs(self.kind, wanted, self.user)
            ),
            "help_text": wanted.help,
            "required": wanted.least > 0,
        }
        self.fields["runs"] = (
            RunChoice(
                label=_("Run"),
                empty_label=_("Choose a run") if wanted.least else NONE_LABEL,
                widget=UnfoldAdminSelectWidget,
                **common,
            )
            if wanted.most == 1
            else RunsChoice(label=_("Runs"), widget=forms.CheckboxSelectMultiple, **common)
        )

    @property
    def nothing_fits(self) -> list[str]:
        """Return a sentence for each required input of which there are none to choose."""
        fields = ((name, self.fields[name]) for name in INPUTS if name in self.fields)
        return [
            str(NOTHING_FITS[name])
            for name, field in fields
            if field.required and not field.queryset.exists()  # type: ignore[attr-defined]
        ]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        runs = cleaned.get("runs")
        options = {
            name: value
            for name, value in cleaned.items()
            # What is left empty takes the default of the schema.
            if name not in (*INPUTS, "title") and value not in (None, "")
        }
        _parameters, problems = read_parameters(self.kind, options)
        for name, text in problems:
            field = name.partition(".")[0]
            known = field in self.fields
            said = (
                f"“{self.fields[field].label if known else name}” {text}." if name else f"{text}."
            )
            self.add_error(field if known else None, said)
        if problems:
            return cleaned
        try:
            self.report = request_report(
                kind=self.kind.name,
                study=cleaned.get("study"),
                second_study=cleaned.get("second_study"),
                corpus=cleaned.get("corpus"),
                runs=[runs] if isinstance(runs, Run) else list(runs or ()),
                created_by=self.user,
                parameters=options,
                title=cleaned["title"],
            )
        except ReportError as error:
            self.add_error(None, str(error))
        return cleaned


def list_fitting_runs(kind: ReportKind, wanted: RunsInput, user: User) -> list[int]:
    """Return the runs whose groups and templates the kind can work on. One query."""
    stimuli = fitting_runs(wanted, user).values_list("pk", "stimuli__groups", "stimuli__templates")
    return [
        pk
        for pk, groups, templates in stimuli
        if kind.fits_stimuli({one["slug"] for one in groups or ()}, len(templates or ()))
    ]


@dataclass(frozen=True)
class OfferedKind:
    """A kind of report, and what is missing before one can be asked for."""

    kind: ReportKind
    missing: tuple[str, ...]


def offer_kinds(kinds: Iterable[ReportKind], user: User) -> list[tuple[str, list[OfferedKind]]]:
    """Return the kinds by their topics, first those that the data of ``user`` allow.

    Two queries, and one for each study, or set of stimuli, that a kind asks for.
    """
    kinds = list(kinds)
    usable = visible_runs(user).exclude(status__in=[RunStatus.FAILED, RunStatus.CANCELED])
    n_runs = dict(usable.order_by().values_list("measure").annotate(n=Count("pk")))
    has_corpus = visible_corpora(user).exists()
    sections = []
    for topic in Topic:
        offered = [
            OfferedKind(kind, tuple(_find_missing(kind, user, n_runs, has_corpus=has_corpus)))
            for kind in kinds
            if kind.topic == topic
        ]
        if offered:
            sections.append((str(topic.label), sorted(offered, key=lambda one: bool(one.missing))))
    return sections


def _find_missing(
    kind: ReportKind, user: User, n_runs: Mapping[str, int], *, has_corpus: bool
) -> Iterator[str]:
    visible = Study.objects.visible_to(user)
    for name, wanted, fitting in (
        ("study", kind.study, kind.fitting_studies),
        ("second_study", kind.second_study, kind.fitting_second_studies),
    ):
        if wanted and wanted.required and not fitting(visible).exists():
            yield f"{NOTHING_FITS[name]} {wanted.help}"
    if kind.corpus and not has_corpus:
        yield f"{NOTHING_FITS['corpus']} {kind.corpus.help}"
    if kind.runs and kind.runs.least:
        n = sum(n_runs.get(measure, 0) for measure in fitting_measures(kind.runs))
        if n and type(kind).fits_stimuli is not ReportKind.fits_stimuli:
            n = len(list_fitting_runs(kind, kind.runs, user))
        if not n:
            yield f"{NOTHING_FITS['runs']} {kind.runs.help}"
        elif n < kind.runs.least:
            counts = {"n": n, "least": kind.runs.least}
            yield _("Needs %(least)d runs; there is %(n)d that fits.") % counts


def list_fitting_kinds(user: User, chosen: Any) -> list[ReportKind]:
    """Return the kinds that can rest on what an address names: a study, a corpus, a run.

    Two queries, and one for each kind that rests on a study like this one.
    """
    kinds = list(KINDS.values())
    study, corpus, run = (str(chosen.get(name, "")) for name in ("study", "corpus", "runs"))
    if study.isdecimal():
        known = Study.objects.visible_to(user).filter(pk=int(study))
        kinds = [kind for kind in kinds if kind.fitting_studies(known).exists()]
    if corpus.isdecimal():
        kinds = [kind for kind in kinds if kind.corpus]
    if run.isdecimal():
        measure = visible_runs(user).filter(pk=int(run)).values_list("measure", flat=True).first()
        kinds = [kind for kind in kinds if kind.runs and measure in fitting_measures(kind.runs)]
    return kinds


def _parameter_field(
    described: dict[str, Any], choices: list[tuple[str, str]] | None
) -> forms.Field:
    """Return the field for one parameter of a JSON Schema, or a choice of what the kind offers."""
    shapes = described.get("anyOf", [described])
    shape = next((entry for entry in shapes if entry.get("type") != "null"), described)
    optional = {"type": "null"} in shapes
    common: dict[str, Any] = {
        "label": str(described.get("title", "")).capitalize(),
        "help_text": described.get("description", ""),
        "initial": described.get("default"),
        "required": "default" not in described,
    }
    if "enum" in shape:
        choices = [(value, value_label(value, described)) for value in shape["enum"]]
    if choices is not None:
        first = [("", NONE_LABEL)] if optional else []
        return ChoiceField(choices=[*first, *choices], **common)
    if described.get("format") == "csv":
        return forms.CharField(widget=UnfoldAdminTextareaWidget, **common)
    return plain_field(shape, **common)


BADGES = {
    ReportStatus.WAITING: "info mark-clock",
    ReportStatus.BUILDING: "info mark-play",
    ReportStatus.FINAL: "good mark-tick",
    ReportStatus.FAILED: "bad mark-cross",
}


@contextmanager
def refusals_told(request: HttpRequest) -> Iterator[None]:
    """Turn a `ReportError` into a message on the next page."""
    try:
        yield
    except ReportError as error:
        messages.error(request, str(error))


def describe_loss(report: Report) -> str:
    """Return what is gone with a report: its files, and links that people were given."""
    n = report.shares.count()
    if not n:
        return report.title
    text = ngettext(
        "%(title)s, with %(n)d link that was shared",
        "%(title)s, with %(n)d links that were shared",
        n,
    )
    return text % {"title": report.title, "n": n}


def report_badge(report: Report) -> SafeString:
    """Return the status of a report as a badge: a mark and a word."""
    mark = BADGES[ReportStatus(report.status)]
    return format_html('<span class="badge {}">{}</span>', mark, report.get_status_display())


class KindFilter(admin.SimpleListFilter):
    """By kind, with the titles of the registry."""

    title = _("kind")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(kind.name, str(kind.title)) for kind in KINDS.values()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Report]) -> QuerySet[Report]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


@admin.register(Report)
class ReportAdmin(ModelAdmin):
    """The gallery of reports. A report is asked for here and read on its own page."""

    list_display = (
        "title_link",
        "kind_title",
        "rests_on",
        "status_badge",
        "headline",
        "created_at",
        "links",
    )
    list_display_links = None
    list_filter = ("status", KindFilter, "is_pinned")
    search_fields = (
        "title",
        "public_id",
        "study__title",
        "corpus__name",
        "created_by__username",
    )
    list_per_page = 50
    ordering = ("-is_pinned", "-pk")
    actions = ("pin", "unpin", "rebuild_selected")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        may_change = ExpressionWrapper(is_changeable_by(request.user), BooleanField())
        reports = visible_reports(request.user).annotate(may_change=may_change)
        return reports.defer("inputs")

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        # Links and files go with a report; it asks for no right to these.
        _all, _counts, needed, _protected = super().get_deleted_objects(objs, request)
        lost = [describe_loss(report) for report in objs]
        counts = {str(self.opts.verbose_name_plural): len(lost)}
        own = set(changeable_reports(request.user).values_list("pk", flat=True))
        kept = [
            gettext("“%(title)s” is not yours to delete.") % {"title": report.title}
            for report in objs
            if report.pk not in own
        ] + [
            gettext("“%(title)s” is being built. Delete it when it is done.")
            % {"title": report.title}
            for report in objs
            if report.status == ReportStatus.BUILDING
        ]
        return lost, counts, needed & {self.opts.verbose_name}, kept

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        keys = list(queryset.order_by().values_list("pk", flat=True))
        for report in changeable_reports(request.user).filter(pk__in=keys):
            with refusals_told(request):
                delete_report(report=report, deleted_by=cast(User, request.user))

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("New report"),
        }
        kind = KINDS.get(request.GET.get("kind", ""))
        if kind is None:
            user = cast(User, request.user)
            context["sections"] = offer_kinds(list_fitting_kinds(user, request.GET), user)
            context["is_about"] = any(name in request.GET for name in INPUTS)
            return TemplateResponse(request, "admin/evaluation/report/kinds.html", context)
        form = ReportForm(
            request.POST or None,
            kind=kind,
            user=cast(User, request.user),
            initial={
                name: request.GET.getlist(name) if name == "runs" else request.GET[name]
                for name in INPUTS
                if name in request.GET
            },
        )
        if request.method == "POST" and form.is_valid() and form.report is not None:
            return redirect("reports:page", form.report.public_id)
        context |= {"form": form, "kind": kind}
        return TemplateResponse(request, "admin/evaluation/report/add.html", context)

    def has_change_permission(self, request: HttpRequest, obj: Report | None = None) -> bool:
        return False

    @admin.action(description=_("Pin to the top"))
    def pin(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        self._set_pins(request, queryset, is_pinned=True)

    @admin.action(description=_("Take the pin away"))
    def unpin(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        self._set_pins(request, queryset, is_pinned=False)

    @admin.action(description=_("Build again from the data as they are now"), permissions=["add"])
    def rebuild_selected(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        """Ask for each anew; the old ones stay as they are."""
        keys = queryset.order_by().values("pk")

        def rebuild(report: Report) -> None:
            try:
                rebuild_report(report=report, created_by=cast(User, request.user))
            except ReportError as error:
                raise ValidationError(str(error)) from error

        reports = list(visible_reports(request.user).filter(pk__in=keys))
        do_to_each(request, reports, rebuild, gettext("Being built again: %(n)d."))

    def _set_pins(
        self, request: HttpRequest, queryset: QuerySet[Report], *, is_pinned: bool
    ) -> None:
        if not request.user.has_perm("evaluation.change_report"):
            raise PermissionDenied
        for report in changeable_reports(request.user).filter(pk__in=queryset.values("pk")):
            pin_report(report=report, is_pinned=is_pinned)

    @display(description=_("report"), ordering="title")
    def title_link(self, report: Report) -> str:
        address = reverse("reports:page", args=[report.public_id])
        link = format_html('<a href="{}">{}</a>', address, report.title)
        if not report.is_pinned:
            return link
        return format_html('{} <span class="badge info">{}</span>', link, _("Pinned"))

    @display(description=_("do"))
    def links(self, report: Report) -> str:
        """Return what can be done with a report; its pages ask before a loss."""
        names = [("compare", _("Compare"))] if report.status == ReportStatus.FINAL else []
        if report.may_change:  # type: ignore[attr-defined]
            names += [("rename", _("Rename")), ("delete", _("Delete"))]
        return format_html_join(
            " ",
            '<a class="row-action" href="{}" aria-label="{}">{}</a>',
            (
                (
                    reverse(f"reports:{name}", args=[report.public_id]),
                    f"{label}: {report.title}",
                    label,
                )
                for name, label in names
            ),
        )

    @display(description=_("kind"), ordering="kind")
    def kind_title(self, report: Report) -> str:
        return title_of(report)

    @display(description=_("rests on"))
    def rests_on(self, report: Report) -> str:
        parts = [str(part) for part in (report.study, report.corpus) if part]
        runs = [f"{run} ({run.model.name})" for run in report.runs.all()]
        return (
            " × ".join([*parts, *runs[:2]]) + (f" + {len(runs) - 2}" if len(runs) > 2 else "")
            or MISSING
        )

    @display(description=_("status"), ordering="status")
    def status_badge(self, report: Report) -> SafeString:
        badge = report_badge(report)
        if not report.n_withdrawn:  # type: ignore[attr-defined]
            return badge
        mark = '{} <span class="badge warn mark-triangle">{}</span>'
        return format_html(mark, badge, _("Built before a withdrawal"))

    @display(description=_("headline"))
    def headline(self, report: Report) -> str:
        return headline(report)
