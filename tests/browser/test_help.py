"""Words explain themselves where they stand, and a page leads to the help that fits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, expect

from stereoscope.documentation.site import build_documentation
from tests.annotation.studies.people import make_study, make_submission, make_user
from tests.browser.axe import open_scanned_page, scan
from tests.browser.test_researcher import log_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def docs(tmp_path: Path, settings) -> None:
    settings.DOCS_ROOT = tmp_path / "docs"
    build_documentation(settings.DOCS_ROOT)


def test_a_researcher_asks_for_a_word_and_for_the_page_that_helps(
    chromium: Browser, live_server, docs: None
) -> None:
    study = make_study(owner=make_user("alice"), title="Group ratings", quota_per_group=6)
    make_submission(study, minutes=12)
    page = chromium.new_page(viewport={"width": 360, "height": 740})
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    log_in(page, live_server.url)
    page.goto(live_server.url + reverse("admin:annotation_study_overview", args=[study.pk]))
    expect(page.locator(".explanation").first).to_be_hidden()
    page.get_by_role("button", name="What does “group quota” mean?").press("Enter")
    shown = page.locator(".explanation:popover-open")
    expect(shown).to_contain_text("how many accepted ratings a group should get", ignore_case=True)
    expect(shown).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    expect(shown).to_have_count(0)
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")

    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Help").click()
    help_page = opened.value
    help_page.on(
        "console", lambda said: complaints.append(said.text) if said.type == "error" else None
    )
    expect(help_page).to_have_title(re.compile("While people rate"))
    # The search runs in a worker of its own, which the strict policy has to let load.
    help_page.set_viewport_size({"width": 1280, "height": 900})
    help_page.reload()
    help_page.get_by_role("textbox", name="Search").fill("noise ceiling")
    help_page.locator(".md-search-result__link").first.wait_for()
    assert not complaints


@pytest.mark.parametrize("address", ["index.html", "reports/alignment.html", "measures/ceat.html"])
def test_axe_finds_nothing_on_the_pages_of_the_documentation(
    chromium: Browser, live_server, docs: None, address: str
) -> None:
    page = open_scanned_page(chromium)
    page.goto(f"{live_server.url}/docs/{address}")
    scan(page, address)
