"""A report in Chromium: charts that answer under the strict policy, and nothing that axe finds."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from evaluation.models import Report
from evaluation.reports.building import build_report
from evaluation.reports.requesting import request_report
from tests.browser.accounts import log_in_researcher
from tests.browser.axe import open_scanned_page, scan
from tests.evaluation.reports.surveys import make_rated_study, make_scored_run

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# How strongly marks of one key are drawn, by whether they belong to it.
SHOWN = """
(frame, key) => {
  const shown = { own: new Set(), others: new Set() };
  for (const mark of frame.querySelectorAll("path, text")) {
    const found = mark.__data__?.datum?.key;
    if (found) shown[found === key ? "own" : "others"].add(mark.getAttribute("opacity") ?? "1");
  }
  return { own: [...shown.own], others: [...shown.others] };
}
"""


def build(submissions: int = 12) -> Report:
    owner, _made = User.objects.get_or_create(
        username="reader", defaults={"is_staff": True, "is_superuser": True}
    )
    asked = request_report(
        kind="alignment",
        study=make_rated_study(owner=owner, submissions=submissions),
        runs=[make_scored_run()],
        parameters={"resamples": 100, "splits": 100},
    )
    built = build_report(report_id=asked.pk)
    assert built is not None
    assert built.status == "final", built.error
    return built


@pytest.fixture
def report(site: str) -> Report:
    return build()


def test_charts_answer_and_a_group_is_highlighted_in_all_of_them(
    site: str, chromium: Browser, report: Report
) -> None:
    page = chromium.new_context(viewport={"width": 1280, "height": 900}).new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    log_in_researcher(page, site, "reader")
    page.goto(site + reverse("reports:page", args=[report.public_id]))
    for place in page.locator("figure > .chart:visible").all():
        place.scroll_into_view_if_needed()
        expect(place).to_have_attribute("data-alive", "")
        expect(place.locator("svg[role=img][aria-label]")).to_have_count(1)
    maps, forest = (_chart(page, name) for name in ("heat-maps", "forest"))
    drawn = maps.locator("path[aria-label]").count()
    assert drawn == 0  # one text tells the picture; marks are read in the table

    # A circle of the forest tells its value, interval and n, and its group stands out everywhere.
    dot = forest.locator("xpath=.//*[name()='path']").element_handles()
    keyed = [one for one in dot if one.evaluate("mark => mark.__data__?.datum?.tip")]
    told = keyed[0].evaluate("mark => mark.__data__.datum.tip")
    key = keyed[0].evaluate("mark => mark.__data__.datum.key")
    keyed[0].hover()
    expect(page.get_by_role("tooltip")).to_have_text(told)
    assert told.startswith(f"{key}: τ = ")
    assert "n = " in told
    page.keyboard.press("Escape")
    expect(page.get_by_role("tooltip")).to_be_hidden()
    for chart in (maps, forest):
        shown = chart.evaluate(SHOWN, key)
        assert set(shown["others"]) == {"0.15"} or set(shown["others"]) <= {"0.15", "0.11"}, shown
        assert "0.15" not in shown["own"]
    page.mouse.move(5, 5)
    assert forest.evaluate(SHOWN, key)["others"] == ["1"]

    # By keyboard: the list in the caption does the same, and rows of tables follow.
    choice = page.get_by_label("Highlight").first
    choice.select_option(key)
    expect(page.locator("tr.lit").first).to_contain_text(key)
    assert "0.15" in forest.evaluate(SHOWN, key)["others"]
    assert complaints == []


def test_report_is_read_by_everyone(site: str, chromium: Browser, report: Report) -> None:
    page = open_scanned_page(chromium)
    log_in_researcher(page, site, "reader")
    page.goto(site + reverse("reports:page", args=[report.public_id]))
    expect(page.locator("figure > .chart[data-alive]").first).to_be_visible()
    scan(page, "report")


def test_why_a_number_is_missing_is_read_on_a_phone_without_scrolling(
    site: str, chromium: Browser
) -> None:
    report = build(submissions=1)
    page = chromium.new_context(viewport={"width": 360, "height": 740}).new_page()
    log_in_researcher(page, site, "reader")
    page.goto(site + reverse("reports:page", args=[report.public_id]))
    notes = page.locator(".note", has_text="noise cannot be told apart")
    expect(notes.first).to_be_visible()
    for words in notes.all():
        # Where the words lie, whatever the cell that they stand in.
        right = words.evaluate(
            "cell => { const range = document.createRange(); range.selectNodeContents(cell);"
            " return range.getBoundingClientRect().right; }"
        )
        assert right <= 360


def _chart(page: Page, name: str):  # type: ignore[no-untyped-def]
    return page.locator(f'.chart[data-spec*="/{name}.vl.json"]')
