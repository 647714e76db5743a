"""Judgments of a few items, expected values by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evaluation.analyses.direction_gaps import DirectionOptions
from evaluation.analyses.judgment_analysis import (
    ASPECTS,
    JudgmentResult,
    analyze_judgments,
)
from evaluation.analyses.plain_record import from_plain, to_plain

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
    return analyze_judgments(frame(), toxic={"p1": True, "p2": False})


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
    # p1 and p2 have both: AAL 2.5, 1; WME 4, 3: means 1.75 and 3.5; p3 was judged in WME alone.
    # Differences −1.5 and −2: mean −1.75; of four pairs of signs two give a mean as far from 0.
    gap = find(result.gaps, producer="model", metric="human_likeness", split="all")
    assert (gap.estimate.value, gap.estimate.n, gap.n_left_out) == (1.75 - 3.5, 2, 1)
    assert (gap.test.p_value, gap.test.reason) == (0.5, "")
    assert np.isnan(gap.estimate.low)


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


def plain_alpha(ratings, distance):
    """Alpha by its definition: 1 − D_o / D_e over the ordered pairs of pairable ratings, those of
    an item with m ratings weighing 1/(m − 1) each (Krippendorff 2019, ch. 12)."""
    items = [values for values in ratings if len(values) > 1]
    everything = [value for values in items for value in values]
    observed = sum(
        distance(a, b) / (len(values) - 1)
        for values in items
        for i, a in enumerate(values)
        for j, b in enumerate(values)
        if i != j
    ) / len(everything)
    n = len(everything)
    expected = sum(distance(a, b) for a in everything for b in everything) / (n * (n - 1))
    return 1 - observed / expected


# Item → {judge: rating}; the items 1 to 4 are from tweets, 5 and 6 from songs.
RATED = {
    1: {1: 1, 2: 2, 3: 1},
    2: {1: 5, 2: 4},
    3: {2: 3, 3: 3},
    4: {1: 2, 3: 4},
    5: {1: 3, 2: 5, 3: 4},
    6: {1: 1, 2: 1},
}


@pytest.fixture(scope="module")
def three_judges():
    rows = [
        (item, f"p{item}", "tweets" if item < 5 else "songs", "AAL", "model", judge, *[rating] * 4)
        for item, ratings in RATED.items()
        for judge, rating in ratings.items()
    ]
    columns = ["item", "pair", "source", "variety", "producer", "annotator", *ASPECTS]
    return analyze_judgments(
        pd.DataFrame(rows, columns=columns),
        options=DirectionOptions(n_resamples=20),
        measurement="interval",
    )


DISTANCES = {
    "nominal": lambda a, b: float(a != b),
    "interval": lambda a, b: (a - b) ** 2,
    "ratio": lambda a, b: ((a - b) / (a + b)) ** 2,
}


@pytest.mark.parametrize("level", DISTANCES)
def test_alpha_is_stated_at_every_level_of_measurement(three_judges, level):
    found = [
        row.alpha
        for row in three_judges.agreement_levels
        if (row.aspect, row.alpha.measurement) == ("tone_preservation", level)
    ]
    ratings = [list(values.values()) for values in RATED.values()]
    assert [alpha.value for alpha in found] == [
        pytest.approx(plain_alpha(ratings, DISTANCES[level]))
    ]
    assert found[0].n_units == 6


def test_the_chosen_level_holds_for_all_judges_pairs_and_sources(three_judges):
    overall = find(three_judges.agreement, aspect="human_likeness").alpha
    ratings = [list(values.values()) for values in RATED.values()]
    assert overall.value == pytest.approx(plain_alpha(ratings, DISTANCES["interval"]))
    pair = find(three_judges.agreement_pairs, first="1", second="3", aspect="human_likeness").alpha
    theirs = [[values[1], values[3]] for values in RATED.values() if {1, 3} <= set(values)]
    assert pair.value == pytest.approx(plain_alpha(theirs, DISTANCES["interval"]))
    assert (pair.n_units, pair.n_values, pair.measurement) == (3, 6, "interval")
    tweets = find(three_judges.agreement_sources, source="tweets", aspect="human_likeness").alpha
    assert tweets.value == pytest.approx(plain_alpha(ratings[:4], DISTANCES["interval"]))
    assert {row.source for row in three_judges.agreement_sources} == {"songs", "tweets"}


def test_judges_without_a_counterpart_in_common_are_no_pair(result):
    assert {(row.first, row.second) for row in result.agreement_pairs} == {("1", "2")}
    apart = frame()[lambda rows: ~rows["item"].isin([5, 8])]
    assert analyze_judgments(apart).agreement_pairs == ()


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
        analyze_judgments(change(frame()), options=DirectionOptions(n_resamples=0))
