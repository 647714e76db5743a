"""No violation that axe-core finds on the pages of a survey that runs from right to left."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from annotation.instruments.languages.language_service import store_language
from annotation.instruments.languages.texts import list_texts
from annotation.studies.lifecycle import launch_study
from tests.annotation.survey.flows import every_kind
from tests.browser.axe import scan
from tests.browser.survey_visitor import PHONE, open_context
from tests.browser.test_languages import FIXED, RightToLeft, arabic

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FLOW = every_kind()
ASKS_NOTHING = {"instructions", "page", "debrief"}
PROBLEM = ".problem:visible, [role=alert]:visible"


def test_every_page_from_right_to_left_and_what_it_says_of_missing_answers(
    chromium: Browser, site: str, make_study
) -> None:  # type: ignore[no-untyped-def]
    study = make_study(launched=False, flow=FLOW, instrument_options=FIXED)
    instrument = study.instruments.get()
    texts = list_texts(instrument, "ar")
    translations = {text.key: arabic(text.source, place) for place, text in enumerate(texts)}
    store_language(instrument=instrument, language="ar", translations=translations)
    launch_study(study=study)
    context = open_context(chromium, "touch", locale="ar-EG", viewport=PHONE, bypass_csp=True)
    page = context.new_page()
    reader = RightToLeft(page, "touch", choices=frozenset({"people-in-america", "no"}))
    link = site + study.get_absolute_url()
    page.goto(link)
    assert page.evaluate("getComputedStyle(document.body).direction") == "rtl"
    scan(page, "landing")
    reader.start(link)
    seen = []
    while not reader.is_over():
        step = FLOW[study.submissions.get().step_index]
        kind = str(step["kind"] if isinstance(step, dict) else step)
        seen.append(kind)
        scan(page, kind)
        if kind not in ASKS_NOTHING:
            if kind == "demographics":
                page.locator("[name=answer-age]").fill("x")
            page.locator("form .button-main").click()
            expect(page.locator(PROBLEM).first).to_be_visible()
            scan(page, f"{kind}, refused")
        if kind == "demographics":
            page.locator("[name=answer-age]").fill("")
        reader.answer()
        reader.move_on()
    assert len(seen) == len(FLOW)
    scan(page, "completion")
    page.locator("footer").get_by_role("link").first.click()
    page.wait_for_url("**/w/**")
    scan(page, "own page")
    page.locator("form .button-danger, form button").last.click()
    expect(page.locator(PROBLEM).first).to_be_visible()
    scan(page, "own page, not confirmed")
