"""Labelled templates, lexicons and labelled texts in the admin: each comes from one file."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.validators import FileExtensionValidator
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminSelectWidget
from unfold.widgets import UnfoldBooleanWidget as CheckBox

from annotation.admin.history import HistoryAdmin
from annotation.researcher.pages.fields import TextField
from probing.admin.library_entry import LibraryEntryAdmin
from probing.library.labelled_files import (
    BadRowsError,
    ParsedFile,
    import_file,
    parse_lexicon,
    parse_templates,
    parse_texts,
    set_entries,
    stored_groups,
    stored_texts,
)
from probing.library.labelled_pairs import parse_pairs
from probing.measures.label_map import PRESETS
from probing.measures.labelled_texts import SPLITS
from probing.measures.probe_stimuli import SENTIMENT
from probing.models import GroupLexicon, LabelledTemplateSet, LabelledTextSet

LARGEST_FILE = 5 * 1024 * 1024
PROBLEMS_SHOWN = 30
TEXTS_SHOWN = 100
FACTS = ("title", "slug", "licence", "citation")
SUFFIXES = ("csv", "tsv", "tab")


LABELS_HELP = gettext_lazy(
    "Which label of the file stands for which class: ternary (0, 1, 2), sst5, semeval, or a map "
    "such as “bad=negative, so-so=neutral, good=positive”."
)


class LabelledFileForm(forms.ModelForm):
    """Asks for a file where an entry is new, and takes one that replaces its rows later."""

    file = forms.FileField(
        label=gettext_lazy("File"),
        widget=UnfoldAdminFileFieldWidget,
        validators=[FileExtensionValidator(SUFFIXES)],
    )
    skip_bad_rows = forms.BooleanField(
        label=gettext_lazy("Leave bad rows out"), required=False, widget=CheckBox
    )

    #: What the file holds.
    file_help: ClassVar[Any]
    #: What the form asks for besides.
    own: ClassVar[tuple[str, ...]] = ()
    parsed: ParsedFile | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "file" in self.fields:
            self.fields["file"].help_text = self.file_help
            if self.instance.pk:
                self.fields["file"].required = False
                self.fields["file"].label = _("Replace the rows by a file")

    def parse(self, content: bytes, name: str, *, skip_bad_rows: bool) -> ParsedFile:
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        file = cleaned.get("file")
        if not file:
            return cleaned
        if file.size > LARGEST_FILE:
            self.add_error("file", _("The file is too large, expected 5 MB at most."))
            return cleaned
        try:
            self.parsed = self.parse(
                file.read(), file.name, skip_bad_rows=cleaned.get("skip_bad_rows", False)
            )
        except BadRowsError as error:
            shown = [str(problem) for problem in error.problems[:PROBLEMS_SHOWN]]
            self.add_error("file", forms.ValidationError([str(error), *shown]))
        else:
            # The model's own check needs the rows that the file brings.
            set_entries(self.instance, self.parsed)
        return cleaned


class TemplateSetForm(LabelledFileForm):
    labels = TextField(label=gettext_lazy("Labels"), initial="ternary", help_text=LABELS_HELP)
    lexicon = forms.ModelChoiceField(
        queryset=GroupLexicon.objects.all(),
        label=gettext_lazy("Words in the file"),
        required=False,
        empty_label=gettext_lazy("none, the file holds templates"),
        widget=UnfoldAdminSelectWidget,
        help_text=gettext_lazy(
            "For a file of filled sentences with a column “group”: the lexicon whose words are "
            "taken out of them."
        ),
    )

    is_pairs = forms.BooleanField(
        label=gettext_lazy("Pairs of texts"),
        required=False,
        widget=CheckBox,
        help_text=gettext_lazy(
            "For texts that signal a group without naming it, such as names or two varieties: "
            "columns “pair”, “group”, “text” and “label”. A lexicon of the same name is stored "
            "with them."
        ),
    )

    own = ("labels", "lexicon", "is_pairs")
    words: ParsedFile | None = None

    file_help = gettext_lazy(
        "CSV or TSV in UTF-8 with a column “template” or “text” and a column “label” or "
        "“sent”; a placeholder has any name in braces, such as {identity_adj}."
    )

    class Meta:
        model = LabelledTemplateSet
        fields = FACTS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:  # its lexicon would keep the words of the file before
            self.fields.pop("is_pairs", None)

    def parse(self, content: bytes, name: str, *, skip_bad_rows: bool) -> ParsedFile:
        lexicon = self.cleaned_data.get("lexicon")
        labels = self.cleaned_data.get("labels") or next(iter(PRESETS))
        if self.cleaned_data.get("is_pairs"):
            parsed, self.words = parse_pairs(content, name, labels=labels)
            return parsed
        return parse_templates(
            content,
            name,
            labels=labels,
            lexicon=stored_groups(lexicon) if lexicon else (),
            skip_bad_rows=skip_bad_rows,
        )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        slug = cleaned.get("slug") or slugify(cleaned.get("title", ""))
        if self.words and GroupLexicon.objects.filter(slug=slug).exists():
            self.add_error("slug", _("A lexicon has this name already. Choose another one."))
        return cleaned


class TextSetForm(LabelledFileForm):
    labels = TextField(label=gettext_lazy("Labels"), initial="ternary", help_text=LABELS_HELP)

    own = ("labels",)

    file_help = gettext_lazy(
        "CSV or TSV in UTF-8 with a column “text” or “sentence”, a column “label” or "
        "“sent”, and perhaps a column “split” (train, validation or test); for training, "
        "splits that are not there are drawn by each run."
    )

    class Meta:
        model = LabelledTextSet
        fields = FACTS

    def parse(self, content: bytes, name: str, *, skip_bad_rows: bool) -> ParsedFile:
        labels = self.cleaned_data.get("labels") or next(iter(PRESETS))
        return parse_texts(content, name, labels=labels, skip_bad_rows=skip_bad_rows)


class LexiconForm(LabelledFileForm):
    file_help = gettext_lazy(
        "CSV or TSV in UTF-8 with a row for every word: “group”, perhaps “name” and "
        "“role” (group, placebo or unmarked), and a column named like each placeholder; "
        "“*” fills any."
    )

    class Meta:
        model = GroupLexicon
        fields = FACTS

    def parse(self, content: bytes, name: str, *, skip_bad_rows: bool) -> ParsedFile:
        return parse_lexicon(content, name, skip_bad_rows=skip_bad_rows)


class LabelledFileAdmin(HistoryAdmin, LibraryEntryAdmin):
    """An entry of the library that comes from one file."""

    search_fields = ("title", "slug")
    prepopulated_fields: ClassVar[dict[str, Any]] = {"slug": ("title",)}

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        asked = (*self.form.own, "file", "skip_bad_rows")
        if obj is None:
            return (*FACTS, *asked)
        asked = tuple(name for name in asked if name != "is_pairs")
        may_change = self.has_change_permission(request, obj)
        return (*FACTS, *(asked if may_change else ()), "rows")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("slug", "rows") if obj else ()

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
        else:
            facts: dict[str, Any] = {
                "slug": obj.slug or slugify(obj.title),
                "title": obj.title,
                "licence": obj.licence,
                "citation": obj.citation,
                "user": request.user if isinstance(request.user, User) else None,
            }
            created = import_file(type(obj), form.parsed, **facts)
            obj.__dict__.update(created.__dict__)
            if words := getattr(form, "words", None):
                import_file(GroupLexicon, words, **facts)
        if form.parsed is not None and form.parsed.left_out:
            shown = " ".join(str(problem) for problem in form.parsed.left_out[:PROBLEMS_SHOWN])
            messages.warning(
                request,
                _("%(n)d rows were left out. %(shown)s")
                % {"n": len(form.parsed.left_out), "shown": shown},
            )


@admin.register(LabelledTemplateSet)
class LabelledTemplateSetAdmin(LabelledFileAdmin):
    """Sentences with a true label and a placeholder for the mention of a group."""

    form = TemplateSetForm
    list_display = ("title", "slug", "n_templates", "licence")

    @display(description=gettext_lazy("templates"))
    def n_templates(self, entry: LabelledTemplateSet) -> str:
        return f"{len(entry.templates):,}"

    @display(description=gettext_lazy("Templates"))
    def rows(self, entry: LabelledTemplateSet) -> SafeString:
        lines = [(SENTIMENT[one["label"]], one["text"]) for one in entry.templates]
        return render_to_string("admin/probing/labelled_rows.html", {"lines": lines})


@admin.register(GroupLexicon)
class GroupLexiconAdmin(LabelledFileAdmin):
    """Groups with the words that mention them."""

    form = LexiconForm
    list_display = ("title", "slug", "n_groups", "licence")

    @display(description=gettext_lazy("groups"))
    def n_groups(self, entry: GroupLexicon) -> str:
        return f"{len(entry.groups):,}"

    @display(description=gettext_lazy("Words"))
    def rows(self, entry: GroupLexicon) -> SafeString:
        lines = [
            (f"{group.name}, {group.role}", ", ".join(group.filler_names))
            for group in stored_groups(entry)
        ]
        return render_to_string("admin/probing/labelled_rows.html", {"lines": lines})


@admin.register(LabelledTextSet)
class LabelledTextSetAdmin(LabelledFileAdmin):
    """Texts with a true label: demonstrations, and what classifiers are trained on."""

    form = TextSetForm
    list_display = ("title", "slug", "n_texts", "licence")

    @display(description=gettext_lazy("texts"))
    def n_texts(self, entry: LabelledTextSet) -> str:
        return f"{len(entry.texts):,}"

    @display(description=gettext_lazy("Texts"))
    def rows(self, entry: LabelledTextSet) -> SafeString:
        texts = stored_texts(entry)
        counted: Counter[tuple[str, str]] = Counter(
            (one.split, SENTIMENT[one.label]) for one in texts
        )
        return render_to_string(
            "admin/probing/labelled_texts.html",
            {
                "classes": SENTIMENT,
                "counts": [
                    (split or _("not said"), [f"{counted[split, name]:,}" for name in SENTIMENT])
                    for split in (*SPLITS, "")
                    if any(counted[split, name] for name in SENTIMENT)
                ],
                "lines": [(SENTIMENT[one.label], one.text) for one in texts[:TEXTS_SHOWN]],
                "n": f"{len(texts):,}",
            },
        )
