"""Pictures of pages: every window and color, small, and shown by the index."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser

from tests.browser.survey_visitor import open_context
from tools.browsers.chromium import find_program
from tools.screens.camera import Camera
from tools.screens.index import FOLDER, write_index

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAGE = """<html><head><meta name="color-scheme" content="light dark"></head>
<body style="margin: 0; height: 5000px"><h1>Here</h1></body></html>"""


def test_the_shell_alone_is_a_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program() is None
    shell = tmp_path / "chromium-headless-shell"
    shell.touch(mode=0o755)
    assert find_program() == str(shell)


def test_page_is_taken_in_every_window_and_color(chromium: Browser, tmp_path: Path) -> None:
    page = open_context(chromium).new_page()
    page.set_content(PAGE)
    camera = Camera(tmp_path)
    camera.take(page, "participant", "here", "Here", "es")
    (shot,) = camera.shots
    sizes, corners = {}, {}
    for look, file in shot.files.items():
        picture = Image.open(tmp_path / file).convert("L")
        sizes[look], corners[look] = picture.size, picture.getpixel((389, 800))
        assert (tmp_path / file).stat().st_size < 5_000
    # Cut below, as wide as the window.
    assert sizes["phone", "light"] == sizes["phone", "dark"] == (390, 1600)
    assert sizes["desktop", "light"] == sizes["desktop", "dark"] == (1280, 1400)
    assert corners["phone", "light"] == corners["desktop", "light"] == 255
    assert corners["phone", "dark"] < 60
    index = write_index(camera.shots)
    assert "## Participants" in index
    assert "| Here, Spanish |" in index
    assert index.count(f'src="{FOLDER}/') == 4
    assert all(f'src="{FOLDER}/{file}"' in index for file in shot.files.values())
