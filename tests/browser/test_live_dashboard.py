"""The page of a study in Chromium while people take part: it follows, and leaves its reader alone.

“Comes into view again” is an event of the browser; sending it makes the page look at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from annotation.models import Study
from tests.annotation.studies.people import make_user
from tests.annotation.survey.participants import OverHttp, Person, spread
from tests.browser.accounts import log_in_researcher
from tests.browser.axe import EVERY_RULE
from tests.browser.survey_visitor import DESKTOP, PHONE, open_context

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def study(site: str, make_study) -> Study:  # type: ignore[no-untyped-def]
    owner = make_user("alice-of-the-dashboard")
    return make_study(owner=owner, quota_per_group=3, title="Watched while people rate")


@pytest.fixture
def page(site: str, study: Study, chromium: Browser) -> Iterator[Page]:
    context = open_context(chromium, viewport=DESKTOP, bypass_csp=True)
    page = context.new_page()
    log_in_researcher(page, site, "alice-of-the-dashboard")
    page.goto(site + reverse("admin:annotation_study_overview", args=[study.pk]))
    yield page
    context.close()


def take_part(site: str, study: Study) -> None:
    address = urlsplit(site)
    person = Person(OverHttp(address.hostname or "", address.port or 0), spread)
    assert person.start(study.get_absolute_url()).status == 302
    person.go_on()
    person.connection.close()  # type: ignore[attr-defined]


def look_again(page: Page) -> None:
    """Let the page ask the server now; return when it has its answer."""
    with page.expect_response(lambda response: response.url.endswith("/live/")):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def find_violations(page: Page) -> list[str]:
    """Return what axe-core finds between the theme's frame and the page's end."""
    page.wait_for_load_state()
    page.evaluate(AXE_SCRIPT)
    found = page.evaluate("options => axe.run('.page', options)", EVERY_RULE)["violations"]
    return [f"{one['help']}: {[node['html'] for node in one['nodes'][:3]]}" for one in found]


def test_the_page_follows_two_people_and_keeps_focus_and_open_parts(
    site: str, study: Study, page: Page
) -> None:
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.evaluate("window.notReloaded = true")
    take_part(site, study)
    # The page looks by itself, without any event.
    expect(page.get_by_text("Counting …")).to_have_count(0)
    finished = page.get_by_role("row", name="Finished")
    expect(finished).to_contain_text("1")
    page.locator("#quota-table summary").click()
    page.locator("#csv-quotas").focus()
    page.evaluate("window.scrollTo(0, 300)")
    take_part(site, study)
    look_again(page)
    expect(finished).to_contain_text("2")
    assert page.evaluate("window.notReloaded") is True
    assert page.evaluate("document.activeElement.id") == "csv-quotas"
    assert page.locator("#quota-table[open]").count() == 1
    assert page.evaluate("window.scrollY") == 300

    # Nothing has changed: the server says so without sending the page again.
    with page.expect_response(lambda response: response.url.endswith("/live/")) as found:
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    assert found.value.status == 304
    assert complaints == []

    # Without an answer the numbers stay, and the page says from when they are.
    expect(page.locator("[data-live-lost]")).to_be_hidden()
    page.context.set_offline(True)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("[data-live-lost]")).to_be_visible()
    expect(page.locator("[data-live-since]")).not_to_be_empty()
    expect(finished).to_contain_text("2")
    page.context.set_offline(False)
    look_again(page)
    expect(page.locator("[data-live-lost]")).to_be_hidden()
    for window, colors in ((DESKTOP, "light"), (PHONE, "dark")):
        page.set_viewport_size(window)  # type: ignore[arg-type]
        page.emulate_media(color_scheme=colors, reduced_motion="reduce")  # type: ignore[arg-type]
        assert find_violations(page) == []
