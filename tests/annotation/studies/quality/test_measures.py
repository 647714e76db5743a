"""Measures against derivations by hand."""

from __future__ import annotations

import math
import random
import statistics
import subprocess
import sys

import pytest

from annotation.studies.quality.response_indices import (
    find_page_medians,
    measure_speed,
    measure_straightness,
    normalize_text,
    shown_place,
)
from tests.conftest import ROOT


def test_speed_index_against_a_hand_derivation() -> None:
    # Medians 60, 30, 40; own times 20, 30, 80: factors 3, 1, 0.5; their mean is 1.5.
    speed = measure_speed({"a": 20, "b": 30, "c": 80}, {"a": 60, "b": 30, "c": 40})
    assert (speed.index, speed.n_pages) == (pytest.approx(1.5), 3)


def test_one_page_counts_at_most_three_times_as_fast() -> None:
    # 60 / 1 = 60 is capped at 3, as is a time of nothing; with a page at 1 the mean is 7 / 3.
    speed = measure_speed({"a": 1, "b": 0, "c": 10}, {"a": 60, "b": 60, "c": 10})
    assert speed.index == pytest.approx(7 / 3)


def test_speed_without_a_page_to_compare_is_undefined() -> None:
    speed = measure_speed({"a": 20}, {})
    assert math.isnan(speed.index)
    assert speed.n_pages == 0


def test_a_median_needs_ten_people() -> None:
    times = [("a", float(seconds)) for seconds in range(1, 11)]
    times += [("b", float(seconds)) for seconds in range(1, 10)]
    # 1 … 10: the median lies between 5 and 6.
    assert find_page_medians(times) == {"a": 5.5}


def test_straightness_against_a_hand_derivation() -> None:
    # 70 stands five times of eight, four times in a row.
    found = measure_straightness([70, 50, 70, 70, 70, 70, 60, 80])
    assert found is not None
    assert (found.n_lines, found.same, found.place, found.run) == (8, 5, 70, 4)
    assert found.share == 0.625
    # Mean (5*70 + 50 + 60 + 80) / 8 = 540 / 8 = 67.5: deviations 5 * 2.5² + 17.5² + 7.5² + 12.5²
    # = 31.25 + 306.25 + 56.25 + 156.25 = 550; 550 / 8 = 68.75; the root is 8.291562.
    assert found.spread == pytest.approx(8.291562, abs=1e-6)


def test_the_spread_is_that_of_the_standard_library() -> None:
    rng = random.Random(20220710)
    for _ in range(500):
        whole = [rng.randint(0, 100) for _ in range(rng.randint(4, 20))]
        for places in (whole, [place / 3 for place in whole], [50.0] * len(whole)):
            found = measure_straightness(places)
            assert found is not None
            assert found.spread == pytest.approx(statistics.pstdev(places), rel=1e-14)


def test_three_lines_are_no_straight_line() -> None:
    assert measure_straightness([50, 50, 50]) is None


def test_a_turned_line_is_looked_at_as_it_was_drawn() -> None:
    assert shown_place(80, flipped=True) == 20
    assert shown_place(80, flipped=False) == 80
    assert shown_place(80, flipped=None) == 80


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("  The SAME,\n answer… ", "the same answer", id="case-blanks-punctuation"),
        pytest.param("ﬁne Ⅳ", "fine iv", id="compatibility-forms"),
        pytest.param("¿Qué?", "qué", id="accents-stay"),
        pytest.param("!!!", "", id="nothing-left"),
    ],
)
def test_texts_are_compared_by_their_words(text: str, expected: str) -> None:
    assert normalize_text(text) == expected


def test_measures_need_no_django() -> None:
    code = (
        "import importlib.util, sys;"
        "spec = importlib.util.spec_from_file_location('m', "
        "'annotation/studies/quality/response_indices.py');"
        "module = importlib.util.module_from_spec(spec); sys.modules['m'] = module;"
        "spec.loader.exec_module(module);"
        "assert not [name for name in sys.modules if name.startswith('django')]"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
