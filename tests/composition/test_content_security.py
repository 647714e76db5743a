"""Which scripts and styles a browser takes from a page: our own files alone."""

from __future__ import annotations

from pathlib import Path

import pytest
import unfold
from django.test import Client

from tests.conftest import ROOT

pytestmark = pytest.mark.django_db


def policy(address: str) -> dict[str, str]:
    header = Client().get(address).headers["Content-Security-Policy"]
    parts = [part.strip().partition(" ") for part in header.split(";")]
    return {name: sources for name, _space, sources in parts}


@pytest.mark.parametrize("address", ["/", "/s/no-such-study/", "/health/missing", "/admin/login/"])
def test_pages_take_nothing_but_our_own_files(address: str) -> None:
    found = policy(address)
    assert found["default-src"] == found["base-uri"] == found["frame-ancestors"] == "'none'"
    assert found["script-src"] == found["style-src"] == "'self'"
    assert found["form-action"] == "'self' https://app.prolific.com"


def test_the_themes_files_that_we_took_over_are_those_of_the_pinned_version() -> None:
    """A theme that is renewed may bring another Alpine: then `static/unfold` is renewed with it."""
    theme = Path(unfold.__file__).parent
    brought = (theme / "static/unfold/js/alpine/alpine.js").read_text(encoding="utf-8")
    ours = (ROOT / "static/unfold/js/alpine/alpine.js").read_text(encoding="utf-8")
    assert 'version:"3.14.9"' in brought
    assert "CSP build" in ours
    assert "AsyncFunction" not in ours
    for name in ("unfold/layouts/skeleton.html", "admin/actions.html"):
        assert (theme / "templates" / name).exists()
