"""The one way in which tests get a browser."""

from __future__ import annotations

import asyncio
import atexit
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Playwright, expect, sync_playwright

from tests.browser.slow_device import SLOW, slow_down
from tools.browsers.chromium import find_program

# Two cores may be busy with other tests: wait longer than the usual five seconds for an element.
expect.set_options(timeout=20_000)

# A page of a test lives for a second: to optimize its scripts costs more than it saves.
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--js-flags=--no-opt,--no-maglev")


class _Started:
    """What this process has started: it takes a second, and every test has windows of its own."""

    playwright: Playwright | None = None
    loop: asyncio.AbstractEventLoop | None = None
    browsers: dict[bool, Browser] = {}


@contextmanager
def run_chromium(*, slow: bool = SLOW) -> Iterator[Browser]:
    """Chromium without a window and without any cookie; skips loudly where none is installed."""
    with _inside_loop() as playwright:
        browser = _Started.browsers.get(slow)
        if browser is None or not browser.is_connected():
            browser = _Started.browsers[slow] = _launch(playwright, slow=slow)
        try:
            yield browser
        finally:
            for context in browser.contexts:
                with suppress(Error):  # it went away with the browser
                    context.close()


@contextmanager
def _inside_loop() -> Iterator[Playwright]:
    """Let Playwright's event loop be this thread's for as long as somebody uses the browser.

    Other tests start loops of their own, and Django keeps its database from whoever is in one.
    """
    if _Started.playwright is None:
        _Started.playwright = sync_playwright().start()
        _Started.loop = asyncio.get_running_loop()
        atexit.register(_stop)
    asyncio._set_running_loop(_Started.loop)
    try:
        yield _Started.playwright
    finally:
        asyncio._set_running_loop(None)


def _launch(playwright: Playwright, *, slow: bool) -> Browser:
    executable = find_program()
    if executable is None and not Path(playwright.chromium.executable_path).exists():
        message = "no Chromium is installed: browser tests are SKIPPED"
        warnings.warn(message, stacklevel=1)
        pytest.skip(message)
    browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
    if slow:
        slow_down(browser)
    return browser


def _stop() -> None:
    if _Started.playwright is not None:
        asyncio._set_running_loop(_Started.loop)
        _Started.playwright.stop()
