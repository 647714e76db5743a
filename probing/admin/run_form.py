"""The form that creates a run; its parameters follow from the measure's schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminSelectWidget

from probing.admin import wording
from probing.admin.parameter_field import parameter_field
from probing.measures.base import AnyMeasure
from probing.models import LanguageModel, Run
from probing.runs.choosing import StimuliChoice, choose_stimuli
from probing.runs.creation import LARGEST_SEED, create_run
from probing.runs.errors import RunError
from probing.runs.fitting import fitting_kinds
from probing.runs.parameters import allows_none, validate_parameters

PREFIX = "parameter_"


class RunForm(forms.Form):
    """Model, seed and one field for each parameter of ``measure``; what a subclass adds says
    what the run works on.

    After :meth:`is_valid`, ``request`` holds the arguments of the services.
    """

    model = forms.ModelChoiceField(
        queryset=LanguageModel.objects.none(), label=_("Model"), widget=UnfoldAdminSelectWidget
    )
    seed = forms.IntegerField(
        label=_("Seed"),
        initial=0,
        min_value=0,
        max_value=LARGEST_SEED,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=_("Stored with the run. Only measures that draw at random depend on it."),
    )

    #: The part of the page for what the run works on.
    stimuli_template = ""

    def __init__(
        self, data: Any = None, files: Any = None, *, measure: AnyMeasure, user: User
    ) -> None:
        super().__init__(data, files)
        self.measure, self.user = measure, user
        self.request: dict[str, Any] = {}
        self._fit_models()
        schema = measure.Parameters.model_json_schema()
        for name, described in schema["properties"].items():
            self.fields[PREFIX + name] = parameter_field(
                described, optional=allows_none(measure.Parameters, name)
            )

    def _fit_models(self) -> None:
        """Offer the models whose kind can do what the measure asks, and say why not others."""
        kinds = fitting_kinds(self.measure.abilities)
        self.kinds = wording.kinds(kinds)
        known = LanguageModel.objects.order_by("is_demo", "name")
        field = self.fields["model"]
        field.queryset = known.filter(kind__in=kinds)  # type: ignore[attr-defined]
        self.unfitting = known.exclude(kind__in=kinds).count()
        if self.unfitting:
            field.help_text = wording.unfitting(self.unfitting, kinds)
        field.error_messages["invalid_choice"] = _(
            "This model is not registered, or not of a kind that fits the measure."
        )

    @property
    def parameter_fields(self) -> Iterator[forms.BoundField]:
        return (self[name] for name in self.fields if name.startswith(PREFIX))

    def choice(self, cleaned: dict[str, Any]) -> StimuliChoice:
        """Return what the run works on, as it was chosen."""
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        parameters = {
            name.removeprefix(PREFIX): value
            for name, value in cleaned.items()
            if name.startswith(PREFIX)
        }
        choice = self.choice(cleaned)
        try:
            validate_parameters(self.measure, parameters)
            stimuli = choose_stimuli(
                measure=self.measure,
                model=cleaned["model"],
                choice=choice,
                seed=cleaned["seed"],
                parameters=parameters,
            )
        except RunError as error:
            self.add_run_error(error)
            return cleaned
        self.request = {
            "measure": self.measure.name,
            "model": cleaned["model"],
            "stimuli": stimuli,
            "parameters": parameters,
            "corpus": choice.corpus,
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
