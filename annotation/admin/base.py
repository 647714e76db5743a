"""What the model admins have in common: rights by study, and pages of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, reverse
from unfold.decorators import display

from annotation.models import Instrument, Study, Submission
from annotation.researcher.pages.links import find_import_page
from annotation.researcher.pages.page import ResearcherPage, page_urls, staff_user

MOST_REFUSALS = 10


def count_column(name: str, description: Any) -> Callable[..., str]:
    """Return a column of a list that shows a count of the query, and sorts by it."""

    @display(description=description, ordering=name)
    def column(_admin: Any, row: Any) -> str:
        return f"{getattr(row, name):,}"

    return column


def build_tabs(
    names: Sequence[tuple[str, Any]], app: str, here: str
) -> list[tuple[Any, str, bool]]:
    """Return label, address and whether it is the page at hand, for each tab."""
    return [
        (label, reverse(f"admin:{app}_{name}_changelist"), name == here) for name, label in names
    ]


def do_to_each(
    request: HttpRequest, rows: Iterable[Any], service: Callable[[Any], Any], said: str
) -> None:
    """Apply a service to every chosen row, and say how many it did and why others refused.

    ``said`` has a place for the number, as in “Archived: %(n)d.”
    """
    done, refused = 0, []
    for row in rows:
        try:
            service(row)
            done += 1
        except ValidationError as refusal:
            refused += [f"{row}: {problem}" for problem in refusal.messages]
    if done:
        messages.success(request, said % {"n": done})
    for problem in refused[:MOST_REFUSALS]:
        messages.error(request, problem)


class HasTabs:
    """A model admin whose list has tabs to the lists that belong to it."""

    #: The neighbors of the list, itself among them, by the names of their models.
    tab_names: Sequence[tuple[str, Any]] = ()

    def list_tabs(self, here: str = "") -> list[tuple[Any, str, bool]]:
        opts = self.opts  # type: ignore[attr-defined]
        return build_tabs(self.tab_names, opts.app_label, here or str(opts.model_name))

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        context = {"library_tabs": self.list_tabs(), **(extra_context or {})}
        return super().changelist_view(request, context)  # type: ignore[misc]


class HasPages:
    """A model admin with pages of researchers at addresses below its own."""

    pages: ClassVar[Sequence[type[ResearcherPage]]] = ()

    def get_urls(self) -> list[URLPattern]:
        return page_urls(self.pages, self) + super().get_urls()  # type: ignore[arg-type,misc]


class HasImports:
    """A model admin whose list leads to the import of a kind of files."""

    #: Name of the kind, and the permission that it asks for.
    imports: ClassVar[tuple[str, str] | None] = None
    list_before_template = "admin/annotation/study/imports.html"

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        address = find_import_page(staff_user(request), *self.imports) if self.imports else ""
        context = {"import_address": address, **(extra_context or {})}
        return super().changelist_view(request, context)  # type: ignore[misc]


class ReadByStaff:
    """All staff read; more than that needs a right of its own."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return request.user.is_active and request.user.is_staff

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_module_permission(request)


class StudyScoped(HasPages, ReadByStaff):
    """For model admins whose rows belong to a study: members see, owner and editors change."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if not self.has_module_permission(request):
            return False
        study = find_study(obj)
        return study is None or study.is_visible_to(request.user)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if not self.has_module_permission(request):
            return False
        study = find_study(obj)
        return study is None or study.is_changeable_by(request.user)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def find_study(obj: Any) -> Study | None:
    """Return the study that a row belongs to."""
    if isinstance(obj, Study):
        return obj
    return obj.study if isinstance(obj, Instrument | Submission) else None
