"""A newcomer's first study, step by step, for `docs/first-study.md`."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image, ImageDraw
from playwright.sync_api import Browser, Page

from tests.browser.newcomer import Newcomer, create_newcomer
from tools.screens.camera import STILL, store_small

FOLDER = "images/first-study"
WINDOW = {"width": 1280, "height": 800}
MOST_BYTES = 60_000
SETTLE_MS = 1500
PASSWORD = "only-for-pictures"  # noqa: S105 - of an account that goes away


def take_first_study(browser: Browser, site: str, docs: Path) -> list[Path]:
    """Walk from the log-in to a pilot; return the pictures."""
    folder = docs / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    taken: list[Path] = []

    def take(page: Page, name: str) -> None:
        taken.append(folder / f"{name}.webp")
        page.wait_for_load_state()
        # The designer draws its preview once an edit has been stored; no page is ever idle there.
        page.wait_for_timeout(SETTLE_MS)
        store_small(page.screenshot(**STILL), taken[-1])

    user = create_newcomer()
    user.set_password(PASSWORD)
    user.save()
    context = browser.new_context(viewport=WINDOW, locale="en-US", color_scheme="light")  # type: ignore[arg-type]
    page = context.new_page()
    with TemporaryDirectory() as place:
        loaf = Path(place) / "loaf.png"
        draw_loaf().save(loaf)
        Newcomer(page, site, loaf, take).walk(user.username, PASSWORD)
    context.close()
    return taken


def draw_loaf() -> Image.Image:
    """What the newcomer shows with a question: three cuts across a loaf."""
    image = Image.new("RGB", (320, 180), "#f7f3ea")
    draw = ImageDraw.Draw(image)
    draw.rounded_rectangle((30, 50, 290, 140), radius=45, fill="#b9763a")
    for x in (95, 155, 215):
        draw.line((x, 120, x + 25, 68), fill="#f0d9b0", width=9)
    return image
