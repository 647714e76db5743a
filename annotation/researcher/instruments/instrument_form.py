"""The forms that edit a draft of an instrument: steps as lines, entries from the library."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.forms.models import BaseInlineFormSet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.instruments.content_hash import hash_instrument
from annotation.models import (
    DemographicQuestion,
    Instrument,
    QuestionKind,
    StudyGroup,
    TraitScale,
    Wording,
)
from annotation.researcher.instruments.flow_editor import FlowField
from annotation.researcher.pages.fields import LinesField, make_optional


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
        make_optional(self, ("agreement_rule", "agreement_tau"))  # left out, they stay as they are
        if "opened_as" in self.fields:
            self.fields["opened_as"].initial = hash_instrument(self.instance)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        # The admin has locked the row for this request, and the form has not yet written on it.
        if cleaned.get("opened_as") != hash_instrument(self.instance):
            self.add_error(
                None,
                _(
                    "Somebody else saved this version after you opened it, so your edits are not "
                    "saved. Open this page in a second window to see theirs, and enter yours "
                    "there."
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


class LibraryCopyForm(forms.ModelForm):
    """An entry is chosen from the library; what people read is copied when it is added."""

    #: The field that chooses the entry, and what is copied of it.
    entry: ClassVar[str]
    copied: ClassVar[tuple[str, ...]]

    def save(self, commit: bool = True) -> Any:
        if self.entry in self.changed_data:
            for name in self.copied:
                setattr(self.instance, name, getattr(self.cleaned_data[self.entry], name))
        return super().save(commit)


class StudyGroupForm(LibraryCopyForm):
    entry = "group"
    copied = ("slug", "singular", "plural", "plural_capitalised", "domains")

    class Meta:
        model = StudyGroup
        fields = ("group", "position")


class TraitScaleForm(LibraryCopyForm):
    entry = "trait_pair"
    copied = ("slug", "low", "high", "dimension")

    class Meta:
        model = TraitScale
        fields = ("trait_pair", "position")


class UniqueEntries(BaseInlineFormSet):
    """Refuses a library entry that is chosen twice."""

    def clean(self) -> None:
        super().clean()
        seen: set[Any] = set()
        entry = self.form.entry  # type: ignore[attr-defined] # of a `LibraryCopyForm`
        for form in self.forms:
            cleaned = getattr(form, "cleaned_data", None) or {}
            chosen = cleaned.get(entry)
            if chosen is None or cleaned.get("DELETE"):
                continue
            if chosen in seen:
                form.add_error(entry, _("“%(entry)s” is chosen twice.") % {"entry": chosen})
            seen.add(chosen)


class QuestionForm(forms.ModelForm):
    options = LinesField(
        label=gettext_lazy("Options"),
        required=False,
        help_text=gettext_lazy(
            "For choices: one per line. The last that ends with a colon, such as “I describe "
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
            self.add_error("options", _("Enter at least two options for a choice."))
        if len(set(options)) < len(options):
            self.add_error("options", _("An option is given twice."))
        low, high = cleaned.get("minimum"), cleaned.get("maximum")
        if low is not None and high is not None and low > high:
            self.add_error(
                "maximum",
                _("%(high)d is below the minimum of %(low)d.") % {"high": high, "low": low},
            )
        return cleaned
