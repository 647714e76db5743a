"""Files of library entries: an upload with its preview, and downloads."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.common.table_file import SUFFIXES, TableFileError
from annotation.exports.downloads import build_attachment
from annotation.library.library_export import stream_example, stream_library
from annotation.library.library_import import (
    BadEntriesError,
    ImportPlan,
    StalePlanError,
    import_library,
    plan_import,
)
from annotation.library.library_kind import Action, LibraryKind, Plan, Value, join
from annotation.researcher.pages.fields import UploadField
from annotation.researcher.pages.page import ResearcherPage

ENTRIES_SHOWN = 500

BADGES = {
    Action.ADDED: ("good mark-tick", gettext_lazy("New")),
    Action.CHANGED: ("info mark-play", gettext_lazy("Changed")),
    Action.UNCHANGED: ("mark-ring", gettext_lazy("As it is")),
    Action.REFUSED: ("bad mark-cross", gettext_lazy("Refused")),
}
#: What a person looks at first.
ORDER = {Action.REFUSED: 0, Action.CHANGED: 1, Action.ADDED: 2, Action.UNCHANGED: 3}


class LibraryFileForm(forms.Form):
    """A file, or the one that was looked at a moment ago, and how its rows are taken."""

    # Within what Django takes in a form, since the file comes again with the answer to its preview.
    file = UploadField(
        1.5,
        megabyte=1_000_000,
        label=gettext_lazy("File"),
        required=False,
        accept=",".join(SUFFIXES),
        help_text=gettext_lazy("CSV, TSV, Excel, JSON, or Parquet, 1.5 MB at most."),
        remedy=gettext_lazy("Import it in parts, or with manage.py import_library."),
    )
    skip_bad_rows = forms.BooleanField(
        label=gettext_lazy("Leave out bad rows"),
        required=False,
        help_text=gettext_lazy("Otherwise one bad row stops the import, and nothing is stored."),
    )
    as_written = forms.BooleanField(
        label=gettext_lazy("Take the words as written"),
        required=False,
        help_text=gettext_lazy(
            "Takes what the check of article, number and capitals refuses: words of another "
            "language, or wrong on purpose."
        ),
    )
    content = forms.CharField(required=False, widget=forms.HiddenInput)
    file_name = forms.CharField(required=False, widget=forms.HiddenInput)
    digest = forms.CharField(required=False, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        if cleaned["file"]:
            cleaned["raw"], cleaned["file_name"] = cleaned["file"].read(), cleaned["file"].name
            cleaned["digest"] = ""
            return cleaned
        try:
            cleaned["raw"] = base64.b64decode(cleaned["content"], validate=True)
        except (binascii.Error, ValueError):
            cleaned["raw"] = b""
        if not cleaned["raw"]:
            self.add_error("file", _("Choose a file."))
        return cleaned


class LibraryFilePage(ResearcherPage):
    """A page below the list of a kind of entries, whose model admin has a ``library_kind``."""

    def prepare(self) -> None:
        if not self.model_admin.has_view_permission(self.request):
            raise PermissionDenied

    @property
    def kind(self) -> LibraryKind:
        return self.model_admin.library_kind  # type: ignore[attr-defined]

    def address(self, page: str) -> str:
        opts = self.model_admin.opts
        return reverse(f"admin:{opts.app_label}_{opts.model_name}_{page}")


class LibraryExport(LibraryFilePage):
    route = "library.csv"
    name = "export"

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        name = f"stereoscope-{self.kind.name}-{timezone.localdate():%Y-%m-%d}.csv"
        return build_attachment(stream_library(self.kind, bom="bom" in request.GET), name)


class LibraryExample(LibraryFilePage):
    route = "example.csv"
    name = "example"

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        name = f"stereoscope-{self.kind.name}-example.csv"
        return build_attachment(stream_example(self.kind, bom="bom" in request.GET), name)


class LibraryImport(LibraryFilePage):
    """An upload with a preview of every row before anything is stored."""

    route = "import/"
    name = "import"
    template_name = "admin/annotation/library/import.html"

    def prepare(self) -> None:
        if not may_import(self.request, self.kind):
            raise PermissionDenied

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        return self.show(form=LibraryFileForm())

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        form = LibraryFileForm(request.POST, request.FILES)
        if not form.is_valid():
            return self.show(form=form, status=422)
        try:
            if "import" in request.POST and form.cleaned_data["digest"]:
                return self.store(form)
            return self.show_plan(form, plan_import(**self.file_options(form)))
        except (BadEntriesError, StalePlanError) as error:
            return self.show_plan(form, error.plan, trouble=str(error))
        except TableFileError as error:
            form.add_error("file", str(error))
        return self.show(form=form, status=422)

    def file_options(self, form: LibraryFileForm) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "content": form.cleaned_data["raw"],
            "file_name": form.cleaned_data["file_name"],
            "as_written": form.cleaned_data["as_written"],
        }

    def store(self, form: LibraryFileForm) -> HttpResponse:
        done = import_library(
            **self.file_options(form),
            user=self.user,
            skip_bad_rows=form.cleaned_data["skip_bad_rows"],
            expected_digest=form.cleaned_data["digest"],
        )
        counts = {str(action): len(done.of(action)) for action in Action}
        text = _(
            "%(kind)s: %(added)d new, %(changed)d changed, %(unchanged)d unchanged, "
            "%(refused)d left out."
        )
        messages.success(self.request, text % {"kind": self.kind.plural.capitalize(), **counts})
        return redirect(self.address("changelist"))

    def show_plan(
        self, form: LibraryFileForm, plan: ImportPlan, *, trouble: str = ""
    ) -> HttpResponse:
        """Show what a file would do, with a form that holds the file that was looked at."""
        for notice in plan.notices:
            messages.warning(self.request, notice)
        skip = form.cleaned_data["skip_bad_rows"]
        answer = LibraryFileForm(
            {
                "skip_bad_rows": skip or "",
                "as_written": form.cleaned_data["as_written"] or "",
                "content": base64.b64encode(form.cleaned_data["raw"]).decode(),
                "file_name": form.cleaned_data["file_name"],
                "digest": plan.digest,
            }
        )
        return self.show(
            form=answer,
            plan=plan,
            trouble=trouble,
            **_describe_plan(plan, skip=skip),
            status=422 if trouble else 200,
        )

    def get_context_data(self) -> dict[str, Any]:
        return {
            **super().get_context_data(),
            "opts": self.model_admin.opts,
            "title": _("Import %(kind)s") % {"kind": self.kind.plural},
            "kind": self.kind,
            "example_address": self.address("example"),
            "export_address": self.address("export"),
        }


def may_import(request: HttpRequest, kind: LibraryKind) -> bool:
    """Return whether the user may add and change entries, and the sets that hold them."""
    models = [kind.model, *([kind.set_model] if kind.set_model else [])]
    return all(
        request.user.has_perm(f"{model._meta.app_label}.{verb}_{model._meta.model_name}")
        for model in models
        for verb in ("add", "change")
    )


def _describe_plan(plan: ImportPlan, *, skip: bool) -> dict[str, Any]:
    """Return what the page says of a plan, bad entries first."""
    told = [entry for entry in plan.entries if entry.action != Action.UNCHANGED]
    told.sort(key=lambda entry: (ORDER[entry.action], not entry.remarks, entry.line))
    n_refused = len(plan.of(Action.REFUSED))
    n_due = len(plan.of(Action.ADDED)) + len(plan.of(Action.CHANGED))
    return {
        "lines": [_describe_entry(entry) for entry in told[:ENTRIES_SHOWN]],
        "n_told": len(told),
        "n_added": len(plan.of(Action.ADDED)),
        "n_changed": len(plan.of(Action.CHANGED)),
        "n_unchanged": len(plan.of(Action.UNCHANGED)),
        "n_refused": n_refused,
        "n_remarked": sum(bool(entry.remarks) for entry in plan.entries),
        "may_store": n_due > 0 and (skip or not n_refused),
        "store_label": ngettext("Import %(n)d entry", "Import %(n)d entries", n_due) % {"n": n_due},
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
