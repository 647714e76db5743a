"""Careful and careless people in one study: how many of each are flagged.

The people are simulated from a stated model, so that who was careless is known.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from datetime import timedelta

from annotation.common.quality_thresholds import Thresholds
from annotation.studies.quality.assessment import assess_record
from annotation.studies.quality.flags import FlagName
from annotation.studies.quality.record import LineAnswer, PageRecord, Record, Usual
from annotation.studies.quality.response_indices import find_page_medians
from tests.annotation.studies.quality.records import START
from tools.load.server import ROOT

CAREFUL, CARELESS = 200, 40
PAGES, LINES = 5, 16


def clip(value: float) -> float:
    return float(min(100, max(0, round(value))))


def make_record(times: list[float], places: list[list[float]], *, answered: float = 1.0) -> Record:
    return Record(
        started_at=START,
        finished_at=START + timedelta(seconds=sum(times)),
        pages=tuple(
            PageRecord((1, step), time, time - 0.3, time - 0.3, is_rating=True, answered=answered)
            for step, time in enumerate(times)
        ),
        lines=tuple(tuple(LineAnswer(place, 1) for place in page) for page in places),
        same_identities=0,
        other_studies=0,
    )


def careful(rng: random.Random) -> Record:
    """About 60 s a page: people differ by a factor of e^0.25, pages of one person by e^0.3."""
    pace = rng.lognormvariate(0, 0.25)
    times = [60 * pace * rng.lognormvariate(0, 0.3) for _ in range(PAGES)]
    return make_record(
        times, [[clip(rng.gauss(50, 22)) for _ in range(LINES)] for _ in range(PAGES)]
    )


def draw_careful(
    rng: random.Random, answer: Callable[[random.Random], float], *, seconds: float, lines: int
) -> Record:
    pace = rng.lognormvariate(0, 0.25)
    times = [seconds * pace * rng.lognormvariate(0, 0.3) for _ in range(PAGES)]
    places = [[clip(answer(rng)) for _ in range(lines)] for _ in range(PAGES)]
    return make_record(times, places, answered=lines / LINES)


#: Careful people by how they answer: a place on the line, seconds a page, lines answered.
MANNERS: dict[str, tuple[Callable[[random.Random], float], float, int]] = {
    "60 s a page, all over the line": (lambda rng: rng.gauss(50, 22), 60, LINES),
    "practiced: 40 s a page": (lambda rng: rng.gauss(50, 22), 40, LINES),
    "rounds to tens": (lambda rng: 10 * round(rng.gauss(5, 2.2)), 60, LINES),
    "near the middle: nine of ten from 40 to 60": (lambda rng: rng.gauss(50, 6), 60, LINES),
    "strong views: 0, 50, or 100": (lambda rng: rng.choice([0, 0, 50, 100, 100]), 60, LINES),
    "leaves out half of the lines, 40 s a page": (lambda rng: rng.gauss(50, 22), 40, LINES // 2),
    "leaves out half of the lines, 30 s a page": (lambda rng: rng.gauss(50, 22), 30, LINES // 2),
}
ALARMS = (FlagName.SPEEDING, FlagName.HURRIED_PAGE, FlagName.STRAIGHT_LINING)
EACH = 2_000


def test_the_page_says_how_often_careful_people_are_flagged() -> None:
    """Medians are those of the first manner, as in a study that most people answer so."""
    rng = random.Random(29)
    usual = Usual({(1, step): 60.0 for step in range(PAGES)})
    rows = []
    for manner, (answer, seconds, lines) in MANNERS.items():
        found = Counter[FlagName | None]()
        for _ in range(EACH):
            record = draw_careful(rng, answer, seconds=seconds, lines=lines)
            flags = assess_record(record, usual, Thresholds()).flags
            found.update({None} if not flags else {flag.name for flag in flags})
        assert {*found} <= {*ALARMS, None}
        shares = [found[name] / EACH for name in ALARMS] + [1 - found[None] / EACH]
        rows.append(
            f"| {manner} | " + " | ".join(f"{100 * share:.1f} %" for share in shares) + " |"
        )
    table = "\n".join(rows)
    assert table in (ROOT / "docs" / "quality.md").read_text(), table


def careless(rng: random.Random, kind: int) -> Record:
    """Fast with straight lines, fast at random, or straight at the usual speed, in turn."""
    fast, straight = kind != 2, kind != 1
    times = [(12 if fast else 60) * rng.lognormvariate(0, 0.25) for _ in range(PAGES)]
    home = rng.uniform(0, 100)
    return make_record(
        times,
        [
            [
                clip(home + rng.gauss(0, 0.7)) if straight else float(rng.randint(0, 100))
                for _ in range(LINES)
            ]
            for _ in range(PAGES)
        ],
    )


def test_nearly_all_careless_and_nearly_no_careful_people_are_flagged() -> None:
    rng = random.Random(20261121)
    good = [careful(rng) for _ in range(CAREFUL)]
    bad = [careless(rng, number % 3) for number in range(CARELESS)]
    usual = Usual(
        find_page_medians(
            (page.key, page.seconds) for record in good + bad for page in record.pages
        )
    )
    # The careless sixth pulls the medians down, but not far: 60 s is what careful people need.
    assert all(48 < median < 62 for median in usual.page_medians.values())

    def count(records: list[Record]) -> int:
        return sum(assess_record(record, usual, Thresholds()).has_warning for record in records)

    # Fast is 12 s for 16 lines, under 1 s a line on some page in nearly every visit of five, and
    # some five times as fast as usual; straight is a spread of 0.7 points against a limit of 2.
    assert count(bad) >= 0.95 * CARELESS
    # A careful person would have to be twice as fast as usual on average: log 2 = 0.69 is more
    # than two standard deviations (0.25) of a person's pace away.
    assert count(good) <= 0.03 * CAREFUL
