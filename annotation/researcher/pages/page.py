"""A page of researchers: every subject looks up, checks, builds and shows its pages this way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from django.views.decorators.cache import never_cache
from django.views.generic.base import TemplateResponseMixin, View

Tabs = list[tuple[str, str, str]]  # name, label, address


class ResearcherPage(TemplateResponseMixin, View):
    """A page at an address below those of a model in the admin."""

    #: The model admin below which the page has its address.
    model_admin: ModelAdmin = None  # type: ignore[assignment] # given by `page_urls`
    #: Its address below the model's, and the last part of the address's name.
    route: ClassVar[str] = ""
    name: ClassVar[str] = ""
    #: Where its template is, called after the page unless ``template_name`` says otherwise.
    folder: ClassVar[str] = ""
    #: Whether it is open to others than staff; it checks for itself who they are then.
    is_open: ClassVar[bool] = False

    def prepare(self) -> None:
        """Find what the page is about, check the rights; raise `Http404` or `PermissionDenied`."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        method = str(request.method).lower()
        if method in self.http_method_names and hasattr(self, method):
            self.prepare()
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        return self.show()

    def get_template_names(self) -> list[str]:
        return [self.template_name or f"admin/annotation/{self.folder}/{self.name}.html"]

    def get_context_data(self) -> dict[str, Any]:
        return dict(self.model_admin.admin_site.each_context(self.request))

    def show(self, *, status: int = 200, **context: Any) -> HttpResponse:
        """Return the page, with ``context`` over what it shows anyway."""
        return self.render_to_response({**self.get_context_data(), **context}, status=status)

    @property
    def user(self) -> User:
        return staff_user(self.request)


def page_urls(
    pages: Iterable[type[ResearcherPage]], model_admin: ModelAdmin[Any]
) -> list[URLPattern]:
    """Return the addresses of pages, open to staff alone unless a page says otherwise."""
    opts = model_admin.opts
    staff_only = model_admin.admin_site.admin_view
    return [
        path(
            page.route,
            (never_cache if page.is_open else staff_only)(page.as_view(model_admin=model_admin)),
            name=f"{opts.app_label}_{opts.model_name}_{page.name}",
        )
        for page in pages
    ]


def staff_user(request: HttpRequest) -> User:
    """Return the logged-in user, on pages that only staff reach."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


@contextmanager
def refusals_shown(request: HttpRequest) -> Iterator[None]:
    """Turn a service's `ValidationError` into messages on the next page."""
    try:
        yield
    except ValidationError as refusal:
        for problem in refusal.messages:
            messages.error(request, problem)
