"""Word lists in the admin: imported from a text file, replaced by another one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display
from unfold.widgets import UnfoldAdminFileFieldWidget

from annotation.admin.history import HistoryAdmin
from annotation.admin.library import LibraryFiles
from probing.admin.library_entry import LibraryEntryAdmin
from probing.library.word_list_kind import WordListKind
from probing.library.word_lists import ParsedWords, WordFileError, import_word_list, parse_word_file
from probing.models import WordList

LARGEST_FILE = 5 * 1024 * 1024
PROBLEMS_SHOWN = 30


class WordListForm(forms.ModelForm):
    """Asks for a file where a list is new, and takes one that replaces its words later."""

    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy(
            "Text in UTF-8, a word or phrase on each line, or several with semicolons between; "
            "what follows a # is a comment."
        ),
        widget=UnfoldAdminFileFieldWidget,
    )

    class Meta:
        model = WordList
        fields = ("title", "slug", "purpose", "license", "citation")

    parsed: ParsedWords | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk and "file" in self.fields:
            self.fields["file"].required = False
            self.fields["file"].label = _("Replace the words by a file")

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if not file:
            return file
        if file.size > LARGEST_FILE:
            raise forms.ValidationError(_("The file is too large, expected 5 MB at most."))
        self.content = file.read()
        try:
            self.parsed = parse_word_file(self.content)
        except WordFileError as error:
            shown = [str(problem) for problem in error.problems[:PROBLEMS_SHOWN]]
            raise forms.ValidationError([str(error), *shown]) from error
        # The model's own check needs the words that the file brings.
        self.instance.words = list(self.parsed.words)
        return file


@admin.register(WordList)
class WordListAdmin(LibraryFiles, HistoryAdmin, LibraryEntryAdmin):
    """Lists of words that are looked for in texts, such as those that a source calls offensive."""

    form = WordListForm
    list_display = ("title", "slug", "purpose", "n_words", "license")
    list_filter = ("purpose",)
    search_fields = ("title", "slug")
    prepopulated_fields = {"slug": ("title",)}
    library_kind = WordListKind()

    def get_fields(self, request: HttpRequest, obj: WordList | None = None) -> Any:
        described = ("title", "slug", "purpose", "license", "citation")
        if obj is None:
            return (*described, "file")
        may_change = self.has_change_permission(request, obj)
        return (*described, *(("file",) if may_change else ()), "word_table")

    def get_readonly_fields(self, request: HttpRequest, obj: WordList | None = None) -> Any:
        return ("slug", "word_table") if obj else ()

    def save_model(self, request: HttpRequest, obj: WordList, form: Any, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
        else:
            created, _parsed = import_word_list(
                content=form.content,
                slug=obj.slug or slugify(obj.title),
                title=obj.title,
                purpose=obj.purpose,
                license=obj.license,
                citation=obj.citation,
                user=request.user if isinstance(request.user, User) else None,
            )
            obj.__dict__.update(created.__dict__)
        if form.parsed is not None and form.parsed.left_out:
            self._tell_left_out(request, form.parsed)

    def _tell_left_out(self, request: HttpRequest, parsed: ParsedWords) -> None:
        shown = " ".join(str(problem) for problem in parsed.left_out[:PROBLEMS_SHOWN])
        said = _("%(n)d words are in the list, %(left)d lines were left out. %(shown)s") % {
            "n": len(parsed.words),
            "left": len(parsed.left_out),
            "shown": shown,
        }
        messages.warning(request, f"{said} …" if len(parsed.left_out) > PROBLEMS_SHOWN else said)

    @display(description=gettext_lazy("words"))
    def n_words(self, word_list: WordList) -> str:
        return f"{len(word_list.words):,}"

    @display(description=gettext_lazy("Words"))
    def word_table(self, word_list: WordList) -> SafeString:
        # Behind a click, since such lists hold what nobody wants to read by accident.
        return format_html(
            "<details><summary>{}</summary>{}</details>",
            _("Show the %(n)d words") % {"n": len(word_list.words)},
            ", ".join(word_list.words),
        )
