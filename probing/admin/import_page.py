"""The page that imports what was made elsewhere: a file, its preview, and the import."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.common.table_file import TableFileError
from annotation.exports.downloads import build_attachment
from annotation.imports.bad_rows import write_bad_rows
from annotation.imports.import_kind import (
    BadImportError,
    FileHead,
    ImportKind,
    ImportPlan,
    ImportRequest,
    StalePlanError,
    import_kinds,
    plan_import,
)
from annotation.imports.recipes import import_and_save, list_recipes, use_recipe
from annotation.library.library_kind import Action, Plan, Value, join
from annotation.researcher.pages.fields import ChoiceField, ParagraphField, TextField, UploadField
from annotation.researcher.pages.kept_file import pack_file, unpack_file
from annotation.researcher.pages.page import ResearcherPage

PROBLEMS_SHOWN = 200
MEGABYTES = 20
ENTRIES_SHOWN = 500

BADGES = {
    Action.ADDED: ("good mark-tick", gettext_lazy("New")),
    Action.CHANGED: ("info mark-play", gettext_lazy("Changed")),
    Action.UNCHANGED: ("mark-ring", gettext_lazy("As it is")),
    Action.REFUSED: ("bad mark-cross", gettext_lazy("Refused")),
}
#: What a person looks at first.
ORDER = {Action.REFUSED: 0, Action.CHANGED: 1, Action.ADDED: 2, Action.UNCHANGED: 3}


class ImportForm(forms.Form):
    """A file, or the one that was looked at a moment ago, with the options of a kind."""

    skip_bad_rows = forms.BooleanField(
        label=gettext_lazy("Leave out bad rows"),
        required=False,
        help_text=gettext_lazy("Otherwise one bad row stops the import, and nothing is stored."),
    )
    no_heading = forms.BooleanField(
        label=gettext_lazy("The first line is a row"),
        required=False,
        help_text=gettext_lazy("For a file without a heading; its columns are called 1, 2 …"),
    )
    content = forms.CharField(required=False, widget=forms.HiddenInput)
    file_name = forms.CharField(required=False, widget=forms.HiddenInput)
    sheet = forms.CharField(required=False, widget=forms.HiddenInput)
    recipe = ChoiceField(
        label=gettext_lazy("Recipe"),
        required=False,
        help_text=gettext_lazy("Columns as they were saved before."),
    )
    save_recipe = TextField(
        label=gettext_lazy("Save the columns as"),
        required=False,
        max_length=60,
        help_text=gettext_lazy("A recipe for files with the same columns; saved on importing."),
    )

    def __init__(self, *args: Any, kind: ImportKind, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind, self.user = kind, user
        recipe = self.fields["recipe"]
        assert isinstance(recipe, forms.ChoiceField)
        recipe.choices = [("", "–"), *((name, name) for name in list_recipes(kind))]
        self.fields["file"] = UploadField(
            MEGABYTES,
            label=_("File"),
            required=False,
            accept=",".join(kind.suffixes),
            help_text=_("%(kinds)s, %(n)d MB at most.")
            % {"kinds": ", ".join(kind.suffixes), "n": MEGABYTES},
            remedy=_("Import it with manage.py import_results."),
        )
        for option in kind.options:
            known: dict[str, Any] = {
                "label": option.label,
                "help_text": option.help,
                "required": option.needed,
            }
            if option.choices is not None:
                choices = [("", "–"), *option.choices(user)]
                field: forms.Field = ChoiceField(choices=choices, **known)
            elif option.is_flag:
                field = forms.BooleanField(**known)
            elif option.is_long:
                field = ParagraphField(rows=3, **known)
            else:
                field = TextField(**known)
            self.fields[option.name] = field
        self.order_fields(["file", *(option.name for option in kind.options), "skip_bad_rows"])

    @property
    def option_fields(self) -> list[Any]:
        return [self[option.name] for option in self.kind.options]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        file = cleaned.get("file")
        if file:
            cleaned["raw"], cleaned["file_name"] = file.read(), file.name
        elif "file" not in self.errors:
            cleaned["raw"] = unpack_file(cleaned.get("content", ""), most_bytes=MEGABYTES * 2**20)
            if not cleaned["raw"]:
                self.add_error("file", _("Choose a file."))
        self._keep_file(cleaned)
        return cleaned

    def _keep_file(self, cleaned: dict[str, Any]) -> None:
        """Let the page that follows carry the file, whatever else is wrong with the form."""
        raw = cleaned.get("raw", b"")
        packed = pack_file(raw) if raw else ""
        if raw and not packed:
            self.add_error("file", _("The file is too large. Use manage.py import_results."))
        name = cleaned["file_name"] if packed else ""
        posted = {one: self.data.get(one) for one in self.data}
        self.data = {**posted, "content": packed, "file_name": name}

    @property
    def is_new(self) -> bool:
        """Whether a file was chosen now, rather than carried on."""
        return bool(self.files.get("file"))

    @property
    def request(self) -> ImportRequest:
        """What was asked for, as far as it is known."""
        known = self.cleaned_data
        given = {option.name: known.get(option.name) for option in self.kind.options}
        return ImportRequest(
            content=known["raw"],
            file_name=known["file_name"],
            options={
                name: "yes" if value is True else value or "" for name, value in given.items()
            },
            user=self.user,
            has_heading=not known["no_heading"],
            sheet="" if self.is_new else known["sheet"],
        )


class ImportPage(ResearcherPage):
    """Every row is looked at before anything is stored; warnings are confirmed by importing."""

    route = "import/"
    name = "import"
    template_name = "admin/probing/run/import.html"

    def prepare(self) -> None:
        if not self.kinds:
            raise PermissionDenied

    @cached_property
    def kinds(self) -> list[ImportKind]:
        return [kind for kind in import_kinds().values() if kind.is_open_to(self.request.user)]

    @cached_property
    def kind(self) -> ImportKind:
        wanted = self.request.GET.get("kind", "")
        return next((kind for kind in self.kinds if kind.name == wanted), self.kinds[0])

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        return self.show(form=ImportForm(kind=self.kind, user=self.user))

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        form = ImportForm(request.POST, request.FILES, kind=self.kind, user=self.user)
        head = FileHead()
        if form.is_valid() or form.cleaned_data.get("raw"):
            try:
                asked, head = self.look_at(form)
                if form.is_valid():
                    return self.carry_out(form, asked, head)
            except (BadImportError, StalePlanError) as error:
                return self.show_plan(form, head, error.plan, trouble=str(error))
            except TableFileError as error:
                form.add_error("file", str(error))
            except ValidationError as error:
                form.add_error(None, error)
        return self.show_file(form, head, status=422)

    def look_at(self, form: ImportForm) -> tuple[ImportRequest, FileHead]:
        """Return what was asked for, with the columns that were chosen, and how the file begins."""
        asked, posted = form.request, self.request.POST
        recipe = form.cleaned_data.get("recipe", "")
        if recipe != posted.get("recipe_seen", ""):
            asked = use_recipe(self.kind, asked, recipe)
            head = self.kind.sniff(asked)
            held = {column.holds: column.name for column in head.columns if column.holds}
            return replace(asked, columns=held, guesses=False), head
        head = self.kind.sniff(asked)
        if form.is_new or "column-0" not in posted or head.sheet != posted.get("sheet_seen", ""):
            return asked, head
        columns = [
            replace(column, holds=posted.get(f"column-{place}", ""))
            for place, column in enumerate(head.columns)
        ]
        chosen = {column.holds: column.name for column in columns if column.holds}
        if len(chosen) < sum(bool(column.holds) for column in columns):
            form.add_error("file", _("Two columns hold the same. Choose one of them."))
        return replace(asked, columns=chosen, guesses=False), replace(head, columns=columns)

    def carry_out(self, form: ImportForm, asked: ImportRequest, head: FileHead) -> HttpResponseBase:
        """Store the file that was looked at, or show what storing it would do."""
        if "bad-rows" in self.request.POST:
            written = write_bad_rows(self.kind, asked, plan_import(self.kind, asked))
            return build_attachment(iter([written]), "bad-rows.csv")
        if "import" not in self.request.POST or form.is_new:  # a new file is looked at first
            return self.show_plan(form, head, plan_import(self.kind, asked))
        done, plan = import_and_save(
            self.kind,
            asked,
            form.cleaned_data["save_recipe"],
            skip_bad_rows=form.cleaned_data["skip_bad_rows"],
            expected_digest=self.request.POST.get("digest", ""),
        )
        said = {"what": done.name, "counts": ", ".join(plan.told_counts)}
        messages.success(self.request, _("Imported: %(what)s, %(counts)s.") % said)
        for warning in plan.warnings:
            messages.warning(self.request, warning)
        return redirect(done.address)

    def show_plan(
        self, form: ImportForm, head: FileHead, plan: ImportPlan, *, trouble: str = ""
    ) -> HttpResponse:
        """Show what a file would do, with a form that holds the file that was looked at."""
        return self.show_file(
            form,
            head,
            plan=plan,
            problems=plan.problems[:PROBLEMS_SHOWN],
            **_describe_entries(plan),
            digest=plan.digest,
            trouble=trouble,
            has_bad_rows=any(problem.line for problem in plan.problems),
            may_store=not plan.is_empty
            and (form.cleaned_data["skip_bad_rows"] or not plan.problems),
            status=422 if trouble else 200,
        )

    def show_file(self, form: ImportForm, head: FileHead, **context: Any) -> HttpResponse:
        """Show the form with the columns of its file, and what each of them can hold."""
        names = [column.name for column in self.kind.columns]
        names += [*self.kind.further().offered, *(column.holds for column in head.columns)]
        return self.show(
            form=form, head=head, names=list(dict.fromkeys(filter(None, names))), **context
        )

    def get_context_data(self) -> dict[str, Any]:
        return {
            **super().get_context_data(),
            "opts": self.model_admin.opts,
            "title": _("Import what was made elsewhere"),
            "kind": self.kind,
            "kinds": self.kinds,
        }


def _describe_entries(plan: ImportPlan) -> dict[str, Any]:
    """Return what the page says of the entries of a plan, bad ones first."""
    told = [entry for entry in plan.entries if entry.action != Action.UNCHANGED]
    told.sort(key=lambda entry: (ORDER[entry.action], not entry.remarks, entry.line))
    return {
        "entries": [_describe_entry(entry) for entry in told[:ENTRIES_SHOWN]],
        "n_told": len(told),
    }


def _describe_entry(entry: Plan) -> dict[str, Any]:
    """Return an entry of a preview, as the page prints it."""
    badge, label = BADGES[entry.action]
    shown: dict[str, Any] = {"plan": entry, "badge": badge, "label": label}
    if entry.action == Action.ADDED:
        shown["facts"] = [(name, join(value)) for name, value in entry.values.items() if value]
    if entry.action == Action.CHANGED:
        shown["changes"] = [
            (change.column, *_cut(change.before, change.after)) for change in entry.changes
        ]
    return shown


def _cut(before: Value, after: Value) -> tuple[str, str]:
    """Return what a change takes away and what it brings; of a list only what differs."""
    if isinstance(before, str) or isinstance(after, str):
        return join(before), join(after)
    gone = tuple(part for part in before if part not in after)
    new = tuple(part for part in after if part not in before)
    return (join(gone), join(new)) if gone or new else (join(before), join(after))
