"""The forms that edit a draft of an instrument: steps as lines, entries from the library."""

from __future__ import annotations

from typing import Any

from django import forms
from django.forms.models import BaseInlineFormSet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminTextareaWidget

from annotation.admin.flow_editor import FlowField
from annotation.models import (
    DemographicQuestion,
    Instrument,
    QuestionKind,
    StudyGroup,
    TraitScale,
    Wording,
)
from annotation.studies.lifecycle import hash_instrument


class LinesField(forms.CharField):
    """A list of texts, one a line."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("widget", UnfoldAdminTextareaWidget(attrs={"rows": 4}))
        super().__init__(**kwargs)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(str(line) for line in value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        if isinstance(value, list):
            return value
        return [line.strip() for line in (value or "").splitlines() if line.strip()]

    def validate(self, value: Any) -> None:
        if self.required and not value:
            raise forms.ValidationError(self.error_messages["required"], code="required")

    def run_validators(self, value: Any) -> None:
        return  # the validators of a text know nothing of lists

    def has_changed(self, initial: Any, data: Any) -> bool:
        return self.to_python(initial) != self.to_python(data)


class InstrumentForm(forms.ModelForm):
    flow = FlowField(label=gettext_lazy("Steps"))
    # The content that the form was opened with, so that nobody saves over a colleague's edits.
    opened_as = forms.CharField(max_length=64, required=False, widget=forms.HiddenInput)

    class Meta:
        model = Instrument
        fields = (
            "flow",
            "scale_order",
            "pole_sides",
            "show_ticks",
            "one_per_domain",
            "high_from",
            "low_to",
            "agreement_rule",
            "agreement_within",
            "agreement_at_least",
            "agreement_tau",
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Left out, they stay as they are.
        for name in ("agreement_rule", "agreement_tau"):
            if name in self.fields:
                self.fields[name].required = False
        if "opened_as" in self.fields:
            self.fields["opened_as"].initial = hash_instrument(self.instance)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        # The admin has locked the row for this request, and the form has not yet written on it.
        if cleaned.get("opened_as") != hash_instrument(self.instance):
            self.add_error(
                None,
                _(
                    "Somebody else saved this version after you opened it, so nothing of yours is "
                    "saved. Open this page in a second window to see their edits, and bring yours "
                    "over."
                ),
            )
        return cleaned


class WordingForm(forms.ModelForm):
    """A text with the line ends that it is stored with: browsers send others."""

    class Meta:
        model = Wording
        fields = ("text",)

    def clean_text(self) -> str:
        return "\n".join(self.cleaned_data["text"].splitlines())


class StudyGroupForm(forms.ModelForm):
    """A group is chosen from the library; its surface forms are copied when it is added."""

    class Meta:
        model = StudyGroup
        fields = ("group", "position")

    def save(self, commit: bool = True) -> StudyGroup:
        if "group" in self.changed_data:
            entry = self.cleaned_data["group"]
            for name in ("slug", "singular", "plural", "plural_capitalised", "domains"):
                setattr(self.instance, name, getattr(entry, name))
        return super().save(commit)


class TraitScaleForm(forms.ModelForm):
    """A trait pair is chosen from the library; its adjectives are copied when it is added."""

    class Meta:
        model = TraitScale
        fields = ("trait_pair", "position")

    def save(self, commit: bool = True) -> TraitScale:
        if "trait_pair" in self.changed_data:
            entry = self.cleaned_data["trait_pair"]
            for name in ("slug", "low", "high", "dimension"):
                setattr(self.instance, name, getattr(entry, name))
        return super().save(commit)


class UniqueEntries(BaseInlineFormSet):
    """Refuses a library entry that is chosen twice; ``entry`` names the field."""

    entry = ""

    def clean(self) -> None:
        super().clean()
        seen: set[Any] = set()
        for form in self.forms:
            cleaned = getattr(form, "cleaned_data", None) or {}
            chosen = cleaned.get(self.entry)
            if chosen is None or cleaned.get("DELETE"):
                continue
            if chosen in seen:
                form.add_error(self.entry, _("“%(entry)s” stands here twice.") % {"entry": chosen})
            seen.add(chosen)


class UniqueGroups(UniqueEntries):
    entry = "group"


class UniqueScales(UniqueEntries):
    entry = "trait_pair"


class QuestionForm(forms.ModelForm):
    options = LinesField(
        label=gettext_lazy("Options"),
        required=False,
        help_text=gettext_lazy(
            "For choices: one a line. The last that ends with a colon, such as “I describe "
            "myself:”, opens a field for words of one’s own. A choice of more than twelve is shown "
            "as a list that opens."
        ),
    )

    class Meta:
        model = DemographicQuestion
        fields = (
            "slug",
            "kind",
            "label",
            "help_text",
            "options",
            "minimum",
            "maximum",
            "position",
        )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        kind, options = cleaned.get("kind"), cleaned.get("options") or []
        if kind in {QuestionKind.CHOICE, QuestionKind.CHOICES} and len(options) < 2:
            self.add_error(
                "options",
                _("%(n)d options, expected at least two for a choice.") % {"n": len(options)},
            )
        if len(set(options)) < len(options):
            self.add_error("options", _("An option stands here twice."))
        low, high = cleaned.get("minimum"), cleaned.get("maximum")
        if low is not None and high is not None and low > high:
            self.add_error(
                "maximum",
                _("%(high)d is below the minimum of %(low)d.") % {"high": high, "low": low},
            )
        return cleaned
