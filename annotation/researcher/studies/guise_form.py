"""The form that creates a study of the speakers of texts."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminSelectWidget

from annotation.instruments.flow import count_groups
from annotation.instruments.presets import SPEAKERS
from annotation.models import Corpus, PoleSides, ScaleOrder, Study, TraitPair
from annotation.researcher.pages.fields import (
    ChoiceField,
    PickerWidget,
    SwitchField,
    WholeNumberField,
    make_optional,
)
from annotation.researcher.studies.quality_form import RULE_FIELDS
from annotation.researcher.studies.study_form import (
    DATA,
    GENERAL,
    PAYMENT,
    QUOTA_AND_REVIEW,
    RATING_PAGE,
    STUDY_FIELDS,
    CurrencyMixin,
    list_dimension,
)
from annotation.studies.creation import human_study_scales
from annotation.studies.guises import draw_guises

PAGE_FIELDS = ("scale_order", "pole_sides", "show_ticks")


class GuiseCreationForm(CurrencyMixin, forms.ModelForm):
    """A new study with its texts and scales; the service stores both."""

    corpus = forms.ModelChoiceField(
        Corpus.objects.none(),
        label=gettext_lazy("Corpus"),
        widget=UnfoldAdminSelectWidget,
        help_text=gettext_lazy("Its text pairs are rated; nobody reads both texts of a pair."),
    )
    n_pairs = WholeNumberField(
        label=gettext_lazy("Number of pairs"),
        required=False,
        min_value=1,
        help_text=gettext_lazy("How many are drawn; empty takes all of them."),
    )
    trait_pairs = forms.ModelMultipleChoiceField(
        TraitPair.objects.all(),
        label=gettext_lazy("Trait pairs"),
        widget=PickerWidget(gettext_lazy("Trait pairs"), list_dimension),
    )
    scale_order = ChoiceField(
        label=gettext_lazy("Order of lines"),
        choices=ScaleOrder.choices,
        initial=ScaleOrder.RANDOMISED,
    )
    pole_sides = ChoiceField(
        label=gettext_lazy("Sides of the poles"),
        choices=PoleSides.choices,
        initial=PoleSides.PER_SCALE,
    )
    show_ticks = SwitchField(label=gettext_lazy("Tick labels 0 to 100"))

    class Meta:
        model = Study
        fields = STUDY_FIELDS
        labels = {"quota_per_group": gettext_lazy("Quota per text")}
        help_texts = {
            "quota_per_group": gettext_lazy("Accepted ratings wanted for each text."),
            "reservation_minutes": gettext_lazy(
                "How long the texts of an idle submission are held."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        make_optional(self, RULE_FIELDS)  # left out, they have their defaults
        self.fields["trait_pairs"].initial = human_study_scales()

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        corpus, n_pairs = cleaned.get("corpus"), cleaned.get("n_pairs")
        if corpus is None or "n_pairs" in self.errors:
            return cleaned
        try:
            items = {guise.item for guise in draw_guises(corpus, n_pairs=n_pairs, seed_text="0")}
        except ValidationError as error:
            self.add_error("n_pairs" if n_pairs else "corpus", error)
            return cleaned
        wanted = count_groups(list(SPEAKERS.flow))
        if len(items) < wanted:
            problem = _("%(n)d pairs are too few, expected %(wanted)d: one for each rating page.")
            self.add_error("n_pairs", problem % {"n": len(items), "wanted": wanted})
        return cleaned

    def study_options(self) -> dict[str, Any]:
        """Return what `create_guise_study` takes besides owner and scales."""
        left_out = {name for name in RULE_FIELDS if not self.cleaned_data[name]}
        names = [name for name in STUDY_FIELDS if name not in left_out]
        return {name: self.cleaned_data[name] for name in (*names, "corpus", "n_pairs")}

    def instrument_options(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in PAGE_FIELDS}


GUISE_FIELDSETS: tuple[Any, ...] = (
    GENERAL,
    (
        gettext_lazy("Texts and trait pairs"),
        {"fields": ("corpus", "n_pairs", "trait_pairs")},
    ),
    QUOTA_AND_REVIEW,
    PAYMENT,
    DATA,
    (RATING_PAGE[0], {"fields": PAGE_FIELDS}),
)
