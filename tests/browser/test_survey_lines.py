"""The rating line: no value before the first touch, every way to give one, and nothing lost."""

from __future__ import annotations

import io
import math
import time
from collections.abc import Iterator

import pytest
from django.db.models import QuerySet
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, CDPSession, Locator, expect

from annotation.models import Rating, Study
from tests.annotation.survey.conftest import SCALES as SCALES_OF_STUDY
from tests.browser.gestures import RESTED
from tests.browser.survey_visitor import Visitor, open_context
from tests.waiting import wait_until

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
    expect(notice.get_by_role("listitem")).to_have_count(2)
    expect(line(second)).to_be_focused()
    for row in (second, last):
        expect(row.locator("[data-problem]")).to_contain_text("Not answered yet.")
        assert line(row).get_attribute("aria-invalid") == "true"
    assert is_touched(first)
    assert not ratings_of(study).exists()
    # The link leads to its line; an answer takes the message away.
    notice.get_by_role("listitem").get_by_role("link").nth(1).click()
    expect(line(last)).to_be_focused()
    visitor.page.keyboard.press("End")
    expect(notice).to_contain_text("1 line is not answered yet.")
    expect(last.locator("[data-problem]")).to_have_count(0)
    visitor.put(second, 10)
    expect(notice).to_have_count(0)
    visitor.move_on()
    assert ratings_of(study).count() == SCALES


def test_without_scripts_a_message_stands_clear_of_the_field_below(
    chromium: Browser, link: str
) -> None:
    with open_context(chromium, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(link)
        with page.expect_navigation():
            page.locator(".button-main").first.click()
        with page.expect_navigation():
            page.get_by_role("button", name="Continue").click()
        row = page.locator(".line.is-missing").first
        expect(row.locator("[data-problem]")).to_contain_text("Please answer this line")
        field = row.locator("input.line-input").bounding_box()
        assert field is not None
        # The ring of the focus is 3 px wide, 2 px away from the field.
        words = row.locator("[data-problem]").evaluate(
            "node => { const range = document.createRange(); range.selectNodeContents(node);"
            " return range.getBoundingClientRect().bottom }"
        )
        assert field["y"] - words >= 5


def test_line_is_dragged_by_touch_and_scrolling_over_it_answers_nothing(
    chromium: Browser, link: str
) -> None:
    context = open_context(chromium, "touch")
    visitor = open_lines(context, link, "touch")
    device = context.new_cdp_session(visitor.page)

    first, second, third, *_ = rows(visitor)
    visitor.put(third, 30)
    answered = line(third).input_value()
    scrolled = visitor.page.evaluate("scrollY")
    swipe(device, visitor.point(second, 40), (0, -300), steps=12)
    wait_until(lambda: visitor.page.evaluate("scrollY") > scrolled)
    swipe(device, visitor.point(third, 80), (0, -100), steps=12)
    assert line(third).input_value() == answered
    assert [is_touched(row) for row in rows(visitor)] == [False, False, True, *[False] * 5]

    # The page may still be scrolling from the swipe before.
    line(first).element_handle().wait_for_element_state("stable")
    start = visitor.point(first, 20)
    end = visitor.point(first, 80)
    swipe(device, start, (end[0] - start[0], 0), steps=12)
    assert is_touched(first)
    assert 65 <= int(line(first).input_value()) <= 85  # the last step ends before the finger lifts
    expect(visitor.page.locator("[data-answered]")).to_have_text("2 of 8 lines answered")
    assert visitor.complaints == []


def swipe(
    device: CDPSession, start: tuple[float, float], way: tuple[float, float], *, steps: int
) -> None:
    """Move a finger in equal steps, one a frame."""
    points = [
        (start[0] + way[0] * i / steps, start[1] + way[1] * i / steps) for i in range(steps + 1)
    ]
    kinds = ["touchStart", *["touchMove"] * steps, "touchEnd"]
    for kind, (x, y) in zip(kinds, [*points, points[-1]], strict=True):
        touch = [] if kind == "touchEnd" else [{"x": x, "y": y}]
        device.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touch})
        time.sleep(0.016)  # the browser's frames are the clock of a gesture


@pytest.mark.parametrize("steps", [6, 30], ids=["fast", "slow"])
@pytest.mark.parametrize("answered", [False, True], ids=["open", "answered"])
def test_finger_means_a_line_only_if_it_goes_along_it(
    chromium: Browser, link: str, steps: int, answered: bool
) -> None:
    # Angles from the vertical. Up to 60 degrees a swipe scrolls; from 70 on it drags the handle.
    visitor = open_lines(context := open_context(chromium, "touch"), link, "touch")
    device = context.new_cdp_session(visitor.page)
    row = rows(visitor)[3]
    for angle in range(0, 95, 5):
        line(row).press("Delete")
        if answered:
            visitor.put(row, 50)
        before = line(row).input_value(), is_touched(row)
        assert before[1] == answered
        length, side = 120, 1 if angle % 2 else -1
        way = (
            side * length * math.sin(math.radians(angle)),
            -length * math.cos(math.radians(angle)),
        )
        swipe(device, visitor.point(row, 50), way, steps=steps)
        visitor.page.wait_for_timeout(60)  # a scroll that goes on after the finger was lifted
        after = line(row).input_value(), is_touched(row)
        if angle <= 60:
            assert after == before, f"{angle} degrees changed the line"
        elif angle >= 70:
            assert is_touched(row), f"{angle} degrees did not drag"
            assert (int(after[0]) - 50) * side > 10
    assert visitor.complaints == []


def test_a_drag_that_the_system_takes_over_gives_the_line_back(
    chromium: Browser, link: str
) -> None:
    visitor = open_lines(context := open_context(chromium, "touch"), link, "touch")
    device = context.new_cdp_session(visitor.page)
    answered, other, *_ = rows(visitor)
    visitor.put(answered, 30)
    for row in (answered, other):
        before = line(row).input_value(), is_touched(row)
        for kind, place in (("touchStart", 40), ("touchMove", 60), ("touchMove", 90)):
            x, y = visitor.point(row, place)
            touch = {"type": kind, "touchPoints": [{"x": x, "y": y}]}
            device.send("Input.dispatchTouchEvent", touch)
            time.sleep(0.016)
        wait_until(lambda row=row: int(line(row).input_value()) > 80)
        device.send("Input.dispatchTouchEvent", {"type": "touchCancel", "touchPoints": []})
        wait_until(
            lambda row=row, before=before: (line(row).input_value(), is_touched(row)) == before
        )
        visitor.page.wait_for_timeout(60)
        assert (line(row).input_value(), is_touched(row)) == before


#: Milliseconds at rest below which a page still rolls, and how often a slow machine tries.
ROLLS_MS = 100
MOST_TRIES = 10


def test_a_finger_that_stops_a_rolling_page_answers_nothing(chromium: Browser, link: str) -> None:
    visitor = open_lines(context := open_context(chromium, "touch"), link, "touch")
    device = context.new_cdp_session(visitor.page)
    page = visitor.page
    visitor.put(rows(visitor)[2], 30)
    page.evaluate(RESTED)

    def stop_with_a_finger(end: int, distance: int, way: int) -> bool:
        """Return whether the page was rolling: on a busy machine the finger may come too late."""
        before = states(visitor)
        page.evaluate("top => scrollTo(0, top)", end)
        page.wait_for_timeout(300)
        start = page.evaluate("scrollY")
        swipe(device, (190, 450), (0, distance), steps=5)
        wait_until(lambda: page.evaluate("scrollY") != start, pause=lambda _: None)
        box = in_sight(visitor)
        swipe(device, (box["x"] + 150, box["y"] + box["height"] / 2), (way, 0), steps=3)
        page.wait_for_timeout(400)  # a tap's click comes later than the finger
        was_rolling: bool = page.evaluate("rested") < ROLLS_MS
        assert states(visitor) == before or not was_rolling
        return was_rolling

    # Wherever the finger comes down: it rests on a line, or goes along it as well.
    for end, distance, way in ((0, -200, 0), (9999, 200, 0), (0, -200, 90), (9999, 200, -90)):
        assert any(stop_with_a_finger(end, distance, way) for _ in range(MOST_TRIES))
    # A page at rest takes the answer, also right after a jump to the line.
    visitor.put(rows(visitor)[6], 80)
    assert is_touched(rows(visitor)[6])
    assert visitor.complaints == []


def states(visitor: Visitor) -> list[tuple[str, bool]]:
    return [(line(row).input_value(), is_touched(row)) for row in rows(visitor)]


def in_sight(visitor: Visitor) -> dict[str, float]:
    """Return the place of a line near the middle of the window, as it is at this moment."""
    box: dict[str, float] = visitor.page.evaluate(
        "() => { const place = (n) => n.getBoundingClientRect().toJSON();"
        " return [...document.querySelectorAll('.line-input')].map(place)"
        ".find(({ y }) => y > innerHeight / 3) }"
    )
    return box


@pytest.mark.parametrize("answered", [False, True], ids=["open", "answered"])
def test_two_fingers_answer_nothing(chromium: Browser, link: str, answered: bool) -> None:
    visitor = open_lines(context := open_context(chromium, "touch"), link, "touch")
    device = context.new_cdp_session(visitor.page)
    row, other = rows(visitor)[2:4]
    if answered:
        visitor.put(row, 30)
    x, y = visitor.point(row, 60)
    away = y + other.bounding_box()["y"] - row.bounding_box()["y"]  # type: ignore[index]
    before = states(visitor)
    page = visitor.page
    page.wait_for_timeout(200)
    first, onto, beside = {"id": 1, "x": x, "y": y}, {"id": 2, "x": x, "y": away}, {"id": 2, "x": 9,
        "y": 30}  # fmt: skip
    drawn = {**first, "x": x + 60}
    for fingers in (
        [[first], [first, onto], [first], []],  # the second finger on a line
        [[beside], [beside, first], [beside], []],  # the first finger beside the lines
        [[first, onto], []],  # both at once
        [[first], [drawn], [drawn, beside], [drawn], []],  # a drag, then a second finger
    ):
        down = 0
        for points in fingers:
            kind = "touchStart" if len(points) > down else "touchMove"
            kind = "touchEnd" if len(points) < down else kind
            down = len(points)
            device.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
            page.wait_for_timeout(20)
        page.wait_for_timeout(400)  # a tap's click comes later than the finger
        assert states(visitor) == before, fingers
    assert visitor.complaints == []


def test_only_the_first_button_answers(visitor: Visitor) -> None:
    device = visitor.page.context.new_cdp_session(visitor.page)
    row = rows(visitor)[2]
    for place in (None, 30):
        if place is not None:
            visitor.put(row, place)
        before = states(visitor)
        x, y = visitor.point(row, 80)
        for button, buttons, pointer in (
            ("right", 2, "mouse"),
            ("middle", 4, "mouse"),
            ("right", 2, "pen"),
        ):
            for kind, way in (("mousePressed", 0), ("mouseMoved", 40), ("mouseReleased", 40)):
                held = {"button": button, "buttons": buttons, "pointerType": pointer}
                where = {"type": kind, "x": x + way, "y": y, "clickCount": 1}
                device.send("Input.dispatchMouseEvent", {**where, **held})
            visitor.page.keyboard.press("Escape")  # a menu
            assert states(visitor) == before, (button, pointer)
    # What waits for the finger to be lifted does not wait for such a press.
    visitor.put(rows(visitor)[0], 10)
    assert is_touched(rows(visitor)[0])


def test_answer_is_cleared_by_key_and_button_and_comes_back_by_undo(visitor: Visitor) -> None:
    first, second, *_ = rows(visitor)
    counted = visitor.page.locator("[data-answered]")
    visitor.put(first, 80)
    visitor.put(second, 20)
    places = line(first).input_value(), line(second).input_value()
    second.get_by_role("button", name="Clear").click()
    assert not is_touched(second)
    expect(line(second)).to_be_focused()
    expect(second.get_by_role("button", name="Clear")).to_be_hidden()
    expect(counted).to_have_text("1 of 8 lines answered")
    line(first).press("Delete")
    expect(counted).to_have_text("0 of 8 lines answered")
    assert line(first).get_attribute("aria-valuetext") == "not answered"
    for row, place in ((first, places[0]), (second, places[1])):
        visitor.page.keyboard.press("Control+z")
        assert (line(row).input_value(), is_touched(row)) == (place, True)
    visitor.page.keyboard.press("Control+z")  # the answer to the second line itself
    assert not is_touched(second)
    # What was cleared is open after a reload as well.
    visitor.page.reload()
    assert [is_touched(row) for row in rows(visitor)] == [True, *[False] * 7]


def test_escape_while_dragging_gives_the_line_back_as_it_was(visitor: Visitor) -> None:
    row = rows(visitor)[2]
    for before in (None, 30):
        if before is not None:
            visitor.put(row, before)
        kept = line(row).input_value()
        visitor.page.mouse.move(*visitor.point(row, 60))
        visitor.page.mouse.down()
        visitor.page.mouse.move(*visitor.point(row, 90), steps=4)
        assert int(line(row).input_value()) > 80
        visitor.page.keyboard.press("Escape")
        visitor.page.mouse.move(*visitor.point(row, 70), steps=4)
        visitor.page.mouse.up()
        assert (line(row).input_value(), is_touched(row)) == (kept, before is not None)


def test_lines_stay_visible_in_forced_colors(visitor: Visitor) -> None:
    visitor.page.emulate_media(forced_colors="active")
    visitor.put(rows(visitor)[0], 75)
    row = rows(visitor)[1]
    picture = row.locator(".track").screenshot()
    # The drawn line alone: a row of pixels of one color that is not the page's.
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    middle = [image.getpixel((x, image.height // 2)) for x in range(20, image.width - 20)]
    assert len(set(middle)) == 1
    assert middle[0] != image.getpixel((image.width // 2, 3))


def test_ends_focus_and_answers_stay_visible_in_forced_colors(visitor: Visitor) -> None:
    visitor.page.emulate_media(forced_colors="active")
    answered, focused, other, *_, last = rows(visitor)
    visitor.put(answered, 75)
    visitor.tab_to(line(focused))
    for row in (answered, other):
        image, paper = look_at(row)
        stop = 14 // 2  # above and below the line
        for x in (1, image.width - 2):
            for y in (image.height // 2 - stop + 1, image.height // 2 + stop - 2):
                assert image.getpixel((x, y)) != paper, "an end stop"
    # The handle where it was put, and none on a line without an answer.
    for row, place, is_drawn in ((answered, 75, True), (answered, 50, False), (other, 50, False)):
        image, paper = look_at(row)
        at = round(image.width * place / 100), image.height // 2 - 8
        assert (image.getpixel(at) != paper) is is_drawn
    for row, is_ringed in ((focused, True), (other, False)):
        image, paper = look_at(row)
        edge = [image.getpixel((x, 0)) for x in range(30, image.width - 30)]
        assert (paper not in edge) is is_ringed
    # What is missing has an edge of a color of its own.
    visitor.page.get_by_role("button", name="Continue").click()
    expect(last.locator("[data-problem]")).to_be_visible()
    style = "(node, name) => getComputedStyle(node)[name]"
    assert last.evaluate(style, "borderInlineStartWidth") == "4px"
    assert answered.evaluate(style, "borderInlineStartWidth") == "0px"
    assert last.evaluate(style, "borderInlineStartColor") != last.evaluate(style, "color")


def look_at(row: Locator) -> tuple[Image.Image, object]:
    """Return a picture of a row's line, and the color of the paper round it."""
    image = Image.open(io.BytesIO(row.locator(".track").screenshot())).convert("RGB")
    return image, image.getpixel((image.width // 2, 4))


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
    wait_until(lambda: not again.page.evaluate("navigator.onLine"))
    again.page.get_by_role("button", name="Continue").click()
    expect(again.page.get_by_role("alert")).to_contain_text("There is no connection.")
    assert not ratings_of(study).exists()
    with again.page.expect_event("load"):
        context.set_offline(False)  # the page sends itself
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


def test_a_finger_clears_the_last_answer_by_words(chromium: Browser, link: str) -> None:
    visitor = open_lines(open_context(chromium, "touch"), link, "touch")
    first, second, *_ = rows(visitor)
    for row in (first, second):
        visitor.put(row, 50)
        said = row.locator("[data-clear] span")
        expect(said).to_have_text("Clear this answer")
        expect(said).to_be_visible()
        # Between the words of the line, and clear of the line itself.
        clear, track = row.locator("[data-clear]").bounding_box(), line(row).bounding_box()
        assert clear is not None
        assert track is not None
        assert clear["height"] >= 44
        assert clear["y"] + clear["height"] <= track["y"]
        left, right = (row.locator(f".pole-{side}").bounding_box() for side in ("left", "right"))
        assert left["x"] + left["width"] <= clear["x"] + 1  # type: ignore[index]
        assert clear["x"] + clear["width"] <= right["x"] + 1  # type: ignore[index]
    expect(first.locator("[data-clear] span")).to_be_hidden()
    second.locator("[data-clear]").tap()
    assert [is_touched(row) for row in (first, second)] == [True, False]
