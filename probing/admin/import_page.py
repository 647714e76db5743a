"""The page that imports what was made elsewhere: a file, its preview, and the import."""

from __future__ import annotations

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
    ImportKind,
    ImportPlan,
    ImportRequest,
    import_file,
    plan_import,
)
from annotation.researcher.pages.fields import ChoiceField, ParagraphField, TextField, UploadField
from annotation.researcher.pages.kept_file import pack_file, unpack_file
from annotation.researcher.pages.page import ResearcherPage
from probing.imports.registry import IMPORTS

PROBLEMS_SHOWN = 200
MEGABYTES = 20
LONG_OPTIONS = ("obtained", "citation", "scheme")


class ImportForm(forms.Form):
    """A file, or the one that was looked at a moment ago, with the options of a kind."""

    skip_bad_rows = forms.BooleanField(
        label=gettext_lazy("Leave out bad rows"),
        required=False,
        help_text=gettext_lazy("Otherwise one bad row stops the import, and nothing is stored."),
    )
    content = forms.CharField(required=False, widget=forms.HiddenInput)
    file_name = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, kind: ImportKind, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind = kind
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
            elif option.name in LONG_OPTIONS:
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
        return [kind for kind in IMPORTS.values() if self.request.user.has_perm(kind.permission)]

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
        asked = ImportRequest(
            content=form.cleaned_data["raw"],
            file_name=form.cleaned_data["file_name"],
            options={o.name: form.cleaned_data[o.name] for o in self.kind.options},
            user=self.user,
        )
        # A new file is always looked at first.
        stores = "import" in request.POST and not form.cleaned_data["file"]
        skip = form.cleaned_data["skip_bad_rows"]
        try:
            if stores:
                done, plan = import_file(self.kind, asked, skip_bad_rows=skip)
                messages.success(request, _("%(what)s is imported.") % {"what": done.name})
                for warning in plan.warnings:
                    messages.warning(request, warning)
                return redirect(done.address)
            return self.show_plan(form, plan_import(self.kind, asked))
        except BadImportError as error:
            return self.show_plan(form, error.plan, trouble=str(error))
        except TableFileError as error:
            form.add_error("file", str(error))
        except ValidationError as error:
            form.add_error(None, error)
        return self.show(form=form, status=422)

    def show_plan(self, form: ImportForm, plan: ImportPlan, *, trouble: str = "") -> HttpResponse:
        """Show what a file would do, with a form that holds the file that was looked at."""
        cleaned = form.cleaned_data
        packed = pack_file(cleaned["raw"])
        if not packed:
            form.add_error("file", _("The file is too large. Use manage.py import_results."))
            return self.show(form=form, status=422)
        kept = {option.name: cleaned[option.name] for option in self.kind.options}
        answer = ImportForm(
            {
                **kept,
                "skip_bad_rows": cleaned["skip_bad_rows"] or "",
                "content": packed,
                "file_name": cleaned["file_name"],
            },
            kind=self.kind,
            user=self.user,
        )
        return self.show(
            form=answer,
            plan=plan,
            counts=list(plan.counts.items()),
            problems=plan.problems[:PROBLEMS_SHOWN],
            trouble=trouble,
            may_store=not plan.is_empty and (cleaned["skip_bad_rows"] or not plan.problems),
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
