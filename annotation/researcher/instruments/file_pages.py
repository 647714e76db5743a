"""A version of an instrument to a file, and a file into a draft."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.instruments.documents.document import DocumentError
from annotation.instruments.documents.instrument_file import (
    LARGEST_FILE,
    read_instrument_file,
    write_instrument_file,
)
from annotation.researcher.instruments.pages import InstrumentPage
from annotation.researcher.pages.fields import UploadField
from annotation.studies.instrument_import import may_complete_library, replace_instrument


class InstrumentFileForm(forms.Form):
    file = UploadField(
        LARGEST_FILE / 1e6,
        megabyte=1_000_000,
        label=gettext_lazy("File"),
        accept=".json",
        help_text=gettext_lazy("An instrument’s JSON file, 40 MB at most."),
    )


class InstrumentFile(InstrumentPage):
    """Hands out a version as a file, to be imported into another study or installation."""

    route = "<int:pk>/instrument.json"
    name = "file"

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        name = f"stereoscope-{self.study.public_id}-v{self.instrument.version}.json"
        try:
            content = write_instrument_file(self.instrument)
        except DocumentError as error:
            messages.error(request, str(error))
            return self.go_to_instrument()
        response = HttpResponse(content, content_type="application/json")
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        return response


class ReplaceInstrument(InstrumentPage):
    """Puts the instrument of a file in place of what a draft has."""

    route = "<int:pk>/import/"
    name = "import"
    edits = True

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        return self.show(form=InstrumentFileForm(), may_edit=self.may_edit)

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        form = InstrumentFileForm(request.POST, request.FILES)
        problems: dict[str, str] = {}
        if form.is_valid():
            try:
                replace_instrument(
                    instrument=self.instrument,
                    document=read_instrument_file(form.cleaned_data["file"].read()),
                    may_add=may_complete_library(self.user),
                )
            except DocumentError as error:
                problems = error.problems
            except ValidationError as error:
                form.add_error(None, error)
            else:
                messages.success(request, _("The draft holds the instrument of the file now."))
                return self.go_to_instrument()
        return self.show(form=form, problems=problems, may_edit=True, status=422)
