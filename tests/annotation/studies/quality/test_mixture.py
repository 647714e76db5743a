"""Careful and careless people in one study: how many of each are flagged.

The people are simulated from a stated model, so that who was careless is known.
"""

from __future__ import annotations

import random
from datetime import timedelta

from annotation.common.quality_thresholds import Thresholds
from annotation.studies.quality.assessment import assess_record
from annotation.studies.quality.record import LineAnswer, PageRecord, Record, Usual
from annotation.studies.quality.response_indices import find_page_medians
from tests.annotation.studies.quality.records import START

CAREFUL, CARELESS = 200, 40
PAGES, LINES = 5, 16


def clip(value: float) -> float:
    return float(min(100, max(0, round(value))))


def make_record(times: list[float], places: list[list[float]]) -> Record:
    return Record(
        started_at=START,
        finished_at=START + timedelta(seconds=sum(times)),
        pages=tuple(
            PageRecord((1, step), time, time - 0.3, time - 0.3, is_rating=True)
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
