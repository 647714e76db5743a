"""The import page in Chromium: what each column holds is chosen, and axe finds nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Browser, expect

from tests.browser.accounts import log_in_researcher
from tests.browser.axe import find_violations, open_scanned_page

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_columns_are_mapped_by_choice(site: str, chromium: Browser, tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    rows = "".join(f"p{n},women,cold-warm,{10 * n},hello\n" for n in range(6))
    file.write_text(f"who,group,trait,Q7,comment\n{rows}")
    User.objects.create_superuser("importer")
    page = open_scanned_page(chromium)
    log_in_researcher(page, site, "importer")
    page.goto(f"{site}{reverse('admin:probing_run_import')}?kind=ratings")
    page.set_input_files("input[type=file]", file)
    page.get_by_label("Title of the study").fill("Ours")
    page.get_by_label("Where the data come from").fill("Our lab")
    page.click("[name=preview]")
    expect(page.get_by_text("There is no column “person”")).to_be_visible()
    assert not find_violations(page)
    page.get_by_label("who").select_option("person")
    page.get_by_label("Q7").select_option("rating")
    page.click("[name=preview]")
    expect(page.get_by_text("6 ratings", exact=True)).to_be_visible()
