"""A researcher in Chromium brings a corpus in: sees bad rows, mends the file, reads the texts."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from annotation.models import Corpus
from tests.browser.accounts import log_in_researcher

pytestmark = pytest.mark.browser

GOOD = "id,AAL,WME,source\na,He be late,He is usually late,CORAAL\n"


def log_in(page: Page, site: str, name: str) -> None:
    User.objects.create(username=name, is_staff=True, is_superuser=True)
    log_in_researcher(page, site, name)


def scrolls_sideways(page: Page) -> bool:
    page.wait_for_load_state()
    return page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_corpus_comes_in_on_a_phone(
    site: str, chromium: Browser, tmp_path: Path, scheme: str
) -> None:
    name = f"Small pairs, {scheme}"
    context = chromium.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    context.set_default_timeout(20_000)
    page = context.new_page()
    log_in(page, site, f"alice-{scheme}")

    page.goto(site + reverse("admin:annotation_corpus_changelist"))
    page.goto(site + reverse("admin:annotation_corpus_add"))
    file = tmp_path / "pairs.csv"
    file.write_text(f"{GOOD}b,They gone,,CORAAL\n", encoding="utf-8")
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("textbox", name="Name", exact=True).fill(name)
    page.get_by_label("License").fill("CC0")
    with page.expect_navigation():
        page.get_by_role("button", name="Import corpus").click()
    page.get_by_text("Nothing was imported: 1 of 2 rows are bad.").wait_for()
    assert "unpaired" in page.get_by_role("row", name="3 “WME” is empty").inner_text()
    assert not scrolls_sideways(page)
    assert not Corpus.objects.filter(name=name).exists()

    file.write_text(GOOD, encoding="utf-8")
    page.locator("input[type=file]").set_input_files(file)
    # The theme's script shows a chosen file's name; it must not get into the corpus's own.
    assert page.get_by_role("textbox", name="Name", exact=True).input_value() == name
    page.get_by_role("button", name="Import corpus").click()
    page.get_by_text(f"2 texts and 1 pairs are in “{name}”").wait_for()
    assert not scrolls_sideways(page)

    page.get_by_role("link", name="Texts", exact=True).click()
    expect(page.locator("mark")).to_have_text("be")
    page.get_by_label("Words in the text").fill("nothing of it")
    page.get_by_role("button", name="Show").click()
    page.get_by_text("No text fits this search.").wait_for()
    assert not scrolls_sideways(page)
    context.close()
