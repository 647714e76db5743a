"""Files of library entries in the admin: an upload with its preview, and downloads."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from unfold.widgets import UnfoldAdminFileFieldWidget

from annotation.admin.access import staff_user
from annotation.exports.downloads import build_attachment
from annotation.imports.table_file import Problem, TableFileError
from annotation.library.exporting import stream_example, stream_library
from annotation.library.importing import (
    BadEntriesError,
    ImportPlan,
    StalePlanError,
    import_library,
    plan_import,
)
from annotation.library.library_kind import Action, LibraryKind, Plan, Value, join

# Within what Django takes in a form, since the file comes again with the answer to its preview.
LARGEST_FILE = 1_500_000
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

    file = forms.FileField(
        label=gettext_lazy("File"),
        required=False,
        help_text=gettext_lazy("CSV or TSV in UTF-8, 1.5 MB at most."),
        widget=UnfoldAdminFileFieldWidget(attrs={"accept": ".csv,.tsv,.tab"}),
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

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file and file.size > LARGEST_FILE:
            raise forms.ValidationError(
                _(
                    "The file has %(size)s MB, expected 1.5 MB at most. Import it in parts, or "
                    "with manage.py import_library."
                )
                % {"size": f"{file.size / 1_000_000:.1f}"}
            )
        return file

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
            self.add_error("file", _("No file is chosen, expected one."))
        return cleaned


@dataclass(frozen=True)
class Line:
    """One entry of a preview, as the page prints it."""

    line: int
    slug: str
    badge: str
    label: str
    facts: list[tuple[str, str]]
    changes: list[tuple[str, str, str]]
    faults: tuple[Problem, ...]
    remarks: tuple[str, ...]


class LibraryFiles:
    """For model admins: pages below the list that import and export a kind of entries."""

    library_kind: ClassVar[LibraryKind]
    list_before_template = "admin/annotation/library/tabs.html"

    def may_import(self, request: HttpRequest) -> bool:
        """Return whether the user may add and change entries, and the sets that hold them."""
        kind = self.library_kind
        models = [kind.model, *([kind.set_model] if kind.set_model else [])]
        return all(
            request.user.has_perm(f"{model._meta.app_label}.{verb}_{model._meta.model_name}")
            for model in models
            for verb in ("add", "change")
        )

    def library_address(self, name: str) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{name}"  # type: ignore[attr-defined]

    def get_urls(self) -> list[URLPattern]:
        guarded = self.admin_site.admin_view  # type: ignore[attr-defined]
        return [
            path("import/", guarded(self.import_view), name=self.library_address("import")),
            path("library.csv", guarded(self.export_view), name=self.library_address("export")),
            path("example.csv", guarded(self.example_view), name=self.library_address("example")),
            *super().get_urls(),  # type: ignore[misc]
        ]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        files = {
            "library_kind": self.library_kind,
            "import_address": reverse(f"admin:{self.library_address('import')}")
            if self.may_import(request)
            else "",
            "export_address": reverse(f"admin:{self.library_address('export')}"),
        }
        return super().changelist_view(request, {**files, **(extra_context or {})})  # type: ignore[misc]

    def export_view(self, request: HttpRequest) -> StreamingHttpResponse:
        if not self.has_view_permission(request):  # type: ignore[attr-defined]
            raise PermissionDenied
        name = f"stereoscope-{self.library_kind.name}-{timezone.localdate():%Y-%m-%d}.csv"
        return build_attachment(stream_library(self.library_kind, bom="bom" in request.GET), name)

    def example_view(self, request: HttpRequest) -> StreamingHttpResponse:
        if not self.has_view_permission(request):  # type: ignore[attr-defined]
            raise PermissionDenied
        name = f"stereoscope-{self.library_kind.name}-example.csv"
        return build_attachment(stream_example(self.library_kind, bom="bom" in request.GET), name)

    def import_view(self, request: HttpRequest) -> HttpResponse:
        if not self.may_import(request):
            raise PermissionDenied
        form = LibraryFileForm(request.POST or None, request.FILES or None)
        plan, trouble = None, ""
        if request.method == "POST" and form.is_valid():
            try:
                plan = self._plan(form)
                if "import" in request.POST and form.cleaned_data["digest"]:
                    return self._import(request, form)
            except TableFileError as error:
                form.add_error("file", str(error))
            except BadEntriesError as error:
                plan, trouble = error.plan, str(error)
            except StalePlanError as error:
                plan, trouble = error.plan, str(error)
        if plan is not None:
            form = self._answer_form(form, plan)
        return TemplateResponse(
            request,
            "admin/annotation/library/import.html",
            {
                **self.admin_site.each_context(request),  # type: ignore[attr-defined]
                "opts": self.opts,  # type: ignore[attr-defined]
                "title": _("Import %(kind)s") % {"kind": self.library_kind.plural},
                "kind": self.library_kind,
                "form": form,
                "plan": plan,
                "trouble": trouble,
                "example_address": reverse(f"admin:{self.library_address('example')}"),
                "export_address": reverse(f"admin:{self.library_address('export')}"),
                **(_preview(plan, skip=bool(form.data.get("skip_bad_rows"))) if plan else {}),
            },
            status=422 if trouble or form.errors else 200,
        )

    def _plan(self, form: LibraryFileForm) -> ImportPlan:
        return plan_import(
            kind=self.library_kind,
            content=form.cleaned_data["raw"],
            file_name=form.cleaned_data["file_name"],
            as_written=form.cleaned_data["as_written"],
        )

    def _import(self, request: HttpRequest, form: LibraryFileForm) -> HttpResponse:
        done = import_library(
            kind=self.library_kind,
            content=form.cleaned_data["raw"],
            file_name=form.cleaned_data["file_name"],
            user=staff_user(request),
            as_written=form.cleaned_data["as_written"],
            skip_bad_rows=form.cleaned_data["skip_bad_rows"],
            expected_digest=form.cleaned_data["digest"],
        )
        counts = {str(action): len(done.of(action)) for action in Action}
        messages.success(
            request,
            _(
                "%(kind)s: %(added)d new, %(changed)d changed, %(unchanged)d as they were, "
                "%(refused)d left out."
            )
            % {"kind": self.library_kind.plural.capitalize(), **counts},
        )
        return redirect(f"admin:{self.library_address('changelist')}")

    def _answer_form(self, form: LibraryFileForm, plan: ImportPlan) -> LibraryFileForm:
        """Return the form that comes with a preview: it holds the file that was looked at."""
        return LibraryFileForm(
            {
                "skip_bad_rows": form.cleaned_data["skip_bad_rows"] or "",
                "as_written": form.cleaned_data["as_written"] or "",
                "content": base64.b64encode(form.cleaned_data["raw"]).decode(),
                "file_name": form.cleaned_data["file_name"],
                "digest": plan.digest,
            }
        )


def _preview(plan: ImportPlan, *, skip: bool) -> dict[str, Any]:
    """Return what the page says of a plan, bad entries first."""
    told = [entry for entry in plan.entries if entry.action != Action.UNCHANGED]
    told.sort(key=lambda entry: (ORDER[entry.action], not entry.remarks, entry.line))
    n_refused = len(plan.of(Action.REFUSED))
    n_due = len(plan.of(Action.ADDED)) + len(plan.of(Action.CHANGED))
    return {
        "lines": [_line(entry) for entry in told[:ENTRIES_SHOWN]],
        "n_told": len(told),
        "n_added": len(plan.of(Action.ADDED)),
        "n_changed": len(plan.of(Action.CHANGED)),
        "n_unchanged": len(plan.of(Action.UNCHANGED)),
        "n_refused": n_refused,
        "n_remarked": sum(bool(entry.remarks) for entry in plan.entries),
        "may_store": n_due > 0 and (skip or not n_refused),
        "store_label": ngettext("Import %(n)d entry", "Import %(n)d entries", n_due) % {"n": n_due},
    }


def _line(entry: Plan) -> Line:
    badge, label = BADGES[entry.action]
    added = entry.action == Action.ADDED
    facts = [(name, join(value)) for name, value in entry.values.items() if value] if added else []
    changes = (
        [(change.column, *_cut(change.before, change.after)) for change in entry.changes]
        if entry.action == Action.CHANGED
        else []
    )
    return Line(
        entry.line, entry.slug, badge, str(label), facts, changes, entry.faults, entry.remarks
    )


def _cut(before: Value, after: Value) -> tuple[str, str]:
    """Return what a change takes away and what it brings; of a list only what differs."""
    if isinstance(before, str) or isinstance(after, str):
        return join(before), join(after)
    gone = tuple(part for part in before if part not in after)
    new = tuple(part for part in after if part not in before)
    return (join(gone), join(new)) if gone or new else (join(before), join(after))
