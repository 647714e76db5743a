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
from annotation.models import Corpus
from annotation.researcher.pages.fields import (
    WholeNumberField,
)
from annotation.researcher.studies.study_form import (
    DATA,
    GENERAL,
    PAYMENT,
    QUOTA_AND_REVIEW,
    RATING_PAGE,
    CreationForm,
)
from annotation.researcher.studies.text_words import speak_of_texts
from annotation.studies.guise_ratings import draw_guises


class GuiseCreationForm(CreationForm):
    """A new study of texts."""

    page_fields = ("scale_order", "pole_sides", "show_ticks", "skipping")

    corpus = forms.ModelChoiceField(
        Corpus.objects.none(),
        label=gettext_lazy("Corpus"),
        empty_label=gettext_lazy("Choose a corpus"),
        widget=UnfoldAdminSelectWidget,
        help_text=gettext_lazy("Its text pairs are rated; nobody reads both texts of a pair."),
    )
    n_pairs = WholeNumberField(
        label=gettext_lazy("Number of pairs"),
        required=False,
        min_value=1,
        help_text=gettext_lazy("How many are drawn; empty takes all of them."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        speak_of_texts(self.fields)

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
        own = {name: self.cleaned_data[name] for name in ("corpus", "n_pairs")}
        return super().study_options() | own


GUISE_FIELDSETS: tuple[Any, ...] = (
    GENERAL,
    (
        gettext_lazy("Texts and trait pairs"),
        {"fields": ("corpus", "n_pairs", "trait_pairs")},
    ),
    QUOTA_AND_REVIEW,
    PAYMENT,
    DATA,
    (RATING_PAGE[0], {"fields": GuiseCreationForm.page_fields}),
)
