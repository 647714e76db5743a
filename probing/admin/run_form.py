"""The form that creates a run; its parameters follow from the measure's schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import Count
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from annotation.models import GroupSet, SocialGroup
from probing.measures.registry import MEASURES
from probing.models import LanguageModel, Run, Template, TemplateSet
from probing.runs.creation import LARGEST_SEED, create_run
from probing.runs.errors import RunError
from probing.runs.parameters import allows_none, validate_parameters
from probing.runs.stimuli import DEFAULT_GROUPS, load_stimuli

PREFIX = "parameter_"
NONE_LABEL = _("none")
# The one template that Table 5 of Cao et al. (2022) finds best for SeT with RoBERTa.
DEFAULT_TEMPLATES = "cao-2022-best-roberta"


class RunForm(forms.Form):
    """Model, groups, templates, seed and one field for each parameter of ``measure``.

    After :meth:`is_valid`, ``request`` holds the arguments of the services.
    """

    model = forms.ModelChoiceField(
        queryset=LanguageModel.objects.order_by("is_demo", "name"),
        label=_("Model"),
        widget=UnfoldAdminSelectWidget,
    )
    groups = forms.MultipleChoiceField(
        label=_("Groups"), widget=forms.CheckboxSelectMultiple, required=False
    )
    single_groups = forms.MultipleChoiceField(
        label=_("Single groups"), widget=forms.CheckboxSelectMultiple, required=False
    )
    templates = forms.MultipleChoiceField(
        label=_("Templates"), widget=forms.CheckboxSelectMultiple, required=False
    )
    single_templates = forms.MultipleChoiceField(
        label=_("Single templates"), widget=forms.CheckboxSelectMultiple, required=False
    )
    seed = forms.IntegerField(
        label=_("Seed"),
        initial=0,
        min_value=0,
        max_value=LARGEST_SEED,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=_("Stored with the run. Only measures that draw at random depend on it."),
    )

    def __init__(self, data: Any = None, *, measure: str) -> None:
        super().__init__(data)
        self.measure = MEASURES[measure]
        self.request: dict[str, Any] = {}
        self._choices("groups", GroupSet.objects.annotate(number=Count("groups")), DEFAULT_GROUPS)
        self._choices(
            "templates", TemplateSet.objects.annotate(number=Count("templates")), DEFAULT_TEMPLATES
        )
        self._choices("single_groups", SocialGroup.objects.all())
        self._choices("single_templates", Template.objects.all())
        schema = self.measure.Parameters.model_json_schema()
        for name, described in schema["properties"].items():
            self.fields[PREFIX + name] = _parameter_field(
                described, optional=allows_none(self.measure.Parameters, name)
            )

    def _choices(self, name: str, entries: Any, *initial: str) -> None:
        field = self.fields[name]
        field.choices = [(entry.slug, _label(entry)) for entry in entries]  # type: ignore[attr-defined]
        field.initial = list(initial)

    @property
    def parameter_fields(self) -> Iterator[forms.BoundField]:
        return (self[name] for name in self.fields if name.startswith(PREFIX))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        parameters = {
            name.removeprefix(PREFIX): value
            for name, value in cleaned.items()
            if name.startswith(PREFIX)
        }
        try:
            validate_parameters(self.measure, parameters)
            stimuli = load_stimuli(
                groups=[*cleaned["groups"], *cleaned["single_groups"]],
                templates=[*cleaned["templates"], *cleaned["single_templates"]],
            )
        except RunError as error:
            self.add_run_error(error)
            return cleaned
        self.request = {
            "measure": self.measure.name,
            "model": cleaned["model"],
            "stimuli": stimuli,
            "parameters": parameters,
        }
        return cleaned

    def create(self, user: User) -> Run | None:
        """Create the run; None with the errors in the form where that is refused."""
        try:
            return create_run(**self.request, seed=self.cleaned_data["seed"], created_by=user)
        except RunError as error:
            self.add_run_error(error)
            return None

    def add_run_error(self, error: RunError) -> None:
        """Show each problem at the field where it was entered, or above the form."""
        for problem in error.problems:
            field = problem.where.replace("parameter ", PREFIX, 1)
            known = field in self.fields
            text = problem.message if known else f"{problem.where}: {problem.message}"
            self.add_error(field if known else None, text)


def _label(entry: Any) -> str:
    number = getattr(entry, "number", None)
    return str(entry) if number is None else f"{entry} ({number})"


def _parameter_field(described: dict[str, Any], *, optional: bool) -> forms.Field:
    """Return the field for one parameter of a JSON Schema."""
    shape = next(
        (entry for entry in described.get("anyOf", []) if entry.get("type") != "null"), described
    )
    default = described.get("default")
    common: dict[str, Any] = {
        "label": described.get("title"),
        "help_text": described.get("description", ""),
        "initial": default,
        "required": not optional and shape.get("type") != "boolean",
    }
    if "enum" in shape or "const" in shape:
        choices = [(value, value) for value in shape.get("enum", [shape.get("const")])]
        if optional:
            choices.insert(0, ("", NONE_LABEL))
        return forms.ChoiceField(choices=choices, widget=UnfoldAdminSelectWidget, **common)
    if shape.get("type") == "boolean":
        return forms.BooleanField(**common)
    if shape.get("type") == "integer":
        return forms.IntegerField(
            min_value=shape.get("minimum"),
            max_value=shape.get("maximum"),
            widget=UnfoldAdminIntegerFieldWidget,
            **common,
        )
    # Other numbers and texts: the schema itself reads and judges them, with its own words.
    return forms.CharField(widget=UnfoldAdminTextInputWidget, **common)
