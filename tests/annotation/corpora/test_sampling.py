"""The draw of texts: repeatable, without replacement, by weight."""

from __future__ import annotations

from collections import Counter

import pytest

from annotation.counterparts.creation import (
    DENSITY_FLOOR,
    SampleItem,
    SamplingError,
    sample_texts,
)

ITEMS = [
    SampleItem(f"t{number:02}", "CORAAL" if number < 30 else "lyrics", number / 100)
    for number in range(50)
]


def keys(items) -> list[str]:
    return [item.key for item in items]


def test_the_same_seed_gives_the_same_draw_whatever_the_order():
    drawn = sample_texts(ITEMS, n=20, seed=4)
    assert len(set(keys(drawn))) == 20
    assert drawn == sample_texts(ITEMS, n=20, seed=4)
    assert set(drawn) == set(sample_texts(ITEMS[::-1], n=20, seed=4))
    assert drawn != sample_texts(ITEMS, n=20, seed=5)
    assert keys(drawn) == sorted(keys(drawn))


def test_everything_can_be_drawn():
    assert sample_texts(ITEMS, n=50, seed=1) == tuple(ITEMS)


def test_each_source_gives_its_share_and_sources_do_not_disturb_each_other():
    drawn = sample_texts(ITEMS, per_source=8, seed=2)
    assert Counter(item.source for item in drawn) == {"CORAAL": 8, "lyrics": 8}
    alone = sample_texts([item for item in ITEMS if item.source == "lyrics"], per_source=8, seed=2)
    assert set(alone) < set(drawn)


def test_the_first_draw_is_in_proportion_to_density_and_floor():
    # Weights 0.01 and 0.04: theory gives 1/5 and 4/5. Over 2,000 seeds the standard error is
    # sqrt(0.2 * 0.8 / 2000) = 0.009; four of them are allowed.
    assert DENSITY_FLOOR == 0.01
    pair = [SampleItem("plain", "", 0.0), SampleItem("dense", "", 0.03)]
    plain = sum(keys(sample_texts(pair, n=1, seed=seed)) == ["plain"] for seed in range(2000))
    assert plain / 2000 == pytest.approx(0.2, abs=0.036)


def test_two_of_three_follow_successive_sampling():
    # Weights 0.01, 0.01, 0.02 (shares 1/4, 1/4, 1/2). The third is left out when the first two are
    # drawn: 2 · 1/4 · (1/4)/(3/4) = 1/6. Standard error over 2,000 seeds 0.0083.
    three = [SampleItem("a"), SampleItem("b"), SampleItem("c", "", 0.01)]
    without = sum(keys(sample_texts(three, n=2, seed=seed)) == ["a", "b"] for seed in range(2000))
    assert without / 2000 == pytest.approx(1 / 6, abs=0.034)


def test_unweighted_draws_are_all_alike():
    # The same pair as above without weights: 1/2, standard error 0.011.
    pair = [SampleItem("plain", "", 0.0), SampleItem("dense", "", 0.03)]
    drawn = [keys(sample_texts(pair, n=1, seed=seed, weighted=False)) for seed in range(2000)]
    assert drawn.count(["plain"]) / 2000 == pytest.approx(0.5, abs=0.045)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 51}, "51 texts are asked for, but there are 50"),
        ({"per_source": 21}, "21 texts from “lyrics” are asked for, but there are 20"),
        ({"n": 0}, "expected at least 1"),
        ({}, "either n or per_source"),
        ({"n": 1, "per_source": 1}, "either n or per_source"),
    ],
)
def test_what_cannot_be_drawn_is_said(options, message):
    with pytest.raises(SamplingError, match=message):
        sample_texts(ITEMS, seed=1, **options)


def test_densities_and_keys_are_checked():
    with pytest.raises(SamplingError, match="not a number from 0"):
        sample_texts([SampleItem("a", "", float("nan"))], n=1, seed=1)
    with pytest.raises(SamplingError, match="twice"):
        sample_texts([SampleItem("a"), SampleItem("a")], n=1, seed=1)
