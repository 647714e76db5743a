"""A button is a method of its page: one declaration gives right, question, message, and refusal."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.contrib.messages.storage.fallback import FallbackStorage
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpResponse
from django.test import RequestFactory

from annotation.models import Study
from annotation.researcher.pages.page import ButtonPage, Confirmation, button


class Shelf(ButtonPage):
    """A toy page."""

    route, name = "shelf/", "shelf"
    buttons_need = "may_change"
    books: ClassVar[list[str]] = []

    @property
    def may_change(self) -> bool:
        return self.user.is_superuser

    def ask_to_empty(self) -> Confirmation | None:
        return Confirmation("Empty it?", "Every book is lost.", "Empty") if self.books else None

    @button("add")
    def add(self) -> str:
        if not (title := self.request.POST.get("title")):
            raise ValidationError("Enter a title.")
        self.books.append(title)
        return f"{title} is on the shelf."

    @button("empty", ask=ask_to_empty)
    def empty(self) -> None:
        self.books.clear()

    @button("count", needs="")
    def count(self) -> HttpResponse:
        return HttpResponse(str(len(self.books)))


class LowShelf(Shelf):
    """Inherits the buttons and adds one."""

    @button("dust")
    def dust(self) -> str:
        return "It is clean."


@pytest.fixture
def press(rf: RequestFactory, admin_user: User, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(Shelf, "books", [])

    def send(do: str, user: User = admin_user, page: type[Shelf] = Shelf, **sent: str) -> Any:
        request = rf.post("/shelf/", {"do": do, **sent})
        request.user, request.session = user, {}  # type: ignore[assignment]
        request._messages = messages = FallbackStorage(request)  # type: ignore[attr-defined]
        view = page.as_view(model_admin=admin.site._registry[Study])
        return view(request), [str(said) for said in messages]

    return send


def test_a_method_says_what_it_did(press: Any) -> None:
    answer, said = press("add", title="Emma")
    assert (answer.status_code, answer["Location"]) == (302, "/shelf/")
    assert (said, Shelf.books) == (["Emma is on the shelf."], ["Emma"])


def test_a_refusal_is_shown_on_the_page(press: Any) -> None:
    answer, said = press("add")
    assert (answer.status_code, said, Shelf.books) == (302, ["Enter a title."], [])


def test_a_button_asks_before_a_loss_alone(press: Any) -> None:
    assert press("empty")[0].status_code == 302
    press("add", title="Emma")
    asked = press("empty")[0]
    assert asked.context_data["question"].text == "Empty it?"
    assert Shelf.books == ["Emma"]
    assert press("empty", confirmed="yes")[0].status_code == 302
    assert Shelf.books == []


def test_who_may_not_press_it_is_refused(press: Any, alice: User) -> None:
    with pytest.raises(PermissionDenied):
        press("add", user=alice, title="Emma")
    assert press("count", user=alice)[0].content == b"0"


def test_a_name_that_no_button_has_is_not_found(press: Any) -> None:
    with pytest.raises(Http404):
        press("dust")
    assert press("dust", page=LowShelf)[1] == ["It is clean."]
    assert press("count", page=LowShelf)[0].content == b"0"
