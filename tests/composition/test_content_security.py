"""Which scripts and styles a browser takes from a page: our own files alone, but for the admin."""

from __future__ import annotations

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


def policy(address: str) -> dict[str, str]:
    header = Client().get(address).headers["Content-Security-Policy"]
    parts = [part.strip().partition(" ") for part in header.split(";")]
    return {name: sources for name, _space, sources in parts}


@pytest.mark.parametrize("address", ["/", "/s/no-such-study/", "/health/missing"])
def test_pages_take_nothing_but_our_own_files(address: str) -> None:
    found = policy(address)
    assert found["default-src"] == found["base-uri"] == found["frame-ancestors"] == "'none'"
    assert found["script-src"] == found["style-src"] == "'self'"
    assert found["form-action"] == "'self' https://app.prolific.com"


def test_the_admin_theme_may_evaluate_expressions_and_nothing_else_is_wider() -> None:
    strict, wider = policy("/"), policy("/admin/")
    assert wider["script-src"].endswith("'unsafe-inline' 'unsafe-eval'")
    assert wider["style-src"].endswith("'unsafe-inline'")
    narrow = strict.keys() - {"script-src", "style-src"}
    assert {name: wider[name] for name in narrow} == {name: strict[name] for name in narrow}
