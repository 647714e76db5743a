"""What the forms of writing and judgment studies have in common."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminTextareaWidget

from annotation.annotators.statement import LONGEST_PART, STATEMENT_PARTS, find_statement
from annotation.models import AnnotatorStatement

STUDY_FIELDS = ("title", "contact_email", "ethics_reference")
STUDY_HELP = {
    "title": gettext_lazy("Annotators read it."),
    "contact_email": gettext_lazy("Shown to annotators on every page."),
}
STATEMENT_FIELDSET = (
    gettext_lazy("For the data statement"),
    {
        "fields": tuple(STATEMENT_PARTS),
        "description": gettext_lazy(
            "Reports print it, and say “not recorded” where it is empty. Write of all annotators "
            "together, never of one: few people are easily recognised."
        ),
    },
)


def _part(name: str) -> forms.CharField:
    return forms.CharField(
        label=STATEMENT_PARTS[name],
        required=False,
        max_length=LONGEST_PART,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
        help_text=getattr(AnnotatorStatement._meta.get_field(name), "help_text", ""),
    )


class AnnotatorStudyForm(forms.Form):
    """The part of the form that says who annotates; it can always be changed."""

    recruitment = _part("recruitment")
    background = _part("background")
    training = _part("training")
    pay = _part("pay")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, text in STUDY_HELP.items():
            if name in self.fields:
                self.fields[name].help_text = text
        study = self.instance  # type: ignore[attr-defined] # of the study's model form
        if study.pk is None:
            return
        statement = find_statement(study)
        for name in STATEMENT_PARTS:
            if name in self.fields:
                self.fields[name].initial = getattr(statement, name)

    def statement_parts(self) -> dict[str, str]:
        """Return what the service takes."""
        return {name: self.cleaned_data[name] for name in STATEMENT_PARTS}
