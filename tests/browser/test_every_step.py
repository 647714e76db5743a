"""Every kind of page through lost connections, two tabs, Back, reload and double clicks.

What is stored at the end is what the participant did, once.
"""

from __future__ import annotations

from collections import Counter

import pytest
from playwright.sync_api import Browser, Request, Route, expect

from annotation.models import Rating, Study
from tests.annotation.survey.flows import every_kind
from tests.browser.survey_visitor import NARROW, Visitor, open_context
from tests.waiting import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FLOW = every_kind()
SCALES = 4
CHOICES = frozenset({"people-in-america", "somewhat-disagree", "not-sure", "panel"})
NO_CONNECTION = "There is no connection."
PAGE_BYTES = 100_000
# The page and all that it loads, as it is before the server packs it.
LOADED = """
() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .map((entry) => entry.decodedBodySize)
"""
# What the browser itself notes of a request that a test has cut.
CUT = ("net::ERR_", "503")


@pytest.fixture
def study(site: str, make_study) -> Study:  # type: ignore[no-untyped-def]
    return make_study(flow=FLOW, reservation_minutes=600)


@pytest.fixture
def link(site: str, study: Study) -> str:
    return site + study.get_absolute_url()


def step_now(study: Study) -> int:
    return study.submissions.get().step_index


def continue_button(visitor: Visitor):  # type: ignore[no-untyped-def]
    return visitor.page.get_by_role("button", name="Continue")


def assert_each_page_is_stored_once(study: Study, visitor: Visitor) -> None:
    submission = study.submissions.get()
    assert (submission.state, submission.outcome) == ("finished", "completed")
    assert (submission.checks_passed, submission.self_agreement) == (True, 1)
    stored = Counter(submission.pages.values_list("step_index", flat=True))
    assert stored == Counter(range(len(FLOW)))
    ratings = Rating.objects.filter(assignment__submission=submission)
    assert ratings.count() == 3 * SCALES
    assert len(visitor.rated) == 2 * SCALES
    for group, scale, value in ratings.values_list(
        "assignment__group__plural", "scale__slug", "value"
    ):
        assert abs(value - visitor.rated[group, scale]) <= (0 if visitor.hand == "keyboard" else 1)
    answers = {check.kind: check.answer for check in submission.checks.all()}
    assert answers["comprehension"] == {"tries": ["people-in-america"]}
    assert answers["instructed"]["chosen"] == "somewhat-disagree"
    assert answers["nonsensical"]["chosen"] == "not-sure"
    assert len(answers) == 6
    steps = dict(submission.step_answers.values_list("key", "value"))
    assert steps == {
        "heard": "panel",
        "thoughts": "It was clear.",
        "sure": 90,
        "household": 3,
        "views": {"it-was-clear": "disagree", "it-was-long": "disagree"},
        "sources": steps["sources"],
    }
    assert sorted(steps["sources"].values()) == [1, 2, 3]
    assert submission.answers.get().value == 37


def test_connection_cut_and_restored_on_every_page_at_320_pixels_by_touch(
    chromium: Browser, study: Study, link: str
) -> None:
    context = open_context(chromium, "touch", viewport=NARROW)
    visitor = Visitor(context.new_page(), "touch", choices=CHOICES)
    page = visitor.page
    alert = page.get_by_role("alert").filter(has_text=NO_CONNECTION)
    sent: list[str] = []

    def note(request: Request) -> None:
        # What a page asks for by itself, such as its icon, may come at any time.
        if request.method != "GET" or request.is_navigation_request():
            sent.append(request.method)

    page.on("request", note)

    def press_without_connection(name: str) -> None:
        context.set_offline(True)
        wait_until(lambda: not page.evaluate("navigator.onLine"))
        sent.clear()
        page.get_by_role("button", name=name).tap()
        expect(alert).to_be_visible()
        assert visitor.overflow() == 0, visitor.heading
        assert sent == []

    def send_without_connection(name: str) -> None:
        press_without_connection(name)
        context.set_offline(False)
        expect(alert).to_have_count(0)

    page.goto(link)
    send_without_connection("Start")
    assert not study.submissions.exists()
    visitor.start(link)
    while not visitor.is_over():
        at = step_now(study)
        assert visitor.overflow() == 0, visitor.heading
        visitor.answer()
        press_without_connection("Continue")
        assert step_now(study) == at
        # The page sends itself.
        with page.expect_event("load"):
            context.set_offline(False)
        assert step_now(study) > at
        assert sent.count("POST") == 1, FLOW[at]
    assert visitor.overflow() == 0
    assert_each_page_is_stored_once(study, visitor)

    with page.expect_event("load"):
        page.get_by_role("link", name="Erase my answers").tap()
    page.get_by_role("checkbox").tap()
    send_without_connection("Erase my answers")
    assert study.submissions.get().state == "finished"
    page.get_by_role("button", name="Erase my answers").tap()
    expect(page.locator("h1")).to_have_text("Your answers are erased")
    assert study.submissions.get().state == "withdrawn"
    # The page's icon may be asked for when the connection is gone already.
    assert [text for text in visitor.complaints if not any(cut in text for cut in CUT)] == []


def test_request_or_answer_lost_on_every_page_by_keyboard_alone(
    chromium: Browser, study: Study, link: str
) -> None:
    """The device believes that it is connected. By turns the page is stored and only the answer is
    lost, the page itself is lost, and what stands before the server says that it is away."""
    context = open_context(chromium)
    visitor = Visitor(context.new_page(), "keyboard", choices=CHOICES)
    page = visitor.page
    alert = page.get_by_role("alert").filter(has_text=NO_CONNECTION)
    lost: list[str] = []

    def lose_once(route: Route) -> None:
        if route.request.method != "POST" or route.request.headers["x-step"] in lost:
            route.continue_()
            return
        lost.append(route.request.headers["x-step"])
        if len(lost) % 3 == 0:
            route.fulfill(status=503)
            return
        if len(lost) % 3 == 1:
            route.fetch(max_redirects=0)
        route.abort("internetdisconnected")

    visitor.start(link)
    page.route("**/r/**", lose_once)
    while not visitor.is_over():
        at = step_now(study)
        page.wait_for_load_state("networkidle")
        loaded = page.evaluate(LOADED)
        assert len(loaded) >= 6  # the page, two stylesheets, three modules
        assert all(loaded[:6])
        assert sum(loaded) < PAGE_BYTES, FLOW[at]
        page.set_extra_http_headers({"x-step": str(at)})
        visitor.answer()
        visitor.press(continue_button(visitor))
        expect(alert).to_be_visible()
        assert step_now(study) == at + (len(lost) % 3 == 1)
        visitor.move_on()
        assert step_now(study) == at + 1
    assert lost == [str(index) for index in range(len(FLOW))]
    assert_each_page_is_stored_once(study, visitor)
    assert [text for text in visitor.complaints if not any(cut in text for cut in CUT)] == []


def test_two_tabs_double_clicks_reload_and_back_on_every_page(
    chromium: Browser, study: Study, link: str
) -> None:
    context = open_context(chromium)
    one = Visitor(context.new_page(), choices=CHOICES)
    other = Visitor(context.new_page(), choices=CHOICES)
    sent: list[str] = []
    one.page.on("request", lambda request: sent.append(request.method))
    one.start(link)
    other.page.goto(one.page.url)
    while not one.is_over():
        assert other.heading == one.heading
        other.group = one.group
        other.rated = dict(one.rated)
        one.answer()
        one.page.reload()  # before it is sent: answers stay
        other.answer()
        sent.clear()
        with one.page.expect_event("load"):
            continue_button(one).dblclick()
        assert sent.count("POST") == 1, one.heading
        after = one.heading
        one.page.reload()
        assert one.heading == after
        one.page.go_back()
        expect(one.page.locator("h1")).to_be_visible()
        assert one.heading == after
        other.move_on()  # the page that is passed: nothing is stored, and the tab goes on
        assert other.heading == after
    assert other.is_over()
    assert_each_page_is_stored_once(study, one)
    assert one.complaints == other.complaints == []
