"""Chromium, driven by Playwright as in the tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import ConsoleMessage, Error, Page, sync_playwright

from tools.browsers.windows import DESKTOP, Engine, Hand

# The shell draws and runs pages as the whole browser does, in half of the computing.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def find_program() -> str | None:
    """Return the path of the system's Chromium, None where Playwright's own has to do."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class ChromiumWindow:
    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("console", self._listen)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _listen(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def go(self, address: str) -> None:
        self.page.goto(address)

    def run(self, expression: str) -> Any:
        try:
            return self.page.evaluate(expression)
        except Error:  # the page is just being left
            return None

    def press_at(self, x: float, y: float, *, touch: bool) -> None:
        if touch:
            self.page.touchscreen.tap(x, y)
        else:
            self.page.mouse.click(x, y)

    def press_keys(self, *keys: str) -> None:
        self.page.keyboard.press("+".join(keys))

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def save_picture(self, file: Path) -> None:
        self.page.screenshot(path=file, full_page=True)


@contextmanager
def open_window(
    *, size: tuple[int, int] = DESKTOP, hand: Hand = "mouse", scripts: bool = True
) -> Iterator[ChromiumWindow]:
    program = find_program()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            has_touch=hand == "touch",
            is_mobile=hand == "touch",
            java_script_enabled=scripts,
            locale="en-US",
        )
        yield ChromiumWindow(context.new_page())
        browser.close()


CHROMIUM = Engine(
    "Chromium",
    "" if find_program() else "chromium",
    open_window,
)
