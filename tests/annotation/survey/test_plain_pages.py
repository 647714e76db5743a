"""Pages without a study: what this place is, and what to do where something is wrong."""

from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.test import Client, RequestFactory
from django.views import csrf, defaults

from annotation.models import Study
from tests.annotation.survey.pages import read_page

REQUEST = RequestFactory().get("/somewhere/")


def test_home_says_what_this_is_and_stores_nothing(client: Client) -> None:
    response = client.get("/")
    assert response.status_code == 200
    page = read_page(response.content.decode())
    assert page.heading == "How people see groups, and how language models do"
    assert "Log in" in page.text
    assert not response.cookies


def test_home_takes_no_posts(client: Client) -> None:
    assert client.post("/").status_code == 405


def test_unknown_address_is_told_plainly(client: Client) -> None:
    response = client.get("/nothing/here/")
    assert response.status_code == 404
    assert read_page(response.content.decode()).heading == "There is nothing at this address"


@pytest.mark.parametrize(
    ("render", "status", "heading"),
    [
        (lambda: defaults.server_error(REQUEST), 500, "Something went wrong here"),
        (
            lambda: defaults.bad_request(REQUEST, SuspiciousOperation()),
            400,
            "This request cannot be read",
        ),
        (
            lambda: defaults.permission_denied(REQUEST, PermissionDenied()),
            403,
            "This page is not open to you",
        ),
        (lambda: csrf.csrf_failure(REQUEST), 403, "This page has grown old"),
    ],
)
def test_error_pages_speak_plainly(render, status: int, heading: str) -> None:
    response = render()
    assert response.status_code == status
    page = read_page(response.content.decode())
    assert page.heading == heading
    assert page.title == heading
    assert "!" not in page.text


def test_too_many_fields_are_refused_before_anything_is_read(client: Client, study: Study) -> None:
    fields = {f"field{n}": "1" for n in range(1200)}
    response = client.post(study.get_absolute_url(), fields)
    assert response.status_code == 400
    assert read_page(response.content.decode()).heading == "This request cannot be read"
    assert not study.submissions.exists()
