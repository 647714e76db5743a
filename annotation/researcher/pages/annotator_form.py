"""What the forms of writing and judgment studies have in common."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext_lazy
from unfold.widgets import (
    UnfoldAdminSelectWidget,
)

from annotation.annotators.statement import LONGEST_PART, STATEMENT_PARTS, find_statement
from annotation.models import (
    AnnotatorStatement,
    Corpus,
    JudgmentDesign,
    StudyStatus,
    WritingDesign,
)
from annotation.researcher.pages.fields import ParagraphField, WholeNumberField, fill

STUDY_FIELDS = ("title", "contact_email", "ethics_reference")
STATEMENT_FIELDSET = (
    gettext_lazy("For the data statement"),
    {
        "fields": tuple(STATEMENT_PARTS),
        "description": gettext_lazy(
            "Reports print it, and say “not recorded” where it is empty. Write about all "
            "annotators together, never about one: few people are easily recognized."
        ),
    },
)


def _part(name: str) -> forms.CharField:
    return ParagraphField(
        label=STATEMENT_PARTS[name],
        required=False,
        max_length=LONGEST_PART,
        rows=2,
        help_text=getattr(AnnotatorStatement._meta.get_field(name), "help_text", ""),
    )


class AnnotatorStudyForm(forms.ModelForm):
    """A study, its design and the statement about its annotators; services store all three.

    The statement can always be changed; the design of a launched study is only shown.
    """

    design_model: ClassVar[type[WritingDesign | JudgmentDesign]]
    #: What the services take of the design, and the fields that show it, where they differ.
    design_fields: ClassVar[tuple[str, ...]]
    wording_fields: ClassVar[tuple[str, ...]] = ()
    help_texts: ClassVar[dict[str, Any]] = {
        "title": gettext_lazy("Annotators read it."),
        "contact_email": gettext_lazy("Shown to annotators on every page."),
    }

    corpus = forms.ModelChoiceField(
        Corpus.objects.none(),
        label=gettext_lazy("Corpus"),
        empty_label=gettext_lazy("Choose a corpus"),
        widget=UnfoldAdminSelectWidget,
    )
    seed = WholeNumberField(
        label=gettext_lazy("Seed"),
        required=False,
        min_value=0,
        max_value=2**31 - 1,
        help_text=gettext_lazy(
            "Decides which texts are drawn and in which order they come. Leave empty to have one "
            "chosen."
        ),
    )
    recruitment = _part("recruitment")
    background = _part("background")
    training = _part("training")
    pay = _part("pay")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, text in self.help_texts.items():
            if name in self.fields:
                self.fields[name].help_text = text
        self.design: Any = self.design_model.objects.filter(study_id=self.instance.pk).first()
        shown = self.show_design()
        if self.instance.pk is not None:
            statement = find_statement(self.instance)
            shown |= {name: getattr(statement, name) for name in STATEMENT_PARTS}
        fill(self, shown)
        if self.design is not None:
            for name in (*self.design_fields, *self.wording_fields):
                if name in self.fields:
                    self.fields[name].disabled = not self.is_draft

    @property
    def is_draft(self) -> bool:
        return self.instance.pk is None or self.instance.status == StudyStatus.DRAFT

    def show_design(self) -> dict[str, Any]:
        """Return what the fields of the design hold when the form is opened."""
        if self.design is None:
            return {}
        return {name: getattr(self.design, name) for name in self.design_fields}

    def design_options(self) -> dict[str, Any]:
        """Return what the services take of the design; an empty seed is left to them."""
        values = {name: self.cleaned_data[name] for name in self.design_fields}
        if values["seed"] is None:
            del values["seed"]
        return values

    def statement_parts(self) -> dict[str, str]:
        """Return what the service takes of the statement."""
        return {name: self.cleaned_data[name] for name in STATEMENT_PARTS}
