"""The form that asks for a report; its fields follow from what the kind needs."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from annotation.corpora.access import visible_corpora
from annotation.studies.access import visible_studies
from evaluation.models import Report
from evaluation.reports.errors import ReportError
from evaluation.reports.kinds.base import ReportKind
from evaluation.reports.requesting import TITLE_LENGTH, request_report
from evaluation.reports.selectors import fitting_runs
from probing.measures.registry import MEASURES
from probing.models import Run

INPUTS = ("study", "corpus", "runs")
NONE_LABEL = _("none")


def run_label(run: Any) -> str:
    """Return a run by number, measure, model, corpus and status."""
    measure = MEASURES[run.measure].title if run.measure in MEASURES else run.measure
    corpus = f", {run.corpus}" if run.corpus_id else ""
    return f"{run.pk}: {measure}, {run.model.name}{corpus}, {run.get_status_display().lower()}"


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
        if kind.study:
            self.fields["study"] = StudyChoice(
                queryset=kind.fitting_studies(visible_studies(user)),
                label=_("Study"),
                widget=UnfoldAdminSelectWidget,
                help_text=kind.study.help,
            )
        if kind.corpus:
            self.fields["corpus"] = forms.ModelChoiceField(
                queryset=visible_corpora(user),
                label=_("Corpus"),
                widget=UnfoldAdminSelectWidget,
                help_text=kind.corpus.help,
            )
        if kind.runs:
            self._add_runs()
        for name, described in kind.Parameters.model_json_schema()["properties"].items():
            self.fields[name] = _parameter_field(described, kind.choices(name))
        self.fields["title"] = forms.CharField(
            label=_("Title"),
            required=False,
            max_length=TITLE_LENGTH,
            widget=UnfoldAdminTextInputWidget,
            help_text=_("A question, without a verdict. Left empty, the kind’s own is taken."),
        )

    def _add_runs(self) -> None:
        wanted = self.kind.runs
        if wanted is None:
            return
        common: dict[str, Any] = {
            "queryset": fitting_runs(wanted, self.user),
            "help_text": wanted.help,
            "required": wanted.least > 0,
        }
        self.fields["runs"] = (
            RunChoice(label=_("Run"), widget=UnfoldAdminSelectWidget, **common)
            if wanted.most == 1
            else RunsChoice(label=_("Runs"), widget=forms.CheckboxSelectMultiple, **common)
        )

    @property
    def nothing_fits(self) -> list[str]:
        """Return the labels of required inputs of which there are none to choose."""
        fields = (self.fields[name] for name in INPUTS if name in self.fields)
        return [
            str(field.label).lower()
            for field in fields
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
        try:
            self.report = request_report(
                kind=self.kind.name,
                study=cleaned.get("study"),
                corpus=cleaned.get("corpus"),
                runs=[runs] if isinstance(runs, Run) else list(runs or ()),
                created_by=self.user,
                parameters=options,
                title=cleaned["title"],
            )
        except ReportError as error:
            self.add_error(None, str(error))
        return cleaned


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
        choices = [(value, value) for value in shape["enum"]]
    if choices is not None:
        first = [("", NONE_LABEL)] if optional else []
        return forms.ChoiceField(
            choices=[*first, *choices], widget=UnfoldAdminSelectWidget, **common
        )
    if shape.get("type") == "boolean":
        return forms.BooleanField(**common)
    if shape.get("type") == "integer":
        return forms.IntegerField(
            min_value=shape.get("minimum"),
            max_value=shape.get("maximum"),
            widget=UnfoldAdminIntegerFieldWidget,
            **common,
        )
    if described.get("format") == "csv":
        return forms.CharField(widget=UnfoldAdminTextareaWidget, **common)
    # Other numbers and texts: the schema itself reads and judges them, with its own words.
    return forms.CharField(widget=UnfoldAdminTextInputWidget, **common)
