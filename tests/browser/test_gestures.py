"""Only a press that was meant answers a line: seeded gestures by finger, mouse and pen.

`make gestures` makes 2,000 of them and writes the table of docs/gestures.md.
"""

from __future__ import annotations

import os
from collections import Counter

import numpy as np
import pytest
from playwright.sync_api import Browser

from annotation.models import TraitPair
from tests.annotation.survey.conftest import StudyMaker
from tests.browser.gestures import POINTER, TOUCH, Gesture, Hand, Outcome, make_gesture
from tests.browser.survey_visitor import Hand as Pointer
from tests.browser.survey_visitor import Visitor, open_context
from tools.faults.report import put_into
from tools.load.server import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SEED = 29
PAGE = ROOT / "docs" / "gestures.md"
DEEP = bool(os.environ.get("STEREOSCOPE_TESTS_DEEP"))
EACH = 80 if DEEP else 4
# Of the meant ones; a hundredth of few gestures is none.
LOST_AT_MOST = 0.01


def make_all(
    chromium: Browser, link: str, kinds: dict[str, Gesture], pointer: Pointer
) -> list[Outcome]:
    visitor = Visitor(open_context(chromium, pointer).new_page(), pointer)
    visitor.start(link)
    hand = Hand(visitor.page, np.random.default_rng(SEED))
    made = []
    for _ in range(EACH):
        for kind, gesture in kinds.items():
            if hand.rng.random() < 0.2:  # otherwise every line would soon have an answer
                visitor.page.locator(".line-input").nth(hand.rng.integers(16)).press("Delete")
            made.append(make_gesture(hand, kind, gesture))
    assert visitor.complaints == []
    return made


def table(made: list[Outcome]) -> str:
    lines = ["| gesture | made | meant | wrong |", "| --- | ---: | --- | ---: |"]
    for kind, n in Counter(one.kind for one in made).items():
        of_kind = [one for one in made if one.kind == kind]
        meant = "no" if of_kind[0].meant is None else "yes"
        lines.append(f"| {kind} | {n} | {meant} | {sum(not one.is_right for one in of_kind)} |")
    return "\n".join(lines) + "\n"


def test_only_meant_gestures_answer_and_where_they_were_meant(
    chromium: Browser, site: str, make_study: StudyMaker
) -> None:
    study = make_study(
        flow=["rating"], trait_pairs=TraitPair.objects.all(), reservation_minutes=600
    )
    link = site + study.get_absolute_url()
    made = make_all(chromium, link, TOUCH, "touch") + make_all(chromium, link, POINTER, "mouse")
    wrong = [one for one in made if not one.is_right]
    print(table(made), *wrong, sep="\n")
    assert [str(one) for one in wrong if one.meant is None] == []
    meant = [one for one in made if one.meant is not None]
    lost = [str(one) for one in wrong if one.meant is not None]
    assert len(lost) <= LOST_AT_MOST * len(meant), lost
    if DEEP:
        put_into(PAGE, table(made))
