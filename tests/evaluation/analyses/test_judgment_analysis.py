"""Judgments of a few items, expected values by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evaluation.analyses import from_plain, to_plain
from evaluation.analyses.direction_gaps import DirectionOptions
from evaluation.analyses.judgment_analysis import (
    ASPECTS,
    JudgmentResult,
    analyse_judgments,
)

# Item, pair, variety, producer, {judge: rating}
ITEMS = [
    (1, "p1", "AAL", "human", {1: 4}),
    (2, "p1", "WME", "human", {1: 5}),
    (3, "p2", "AAL", "human", {2: 3}),
    (4, "p2", "WME", "human", {2: 5}),
    (5, "p1", "AAL", "model", {1: 2, 2: 3}),
    (6, "p1", "WME", "model", {1: 4}),
    (7, "p2", "AAL", "model", {1: 1}),
    (8, "p2", "WME", "model", {1: 3, 2: 3}),
    (9, "p3", "WME", "model", {2: 5}),
]
SOURCES = {"p1": "tweets", "p2": "songs", "p3": "songs"}


def frame():
    rows = [
        (item, pair, SOURCES[pair], variety, producer, judge, rating, rating, 6 - rating, 3)
        for item, pair, variety, producer, ratings in ITEMS
        for judge, rating in ratings.items()
    ]
    columns = ["item", "pair", "source", "variety", "producer", "annotator", *ASPECTS]
    return pd.DataFrame(rows, columns=columns)


@pytest.fixture(scope="module")
def result():
    return analyse_judgments(frame(), toxic={"p1": True, "p2": False})


def find(records, **wanted):
    found = [r for r in records if all(getattr(r, name) == v for name, v in wanted.items())]
    assert len(found) == 1, wanted
    return found[0]


def test_an_item_counts_once_however_many_judged_it(result):
    # Model in AAL: p1 (2 + 3)/2 = 2.5, p2 1; mean 1.75, not (2 + 3 + 1)/3.
    cell = find(result.cells, producer="model", variety="AAL", metric="human_likeness", split="all")
    assert (cell.estimate.value, cell.estimate.n) == (1.75, 2)
    reverse = find(
        result.cells, producer="model", variety="AAL", metric="meaning_preservation", split="all"
    )
    assert reverse.estimate.value == 6 - 1.75


def test_counts_are_stated(result):
    assert (result.n_pairs, result.n_items, result.n_judgments) == (3, 9, 11)
    assert (result.n_judges, result.n_twice) == (2, 2)


def test_gaps_and_tests_by_hand(result):
    # AAL 2.5, 1; WME 4, 3, 5: means 1.75 and 4. Pooled variance (1.125 + 2)/3, df = 3.
    gap = find(result.gaps, producer="model", metric="human_likeness", split="all")
    assert (gap.estimate.value, gap.estimate.n) == (1.75 - 4, 2)
    t = -2.25 / np.sqrt((1.125 + 2) / 3 * (1 / 2 + 1 / 3))
    assert (gap.test.statistic, gap.test.df) == pytest.approx((t, 3))


def test_people_are_the_baseline(result):
    contrast = find(
        result.contrasts, producer="model", variety="AAL", metric="human_likeness", split="all"
    )
    assert (contrast.baseline, contrast.estimate.value) == ("human", 1.75 - 3.5)


def test_toxic_pairs_are_a_split_and_unknown_ones_belong_to_neither(result):
    toxic = find(
        result.cells, producer="model", variety="WME", metric="human_likeness", split="toxic"
    )
    clean = find(
        result.cells, producer="model", variety="WME", metric="human_likeness", split="non-toxic"
    )
    assert (toxic.estimate.value, clean.estimate.value) == (4, 3)
    assert (toxic.estimate.n, clean.estimate.n) == (1, 1)


def test_agreement_is_ordinal_over_items_judged_twice(result):
    # Items 5 (2, 3) and 8 (3, 3): n_2 = 1, n_3 = 3; ordinal distance ((1 + 3)/2)² = 4 between
    # them. D_o = 2·4/4 = 2, D_e = 2·1·3·4/(4·3) = 2: alpha 0.
    alpha = find(result.agreement, aspect="human_likeness").alpha
    assert (alpha.value, alpha.n_units) == (pytest.approx(0), 2)
    # All tone ratings are 3: nothing to agree on.
    assert np.isnan(find(result.agreement, aspect="tone_preservation").alpha.value)


def test_the_result_survives_storage(result):
    assert to_plain(from_plain(JudgmentResult, to_plain(result))) == to_plain(result)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.drop(columns="pair"), "lack the columns pair"),
        (lambda rows: rows.iloc[:0], "no judgments"),
        (lambda rows: rows.assign(tone_preservation=6), "tone_preservation holds ratings off"),
        (lambda rows: pd.concat([rows, rows[:1]]), "judged an item twice"),
        (lambda rows: rows.assign(item=1, annotator=range(len(rows))), "one pair, variety"),
        (
            lambda rows: rows.replace({"item": {9: 8}, "pair": {"p3": "p2"}}).assign(
                item=range(len(rows))
            ),
            "has two items by 'model'",
        ),
    ],
)
def test_bad_input_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        analyse_judgments(change(frame()), options=DirectionOptions(n_resamples=0))
