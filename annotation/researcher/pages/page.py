"""A page of researchers: every subject looks up, checks, builds and shows its pages this way.

A button is a method of its page, declared with `button`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.views.decorators.cache import never_cache
from django.views.generic.base import TemplateResponseMixin, View

Tabs = list[tuple[str, str, str]]  # name, label, address
Method = TypeVar("Method", bound=Callable[..., Any])


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


@dataclass(frozen=True)
class Confirmation:
    """Asked before something is lost or frozen.

    ``loss`` says what would be gone, ``button`` what is done; ``facts`` are listed above it,
    ``fields`` are sent along. ``is_final`` is False if it can be undone.
    """

    text: Any
    loss: Any
    button: Any
    tab: str = "instrument"
    facts: Sequence[str] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    is_final: bool = True


@dataclass(frozen=True)
class Button:
    """One button of a page.

    name : as a form sends it: in the field “do”, or as the last part of the address
    needs : the property of the page that allows it, such as “may_manage”; by default the page's own
    ask : returns what is asked of this page first, None for nothing
    leads_to : the page that follows, by default the same
    """

    name: str
    run: Callable[[Any], Any]
    needs: str | None = None
    ask: Callable[[Any], Confirmation | None] | None = None
    leads_to: str = ""


def button(name: str, **options: Any) -> Callable[[Method], Method]:
    """Declare the method of a `ButtonPage` that a button of this name runs.

        @button("pause")
        def pause(self) -> str:
            pause_study(study=self.study)
            return _("The study is paused.")

    The text that it returns is shown on the page that follows, and so is a `ValidationError`; a
    response is the answer itself. The options are those of `Button`.
    """

    def declare(method: Method) -> Method:
        method.button = Button(name, method, **options)  # type: ignore[attr-defined]
        return method

    return declare


class ButtonPage(ResearcherPage):
    """A page with buttons: their methods say with `button` what runs them."""

    #: The property of the page that allows its buttons, unless one says otherwise.
    buttons_need: ClassVar[str] = ""
    buttons: ClassVar[Mapping[str, Button]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        methods = [method for base in reversed(cls.__mro__) for method in vars(base).values()]
        found = [getattr(method, "button", None) for method in methods]
        cls.buttons = {one.name: one for one in found if isinstance(one, Button)}

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        pressed = self.buttons.get(kwargs.get("action") or request.POST.get("do", ""))
        if pressed is None:
            raise Http404
        needs = self.buttons_need if pressed.needs is None else pressed.needs
        if needs and not getattr(self, needs):
            raise PermissionDenied
        question = pressed.ask(self) if pressed.ask else None
        if question and "confirmed" not in request.POST:
            return self.ask_first(question, back=self.address_after(pressed))
        answer = None
        with refusals_shown(request):
            answer = pressed.run(self)
        if isinstance(answer, HttpResponseBase):
            return answer
        if answer:
            messages.success(request, str(answer))
        return redirect(self.address_after(pressed))

    def address_after(self, pressed: Button) -> str:
        """Return the address of the page that follows."""
        return self.request.path

    def ask_first(self, question: Confirmation, *, back: str) -> HttpResponse:
        """Answer a POST that does not hold “confirmed” yet."""
        self.template_name = "admin/annotation/study/ask.html"
        return self.show(
            title=question.text,
            tab=question.tab,
            question=question,
            action=self.request.path,
            back=back,
        )


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
