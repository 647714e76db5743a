"""Leaving out a group or a line: by touch at 320 px, by keyboard, and without scripts."""

from __future__ import annotations

import pytest
from django.db.models import QuerySet
from playwright.sync_api import Browser, Page, expect

from annotation.models import MissingRating, Rating, Skipping, Study
from tests.browser.axe import open_scanned_page, scan
from tests.browser.survey_visitor import NARROW, Hand, Visitor, open_context

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SUMMARY = "I don’t know this group, or I’d rather not answer"


@pytest.fixture
def study(site: str, make_study) -> Study:  # type: ignore[no-untyped-def]
    return make_study(flow=["rating", "rating"], reward_cents=200)


def kinds(study: Study) -> list[str]:
    left_out = MissingRating.objects.filter(assignment__submission__study=study)
    return sorted(left_out.values_list("kind", flat=True))


def ratings_of(study: Study) -> QuerySet[Rating]:
    return Rating.objects.filter(assignment__submission__study=study)


def is_second_page(page: Page) -> None:
    expect(page.locator("[data-answered]")).to_have_text("0 of 4 lines answered")
    expect(page.locator("details")).not_to_have_attribute("open", "")


def test_a_group_is_left_out_by_touch_at_320_px(chromium: Browser, site: str, study: Study) -> None:
    context = open_context(chromium, "touch", viewport=NARROW)
    visitor = Visitor(context.new_page(), "touch")
    visitor.start(site + study.get_absolute_url())
    page = visitor.page
    first = page.locator("[data-line]").first
    visitor.put(first, 70)
    page.get_by_text(SUMMARY).tap()
    choice = page.get_by_role("group", name="Will you rate this group?")
    choice.get_by_label("I don’t know this group", exact=True).tap()
    expect(page.locator("[data-lines]")).to_be_hidden()
    expect(page.get_by_text("Your payment does not depend on it.")).to_be_visible()
    expect(page.locator("[data-answered]")).to_have_text("Left out")
    assert page.locator("[data-progress]").evaluate("bar => bar.value") == 1
    assert visitor.overflow() == 0
    # Kept over a reload; the lines come back with their answers.
    page.reload()
    expect(page.get_by_label("I don’t know this group", exact=True)).to_be_checked()
    expect(page.locator("[data-lines]")).to_be_hidden()
    page.get_by_label("Yes, on the lines").tap()
    expect(page.locator("[data-answered]")).to_have_text("1 of 4 lines answered")
    expect(first).to_be_visible()
    page.get_by_label("I don’t know this group", exact=True).tap()
    visitor.move_on()
    is_second_page(page)
    assert kinds(study) == ["unknown"] * 4
    assert not ratings_of(study).exists()
    assert visitor.complaints == []


@pytest.mark.parametrize("hand", ["touch", "keyboard"])
def test_a_refused_page_leads_to_the_choice(
    chromium: Browser, site: str, study: Study, hand: Hand
) -> None:
    visitor = Visitor(open_context(chromium, hand, viewport=NARROW).new_page(), hand)
    visitor.start(site + study.get_absolute_url())
    page = visitor.page
    first = page.locator("[data-line]").first
    visitor.put(first, 70)
    visitor.press(page.get_by_role("button", name="Continue"))
    way = page.get_by_role("link", name="Or leave this whole page out.")
    expect(way).to_be_in_viewport()
    expect(page.locator("[data-summary]")).to_contain_text("but you can leave out the whole group:")
    assert visitor.overflow() == 0
    visitor.press(way)
    choice = page.get_by_label("Yes, on the lines")
    expect(choice).to_be_focused()
    expect(choice).to_be_in_viewport()
    if hand == "keyboard":
        page.keyboard.press("ArrowUp")  # from the first to the last
    else:
        visitor.press(page.get_by_label("I don’t know this group", exact=True))
    expect(page.locator("[data-summary]")).to_be_hidden()
    visitor.move_on()
    is_second_page(page)
    assert kinds(study) == ["unknown"] * 4
    assert visitor.complaints == []


def test_a_group_is_left_out_by_keyboard(chromium: Browser, site: str, study: Study) -> None:
    visitor = Visitor(open_context(chromium).new_page(), "keyboard")
    visitor.start(site + study.get_absolute_url())
    page = visitor.page
    visitor.press(page.locator("summary"))
    visitor.tab_to(page.get_by_label("Yes, on the lines"))
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("I’d rather not answer", exact=True)).to_be_checked()
    visitor.move_on()
    is_second_page(page)
    assert kinds(study) == ["declined"] * 4


def test_a_group_is_left_out_without_scripts(chromium: Browser, site: str, study: Study) -> None:
    page = open_context(chromium, java_script_enabled=False).new_page()
    page.goto(site + study.get_absolute_url())
    page.locator(".button-main").first.click()
    page.wait_for_url("**/r/**")
    page.locator("summary").click()
    page.get_by_label("I’d rather not answer", exact=True).check()
    expect(page.locator("[data-lines]")).to_be_hidden()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("4 lines")).to_be_visible()
    assert kinds(study) == ["declined"] * 4


def test_lines_are_left_out_one_by_one_and_what_answers_were_given_by_is_kept(
    chromium: Browser, site: str, make_study
) -> None:  # type: ignore[no-untyped-def]
    study = make_study(flow=["rating", "rating"], instrument_options={"skipping": Skipping.LINE})
    page = open_scanned_page(chromium)
    visitor = Visitor(page)
    visitor.start(site + study.get_absolute_url())
    page.locator("summary").click()
    scan(page, "rating, to be left out")
    page.locator("summary").click()
    first, second, third, fourth = page.locator("[data-line]").all()
    visitor.put(first, 20)
    visitor.put(second, 70)
    visitor.tab_to(third.locator(".line-input"))
    page.keyboard.press("End")
    # Leaving out takes the answer away; Ctrl+Z and a new answer bring it back.
    first.get_by_role("combobox").select_option("declined")
    expect(page.locator("[data-answered]")).to_have_text("2 of 4 lines answered, 1 left out")
    expect(page.locator("[data-open]")).to_have_text("1 line is still open.")
    # So does choosing not to leave it out, even after a reload.
    page.reload()
    first.get_by_role("combobox").select_option("")
    expect(page.locator("[data-answered]")).to_have_text("3 of 4 lines answered")
    expect(first.locator(".line-input")).to_have_value("20")
    first.get_by_role("combobox").select_option("declined")
    page.keyboard.press("Control+z")
    expect(page.locator("[data-answered]")).to_have_text("3 of 4 lines answered")
    expect(first.get_by_role("combobox")).to_have_value("")
    second.get_by_role("combobox").select_option("unknown")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("1 line is not answered yet.")).to_be_visible()
    scan(page, "rating, refused, with a line left out")
    fourth.get_by_role("combobox").select_option("declined")
    expect(page.get_by_text("1 line is not answered yet.")).to_have_count(0)
    page.reload()
    expect(fourth.get_by_role("combobox")).to_have_value("declined")
    visitor.move_on()
    assert kinds(study) == ["declined", "unknown"]
    ratings = ratings_of(study).order_by("position")
    assert list(ratings.values_list("means", flat=True)) == ["mouse", "key"]
