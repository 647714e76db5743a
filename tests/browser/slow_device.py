"""An old phone on a bad line, for the browser tests.

``make slow-test`` asks for it. Scripts then run long after a page is seen, and answers come long
after a press; a test that does not wait for what a person would wait for fails.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import Any

from playwright.sync_api import Browser, BrowserContext, CDPSession, Error, Page

SLOW = os.environ.get("STEREOSCOPE_TESTS_SLOW") == "1"

LATENCY_MS = 400
TIMES_SLOWER = 4


def slow_down(browser: Browser) -> None:
    """Slow every page that this browser opens from now on, popups included."""
    open_context, open_page = browser.new_context, browser.new_page

    def new_context(**options: Any) -> BrowserContext:
        context = open_context(**options)
        _SlowContext(context)
        return context

    def new_page(**options: Any) -> Page:
        page = open_page(**options)
        _SlowContext(page.context).slow(page)
        return page

    browser.new_context = new_context  # type: ignore[method-assign]
    browser.new_page = new_page  # type: ignore[method-assign]


class _SlowContext:
    """The pages of one context, and whether they are connected at all."""

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self.devices: dict[Page, CDPSession] = {}
        self.is_offline = False
        self._set_offline = context.set_offline
        context.new_page = partial(self._new_page, context.new_page)  # type: ignore[method-assign]
        context.set_offline = self.set_offline  # type: ignore[method-assign]
        context.on("page", self._slow_popup)

    def slow(self, page: Page) -> None:
        device = self.devices[page] = self.context.new_cdp_session(page)
        device.send("Emulation.setCPUThrottlingRate", {"rate": TIMES_SLOWER})
        self._slow_line(device)

    def set_offline(self, offline: bool) -> None:
        # Before, so that a page that hears of its connection has one; after, since Playwright
        # connects again without any latency.
        self.is_offline = offline
        self._slow_lines()
        self._set_offline(offline)
        self._slow_lines()

    def _slow_lines(self) -> None:
        for page, device in self.devices.items():
            if not page.is_closed():
                self._slow_line(device)

    def _slow_line(self, device: CDPSession) -> None:
        device.send("Network.enable")
        line = {"latency": LATENCY_MS, "downloadThroughput": -1, "uploadThroughput": -1}
        device.send("Network.emulateNetworkConditions", line | {"offline": self.is_offline})

    def _new_page(self, open_page: Any) -> Page:
        page: Page = open_page()
        self.slow(page)
        return page

    def _slow_popup(self, page: Page) -> None:
        # It may be gone again before it is slow.
        with suppress(Error):
            if page.opener() is not None:
                self.slow(page)
