"""Files of an instrument: a version of it, its pictures and sounds, and the logo."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.instruments.documents.document import DocumentError
from annotation.instruments.documents.instrument_file import (
    LARGEST_FILE,
    read_instrument_file,
    write_instrument_file,
)
from annotation.instruments.files import (
    MOST_LOGO_KB,
    MOST_PICTURE_KB,
    MOST_SOUND_KB,
    choose_logo,
    delete_file,
    find_used,
    list_files,
    store_file,
)
from annotation.models import StudyFile
from annotation.researcher.instruments.pages import InstrumentPage
from annotation.researcher.pages.fields import UploadField
from annotation.researcher.pages.page import ButtonPage, button
from annotation.studies.instrument_import import may_complete_library, replace_instrument

# --- A version of an instrument to a file, and a file into a draft


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


# --- Pictures, sounds, and the logo

ACCEPTED = ".png,.jpg,.jpeg,.webp,.gif,.mp3,.m4a,.ogg,.wav"


class FileForm(forms.Form):
    file = UploadField(
        MOST_SOUND_KB / 1024,
        accept=ACCEPTED,
        label=gettext_lazy("File"),
        help_text=gettext_lazy(
            "A PNG, JPEG, WebP or GIF of at most %(picture)d kB, or an MP3, M4A, Ogg or WAV of at "
            "most %(sound)d kB. It is shown as it is, with all that it holds, such as the place "
            "where a photo was taken."
        )
        % {"picture": MOST_PICTURE_KB, "sound": MOST_SOUND_KB},
    )


class FilesPage(ButtonPage, InstrumentPage):
    """Lists the files, takes another one, deletes one, makes one the logo."""

    route = "<int:pk>/files/"
    name = "files"
    edits = True

    def get_context_data(self) -> dict[str, Any]:
        used = find_used(self.study)
        files = list_files(self.study).select_related("study")
        return {
            **super().get_context_data(),
            "title": _("Pictures and sounds"),
            "form": FileForm(),
            "rows": [(file, file.digest in used) for file in files],
            "logos": [file for file in files if not file.is_sound],
            "most_logo": MOST_LOGO_KB,
            "may_edit": self.may_edit,
        }

    @button("upload")
    def upload(self) -> HttpResponse | None:
        form = FileForm(self.request.POST, self.request.FILES)
        stored = form.is_valid() and self._store(form)
        return None if stored else self.show(form=form, status=422)

    @button("delete")
    def delete_file(self) -> str:
        delete_file(file=self._find())
        return _("Deleted.")

    @button("logo")
    def choose_logo(self) -> str:
        sent = self.request.POST
        file = self._find() if sent.get("file") else None
        choose_logo(instrument=self.instrument, file=file, alt=sent.get("alt", ""))
        return _("Logo stored.")

    def _find(self) -> StudyFile:
        return get_object_or_404(list_files(self.study), digest=self.request.POST.get("file", ""))

    def _store(self, form: FileForm) -> bool:
        file = form.cleaned_data["file"]
        try:
            store_file(study=self.study, name=file.name, content=file.read())
        except ValidationError as refusal:
            form.add_error("file", refusal)
            return False
        return True


class FileList(InstrumentPage):
    """The files as the editor of steps reads them; takes another one."""

    route = "<int:pk>/files.json"
    name = "file_list"
    edits = True

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        files = list_files(self.study).select_related("study")
        return JsonResponse({"files": [_describe(file) for file in files]})

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        form = FileForm(request.POST, request.FILES)
        if form.is_valid():
            sent = form.cleaned_data["file"]
            try:
                file = store_file(study=self.study, name=sent.name, content=sent.read())
            except ValidationError as refusal:
                form.add_error("file", refusal)
            else:
                return JsonResponse(_describe(file))
        return JsonResponse({"problem": " ".join(map(str, form.errors["file"]))}, status=422)


def _describe(file: StudyFile) -> dict[str, Any]:
    return {
        "file": file.digest,
        "name": file.name,
        "address": file.get_absolute_url(),
        "sound": file.is_sound,
    }
