"""The forms that create a writing study and that change its settings and design."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy

from annotation.counterparts.creation import DEFAULT_GUIDELINES, check_numbers, parse_guidelines
from annotation.models import WritingDesign, WritingStudy
from annotation.researcher.pages.annotator_form import STUDY_FIELDS, AnnotatorStudyForm
from annotation.researcher.pages.fields import (
    NumberField,
    ParagraphField,
    SwitchField,
    WholeNumberField,
)


class WritingForm(AnnotatorStudyForm):
    """The texts, their overlap and the guidelines."""

    design_model = WritingDesign
    design_fields = (
        "corpus",
        "n_texts",
        "weighted_by_features",
        "common_texts",
        "per_source",
        "shared_percent",
        "seed",
        "guidelines",
    )
    help_texts = AnnotatorStudyForm.help_texts | {
        "corpus": gettext_lazy("Its texts without a gold counterpart are rewritten."),
    }

    n_texts = WholeNumberField(
        label=gettext_lazy("Number of texts"),
        required=False,
        min_value=1,
        help_text=gettext_lazy("How many are drawn; empty takes all of them."),
    )
    weighted_by_features = SwitchField(
        label=gettext_lazy("Draw texts with more features of the variety more often"),
        help_text=gettext_lazy(
            "By features for each word, as the page of the corpus finds them. It needs a number of "
            "texts below that of the corpus; the seed is kept."
        ),
    )
    common_texts = WholeNumberField(
        label=gettext_lazy("Common texts"),
        min_value=0,
        initial=0,
        help_text=gettext_lazy("How many texts every annotator rewrites."),
    )
    per_source = SwitchField(
        label=gettext_lazy("Both numbers are of every source"),
        help_text=gettext_lazy(
            "With 62 and 12, every source gives 62 texts, 12 of which everybody rewrites: the "
            "50 and 12 of Deas et al. (2023)."
        ),
    )
    shared_percent = NumberField(
        label=gettext_lazy("Shared percentage"),
        min_value=0,
        max_value=100,
        initial=10,
        help_text=gettext_lazy("Of the other texts, what each pair of annotators has in common."),
    )
    guidelines = ParagraphField(
        label=gettext_lazy("Guidelines"),
        rows=9,
        help_text=gettext_lazy(
            "One per line, as annotators read them. A line “text → counterpart” is an example."
        ),
    )

    class Meta:
        model = WritingStudy
        fields = STUDY_FIELDS

    def show_design(self) -> dict[str, Any]:
        guidelines = self.design.guidelines if self.design else DEFAULT_GUIDELINES
        return super().show_design() | {"guidelines": "\n".join(guidelines)}

    def clean_guidelines(self) -> list[str]:
        guidelines = parse_guidelines(self.cleaned_data["guidelines"])
        if not guidelines:
            raise ValidationError(gettext_lazy("Write at least one guideline."))
        return guidelines

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.is_draft and cleaned.get("corpus") and cleaned.get("common_texts") is not None:
            try:
                check_numbers(
                    corpus=cleaned["corpus"],
                    n_texts=cleaned.get("n_texts"),
                    common_texts=cleaned["common_texts"],
                    weighted=cleaned.get("weighted_by_features", False),
                    per_source=cleaned.get("per_source", False),
                )
            except ValidationError as refusal:
                self.add_error(None, refusal)
        return cleaned
