"""The rating line: no value before the first touch, every way to give one, and nothing lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from django.db.models import QuerySet
from playwright.sync_api import Browser, BrowserContext, Locator, expect

from annotation.models import Rating, Study
from tests.annotation.survey.conftest import SCALES as SCALES_OF_STUDY
from tests.browser.survey_visitor import Visitor, open_context

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SCALES = 8
MORE_SCALES = ("dominated-dominant", "religious-science-oriented", "dishonest-sincere",
               "repellent-likable")  # fmt: skip
FIRST_KEYS = {
    "ArrowRight": 51,
    "ArrowUp": 51,
    "ArrowLeft": 49,
    "ArrowDown": 49,
    "PageUp": 60,
    "PageDown": 40,
    "Home": 0,
    "End": 100,
}


@pytest.fixture
def study(site: str, make_study) -> Study:  # type: ignore[no-untyped-def]
    fixed = {"scale_order": "fixed", "pole_sides": "fixed"}
    return make_study(
        flow=["rating", "rating"], instrument_options=fixed, scales=(*SCALES_OF_STUDY, *MORE_SCALES)
    )


@pytest.fixture
def link(site: str, study: Study) -> str:
    return site + study.get_absolute_url()


def ratings_of(study: Study) -> QuerySet[Rating]:
    return Rating.objects.filter(assignment__submission__study=study)


def open_lines(context: BrowserContext, link: str, hand: str = "mouse") -> Visitor:
    visitor = Visitor(context.new_page(), hand)  # type: ignore[arg-type]
    visitor.start(link)
    assert visitor.is_rating()
    return visitor


@pytest.fixture
def visitor(chromium: Browser, link: str) -> Iterator[Visitor]:
    opened = open_lines(open_context(chromium), link)
    yield opened
    assert opened.complaints == []


def rows(visitor: Visitor) -> list[Locator]:
    return visitor.page.locator("[data-line]").all()


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 15
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)  # the browser is another process


def line(row: Locator) -> Locator:
    return row.locator("input.line-input")


def is_touched(row: Locator) -> bool:
    return row.locator("[data-touched]").input_value() == "1"


def handle_opacity(row: Locator) -> str:
    # The pseudo-element's own style cannot be asked for; the class that hides it can.
    return "hidden" if "is-untouched" in (row.get_attribute("class") or "") else "shown"


def test_line_has_no_handle_and_no_value_before_the_first_touch(visitor: Visitor) -> None:
    for row in rows(visitor):
        assert not is_touched(row)
        assert handle_opacity(row) == "hidden"
        assert line(row).get_attribute("aria-valuetext") == "not answered"
    expect(visitor.page.locator("[data-answered]")).to_have_text("0 of 8 lines answered")
    expect(visitor.page.locator("[data-open]")).to_have_text("8 lines are still open.")


def test_first_key_places_the_handle_in_the_middle_and_moves_it(visitor: Visitor) -> None:
    for row, (key, place) in zip(rows(visitor), FIRST_KEYS.items(), strict=True):
        visitor.tab_to(line(row))
        expect(row.locator(".line-help")).to_be_visible()
        visitor.page.keyboard.press(key)
        assert is_touched(row)
        assert handle_opacity(row) == "shown"
        assert line(row).input_value() == str(place)
        left, right = row.get_attribute("data-left"), row.get_attribute("data-right")
        spoken = f"{place}, from {left} to {right}"
        assert line(row).get_attribute("aria-valuetext") == spoken
        expect(row.locator(".line-help")).to_be_hidden()


def test_press_where_the_browser_changes_nothing_is_an_answer(visitor: Visitor) -> None:
    row = rows(visitor)[1]
    visitor.put(row, 50)  # the value that the hidden handle has already
    assert is_touched(row)
    assert line(row).input_value() == "50"


def test_press_puts_the_handle_where_it_lands(visitor: Visitor) -> None:
    for row, place in zip(rows(visitor), (0, 7, 49, 93, 100), strict=False):
        visitor.put(row, place)
        assert abs(int(line(row).input_value()) - place) <= 1


def test_keys_that_belong_to_the_browser_answer_nothing(visitor: Visitor) -> None:
    row = rows(visitor)[0]
    visitor.tab_to(line(row))
    for key in ("Tab", "Shift+Tab", "Enter", "Escape", "a", "5"):
        visitor.page.keyboard.press(key)
    assert not any(is_touched(row) for row in rows(visitor))
    assert visitor.is_rating()


def test_nothing_moves_while_the_pointer_is_down(visitor: Visitor) -> None:
    first, *_others, last = rows(visitor)
    visitor.tab_to(line(first))  # its help line pushes the others down
    visitor.page.get_by_role("button", name="Continue").click()  # error messages push as well
    x, y = visitor.point(last, 30)
    visitor.page.mouse.move(x, y)
    before = last.bounding_box()
    visitor.page.mouse.down()
    assert last.bounding_box() == before
    visitor.page.mouse.up()
    expect(last.locator("[data-problem]")).to_have_count(0)
    assert is_touched(last)


def test_continue_with_open_lines_says_which_and_keeps_the_rest(
    visitor: Visitor, study: Study
) -> None:
    first, second, *others, last = rows(visitor)
    for row in (first, *others):
        visitor.put(row, 71)
    visitor.page.get_by_role("button", name="Continue").click()
    notice = visitor.page.locator("[data-summary]")
    expect(notice).to_contain_text("2 lines are not answered yet. Everything else is kept.")
    expect(notice.get_by_role("link")).to_have_count(2)
    expect(line(second)).to_be_focused()
    for row in (second, last):
        expect(row.locator("[data-problem]")).to_contain_text("Not answered yet.")
        assert line(row).get_attribute("aria-invalid") == "true"
    assert is_touched(first)
    assert not ratings_of(study).exists()
    # The link leads to its line; an answer takes the message away.
    notice.get_by_role("link").nth(1).click()
    expect(line(last)).to_be_focused()
    visitor.page.keyboard.press("End")
    expect(notice).to_contain_text("1 line is not answered yet.")
    expect(last.locator("[data-problem]")).to_have_count(0)
    visitor.put(second, 10)
    expect(notice).to_have_count(0)
    visitor.move_on()
    assert ratings_of(study).count() == SCALES


def test_line_is_dragged_by_touch_and_scrolling_over_it_answers_nothing(
    chromium: Browser, link: str
) -> None:
    context = open_context(chromium, "touch")
    visitor = open_lines(context, link, "touch")
    device = context.new_cdp_session(visitor.page)

    def swipe(start: tuple[float, float], way: tuple[float, float]) -> None:
        steps = 12
        points = [(start[0] + way[0] * i / steps, start[1] + way[1] * i / steps)
                  for i in range(steps + 1)]  # fmt: skip
        kinds = ["touchStart", *["touchMove"] * (steps - 1), "touchEnd"]
        for kind, (x, y) in zip(kinds, points, strict=False):
            touch = [] if kind == "touchEnd" else [{"x": x, "y": y}]
            device.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touch})
            visitor.page.wait_for_timeout(16)

    first, second, third, *_ = rows(visitor)
    visitor.put(third, 30)
    answered = line(third).input_value()
    scrolled = visitor.page.evaluate("scrollY")
    swipe(visitor.point(second, 40), (0, -300))
    wait_for(lambda: visitor.page.evaluate("scrollY") > scrolled)
    swipe(visitor.point(third, 80), (0, -100))
    assert line(third).input_value() == answered
    assert [is_touched(row) for row in rows(visitor)] == [False, False, True, *[False] * 5]

    start = visitor.point(first, 20)
    end = visitor.point(first, 80)
    swipe(start, (end[0] - start[0], 0))
    assert is_touched(first)
    assert 65 <= int(line(first).input_value()) <= 85  # the last step ends before the finger lifts
    expect(visitor.page.locator("[data-answered]")).to_have_text("2 of 8 lines answered")
    assert visitor.complaints == []


def test_answers_outlive_a_reload_a_closed_tab_and_a_lost_connection(
    chromium: Browser, study: Study, link: str
) -> None:
    context = open_context(chromium)
    visitor = open_lines(context, link)
    for row, place in zip(rows(visitor), (5, 40, 60, 95, 0, 100, 50, 33), strict=True):
        visitor.put(row, place)
    places = [line(row).input_value() for row in rows(visitor)]
    address = visitor.page.url
    visitor.page.close()
    again = Visitor(context.new_page())
    again.page.goto(address)
    assert [line(row).input_value() for row in rows(again)] == places

    context.set_offline(True)
    wait_for(lambda: not again.page.evaluate("navigator.onLine"))
    again.page.get_by_role("button", name="Continue").click()
    expect(again.page.get_by_role("alert")).to_contain_text("There is no connection.")
    assert not ratings_of(study).exists()
    context.set_offline(False)
    expect(again.page.get_by_role("alert")).to_have_count(0)
    again.move_on()
    assert sorted(ratings_of(study).values_list("value", flat=True)) == sorted(map(float, places))
    assert again.complaints == []


def test_page_open_in_two_tabs_is_stored_once(chromium: Browser, study: Study, link: str) -> None:
    context = open_context(chromium)
    one = open_lines(context, link)
    other = Visitor(context.new_page())
    other.page.goto(one.page.url)
    one.rate_all()
    one.move_on()
    other.rate_all()
    other.move_on()
    assert ratings_of(study).count() == SCALES
    assert other.heading == one.heading  # both show the second group now
    assert other.is_rating()


def test_double_click_on_continue_sends_the_page_once(visitor: Visitor, study: Study) -> None:
    visitor.rate_all()
    sent = []
    visitor.page.on("request", lambda request: sent.append(request.method))
    visitor.page.get_by_role("button", name="Continue").dblclick()
    visitor.page.wait_for_load_state()
    expect(visitor.page.locator("[data-answered]")).to_have_text("0 of 8 lines answered")
    assert sent.count("POST") == 1
    assert ratings_of(study).count() == SCALES
