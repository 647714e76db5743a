"""Edits of an instrument that were not saved are not lost by a click beside them."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Browser, Dialog, expect

from tests.annotation.studies.people import make_study
from tests.browser.accounts import log_in_researcher
from tests.browser.survey_visitor import open_context

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_the_browser_asks_before_edits_are_left_and_a_preview_waits_for_them(
    chromium: Browser, site: str
) -> None:
    owner = User.objects.create_superuser("root-unsaved")
    study = make_study(owner=owner, launched=False)
    page = open_context(chromium).new_page()
    log_in_researcher(page, site, owner.username)
    page.goto(site + reverse("admin:annotation_study_instrument", args=[study.pk]))
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    preview = page.get_by_role("button", name="Preview as participant")
    with page.context.expect_page() as opened:
        preview.click()
    opened.value.close()
    page.get_by_label("Show ticks").check()
    preview.click()
    expect(page.get_by_text("Your edits are not saved yet.")).to_be_visible()
    assert len(page.context.pages) == 1
    page.get_by_role("link", name="Overview").click()
    expect(page.get_by_label("Show ticks")).to_be_checked()
    assert asked == ["beforeunload"]
    page.get_by_label("Show ticks").uncheck()
    expect(page.get_by_text("Your edits are not saved yet.")).to_be_hidden()
    page.get_by_label("Show ticks").check()
    with page.expect_navigation():
        page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_label("Show ticks")).to_be_checked()
    page.wait_for_load_state()
    with page.context.expect_page() as opened:
        preview.click()
    expect(opened.value.locator(".preview-note")).to_be_visible()
    page.get_by_role("link", name="Overview").click()
    page.wait_for_url("**/overview/")
    assert asked == ["beforeunload"]
    assert study.instruments.get().show_ticks
