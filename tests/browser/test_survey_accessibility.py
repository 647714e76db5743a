"""No violation that axe-core finds on any page of the survey, as it comes and as it is refused."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from annotation.models import Study
from tests.annotation.survey.conftest import StudyMaker
from tests.annotation.survey.flows import every_kind
from tests.browser.axe import open_scanned_page, scan
from tests.browser.survey_visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FLOW = every_kind()
# Pages that ask for nothing, so that nothing can be missing.
ASKS_NOTHING = {"instructions", "page", "debrief"}
PROBLEM = ".problem:visible, [role=alert]:visible"
# What the focused control is described by, its group included, as a screen reader reads it out.
DESCRIPTION = """
() => {
  const described = [document.activeElement, document.activeElement.closest("fieldset")];
  return described.flatMap((node) => (node?.getAttribute("aria-describedby") ?? "").split(" "))
    .map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
}
"""


@pytest.fixture
def study(site: str, make_study) -> Study:  # type: ignore[no-untyped-def]
    return make_study(flow=FLOW, reservation_minutes=600)


def kind_now(study: Study) -> str:
    step = FLOW[study.submissions.get().step_index]
    return str(step["kind"] if isinstance(step, dict) else step)


def send_what_is_refused(visitor: Visitor, kind: str) -> None:
    """Send the page with nothing on it, or with an age that is no number."""
    if kind == "demographics":
        visitor.page.locator("[name=answer-age]").fill("old enough")
    visitor.page.get_by_role("button", name="Continue").click()
    expect(visitor.page.locator(PROBLEM).first).to_be_visible()


def test_every_page_of_the_survey_and_what_it_says_of_missing_answers(
    chromium: Browser, site: str, study: Study
) -> None:
    page = open_scanned_page(chromium)
    visitor = Visitor(page, choices=frozenset({"people-in-america", "somewhat-disagree", "no"}))
    link = site + study.get_absolute_url()
    page.goto(link)
    scan(page, "landing")
    visitor.start(link)
    seen = []
    while not visitor.is_over():
        kind = kind_now(study)
        seen.append(kind)
        scan(page, kind)
        for way in ("Leave the study", "Contact the researchers"):
            expect(page.get_by_role("link", name=way)).to_be_visible()
        if kind not in ASKS_NOTHING:
            send_what_is_refused(visitor, kind)
            scan(page, f"{kind}, refused")
            problem = page.locator(".problem:visible").first.inner_text()
            assert problem.strip() in page.evaluate(DESCRIPTION), kind
        if kind == "comprehension":
            page.get_by_role("radio").first.check()  # wrong, once
            visitor.move_on()
            scan(page, "comprehension, second try")
        if kind == "demographics":
            page.locator("[name=answer-age]").fill("")
        visitor.answer()
        if kind == "practice":
            page.context.set_offline(True)
            page.get_by_role("button", name="Continue").click()
            expect(page.get_by_text("There is no connection.")).to_be_visible()
            scan(page, "no connection")
            with page.expect_event("load"):
                page.context.set_offline(False)  # the page sends itself
        else:
            visitor.move_on()
    assert len(seen) == len(FLOW)
    scan(page, "completion")
    with page.expect_navigation():
        page.get_by_role("link", name="Erase my answers").click()
    scan(page, "own page")
    page.get_by_role("button", name="Erase my answers").click()
    expect(page.locator(PROBLEM).first).to_be_visible()
    scan(page, "own page, not confirmed")
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Erase my answers").click()
    expect(page.locator("h1")).to_have_text("Your answers are erased")
    scan(page, "withdrawn")


def test_more_contrast_and_forced_colors(chromium: Browser, site: str, study: Study) -> None:
    page = open_scanned_page(chromium)
    visitor = Visitor(page, choices=frozenset({"people-in-america"}))
    visitor.start(site + study.get_absolute_url())
    style = "(node, name) => getComputedStyle(node)[name]"
    lead, option = page.locator(".prose"), page.locator(".option").first
    for colors in ("light", "dark"):
        page.emulate_media(color_scheme=colors, contrast="no-preference")
        quiet = option.evaluate(style, "borderTopColor")
        page.emulate_media(color_scheme=colors, contrast="more")
        assert option.evaluate(style, "borderTopColor") != quiet
        assert page.locator(".legal").evaluate(style, "color") == lead.evaluate(style, "color")
        scan(page, f"consent with more contrast, {colors}")
    # A chosen answer differs in shape: colors are the system's own, and the same for both.
    while kind_now(study) != "comprehension":
        visitor.answer()
        visitor.move_on()
    page.emulate_media(forced_colors="active")
    chosen, other = page.get_by_role("radio").first, page.get_by_role("radio").last
    chosen.check()
    widths = {one.evaluate(style, "borderTopWidth") for one in (chosen, other)}
    assert len(widths) == 2


def test_a_rating_page_whose_script_never_arrives(
    chromium: Browser, site: str, make_study: StudyMaker
) -> None:
    """Numbers stand in for the lines; the server names what is missing and keeps the rest."""
    study = make_study(flow=["rating"])
    page = open_scanned_page(chromium)
    page.route("**/rating.js", lambda route: route.abort())
    visitor = Visitor(page)
    visitor.start(site + study.get_absolute_url())
    numbers = page.get_by_role("spinbutton")
    expect(numbers.first).to_have_css("opacity", "1")
    scan(page, "numbers in place of lines")
    numbers.nth(0).fill("7")
    numbers.nth(2).fill("100")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("2 lines are not answered yet.")).to_be_visible()
    expect(numbers.nth(1)).to_be_focused()
    assert page.title().startswith("Not complete: ")
    expect(numbers.first).to_have_css("opacity", "1")
    scan(page, "numbers in place of lines, refused")
    page.locator("[data-summary] a").last.click()
    expect(numbers.nth(3)).to_be_focused()
    assert [one.input_value() for one in numbers.all()] == ["7", "", "100", ""]
