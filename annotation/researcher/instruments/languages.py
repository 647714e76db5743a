"""The languages of an instrument: what there is, files to translate, and files to bring back."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminFileFieldWidget

from annotation.common.language_codes import direction_of, normalize_code, own_name
from annotation.exports.downloads import build_attachment
from annotation.instruments.known_texts import list_known
from annotation.instruments.languages.language_file import (
    LanguageFileError,
    import_language,
    stream_language,
)
from annotation.instruments.languages.language_service import (
    add_known_language,
    confirm_translations,
    remove_language,
)
from annotation.instruments.languages.texts import find_missing, list_texts
from annotation.models import Instrument
from annotation.researcher.instruments.pages import InstrumentPage
from annotation.researcher.pages.fields import TextField
from annotation.researcher.pages.page import (
    Button,
    ButtonPage,
    Confirmation,
    button,
    refusals_shown,
)
from annotation.studies.readiness import list_languages

# More would be a page that nobody reads: the first ones are told, and how many there are.
MOST_PROBLEMS = 100


class LanguageFileForm(forms.Form):
    """A language and its file."""

    language = TextField(
        label=gettext_lazy("Language code"),
        max_length=40,
        help_text=gettext_lazy("BCP 47, such as es, pt-BR, zh-Hant or ar."),
    )
    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy("CSV or TSV in UTF-8, 2 MB at most."),
        widget=UnfoldAdminFileFieldWidget(attrs={"accept": ".csv,.tsv,.tab"}),
    )

    def clean_language(self) -> str:
        return read_code(self.cleaned_data["language"])


def read_code(text: str) -> str:
    """Return a language code. Raises `ValidationError` for what is none."""
    try:
        return normalize_code(text)
    except ValueError as error:
        raise ValidationError(str(error)) from None


class LanguagesPage(InstrumentPage):
    """Lists the languages; takes a filled-in file."""

    route = "<int:pk>/languages"
    name = "languages"
    edits = True

    def get_context_data(self) -> dict[str, Any]:
        languages = list_languages(self.instrument)
        return {
            **super().get_context_data(),
            "title": _("Languages"),
            "rows": list_rows(self.instrument),
            "form": LanguageFileForm(),
            "may_edit": self.may_edit,
            "known": [(code, own_name(code)) for code in list_known() if code not in languages],
        }

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        form = LanguageFileForm(request.POST, request.FILES)
        problems = self.store(form) if form.is_valid() else []
        if not problems and not form.errors:
            return redirect("admin:annotation_instrument_languages", self.instrument.pk)
        shown = problems[:MOST_PROBLEMS]
        return self.show(form=form, problems=shown, n_problems=len(problems), status=422)

    def store(self, form: LanguageFileForm) -> list[str]:
        """Return what is wrong with a file; empty once it is stored."""
        file = form.cleaned_data["file"]
        try:
            imported = import_language(
                instrument=self.instrument,
                language=form.cleaned_data["language"],
                content=file.read(),
                file_name=file.name,
            )
        except LanguageFileError as error:
            return error.problems
        said = {"language": own_name(imported.language), "n": imported.n_texts}
        messages.success(self.request, _("%(language)s: %(n)d texts stored.") % said)
        return []


class LanguageFile(InstrumentPage):
    """Hands out the file of a language, empty for one that is not there yet."""

    route = "<int:pk>/languages/file.csv"
    name = "language_file"

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        instrument = self.instrument
        with refusals_shown(request):
            code = read_code(request.GET.get("language", ""))
            name = f"stereoscope-{self.study.public_id}-v{instrument.version}-{code}.csv"
            return build_attachment(stream_language(instrument, code), name)
        return redirect("admin:annotation_instrument_languages", instrument.pk)


class LanguageActions(ButtonPage, InstrumentPage):
    """The buttons beside a language of a draft."""

    route = "<int:pk>/languages/do/<slug:action>/"
    name = "language_action"
    http_method_names = ["post"]
    edits = True

    @property
    def code(self) -> str:
        return read_code(self.request.POST.get("language", ""))

    def address_after(self, pressed: Button) -> str:
        return reverse("admin:annotation_instrument_languages", args=[self.instrument.pk])

    def ask_removal(self) -> Confirmation | None:
        """Its translations are lost; a language that is not there asks nothing."""
        code = self.request.POST.get("language", "")
        if code not in list_languages(self.instrument)[1:]:
            return None
        return Confirmation(
            _("Remove %(language)s?") % {"language": own_name(code)},
            _("All its translations in this draft are lost. Download the file to keep them."),
            _("Remove %(language)s") % {"language": own_name(code)},
            fields={"language": code},
        )

    @button("add")
    def add(self) -> str:
        """Add a language with the texts that the platform has in it."""
        add_known_language(instrument=self.instrument, language=self.code)
        return _("%(language)s added.") % {"language": own_name(self.code)}

    @button("remove", ask=ask_removal)
    def remove(self) -> str:
        remove_language(instrument=self.instrument, language=self.code)
        return _("%(language)s removed.") % {"language": own_name(self.code)}

    @button("confirm")
    def confirm(self) -> str:
        """Take translations as right for their sources as these are now."""
        confirm_translations(instrument=self.instrument, language=self.code)
        said = _("%(language)s: the translations are confirmed for the texts as they are.")
        return said % {"language": own_name(self.code)}


def list_rows(instrument: Instrument) -> list[dict[str, Any]]:
    """Return the languages of an instrument, its main one first. Six queries for each.

    ``missing`` counts texts without a translation; ``stale`` are those whose source was reworded
    after they were translated.
    """
    rows = []
    for code in list_languages(instrument):
        is_main = code == instrument.language
        texts = [] if is_main else list_texts(instrument, code)
        rows.append(
            {
                "code": code,
                "name": own_name(code),
                "direction": direction_of(code),
                "is_main": is_main,
                "total": len(texts),
                "missing": len(find_missing(texts)),
                "stale": [text for text in texts if text.is_stale],
            }
        )
    return rows
