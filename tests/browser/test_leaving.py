"""A browser asks before answers are left that were not sent, never on a way of the page itself."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Dialog, expect

from annotation.models import Rating
from tests.annotation.survey.conftest import StudyMaker
from tests.browser.survey_visitor import Visitor, open_context

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_the_browser_asks_before_answers_are_left_that_were_not_sent(
    chromium: Browser, site: str, make_study: StudyMaker
) -> None:
    study = make_study(flow=["rating", "demographics"])
    visitor = Visitor(open_context(chromium).new_page())
    page = visitor.page
    asked: list[str] = []

    def stay_or_go(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", stay_or_go)
    visitor.start(site + study.get_absolute_url())
    rows = page.locator("[data-line]")
    line = rows.first.locator("input.line-input")
    # To look around, by mouse or by key, is no answer.
    page.locator("h1").click()
    page.reload()
    assert asked == []
    visitor.put(rows.first, 20)
    place = line.input_value()
    page.reload()
    assert asked == ["beforeunload"]
    # What was kept on the device is there again, and leaving it again loses nothing.
    expect(line).to_have_value(place)
    page.reload()
    assert asked == ["beforeunload"]
    # To leave the study is a way of the page's own.
    visitor.put(rows.nth(1), 80)
    page.get_by_role("link", name="Leave the study").click()
    page.wait_for_url("**/w/**")
    with page.expect_event("load"):
        page.get_by_role("link", name="Go on with the study").click()
    expect(line).to_have_value(place)
    visitor.rate_all()
    visitor.move_on()
    assert asked == ["beforeunload"]
    assert Rating.objects.filter(assignment__submission__study=study).exists()
    # Pages without lines ask likewise.
    page.locator("[name=answer-age]").click()
    page.keyboard.type("37")
    page.reload()
    assert asked == ["beforeunload"] * 2
    expect(page.locator("[name=answer-age]")).to_have_value("37")
    visitor.move_on()
    expect(page.locator("h1")).to_have_text("Thank you. Your answers are saved.")
    assert asked == ["beforeunload"] * 2
    assert visitor.complaints == []
