"""Rating the speakers of texts in a browser: by keyboard, by finger, and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from annotation.models import Rating, Study, Submission
from tests.annotation.survey.guises import make_guise_study, make_pairs
from tests.browser.axe import open_scanned_page, scan
from tests.browser.survey_visitor import Visitor, open_context

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FLOW = ["consent", "rating", "marked_traits", "rating", "repeat"]
LONG = " They was all talkin about it, and nobody knowed who had started." * 12
# How far down the window the text reaches, where the focused line begins, and the window's height.
PLACES = """
() => ({
  said: document.querySelector(".said").getBoundingClientRect().bottom,
  text: document.querySelector("[data-text]").getBoundingClientRect().height,
  line: document.activeElement.closest(".line")?.getBoundingClientRect().top,
  window: innerHeight,
})
"""


@pytest.fixture
def study(site: str) -> Study:
    return make_guise_study(make_pairs(3), flow=FLOW, reservation_minutes=600)


def stored_texts(study: Study) -> list[str]:
    given = study.submissions.get().assignments.order_by("position")
    return list(given.values_list("group__body", flat=True))


def test_by_keyboard_with_the_text_in_sight_and_no_violation(
    chromium: Browser, site: str, study: Study
) -> None:
    page = open_scanned_page(chromium)
    visitor = Visitor(page, "keyboard")
    visitor.start(site + study.get_absolute_url())
    visitor.answer()
    visitor.move_on()
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "What is the person who wrote this like?"
    )
    expect(page.get_by_text("Text 1 of 2")).to_be_visible()
    expect(page.get_by_role("region", name="Somebody wrote this")).to_be_visible()
    scan(page, "rating a text")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("2 lines are not answered yet.").first).to_be_visible()
    scan(page, "rating a text, refused")
    page.set_viewport_size({"width": 1280, "height": 500})
    visitor.answer()
    places = page.evaluate(PLACES)
    assert 0 < places["said"] <= places["line"]
    visitor.move_on()
    # The words are asked for with the text that they were said of.
    expect(page.locator("[data-text]")).to_be_visible()
    scan(page, "words about a text")
    while not visitor.is_over():
        visitor.answer()
        visitor.move_on()
    expect(page.get_by_text("You rated the writers of 2 texts on 4 lines.")).to_be_visible()
    assert not visitor.complaints
    assert Submission.objects.get(study=study).checks_passed


def test_by_finger_on_a_phone_with_a_text_that_is_longer_than_the_window(
    chromium: Browser, site: str
) -> None:
    corpus = make_pairs(2)
    for text in corpus.texts.all():
        text.body += LONG
        text.save()
    study = make_guise_study(corpus, flow=["rating", "rating"], reservation_minutes=600)
    page = open_context(chromium, "touch").new_page()
    visitor = Visitor(page, "touch")
    visitor.start(site + study.get_absolute_url())
    places = page.evaluate(PLACES)
    assert places["text"] <= places["window"] / 3 + 1
    assert visitor.overflow() == 0
    shown = []
    while not visitor.is_over():
        shown.append(page.locator("[data-text]").inner_text().strip("“”"))
        visitor.answer()
        visitor.move_on()
    assert shown == stored_texts(study)
    assert Rating.objects.filter(assignment__submission__study=study).count() == 4
    assert not visitor.complaints


def test_without_scripts(chromium: Browser, site: str, study: Study) -> None:
    page: Page = open_context(chromium, java_script_enabled=False).new_page()
    page.goto(site + study.get_absolute_url())
    with page.expect_navigation():
        page.get_by_role("button", name="Start").click()
    page.get_by_role("checkbox").check()
    shown = []
    for _ in FLOW:
        if page.get_by_role("spinbutton").count():
            shown.append(page.locator("[data-text]").inner_text().strip("“”"))
            for number in page.get_by_role("spinbutton").all():
                number.fill("80")
        for name in ("near", "far"):
            if page.locator(f"[name={name}]").count():
                page.locator(f"[name={name}]").first.check()
        with page.expect_navigation():
            page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Thank you")
    assert shown == stored_texts(study)


def test_at_400_percent_nothing_hides_the_lines_and_each_opens_the_text(
    chromium: Browser, site: str, study: Study
) -> None:
    # A window of 1280 by 800 pixels at 400 percent.
    page = open_scanned_page(chromium)
    page.set_viewport_size({"width": 320, "height": 200})
    visitor = Visitor(page, "keyboard")
    visitor.start(site + study.get_absolute_url())
    visitor.answer()
    visitor.move_on()
    row = page.locator("[data-line]").nth(1)
    line, again = row.locator(".line-input"), row.get_by_role("button", name="Show the text")
    visitor.tab_to(line)
    top, bottom = (row.locator(one).bounding_box() for one in (".pole-left", ".track"))
    assert top is not None
    assert bottom is not None
    # The whole line is in the window, and nothing lies over it.
    assert top["y"] >= 0
    assert bottom["y"] + bottom["height"] <= 200
    covered = "node => { const { x, y } = node.getBoundingClientRect();"
    covered += " return !node.contains(document.elementFromPoint(x + 2, y + 2)) }"
    assert not row.locator(".pole-left").evaluate(covered)
    assert visitor.overflow() <= 0
    again.click()
    shown = page.locator("#said-again")
    expect(shown).to_contain_text(page.locator("[data-text]").inner_text())
    expect(shown).to_be_visible()
    scan(page, "the text opened again at 400 percent")
    page.keyboard.press("Escape")
    expect(shown).to_be_hidden()
    assert line.evaluate("(node) => node.closest('.line').getBoundingClientRect().top >= -200")
