"""The form that imports predictions made elsewhere."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.validators import FileExtensionValidator
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminFileFieldWidget

from annotation.researcher.pages.fields import TextField
from probing.library.labelled_files import BadRowsError
from probing.models import Run
from probing.runs.prediction_files import NAME_LENGTH
from probing.runs.prediction_import import import_predictions

LARGEST_MEGABYTES = 50
PROBLEMS_SHOWN = 30
SUFFIXES = ("csv", "tsv", "tab")


class PredictionForm(forms.Form):
    """A file of predictions, and what it does not say itself."""

    file = forms.FileField(
        label=_("File"),
        validators=[FileExtensionValidator(SUFFIXES)],
        widget=UnfoldAdminFileFieldWidget(attrs={"accept": ".csv,.tsv,.tab"}),
        help_text=_(
            "CSV or TSV in UTF-8, with columns y_true, y_pred, group, and perhaps text, model and "
            "run_id; or with a column “MODEL:RUN” for each run."
        ),
    )
    data_set = TextField(
        label=_("Set of sentences"),
        max_length=100,
        help_text=_("As reports print it, such as amazon."),
    )
    producer = TextField(
        label=_("Producer"),
        max_length=NAME_LENGTH,
        required=False,
        help_text=_("Who made them, where the file has no column “model”."),
    )
    labels = TextField(
        label=_("Labels"),
        initial="ternary",
        help_text=_(
            "ternary (0, 1, 2), sst5, semeval, or a map such as “bad=negative, good=positive”."
        ),
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > LARGEST_MEGABYTES * 2**20:
            raise forms.ValidationError(
                _("The file is too large, expected %(n)d MB at most.") % {"n": LARGEST_MEGABYTES}
            )
        return file

    def store(self, user: User) -> list[Run]:
        """Import the file; no run, with the errors in the form, where that is refused."""
        cleaned = dict(self.cleaned_data)
        file = cleaned.pop("file")
        try:
            return import_predictions(
                content=file.read(), file_name=file.name, created_by=user, **cleaned
            )
        except BadRowsError as error:
            shown = [str(problem) for problem in error.problems[:PROBLEMS_SHOWN]]
            self.add_error("file", forms.ValidationError([str(error), *shown]))
            return []
