"""What ``make slow-test`` promises: no page of any window is fast."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.chromium import run_chromium
from tests.browser.slow_device import LATENCY_MS

pytestmark = pytest.mark.browser

IS_LATE = """
async (latency) => {
  const begun = performance.now();
  await fetch(location.href, { cache: "no-store" });
  return performance.now() - begun >= latency;
}
"""


@pytest.fixture
def browser() -> Iterator[Browser]:
    with run_chromium(slow=True) as browser:
        yield browser


def open_by_browser(browser: Browser, address: str) -> Page:
    page = browser.new_page()
    page.goto(address)
    return page


def open_by_context(browser: Browser, address: str) -> Page:
    page = browser.new_context().new_page()
    page.goto(address)
    return page


def open_by_link(browser: Browser, address: str) -> Page:
    page = open_by_context(browser, address)
    with page.expect_popup() as opened:
        page.evaluate("window.open(location.href)")
    return opened.value


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "open_page", [open_by_browser, open_by_context, open_by_link], ids=lambda way: way.__name__
)
def test_answers_are_late_on_every_page(browser: Browser, live_server, open_page) -> None:  # type: ignore[no-untyped-def]
    page = open_page(browser, live_server.url)
    # A popup is there a moment before it is slow.
    page.wait_for_function(IS_LATE, arg=LATENCY_MS)


@pytest.mark.django_db(transaction=True)
def test_a_lost_connection_is_lost_and_comes_back_slow(browser: Browser, live_server) -> None:  # type: ignore[no-untyped-def]
    page = open_by_context(browser, live_server.url)
    page.context.set_offline(True)
    assert page.evaluate("navigator.onLine") is False
    assert page.evaluate("fetch(location.href).then(() => 'answered', () => 'lost')") == "lost"
    page.context.set_offline(False)
    assert page.evaluate(IS_LATE, LATENCY_MS)
    assert page.evaluate("navigator.onLine") is True
