"""The one way in which tests start a browser."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.slow_device import SLOW, slow_down

# Two cores may be busy with other tests: wait longer than the usual five seconds for an element.
expect.set_options(timeout=20_000)

NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def run_chromium(*, slow: bool = SLOW) -> Iterator[Browser]:
    """Chromium without a window; skips loudly where none is installed."""
    executable = next(filter(None, map(shutil.which, NAMES)), None)
    with sync_playwright() as playwright:
        if executable is None and not Path(playwright.chromium.executable_path).exists():
            message = "no Chromium is installed: browser tests are SKIPPED"
            warnings.warn(message, stacklevel=1)
            pytest.skip(message)
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        if slow:
            slow_down(browser)
        yield browser
        browser.close()
