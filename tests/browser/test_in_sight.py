"""What stays in sight while a page scrolls, and whether a finger hits every target."""

from __future__ import annotations

import os
import uuid

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from annotation.instruments.presets import with_practice
from annotation.library.abc_model import TRAIT_PAIRS
from annotation.models import Study
from tests.annotation.counterparts import studies as writing
from tests.browser.accounts import log_in_annotator
from tests.browser.survey_visitor import Visitor, open_context
from tests.browser.test_judging import make_judging

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PHONE, DESKTOP = {"width": 360, "height": 740}, {"width": 1280, "height": 800}
# Links within a sentence are as high as its lines; radio buttons and boxes are hit by their labels.
SMALL_TARGETS = """(passed) => {
  const small = [];
  for (const one of document.querySelectorAll("a, button, input, select, textarea, summary, label")) {
    if (one.closest("p, [hidden], .beside, .first-button") || one.matches("[type=hidden], .first-button")) continue;
    if (one.matches(passed)) continue;
    const box = one.getBoundingClientRect();
    if (box.width && box.height && getComputedStyle(one).visibility !== "hidden"
        && (box.height < 43.5 || box.width < 43.5)) {
      small.push(`${one.outerHTML.slice(0, 120)}: ${box.width} by ${box.height}`);
    }
  }
  return small;
}"""  # noqa: E501
PASSED_OF_PARTICIPANTS = ".option input, label.label, [tabindex='-1']"
# A label that stands above its field is none; the link for keys alone shows when it has the focus.
PASSED_OF_ANNOTATORS = "label input, label[for], .visually-hidden, .skip-link, [tabindex='-1']"


@pytest.fixture
def study(site: str, make_study) -> Study:  # type: ignore[no-untyped-def]
    flow = with_practice(["consent", "instructions", "rating", "group_name", "demographics"])
    scales = tuple(pair.slug for pair in TRAIT_PAIRS)
    return make_study(flow=flow, scales=scales, ethics_contact="ethics@example.org")


def take_picture(page: Page, name: str) -> None:
    if folder := os.environ.get("STEREOSCOPE_PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png", full_page="full" in name)


@pytest.mark.parametrize(("size", "hand"), [(PHONE, "touch"), (DESKTOP, "mouse")])
def test_group_in_sight_and_targets_large_on_every_page(
    site: str, study: Study, chromium: Browser, size, hand
) -> None:
    context = open_context(chromium, hand, viewport=size)
    visitor = Visitor(context.new_page(), hand)
    page = visitor.page
    small: list[str] = []

    def look(name: str) -> None:
        small.extend(page.evaluate(SMALL_TARGETS, PASSED_OF_PARTICIPANTS))
        assert visitor.overflow() <= 0
        take_picture(page, f"{name}-{size['width']}-full")

    page.goto(site + study.get_absolute_url())
    look("landing")
    visitor.start(site + study.get_absolute_url())
    number, seen = 0, False
    while not visitor.is_over():
        look(f"step-{number}")
        if visitor.is_rating() and page.locator(".head-group").count():
            group = page.locator(".head-group")
            name = group.inner_text()
            assert name
            assert name in visitor.heading
            page.evaluate("scrollTo(0, document.body.scrollHeight)")
            box = group.bounding_box()
            assert box is not None
            assert 0 <= box["y"] <= size["height"] - box["height"]
            take_picture(page, f"scrolled-{size['width']}")
            seen = True
        visitor.answer()
        visitor.move_on()
        number += 1
    look("completion")
    page.goto(page.url.replace("/r/", "/w/"))
    look("own")
    page.get_by_text("Yes, erase my answers for good.").click()
    with page.expect_event("load"):
        page.get_by_role("button", name="Erase my answers").click()
    page.get_by_role("heading", name="Your answers are erased").wait_for()
    look("withdrawn")
    assert seen
    assert small == []
    context.close()


def test_a_finger_hits_every_target_of_annotators_on_a_phone(site: str, chromium: Browser) -> None:
    name = f"ann-{uuid.uuid4().hex[:8]}"
    corpus = writing.make_corpus(2, name=f"Two posts of {name}")
    written = writing.make_writing_study(name, corpus=corpus, common_texts=2)
    judged, judge = make_judging()
    context = open_context(chromium, "touch", viewport=PHONE)
    page = context.new_page()
    small: list[str] = []

    def look(address: str) -> None:
        page.goto(site + address)
        found = page.evaluate(SMALL_TARGETS, PASSED_OF_ANNOTATORS)
        small.extend(f"{address}: {one}" for one in found)
        width = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(width) <= 0, address
        take_picture(page, f"annotator{address.replace('/', '-')}full")

    look(reverse("annotators:login"))
    log_in_annotator(page, site, name)
    look(reverse("annotators:home"))
    look(reverse("counterparts:queue", args=[written.public_id]))
    look(reverse("counterparts:write", args=[written.public_id, 1]))
    page.locator("summary", has_text="Examples").tap()
    expect(page.locator(".examples dt").first, "texts in both varieties").to_be_visible()
    expect(page.locator(".examples dd").first).to_be_visible()
    log_in_annotator(page, site, judge)
    look(f"/annotate/{judged.public_id}/judge/")
    look(f"/annotate/{judged.public_id}/judge/1/")
    assert small == []
    context.close()
