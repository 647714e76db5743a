"""Help where one stands: the fitting page beside every page, and words of the glossary."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from stereoscope.templatetags.help import PAGES, START, find_help_page, read_glossary
from tests.conftest import ROOT

OURS = ("annotation", "probing", "evaluation", "stereoscope")


def names(resolver: URLResolver, space: str = "") -> set[str]:
    found: set[str] = set()
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            inner = ":".join(part for part in (space, entry.namespace) if part)
            found |= names(entry, inner)
        elif isinstance(entry, URLPattern) and entry.name:
            found.add(":".join(part for part in (space, entry.name) if part))
    return found


def anchors(page: str) -> set[str]:
    """Return the anchors of a page's headings, as its site has them."""
    text = (ROOT / "docs" / page).with_suffix(".md").read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", text, flags=re.M)
    return {re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-")) for heading in headings}


def test_every_page_of_researchers_has_a_page_that_helps() -> None:
    of_researchers = {
        name
        for name in names(get_resolver())
        if name.startswith(tuple(f"admin:{app}_" for app in OURS)) or name == "admin:index"
    }
    assert len(of_researchers) > 100
    assert not {name for name in of_researchers if find_help_page(name) == START}
    for page in {*PAGES.values(), START}:
        path, _mark, anchor = page.partition("#")
        assert (ROOT / "docs" / path).with_suffix(".md").exists(), page
        assert not anchor or anchor in anchors(path), page


def test_every_row_of_the_glossary_explains_a_word() -> None:
    rows = re.findall(r"^\|.*$", (ROOT / "docs/glossary.md").read_text("utf-8"), flags=re.M)
    assert all(row.count("|") == 4 for row in rows), [row for row in rows if row.count("|") != 4]
    glossary = read_glossary()
    assert len(glossary) > 80
    assert all(term.meaning and term.anchor in anchors("glossary.md") for term in glossary.values())


def test_words_that_pages_explain_stand_in_the_glossary() -> None:
    used = {
        word
        for file in (ROOT / "templates").rglob("*.html")
        for word in re.findall(r"\{% term \"([^\"]+)\" %\}", file.read_text(encoding="utf-8"))
    }
    assert len(used) > 12
    assert used <= set(read_glossary())


@pytest.mark.django_db
def test_a_page_links_to_its_help_and_explains_a_word(client: Client) -> None:
    client.force_login(User.objects.create_superuser("alice"))
    page = client.get(reverse("admin:stereoscope_apitoken_changelist")).content.decode()
    assert 'href="/docs/operations/accounts.html#api-tokens"' in page
    assert (
        'href="/docs/studies/index.html"'
        in client.get(reverse("admin:annotation_study_changelist")).content.decode()
    )


def test_the_glossary_lies_where_the_image_finds_it() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert not {"docs", "docs/images"} & set(ignored)
    assert Path(ROOT / "docs/glossary.md").exists()
