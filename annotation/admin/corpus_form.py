"""The forms that upload a file of texts and that describe a corpus."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminFileFieldWidget

from annotation.models import Corpus

LARGEST_FILE = 50 * 1024 * 1024


class UploadForm(forms.Form):
    """A file for a corpus that is there."""

    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy("CSV, TSV or JSON lines in UTF-8, 50 MB at most."),
        # The theme's script writes a chosen file's name into the nearest text field: this widget
        # has one for it.
        widget=UnfoldAdminFileFieldWidget(attrs={"accept": ".csv,.tsv,.tab,.jsonl,.ndjson"}),
    )
    skip_bad_rows = forms.BooleanField(
        label=gettext_lazy("Leave out bad rows"),
        required=False,
        help_text=gettext_lazy("Otherwise one bad row stops the import, and nothing is stored."),
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > LARGEST_FILE:
            raise forms.ValidationError(
                _("The file has %(size)s MB, expected 50 MB at most. Import it in parts.")
                % {"size": f"{file.size / 1024 / 1024:.0f}"}
            )
        return file


class NewCorpusForm(UploadForm):
    """A file and what the new corpus is; the service checks the rest."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=160,
        help_text=gettext_lazy("As reports print it."),
    )
    licence = forms.CharField(
        label=gettext_lazy("Licence"),
        max_length=160,
        help_text=gettext_lazy("For example CC BY 4.0, or the terms that were agreed."),
    )
    source_variety = forms.CharField(
        label=gettext_lazy("Variety of the texts"),
        max_length=40,
        initial="AAL",
        help_text=gettext_lazy("The variety that is rewritten."),
    )
    target_variety = forms.CharField(
        label=gettext_lazy("Variety of their counterparts"),
        max_length=40,
        initial="WME",
        help_text=gettext_lazy("The variety it is rewritten in."),
    )
    access_note = forms.CharField(
        label=gettext_lazy("Access note"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("Who may read the texts, and what may be published of them."),
    )
    is_shared = forms.BooleanField(
        label=gettext_lazy("Share with every researcher"),
        required=False,
        help_text=gettext_lazy(
            "Otherwise you, and the members of studies that work on it, see it."
        ),
    )
    field_order = (
        "file",
        "name",
        "licence",
        "source_variety",
        "target_variety",
        "access_note",
        "is_shared",
        "skip_bad_rows",
    )

    def facts(self) -> dict[str, Any]:
        """Return what the import needs besides the file."""
        cleaned = self.cleaned_data
        return {name: cleaned[name] for name in self.field_order[1:-1]}

    def clean_name(self) -> str:
        name = self.cleaned_data["name"].strip()
        if Corpus.objects.filter(name=name).exists():
            raise forms.ValidationError(
                _("A corpus is called “%(name)s” already, expected another name.") % {"name": name}
            )
        return name
