"""What looks otherwise in Firefox than in Chromium; `make browsers` goes whole journeys."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageChops

from annotation.models import TraitPair
from tests.annotation.survey.conftest import StudyMaker
from tests.annotation.survey.guises import make_guise_study, make_pairs
from tests.browser.firefox_gestures import POINTER, TOUCH, FirefoxHand
from tests.browser.gestures import make_gesture
from tests.browser.test_gestures import EACH, table
from tools.browsers.__main__ import _go_all
from tools.browsers.firefox import FIREFOX
from tools.browsers.walker import HANDLE_RADIUS, Walker
from tools.browsers.windows import Engine, Hand

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MIDDLE = 50
# The ring stands 1.5 px outside of the handle where an engine lets it; one more is paper.
REACH = HANDLE_RADIUS + 3
VISIBLE = 60


def skip_without_firefox() -> None:
    if FIREFOX.missing:
        message = f"{FIREFOX.missing} is not installed: the test in Firefox is SKIPPED"
        warnings.warn(message, stacklevel=1)
        pytest.skip(message)


def test_the_ring_of_a_handle_is_whole_in_firefox(site: str, tmp_path: Path) -> None:
    skip_without_firefox()
    study = make_guise_study(make_pairs(2), flow=["rating"], reservation_minutes=600)
    with FIREFOX.open_window() as window:
        walker = Walker(window, "mouse", tmp_path)
        walker.go(site + study.get_absolute_url(), "landing")
        walker.leave("form .button-main")
        line = walker.read()["lines"][0]
        walker.put(line, MIDDLE)
        walker.press("h1")  # so that no line has the focus, which has a ring of its own
        x, y, width, height = walker.place(f"[data-line='{line['key']}'] .line-input")
        picture = tmp_path / "line.png"
        kept = sorted(tmp_path.glob("*.png"))
        window.save_picture(picture)
        y += window.run("scrollY")
    center = x + width / 2, y + height / 2
    left, top = round(center[0] - REACH), round(center[1] - REACH)
    handle = Image.open(picture).convert("L").crop((left, top, left + 2 * REACH, top + 2 * REACH))
    # The line runs through the middle; above and below it, the handle is its own mirror image.
    upper = handle.crop((0, 0, 2 * REACH, REACH - 3))
    lower = handle.crop((0, REACH + 3, 2 * REACH, 2 * REACH)).transpose(
        Image.Transpose.FLIP_TOP_BOTTOM
    )
    difference = ImageChops.difference(upper, lower)
    assert difference.getextrema()[1] < VISIBLE
    assert upper.getextrema()[0] < 100, "there is a handle"
    # A picture of every page that the walker came to.
    assert [file.name for file in kept] == ["01-landing.png"]
    assert Image.open(kept[0]).size[0] > width


@pytest.mark.parametrize("hand", ["touch", "mouse"])
def test_only_meant_gestures_answer_in_firefox(
    site: str, make_study: StudyMaker, tmp_path: Path, hand: Hand
) -> None:
    skip_without_firefox()
    study = make_study(
        flow=["rating"], trait_pairs=TraitPair.objects.all(), reservation_minutes=600
    )
    size = (390, 844) if hand == "touch" else (1280, 900)
    made = []
    with FIREFOX.open_window(size=size, hand=hand) as window:
        walker = Walker(window, "mouse", tmp_path)
        walker.go(site + study.get_absolute_url(), "landing")
        walker.leave("form .button-main")
        making = FirefoxHand(window, size, np.random.default_rng(29))
        for _ in range(EACH):
            for kind, gesture in (TOUCH if hand == "touch" else POINTER).items():
                made.append(make_gesture(making, kind, gesture))
        complaints = window.complaints
    print(table(made))
    wrong = [str(one) for one in made if not one.is_right]
    assert wrong == []
    assert complaints == []


def test_an_engine_that_is_not_installed_is_skipped_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(**_options: object) -> None:
        raise AssertionError("nothing can be opened")

    absent = Engine("WebKit", "webkit2gtk-driver", refuse)
    monkeypatch.setattr("tools.browsers.webkit.WEBKIT", absent)
    chosen = argparse.Namespace(engines=["webkit"], journeys="writing, mouse", pictures=tmp_path)
    table, is_good = _go_all("http://nowhere.example", chosen)
    assert is_good
    assert "| writing, mouse | – |" in table
    assert "- WebKit: skipped, because webkit2gtk-driver is not installed" in table
    assert "!! SKIPPED: WebKit: webkit2gtk-driver is not installed." in capsys.readouterr().err
