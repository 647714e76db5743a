"""Takes a page's pictures: phone and desktop, light and dark, small enough for a repository."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import FloatRect, Page

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}
WINDOWS = {"phone": PHONE, "desktop": DESKTOP}
COLORS = ("light", "dark")
# Longer pages are cut: what comes below looks like what stands above.
MOST_HEIGHT = {"phone": 1600, "desktop": 1400}
PALETTE = 48
# Nothing blinks, and nothing is half way.
CALM = "*, *::before, *::after { animation: none !important; transition: none !important; }"
STILL: dict[str, Any] = {"animations": "disabled", "caret": "hide", "style": CALM}


@dataclass
class Shot:
    """One page in one language; ``files`` by window and colors."""

    part: str
    name: str
    title: str
    language: str
    files: dict[tuple[str, str], str] = field(default_factory=dict)


@dataclass
class Camera:
    folder: Path
    shots: list[Shot] = field(default_factory=list)

    def take(self, page: Page, part: str, name: str, title: str, language: str = "en") -> None:
        """Take the page as it stands, by changing window and colors in place."""
        shot = Shot(part, name, title, language)
        for window, size in WINDOWS.items():
            page.set_viewport_size(size)  # type: ignore[arg-type]
            for colors in COLORS:
                page.emulate_media(color_scheme=colors, reduced_motion="reduce")  # type: ignore[arg-type]
                page.wait_for_timeout(60)
                file = f"{part}-{name}-{language}-{window}-{colors}.webp"
                self._store(page, window, self.folder / file)
                shot.files[window, colors] = file
        page.set_viewport_size(PHONE if part == "participant" else DESKTOP)  # type: ignore[arg-type]
        page.emulate_media(color_scheme="light")
        self.shots.append(shot)

    def _store(self, page: Page, window: str, file: Path) -> None:
        height = min(
            int(page.evaluate("document.documentElement.scrollHeight")), MOST_HEIGHT[window]
        )
        size = WINDOWS[window]
        clip: FloatRect = {
            "x": 0,
            "y": 0,
            "width": size["width"],
            "height": max(height, size["height"]),
        }
        picture = page.screenshot(full_page=True, clip=clip, **STILL)
        store_small(picture, file)


def store_small(picture: bytes, file: Path) -> None:
    """Store a page's picture: pages have few colors, and a palette keeps letters sharp."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    small = image.quantize(PALETTE, dither=Image.Dither.NONE).convert("RGB")
    small.save(file, "WEBP", lossless=True, quality=90, method=4)
