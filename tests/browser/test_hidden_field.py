"""What the browser records for quality flags, and the field that no person reaches."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from annotation.models import PageEvent
from tests.annotation.survey.flows import free_text

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_pastes_are_counted_and_the_hidden_field_is_out_of_reach(
    site: str, chromium: Browser, make_study
) -> None:
    """A participant pastes into a free text and walks through the page with Tab."""
    study = make_study(flow=["consent", free_text(), "rating"])
    page = chromium.new_page()
    page.goto(site + study.get_absolute_url())
    with page.expect_event("load"):
        page.get_by_role("button", name="Start").click()
    page.get_by_role("checkbox").check()
    # What counts pastes is there once the page is loaded.
    with page.expect_event("load"):
        page.get_by_role("button", name="Continue").click()
    box = page.get_by_role("textbox")
    expect(box).to_have_count(1)  # the hidden one is none to a screen reader
    box.fill("People see what they read.")
    box.press("ControlOrMeta+a")
    box.press("ControlOrMeta+c")
    box.press("End")
    box.press("ControlOrMeta+v")
    box.press("ControlOrMeta+v")
    reached = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.name || document.activeElement.tagName"))
    assert "website" not in reached
    place = page.locator("[name=website]").bounding_box()
    assert place is not None
    assert page.locator(".beside").evaluate("e => getComputedStyle(e).clipPath") == "inset(50%)"
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("[data-lines]")).to_be_visible()
    event = PageEvent.objects.get(submission__study=study, step_kind="free_text")
    assert event.client["pastes"] == 2
    assert "hidden_field" not in event.client
    page.close()
