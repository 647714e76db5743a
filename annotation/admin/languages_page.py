"""The languages of an instrument: what there is, files to translate, and files to bring back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminTextInputWidget

from annotation.admin.asking import AskingPages, Question
from annotation.admin.instrument_page import InstrumentPages, may_edit
from annotation.admin.study import build_tabs
from annotation.exports.downloads import build_attachment
from annotation.languages.codes import direction_of, normalise_code, own_name
from annotation.languages.known_texts import list_known
from annotation.languages.language_file import (
    LanguageFileError,
    import_language,
    stream_language,
)
from annotation.languages.storing import (
    add_known_language,
    confirm_translations,
    remove_language,
)
from annotation.languages.texts import InstrumentText, find_missing, list_texts
from annotation.models import Instrument, Study
from annotation.studies.readiness import list_languages

# More would be a page that nobody reads: the first ones are told, and how many there are.
MOST_PROBLEMS = 100


class LanguageFileForm(forms.Form):
    """A language and its file."""

    language = forms.CharField(
        label=gettext_lazy("Language code"),
        max_length=40,
        widget=UnfoldAdminTextInputWidget,
        help_text=gettext_lazy("BCP 47, such as es, pt-BR, zh-Hant or ar."),
    )
    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy("CSV or TSV in UTF-8, 2 MB at most."),
        widget=UnfoldAdminFileFieldWidget(attrs={"accept": ".csv,.tsv,.tab"}),
    )

    def clean_language(self) -> str:
        return read_code(self.cleaned_data["language"])


@dataclass(frozen=True)
class LanguageRow:
    """A language as the page lists it; ``missing`` counts texts without a translation.

    ``stale`` are those whose source was reworded after they were translated.
    """

    code: str
    name: str
    direction: str
    is_main: bool
    total: int
    missing: int
    stale: list[InstrumentText]


def read_code(text: str) -> str:
    """Return a language code. Raises `ValidationError` for what is none."""
    try:
        return normalise_code(text)
    except ValueError as error:
        raise ValidationError(str(error)) from None


class LanguagePages(AskingPages, InstrumentPages):
    """Addresses below an instrument's own for its languages."""

    def study_tabs(self, study: Study) -> list[tuple[str, str, str]]:
        return build_tabs(study)

    def get_urls(self) -> list[URLPattern]:
        views = {
            "languages": self.languages_view,
            "languages/file.csv": self.language_file_view,
            "languages/add": self.add_language_view,
            "languages/remove": self.remove_language_view,
            "languages/confirm": self.confirm_language_view,
        }
        names = (
            "languages",
            "language_file",
            "add_language",
            "remove_language",
            "confirm_language",
        )
        return [
            path(
                f"<int:pk>/{address}",
                self.admin_site.admin_view(view),
                name=f"annotation_instrument_{name}",
            )
            for name, (address, view) in zip(names, views.items(), strict=True)
        ] + super().get_urls()

    def languages_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """List the languages; take a filled-in file."""
        instrument = self._find(request, pk)
        form, problems = LanguageFileForm(), list[str]()
        if request.method == "POST":
            form = LanguageFileForm(request.POST, request.FILES)
            self._ask_right(request, instrument)
            if form.is_valid():
                problems = self._import(request, instrument, form)
                if not problems:
                    return redirect("admin:annotation_instrument_languages", pk)
        context = {
            **self.admin_site.each_context(request),
            "title": _("Languages"),
            "study": instrument.study,
            "instrument": instrument,
            "tab": "instrument",
            "study_tabs": build_tabs(instrument.study),
            "rows": list_rows(instrument),
            "form": form,
            "problems": problems[:MOST_PROBLEMS],
            "n_problems": len(problems),
            "may_edit": may_edit(request, instrument),
            "known": [
                (code, own_name(code))
                for code in list_known()
                if code not in list_languages(instrument)
            ],
        }
        status = 422 if problems or form.errors else 200
        return TemplateResponse(
            request, "admin/annotation/instrument/languages.html", context, status=status
        )

    def language_file_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Hand out the file of a language, empty for one that is not there yet."""
        instrument = self._find(request, pk)
        try:
            code = read_code(request.GET.get("language", ""))
        except ValidationError as error:
            messages.error(request, error.messages[0])
            return redirect("admin:annotation_instrument_languages", pk)
        name = f"stereoscope-{instrument.study.public_id}-v{instrument.version}-{code}.csv"
        return build_attachment(stream_language(instrument, code), name)

    def add_language_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Add a language with what the platform brings along."""
        return self._change(request, pk, add_known_language, _("%(language)s added."))

    def remove_language_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Take a language out; its translations are gone then, so that the page asks first."""
        if request.method == "POST" and "confirmed" not in request.POST:
            instrument = self._find(request, pk)
            self._ask_right(request, instrument)
            code = request.POST.get("language", "")
            if code in list_languages(instrument)[1:]:
                back = reverse("admin:annotation_instrument_languages", args=[pk])
                return self.ask_first(request, instrument.study, _ask_removal(code), back=back)
        return self._change(request, pk, remove_language, _("%(language)s removed."))

    def confirm_language_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Take translations as right for their sources as these are now."""
        done = _("%(language)s: the translations are taken as right for the texts as they are.")
        return self._change(request, pk, confirm_translations, done)

    def _change(self, request: HttpRequest, pk: int, service: Any, done: str) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        instrument = self._find(request, pk)
        self._ask_right(request, instrument)
        try:
            code = read_code(request.POST.get("language", ""))
            service(instrument=instrument, language=code)
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
        else:
            messages.success(request, done % {"language": own_name(code)})
        return redirect("admin:annotation_instrument_languages", pk)

    def _import(
        self, request: HttpRequest, instrument: Instrument, form: LanguageFileForm
    ) -> list[str]:
        """Return what is wrong with a file; empty once it is stored."""
        file = form.cleaned_data["file"]
        try:
            imported = import_language(
                instrument=instrument,
                language=form.cleaned_data["language"],
                content=file.read(),
                file_name=file.name,
            )
        except LanguageFileError as error:
            return error.problems
        said = {"language": own_name(imported.language), "n": imported.n_texts}
        messages.success(request, _("%(language)s: %(n)d texts stored.") % said)
        return []

    def _ask_right(self, request: HttpRequest, instrument: Instrument) -> None:
        if not may_edit(request, instrument):
            raise PermissionDenied


def _ask_removal(code: str) -> Question:
    return Question(
        _("Remove %(language)s?") % {"language": own_name(code)},
        _("All its translations in this draft are lost. Download the file to keep them."),
        _("Remove %(language)s") % {"language": own_name(code)},
        fields={"language": code},
    )


def list_rows(instrument: Instrument) -> list[LanguageRow]:
    """Return the languages of an instrument, its main one first. Six queries for each."""
    rows = []
    for code in list_languages(instrument):
        is_main = code == instrument.language
        texts = [] if is_main else list_texts(instrument, code)
        rows.append(
            LanguageRow(
                code=code,
                name=own_name(code),
                direction=direction_of(code),
                is_main=is_main,
                total=len(texts),
                missing=len(find_missing(texts)),
                stale=[text for text in texts if text.is_stale],
            )
        )
    return rows
