"""The upload of a file of texts that makes a corpus or extends one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.common.table_file import SUFFIXES, TableFileError, read_heading
from annotation.corpora.access import can_change_corpus, visible_corpora
from annotation.corpora.corpus_import import BadRowsError, ImportResult, import_corpus
from annotation.models import Corpus
from annotation.researcher.pages.fields import UploadField
from annotation.researcher.pages.kept_file import pack_file, unpack_file
from annotation.researcher.pages.page import ResearcherPage

PROBLEMS_SHOWN = 500
MEGABYTES = 50


class UploadForm(forms.Form):
    """A file for a corpus that is there, or the one that was checked a moment ago."""

    file = UploadField(
        MEGABYTES,
        required=False,
        label=gettext_lazy("File"),
        accept=",".join(SUFFIXES),
        help_text=gettext_lazy(
            "A table, a workbook, JSON, Parquet, SPSS, or a zip of one, 50 MB at most."
        ),
        remedy=gettext_lazy("Import it in parts."),
    )
    no_heading = forms.BooleanField(
        label=gettext_lazy("The file has no heading"),
        required=False,
        help_text=gettext_lazy(
            "Its first line is a row, and its columns are called 1, 2 and so on."
        ),
    )
    columns = forms.CharField(
        label=gettext_lazy("Columns with other names"),
        required=False,
        max_length=1000,
        help_text=gettext_lazy("Such as source_text=dialect, target_text=standard."),
    )
    skip_bad_rows = forms.BooleanField(
        label=gettext_lazy("Leave out bad rows"),
        required=False,
        help_text=gettext_lazy("Otherwise one bad row stops the import, and nothing is stored."),
    )
    content = forms.CharField(required=False, widget=forms.HiddenInput)
    file_name = forms.CharField(required=False, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        file = cleaned.get("file")
        if file:
            cleaned["raw"], cleaned["file_name"] = file.read(), file.name
        elif "file" not in self.errors:
            packed = cleaned.get("content", "")
            cleaned["raw"] = unpack_file(packed, most_bytes=MEGABYTES * 2**20)
            if not cleaned["raw"]:
                self.add_error("file", self.fields["file"].error_messages["required"])
        self._keep_file(cleaned)
        return cleaned

    def _keep_file(self, cleaned: dict[str, Any]) -> None:
        """Let the page that follows carry the file, so that nobody chooses it twice."""
        packed = pack_file(cleaned["raw"]) if cleaned.get("raw") else ""
        self.data = {
            **{name: self.data.get(name) for name in self.data},
            "content": packed,
            "file_name": cleaned["file_name"] if packed else "",
        }

    @property
    def kept_file(self) -> str:
        """The name of the file that the page carries, empty for none."""
        return str(self.data.get("file_name", ""))


class NewCorpusForm(UploadForm):
    """A file and what the new corpus is; the service checks the rest."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=160,
        help_text=gettext_lazy("As reports print it."),
    )
    license = forms.CharField(
        label=gettext_lazy("License"),
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
    other_varieties = forms.CharField(
        label=gettext_lazy("Further varieties"),
        required=False,
        max_length=400,
        help_text=gettext_lazy(
            "Of single texts, with commas; a run of matched guise probing takes two of them."
        ),
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
        "license",
        "source_variety",
        "target_variety",
        "other_varieties",
        "access_note",
        "is_shared",
        "no_heading",
        "columns",
        "skip_bad_rows",
    )

    def facts(self) -> dict[str, Any]:
        """Return what the import needs besides the file."""
        cleaned = self.cleaned_data
        facts = {name: cleaned[name] for name in self.field_order[1:-3]}
        return facts | {"other_varieties": cleaned["other_varieties"].split(",")}

    def clean_name(self) -> str:
        name = self.cleaned_data["name"].strip()
        if Corpus.objects.filter(name=name).exists():
            raise forms.ValidationError(
                _("A corpus is already called “%(name)s”. Choose another name.") % {"name": name}
            )
        return name


class NewCorpus(ResearcherPage):
    """Makes a corpus of a file; in place of the admin's own page that adds one."""

    template_name = "admin/annotation/corpus/upload.html"
    form_class: type[UploadForm] = NewCorpusForm
    corpus: Corpus | None = None

    def get_context_data(self) -> dict[str, Any]:
        return {
            **super().get_context_data(),
            "opts": self.model_admin.opts,
            "title": _("Add texts") if self.corpus else _("New corpus"),
            "corpus": self.corpus,
        }

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        return self.show(form=self.form_class())

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        form = self.form_class(request.POST, request.FILES)
        if not form.is_valid():
            return self.show(form=form, status=422)
        dry_run = "check" in request.POST
        try:
            result = self.import_file(form, dry_run=dry_run)
        except BadRowsError as error:
            return self.show_rows(error.problems, form=form, refused=error, status=422)
        except TableFileError as error:
            form.add_error("file", str(error))
        except ValidationError as error:
            form.add_error(None, error)
        else:
            if not dry_run and result.corpus is not None:
                return self.welcome(result, result.corpus)
            return self.show_rows(result.skipped, form=form, tried=result)
        return self.show(form=form, status=422)

    def show_rows(self, problems: Any, **context: Any) -> HttpResponse:
        return self.show(problems=problems[:PROBLEMS_SHOWN], n_problems=len(problems), **context)

    def import_file(self, form: UploadForm, *, dry_run: bool) -> ImportResult:
        facts: dict[str, Any] = {"into": self.corpus} if self.corpus else {"owner": self.user}
        if isinstance(form, NewCorpusForm):
            facts |= form.facts()
        return import_corpus(
            content=form.cleaned_data["raw"],
            file_name=form.cleaned_data["file_name"],
            user=self.user,
            heading=read_heading(
                form.cleaned_data["columns"].split(","),
                is_there=not form.cleaned_data["no_heading"],
            ),
            skip_bad_rows=form.cleaned_data["skip_bad_rows"],
            dry_run=dry_run,
            **facts,
        )

    def welcome(self, result: ImportResult, corpus: Corpus) -> HttpResponse:
        text = _(
            "%(texts)s texts and %(pairs)s pairs are in “%(name)s”. %(skipped)s rows left out."
        )
        said = {
            "texts": f"{result.n_texts:,}",
            "pairs": f"{result.n_pairs:,}",
            "name": corpus.name,
            "skipped": f"{result.n_skipped:,}",
        }
        messages.success(self.request, text % said)
        for notice in result.notices:
            messages.warning(self.request, notice)
        return redirect("admin:annotation_corpus_overview", corpus.pk)


class AddTexts(NewCorpus):
    """Adds the rows of a file to a corpus."""

    route = "<int:pk>/import/"
    name = "import"
    form_class = UploadForm

    def prepare(self) -> None:
        self.corpus = get_object_or_404(visible_corpora(self.request.user), pk=self.kwargs["pk"])
        if not can_change_corpus(self.request.user, self.corpus):
            raise PermissionDenied
