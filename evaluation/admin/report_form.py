"""The form that asks for a report; its fields follow from what the kind needs."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget

from annotation.corpora.access import visible_corpora
from annotation.models import Study
from annotation.researcher.pages.fields import ChoiceField, TextField
from evaluation.models import Report
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import ReportKind, RunsInput
from evaluation.reports.registry import KINDS
from evaluation.reports.requesting import TITLE_LENGTH, read_parameters, request_report
from evaluation.reports.selectors import fitting_measures, fitting_runs
from probing.admin.run_form import plain_field
from probing.admin.run_labels import value_label
from probing.measures.registry import MEASURES
from probing.models import Run
from probing.runs.access import visible_runs

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
            "queryset": fitting_runs(wanted, self.user).filter(pk__in=self._list_fitting(wanted)),
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

    def _list_fitting(self, wanted: RunsInput) -> list[int]:
        """Return the runs whose groups and templates the kind can work on. One query."""
        stimuli = fitting_runs(wanted, self.user).values_list(
            "pk", "stimuli__groups", "stimuli__templates"
        )
        return [
            pk
            for pk, groups, templates in stimuli
            if self.kind.fits_stimuli({one["slug"] for one in groups or ()}, len(templates or ()))
        ]

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
