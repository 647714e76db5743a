"""The documentation as a site: whole, without a link that leads nowhere, served strictly."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.test import Client

from evaluation.reports.registry import KINDS
from probing.measures.registry import MEASURES
from stereoscope.documentation.site import build_documentation

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: a link that leads nowhere fails every test here."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    assert build_documentation(folder, strict=True)
    return folder


class Links(HTMLParser):
    """What a page links to or loads, its anchors, and whatever the strict policy would refuse."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[str] = []
        self.anchors: set[str] = set()
        self.refused: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors.add(values.get("id", ""))
        self.found += [values[name] for name in ("href", "src") if name in values]
        is_script = tag == "script" and "src" not in values and "type" not in values
        handlers = [name for name in values if name == "style" or name.startswith("on")]
        if is_script or tag == "style" or handlers:
            self.refused.append(f"<{tag} {' '.join(handlers)}>")


def test_every_link_of_every_page_leads_somewhere_on_the_site(site: Path) -> None:
    pages = {page: Links(page) for page in site.rglob("*.html")}
    assert len(pages) > 70
    for page, links in pages.items():
        for link in links.found:
            if re.match(r"https?://|mailto:|data:", link):
                assert not link.startswith("http") or link in hrefs(page), link
                continue
            path, _mark, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if target.is_dir():
                target /= "index.html"
            assert target.is_file(), f"{page.name} links to {link}"
            if anchor and target in pages:
                assert anchor in pages[target].anchors, f"{page.name} links to {link}"


def hrefs(page: Path) -> set[str]:
    """Return what a reader may follow to elsewhere; nothing else is ever fetched from there."""
    return set(re.findall(r'<a [^>]*href="(https?://[^"]+)"', page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", [*MEASURES, *KINDS])
def test_every_measure_and_every_report_has_a_page_with_what_its_registry_knows(
    site: Path, name: str
) -> None:
    folder, title = ("measures", "") if name in MEASURES else ("reports", str(KINDS[name].title))
    page = site / folder / f"{name}.html"
    assert page.exists(), f"Write docs/{folder}/{name}.md and list it in mkdocs.yml."
    text = page.read_text(encoding="utf-8")
    assert f">{title}" in text
    schema = (MEASURES[name] if name in MEASURES else KINDS[name]).Parameters
    assert all(f"<code>{option}</code>" in text for option in schema.model_fields)
    assert name in MEASURES or all(f"<td>{label}</td>" in text for label in KINDS[name].meanings)
    assert "<!--" not in re.sub(r"(?s)<head>.*?</head>", "", text), "a placeholder was left"


def test_no_page_holds_a_script_or_style_of_its_own(site: Path) -> None:
    refused = {page.name: Links(page).refused for page in site.rglob("*.html")}
    assert not {name: found for name, found in refused.items() if found}


def test_the_site_is_built_anew_only_where_a_source_has_changed(site: Path) -> None:
    assert not build_documentation(site)
    (site / ".sources-sha256").write_text("of another day")
    assert build_documentation(site)


def test_pages_are_served_to_everybody_under_the_strict_policy(site: Path, settings) -> None:
    settings.DOCS_ROOT = site
    client = Client()
    page = client.get("/docs/")
    assert page.status_code == 200
    assert b"Stereoscope" in b"".join(page.streaming_content)
    policy = page.headers["Content-Security-Policy"]
    assert "script-src 'self'" in policy.split("; ")
    assert "unsafe" not in policy
    assert client.get("/docs/glossary.html").headers["Cache-Control"] == "no-cache"
    style = next((site / "assets" / "stylesheets").glob("main.*.css")).name
    kept = client.get(f"/docs/assets/stylesheets/{style}")
    assert kept.headers["Content-Type"] == "text/css"
    assert "max-age" in kept.headers["Cache-Control"]
    assert client.get("/docs/missing.html").status_code == 404
    assert client.get("/docs/%2e%2e/%2e%2e/manage.py").status_code == 400


def test_without_a_site_the_page_says_how_to_build_it(tmp_path: Path, settings) -> None:
    settings.DOCS_ROOT = tmp_path
    answer = Client().get("/docs/measures.html")
    assert answer.status_code == 404
    assert "manage.py build_docs" in answer.content.decode()
