"""The form that creates a run; its parameters follow from the measure's schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from django import forms
from django.contrib.auth.models import User
from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget

from annotation.researcher.pages.fields import ChoiceField, TextField, WholeNumberField
from probing.admin.run_charts import kinds, unfitting, value_label
from probing.measures.base import AnyMeasure
from probing.models import LanguageModel, ModelSource, NumberFormat, Run
from probing.runs.certificates import explain_unfit
from probing.runs.creation import LARGEST_SEED, create_run
from probing.runs.errors import RunError
from probing.runs.model_compatibility import fitting_kinds
from probing.runs.number_formats import TRAINING
from probing.runs.parameters import allows_none, validate_parameters
from probing.runs.stimuli_loading import StimuliChoice, run_request

PREFIX = "parameter_"
#: Of models that a form doesn't offer, so many are given with the reason.
REASONS_SHOWN = 5


class Subject(TextChoices):
    """What a measure asks about: the heading below which the page of a new run lists it."""

    GROUPS = "groups", _("What does a model associate with groups by name?")
    SPEAKERS = "speakers", _("What does it associate with the speakers of texts?")
    COUNTERPARTS = "counterparts", _("How well does it read and write two varieties?")
    CLASSIFIERS = "classifiers", _("Does a classifier err more often when a group is named?")


class RunForm(forms.Form):
    """Model, seed and one field for each parameter of ``measure``.

    A subclass adds what the run works on. After :meth:`is_valid`, ``request`` holds the arguments
    of the services.
    """

    model = forms.ModelChoiceField(
        queryset=LanguageModel.objects.none(),
        label=_("Model"),
        empty_label=_("Choose a model"),
        widget=UnfoldAdminSelectWidget,
    )
    seed = WholeNumberField(
        label=_("Seed"),
        initial=0,
        min_value=0,
        max_value=LARGEST_SEED,
        help_text=_("Stored with the run. Only measures that draw at random depend on it."),
    )

    dtype = ChoiceField(
        label=_("Number format"),
        choices=[("", _("as the workers are set")), *NumberFormat.choices],
        required=False,
        help_text=_(
            "Processors and GPUs that have bfloat16 compute faster in it. How far the values of "
            "the first shard are from those in float32 is measured and kept with the run."
        ),
    )

    #: What measures on these stimuli ask.
    subject: ClassVar[Subject] = Subject.CLASSIFIERS
    #: The part of the page for what the run works on.
    stimuli_template = ""
    #: Where a problem is → the field that it is entered in, if that is called otherwise.
    field_names: ClassVar[dict[str, str]] = {}

    def __init__(
        self,
        data: Any = None,
        files: Any = None,
        *,
        measure: AnyMeasure,
        user: User,
        initial: Any = None,
    ) -> None:
        super().__init__(data, files, initial=initial)
        self.measure, self.user = measure, user
        self.request: dict[str, Any] = {}
        if measure.abilities & TRAINING:
            del self.fields["dtype"]
        self._fit_models()
        schema = measure.Parameters.model_json_schema()
        for name, described in schema["properties"].items():
            self.fields[PREFIX + name] = parameter_field(
                described, optional=allows_none(measure.Parameters, name)
            )

    def _fit_models(self) -> None:
        """Offer the models that can do what the measure asks, and say why not the others."""
        fitting = fitting_kinds(self.measure.abilities)
        self.kinds = kinds(fitting)
        known = LanguageModel.objects.exclude(source=ModelSource.IMPORTED)
        known = known.order_by("is_demo", "name")
        field = self.fields["model"]
        of_kind = known.filter(kind__in=fitting)
        reasons = {model.pk: explain_unfit(model, self.measure) for model in of_kind}
        unfit = [pk for pk, reason in reasons.items() if reason]
        field.queryset = of_kind.exclude(pk__in=unfit)  # type: ignore[attr-defined]
        said = [reasons[pk] for pk in unfit[:REASONS_SHOWN]]
        if left_out := list(known.exclude(kind__in=fitting).defer("certificate")):
            said.insert(0, unfitting(left_out, fitting))
        field.help_text = " ".join(said)
        field.error_messages["invalid_choice"] = _(
            "This model is not registered, or not of a kind that fits the measure."
        )

    @property
    def parameter_fields(self) -> Iterator[forms.BoundField]:
        return (self[name] for name in self.fields if name.startswith(PREFIX))

    def choice(self, cleaned: dict[str, Any]) -> StimuliChoice:
        """Return what the run works on, as it was chosen."""
        return StimuliChoice.of(cleaned)

    def parameters(self, cleaned: dict[str, Any]) -> dict[str, Any]:
        """Return the measure's parameters by their names, as they were entered."""
        return {
            name.removeprefix(PREFIX): value
            for name, value in cleaned.items()
            if name.startswith(PREFIX)
        }

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        parameters, choice = self.parameters(cleaned), self.choice(cleaned)
        try:
            # An untouched field is not a choice: the default that fits the model replaces it.
            read = validate_parameters(self.measure, parameters)
            parameters = read.model_dump(mode="json", exclude_defaults=True)
            self.request = run_request(
                measure=self.measure.name,
                model=cleaned["model"],
                choice=choice,
                seed=cleaned["seed"],
                parameters=parameters,
                dtype=cleaned.get("dtype", ""),
            )
        except RunError as error:
            self.add_run_error(error)
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
            where = self.field_names.get(problem.where, problem.where)
            field = where.replace("parameter ", PREFIX, 1)
            known = field in self.fields
            text = problem.message if known else f"{problem.where}: {problem.message}"
            self.add_error(field if known else None, text)


NONE_LABEL = _("none")


def parameter_field(described: dict[str, Any], *, optional: bool) -> forms.Field:
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
    if shape.get("type") == "array" and "enum" in shape.get("items", {}):
        return forms.MultipleChoiceField(
            choices=[(value, value_label(value, described)) for value in shape["items"]["enum"]],
            widget=forms.CheckboxSelectMultiple,
            **common,
        )
    if optional and shape.get("type") == "boolean":
        left = described.get("empty", NONE_LABEL)
        yes_or_no = [("", left), ("true", _("yes")), ("false", _("no"))]
        return ChoiceField(choices=yes_or_no, **common)
    if "enum" in shape or "const" in shape:
        values = shape.get("enum", [shape.get("const")])
        choices: list[tuple[Any, Any]] = [
            (value, value_label(value, described)) for value in values
        ]
        if optional:
            choices.insert(0, ("", described.get("empty", NONE_LABEL)))
        return ChoiceField(choices=choices, **common)
    return plain_field(shape, **common)


def plain_field(shape: dict[str, Any], **common: Any) -> forms.Field:
    """Return the field for a truth value, a whole number or a text of a JSON Schema."""
    if shape.get("type") == "boolean":
        return forms.BooleanField(**common)
    if shape.get("type") == "integer":
        return WholeNumberField(
            min_value=shape.get("minimum"), max_value=shape.get("maximum"), **common
        )
    # Other numbers and texts: the schema itself reads and judges them, with its own words.
    return TextField(**common)
