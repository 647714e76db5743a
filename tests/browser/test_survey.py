"""The survey in a real browser: every page, reload and Back included, and what is stored then."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import QuerySet
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from annotation.models import PageEvent, Rating, Study
from tests.browser.survey_visitor import NARROW, PHONE, Visitor, open_context

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SCALES = 4


@pytest.fixture
def study(site: str, make_study) -> Study:  # type: ignore[no-untyped-def]
    return make_study(decide_by_checks=True, withdraw_until="2099-06-30")


@pytest.fixture
def link(site: str, study: Study) -> str:
    return site + study.get_absolute_url()


def ratings_of(study: Study) -> QuerySet[Rating]:
    return Rating.objects.filter(assignment__submission__study=study)


def assert_whole_visit_is_stored(study: Study, visitor: Visitor) -> None:
    """Five pages, no rating lost, doubled, misplaced or turned, every check passed."""
    submission = study.submissions.get()
    assert (submission.state, submission.outcome) == ("finished", "completed")
    assert (submission.checks_passed, submission.self_agreement) == (True, 1)
    assert submission.data_decision == "accepted"
    ratings = ratings_of(study).values_list("assignment__group__plural", "scale__slug", "value")
    assert ratings.count() == 5 * SCALES
    assert len(visitor.rated) == 4 * SCALES
    for group, scale, value in ratings:
        assert abs(value - visitor.rated[group, scale]) <= (0 if visitor.hand == "keyboard" else 1)
    assert submission.pages.count() == 10
    assert submission.checks.count() == 3
    assert submission.answers.get().value == 37


def go_back(visitor: Visitor) -> None:
    """Press Back; from the study's link the visit goes on where it stood."""
    visitor.page.go_back()
    visitor.page.wait_for_load_state()
    on = visitor.page.get_by_role("button", name="Go on")
    if on.count():
        visitor.press(on)
        visitor.page.wait_for_url("**/r/**")


@pytest.mark.smoke
def test_phone_by_touch_with_reload_and_back_on_every_page(
    chromium: Browser, study: Study, link: str
) -> None:
    context = open_context(chromium, "touch")
    visitor = Visitor(context.new_page(), "touch")
    visitor.start(link)
    seen = []
    while not visitor.is_over():
        here = visitor.heading
        visitor.page.set_viewport_size(NARROW)
        assert visitor.overflow() == 0, here
        visitor.page.set_viewport_size(PHONE)
        assert visitor.overflow() == 0, here
        visitor.page.reload()
        assert visitor.heading == here
        visitor.answer()
        visitor.page.reload()  # before it is sent: answers stay
        if visitor.is_rating():
            expect(visitor.page.locator("[data-answered]")).to_have_text("4 of 4 lines answered")
        visitor.move_on()
        seen.append(here)
        after = visitor.heading
        go_back(visitor)
        assert visitor.heading == after
    assert len(seen) == 10
    assert len(set(seen)) == 9  # one group was asked twice
    expect(visitor.page.locator("h1")).to_have_text("Thank you. Your answers are saved.")
    visitor.page.reload()
    expect(visitor.page.locator("h1")).to_have_text("Thank you. Your answers are saved.")
    assert visitor.page.evaluate("localStorage.length + sessionStorage.length") == 0
    assert_whole_visit_is_stored(study, visitor)
    event = PageEvent.objects.filter(submission__study=study, step_kind="rating").first()
    assert event is not None
    assert (event.client["device"], event.client["restored"]) == ("phone", True)
    assert all(ratings_of(study).values_list("first_touch_ms", flat=True))
    assert visitor.complaints == []


def test_desktop_by_keyboard_alone(chromium: Browser, study: Study, link: str) -> None:
    visitor = Visitor(open_context(chromium).new_page(), "keyboard")
    visitor.start(link)
    while not visitor.is_over():
        visitor.answer()
        visitor.move_on()
    assert_whole_visit_is_stored(study, visitor)
    pages = study.submissions.get().pages
    assert set(pages.values_list("client__device", flat=True)) == {"desktop"}
    assert set(pages.values_list("client__pointer", flat=True)) == {"keyboard"}
    visitor.press(visitor.page.get_by_role("link", name="Erase my answers"))
    visitor.page.wait_for_url("**/w/**")
    visitor.tick(visitor.page.get_by_role("checkbox"))
    visitor.press(visitor.page.get_by_role("button", name="Erase my answers"))
    expect(visitor.page.locator("h1")).to_have_text("Your answers are erased")
    assert not ratings_of(study).exists()
    assert visitor.complaints == []


def test_survey_without_scripts_can_be_completed(
    chromium: Browser, study: Study, link: str
) -> None:
    context = open_context(chromium, java_script_enabled=False)
    page = context.new_page()
    page.goto(link)
    with page.expect_navigation():
        page.get_by_role("button", name="Start").click()
    group = ""
    while page.locator("form[data-step]").count():
        if page.locator("[data-lines]").count():
            group = page.locator("h1").inner_text().split("view ")[-1].strip(" ?")
            for number in page.locator("input[type=number]").all():
                number.fill("80")
        elif page.locator("[name=agree]").count():
            page.get_by_role("checkbox").check()
        elif page.locator("[name=group-name]").count():
            page.locator("[name=group-name]").fill(group)
        elif page.locator("[name=near]").count():
            page.locator("[name=near]").first.check()
            page.locator("[name=far]").first.check()
        with page.expect_navigation():
            page.get_by_role("button", name="Continue").click()
    expect(page.locator("h1")).to_have_text("Thank you. Your answers are saved.")
    values = set(ratings_of(study).values_list("value", "flipped").distinct())
    assert values <= {(80.0, False), (20.0, True)}
    assert ratings_of(study).count() == 5 * SCALES


def test_copy_buttons_copy_code_and_link(
    chromium: Browser, site: str, study: Study, link: str
) -> None:
    context = open_context(chromium)
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site)
    visitor = Visitor(context.new_page())
    visitor.start(link)
    while not visitor.is_over():
        visitor.answer()
        visitor.move_on()
    page = visitor.page
    # “Copied” stands for two seconds, which the test lets pass when it has seen it.
    page.clock.install()
    page.clock.pause_at(timezone.now() + timedelta(hours=1))
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_role("button", name="Copied")).to_have_count(1)
    read = "navigator.clipboard.readText()"
    assert page.evaluate(read) == study.completion_codes["completed"]
    page.get_by_role("button", name="Copy the link").click()
    expect(page.get_by_role("button", name="Copied")).to_have_count(2)
    token = study.submissions.get().token
    assert page.evaluate(read) == f"{site}/w/{token}/"
    page.clock.run_for(2000)
    expect(page.get_by_role("button", name="Copied")).to_have_count(0)
    expect(page.get_by_role("button", name="Copy", exact=True)).to_be_visible()
    assert visitor.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_rating_page_follows_the_systems_colors(chromium: Browser, link: str, scheme: str) -> None:
    context = open_context(chromium, "touch", color_scheme=scheme)
    page: Page = context.new_page()
    visitor = Visitor(page, "touch")
    visitor.start(link)
    for _ in range(2):
        visitor.answer()
        visitor.move_on()
    # Paper of the look: #FAF9F6, and #12161C in the dark.
    paper = {"light": "rgb(250, 249, 246)", "dark": "rgb(18, 22, 28)"}[scheme]
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == paper
    assert visitor.complaints == []
