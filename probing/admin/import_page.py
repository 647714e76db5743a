"""The page that imports what was made elsewhere: a file, its preview, and the import."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.common.table_file import TableFileError
from annotation.imports.import_kind import (
    BadImportError,
    FileColumn,
    ImportKind,
    ImportPlan,
    ImportRequest,
    StalePlanError,
    import_file,
    import_kinds,
    plan_import,
)
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

    def __init__(self, *args: Any, kind: ImportKind, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind, self.user = kind, user
        self.fields["file"] = UploadField(
            MEGABYTES,
            label=_("File"),
            required=False,
            accept=",".join(kind.suffixes),
            help_text=_("%(kinds)s in UTF-8, %(n)d MB at most.")
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
        return cleaned

    @property
    def options(self) -> dict[str, str]:
        given = {option.name: self.cleaned_data[option.name] for option in self.kind.options}
        return {name: "yes" if value is True else value or "" for name, value in given.items()}

    @property
    def request(self) -> ImportRequest:
        return ImportRequest(
            content=self.cleaned_data["raw"],
            file_name=self.cleaned_data["file_name"],
            options=self.options,
            user=self.user,
            has_heading=not self.cleaned_data["no_heading"],
        )

    def carry(self) -> ImportForm:
        """Return the form that holds the file that was looked at; empty content if too large."""
        kept = {**self.options, "file_name": self.cleaned_data["file_name"]}
        kept |= {name: self.cleaned_data[name] or "" for name in ("skip_bad_rows", "no_heading")}
        kept["content"] = pack_file(self.cleaned_data["raw"])
        carried = ImportForm(kept, kind=self.kind, user=self.user)
        carried.full_clean()
        return carried


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

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        form = ImportForm(request.POST, request.FILES, kind=self.kind, user=self.user)
        if not form.is_valid():
            return self.show(form=form, status=422)
        asked, is_new = form.request, bool(form.cleaned_data["file"])
        carried = form.carry()
        if not carried.data["content"]:
            form.add_error("file", _("The file is too large. Use manage.py import_results."))
            return self.show(form=form, status=422)
        try:
            columns = self.kind.sniff(asked)
        except TableFileError:
            columns = []  # which the plan explains
        if columns and not is_new and "column-0" in request.POST:
            columns = [
                replace(column, holds=request.POST.get(f"column-{place}", ""))
                for place, column in enumerate(columns)
            ]
            chosen = {column.holds: column.name for column in columns if column.holds}
            asked = replace(asked, columns=chosen, guesses=False)
            twice = len(chosen) < sum(bool(column.holds) for column in columns)
            if twice:
                carried.add_error("file", _("Two columns hold the same. Choose one of them."))
                return self.show(form=carried, columns=columns, status=422)
        skip = form.cleaned_data["skip_bad_rows"]
        try:
            if "import" in request.POST and not is_new:  # a new file is always looked at first
                done, plan = import_file(
                    self.kind,
                    asked,
                    skip_bad_rows=skip,
                    expected_digest=request.POST.get("digest", ""),
                )
                counts = ", ".join(f"{n} {name}" for name, n in plan.counts.items())
                messages.success(
                    request,
                    _("Imported: %(what)s, %(counts)s.") % {"what": done.name, "counts": counts},
                )
                for warning in plan.warnings:
                    messages.warning(request, warning)
                return redirect(done.address)
            return self.show_plan(carried, columns, plan_import(self.kind, asked))
        except (BadImportError, StalePlanError) as error:
            return self.show_plan(carried, columns, error.plan, trouble=str(error))
        except TableFileError as error:
            carried.add_error("file", str(error))
        except ValidationError as error:
            carried.add_error(None, error)
        return self.show(form=carried, columns=columns, status=422)

    def show_plan(
        self, form: ImportForm, columns: list[FileColumn], plan: ImportPlan, *, trouble: str = ""
    ) -> HttpResponse:
        """Show what a file would do, with a form that holds the file that was looked at."""
        return self.show(
            form=form,
            columns=columns,
            plan=plan,
            counts=list(plan.counts.items()),
            problems=plan.problems[:PROBLEMS_SHOWN],
            **_describe_entries(plan),
            digest=plan.digest,
            trouble=trouble,
            may_store=not plan.is_empty
            and (form.cleaned_data["skip_bad_rows"] or not plan.problems),
            status=422 if trouble else 200,
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
