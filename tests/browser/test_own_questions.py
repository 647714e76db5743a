"""Lines, numbers, statements and orders: by keyboard, on a phone, without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from annotation.models import StepAnswer, Study
from tests.annotation.survey.flows import matrix, number, options, ranking, slider
from tests.browser.axe import open_scanned_page, scan
from tests.browser.survey_visitor import NARROW, PHONE, Visitor, open_context

pytestmark = [pytest.mark.browser]

AGREEMENT = ("strongly-disagree", "disagree", "rather-disagree", "neither", "rather-agree", "agree")
FLOW = [
    "rating",
    slider(),
    number(),
    matrix(points=options(*AGREEMENT)),
    ranking(random_order=False),
]
ANSWERS = {
    "sure": 65,
    "household": 4,
    "views": {"it-was-clear": "agree", "it-was-long": "disagree"},
    "sources": {"friends": 2, "news": 3, "films": 1},
}


@pytest.fixture
def study(site: str, make_study) -> Study:  # type: ignore[no-untyped-def]
    return make_study(flow=FLOW, scales=("cold-warm",))


def begin(page: Page, site: str, study: Study, hand: str = "mouse") -> Visitor:
    """Come to the first of the questions."""
    visitor = Visitor(page, hand)  # type: ignore[arg-type]
    visitor.start(site + study.get_absolute_url())
    visitor.answer()
    visitor.move_on()
    return visitor


def stored(study: Study) -> dict[str, object]:
    answers = StepAnswer.objects.filter(submission__study=study)
    return dict(answers.values_list("key", "value"))


def test_by_keyboard_alone(chromium: Browser, site: str, study: Study) -> None:
    page = open_scanned_page(chromium)
    visitor = begin(page, site, study, "keyboard")
    line, keys = page.locator("input.line-input"), page.keyboard
    expect(line).to_have_attribute("aria-valuetext", "not answered")
    expect(page.locator("[data-value]")).to_have_text("")
    visitor.press(page.get_by_role("button", name="Continue"))  # nothing is sent without an answer
    expect(page.locator(".problem")).to_be_visible()
    visitor.tab_to(line)
    keys.press("ArrowLeft")  # from the middle, 70
    expect(line).to_have_attribute("aria-valuetext", "65 years, from young to old")
    expect(page.locator("[data-value]")).to_have_text("65 years")
    scan(page, "slider")
    visitor.move_on()
    visitor.write(page.locator("[name=number]"), "4")
    visitor.move_on()
    for row, moves in ((0, 5), (1, 1)):
        visitor.tab_to(page.locator(".matrix-row").nth(row).get_by_role("radio").first)
        keys.press("Space")
        for _ in range(moves):
            keys.press("ArrowDown")
    scan(page, "matrix")
    visitor.move_on()
    for name in ("friends", "news", "films"):
        visitor.tick(page.get_by_role("button", name=f"{name}: no place yet"))
    for _ in range(2):  # the button moves with its item and keeps the focus
        visitor.tick(page.get_by_role("button", name="Move films up"))
    scan(page, "ranking")
    page.reload()  # kept on the device
    expect(page.get_by_role("button", name="films: place 1")).to_be_visible()
    visitor.move_on()
    assert stored(study) == ANSWERS
    assert visitor.complaints == []


def test_by_touch_on_a_phone_where_scrolling_answers_nothing(
    chromium: Browser, site: str, study: Study
) -> None:
    context = open_context(chromium, "touch", viewport=NARROW)
    page = context.new_page()
    visitor = begin(page, site, study, "touch")
    row = page.locator("[data-line]")
    x, y = visitor.point(row, 20)
    session = context.new_cdp_session(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        session.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]},
        )

    touch("touchStart", (x, y))
    for step in range(1, 8):  # at an angle of 45 degrees, as thumbs scroll
        touch("touchMove", (x + 6 * step, y - 6 * step))
    touch("touchEnd")
    expect(row).to_have_class("line is-drawn is-untouched")
    visitor.put(row, 45)
    expect(page.locator("[data-value]")).to_have_text("65 years")
    for answer in ("4", None, None):
        assert visitor.overflow() == 0
        visitor.move_on()
        assert visitor.overflow() == 0
        if answer:
            visitor.write(page.locator("[name=number]"), answer)
        elif page.locator(".matrix-row").count():
            page.locator("[name=row-it-was-clear][value=agree]").tap()
            page.locator("[name=row-it-was-long][value=disagree]").tap()
    for name in ("films", "friends", "news"):
        page.get_by_role("button", name=f"{name}: no place yet").tap()
    visitor.move_on()
    assert stored(study) == ANSWERS


def test_without_scripts(chromium: Browser, site: str, study: Study) -> None:
    context = chromium.new_context(viewport=PHONE, java_script_enabled=False)
    page = context.new_page()
    page.goto(site + study.get_absolute_url())
    page.get_by_role("button", name="Start").click()

    def go_on() -> None:
        with page.expect_navigation():
            page.get_by_role("button", name="Continue").click()

    page.locator("input.line-input").fill("50")
    go_on()
    expect(page.locator("noscript .lead")).to_have_text(
        "Write a number from 20 (young) to 120 (old)."
    )
    page.locator("input.line-input").fill("66")
    go_on()
    expect(page.get_by_text("Write a number from 20 to 120 in steps of 5.")).to_be_visible()
    page.locator("input.line-input").fill("65")
    go_on()
    page.locator("[name=number]").fill("4")
    go_on()
    page.locator("[name=row-it-was-clear][value=agree]").check()
    page.locator("[name=row-it-was-long][value=disagree]").check()
    go_on()
    for name, place in (("friends", "2"), ("news", "2"), ("films", "1")):
        page.get_by_label(name).select_option(place)
    go_on()
    expect(page.get_by_text("Place 2 is given twice.").first).to_be_visible()
    page.get_by_label("news").select_option("3")
    go_on()
    expect(page.locator("h1")).to_have_text("Thank you. Your answers are saved.")
    assert stored(study) == ANSWERS
    assert study.submissions.get().state == "finished"
