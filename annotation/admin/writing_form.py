"""The forms that create a writing study and that change its settings and design."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy
from unfold.widgets import (
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldBooleanSwitchWidget,
)

from annotation.admin.annotator_form import STUDY_FIELDS, AnnotatorStudyForm
from annotation.counterparts.creation import check_numbers
from annotation.counterparts.guidelines import DEFAULT_GUIDELINES, parse_guidelines
from annotation.models import Corpus, StudyStatus, WritingDesign, WritingStudy

DESIGN_FIELDS = (
    "corpus",
    "n_texts",
    "weighted_by_features",
    "common_texts",
    "shared_percent",
    "seed",
    "guidelines",
)


class WritingForm(AnnotatorStudyForm, forms.ModelForm):
    """A study and its design; the services store both. A launched design is only shown."""

    corpus = forms.ModelChoiceField(
        Corpus.objects.none(),
        label=gettext_lazy("Corpus"),
        widget=UnfoldAdminSelectWidget,
        help_text=gettext_lazy("Its texts without a gold counterpart are rewritten."),
    )
    n_texts = forms.IntegerField(
        label=gettext_lazy("Number of texts"),
        required=False,
        min_value=1,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=gettext_lazy("How many are drawn; empty takes all of them."),
    )
    weighted_by_features = forms.BooleanField(
        label=gettext_lazy("Draw texts with more features of the variety more often"),
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text=gettext_lazy(
            "By features for each word, as the page of the corpus finds them. It needs a number of "
            "texts below that of the corpus; the seed is kept."
        ),
    )
    common_texts = forms.IntegerField(
        label=gettext_lazy("Common texts"),
        min_value=0,
        initial=0,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=gettext_lazy("How many texts every annotator rewrites."),
    )
    shared_percent = forms.FloatField(
        label=gettext_lazy("Shared percentage"),
        min_value=0,
        max_value=100,
        initial=10,
        widget=UnfoldAdminDecimalFieldWidget,
        help_text=gettext_lazy("Of the other texts, what each pair of annotators has in common."),
    )
    seed = forms.IntegerField(
        label=gettext_lazy("Seed"),
        required=False,
        min_value=0,
        max_value=2**31 - 1,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=gettext_lazy("Decides the draw and the order of texts; empty draws one."),
    )
    guidelines = forms.CharField(
        label=gettext_lazy("Guidelines"),
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 9}),
        help_text=gettext_lazy("One a line, as annotators read them."),
    )

    class Meta:
        model = WritingStudy
        fields = STUDY_FIELDS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        design = WritingDesign.objects.filter(study_id=self.instance.pk).first()
        if design is None:
            if "guidelines" in self.fields:
                self.fields["guidelines"].initial = "\n".join(DEFAULT_GUIDELINES)
            return
        for name in DESIGN_FIELDS:
            if name in self.fields:
                self.fields[name].initial = getattr(design, name)
                self.fields[name].disabled = self.instance.status != StudyStatus.DRAFT
        if "guidelines" in self.fields:
            self.fields["guidelines"].initial = "\n".join(design.guidelines)

    def clean_guidelines(self) -> list[str]:
        guidelines = parse_guidelines(self.cleaned_data["guidelines"])
        if not guidelines:
            raise ValidationError(gettext_lazy("Write at least one guideline."))
        return guidelines

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        is_draft = self.instance.pk is None or self.instance.status == StudyStatus.DRAFT
        if is_draft and cleaned.get("corpus") and cleaned.get("common_texts") is not None:
            try:
                check_numbers(
                    corpus=cleaned["corpus"],
                    n_texts=cleaned.get("n_texts"),
                    common_texts=cleaned["common_texts"],
                    weighted=cleaned.get("weighted_by_features", False),
                )
            except ValidationError as refusal:
                self.add_error(None, refusal)
        return cleaned

    def design_options(self) -> dict[str, Any]:
        """Return what the services take of the design; an empty seed is left to them."""
        values = {name: self.cleaned_data[name] for name in DESIGN_FIELDS}
        if values["seed"] is None:
            del values["seed"]
        return values
