"""People's ratings of guises: means and differences by hand, intervals on simulated studies."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaluation.analyses.guise_people import GuisePeopleOptions, analyze_guise_people
from evaluation.analyses.guise_ratings import (
    GuiseRatings,
    build_guise_ratings,
    draw_guises,
    item_differences,
    item_raters,
    person_values,
    weigh,
)
from evaluation.analyses.rating_cube import RatingCube
from evaluation.analyses.three_pictures import (
    PictureOptions,
    rated_groups_picture,
    rated_speakers_picture,
)
from evaluation.metrics import UndefinedReason, bias_corrected_interval

GUISES, SCALES = ("AAL", "WME"), ("cold-warm", "poor-wealthy")

# Four people; item q has both guises on the first scale only, r has one.
ROWS = [
    ("ann", "p-aal", "p", "AAL", "cold-warm", 60.0),
    ("ben", "p-aal", "p", "AAL", "cold-warm", 80.0),
    ("cem", "p-wme", "p", "WME", "cold-warm", 40.0),
    ("ann", "q-wme", "q", "WME", "cold-warm", 50.0),
    ("cem", "q-aal", "q", "AAL", "cold-warm", 45.0),
    ("ann", "p-aal", "p", "AAL", "poor-wealthy", 10.0),
    ("cem", "p-wme", "p", "WME", "poor-wealthy", 30.0),
    ("dia", "r-aal", "r", "AAL", "cold-warm", 99.0),
]


def rated():  # type: ignore[no-untyped-def]
    return build_guise_ratings(ROWS, guises=GUISES, scales=SCALES)


def test_differences_by_hand() -> None:
    """Warm: p is 70 and 40, q is 45 and 50, r is left out: means 57.5 and 45."""
    found = draw_guises(rated(), n_resamples=0, seed=1)
    assert found.difference.tolist() == [12.5, -20.0]
    assert found.means.tolist() == [[57.5, 10.0], [45.0, 30.0]]
    assert (found.n_items.tolist(), found.n_people.tolist()) == ([2, 1], [3, 2])
    items = item_differences(rated())
    assert items[:, 0].tolist()[:2] == [30.0, -5.0]
    assert np.isnan(items[2]).all()
    assert items[0, 1] == -20
    assert item_raters(rated())[:, 0].tolist()[:2] == [3, 2]


def test_the_cube_holds_every_rating_once() -> None:
    one = rated()
    cube = one.cube
    assert cube.shape == (4, 3, 2, 2)
    assert np.count_nonzero(~np.isnan(cube)) == len(ROWS)
    assert cube[one.people.index("ben"), one.items.index("p"), 0, 0] == 80


def test_weights_of_people_and_items() -> None:
    """Without Ben, p in AAL is 60; item q counted twice: (20 - 5 - 5) / 3."""
    one = rated()
    people = np.array([[float(name != "ben") for name in one.people]])
    items = np.array([[{"p": 1.0, "q": 2.0, "r": 1.0}[name] for name in one.items]])
    assert weigh(one, people, items)[1][0, 0] == pytest.approx(10 / 3)
    assert np.isnan(weigh(one, 0 * people, items)[1]).all()


def test_exchanged_guises_change_the_sign() -> None:
    found = draw_guises(rated(), n_resamples=50, seed=1)
    other = build_guise_ratings(ROWS, guises=GUISES[::-1], scales=SCALES)
    turned = draw_guises(other, n_resamples=50, seed=1)
    np.testing.assert_allclose(turned.difference_draws, -found.difference_draws)


def test_person_values_average_to_the_difference() -> None:
    one, _ = simulate(np.random.default_rng(3), people=30)
    found = person_values(one)
    np.testing.assert_allclose(
        np.nanmean(found, axis=0), draw_guises(one, n_resamples=0, seed=1).difference
    )


@pytest.mark.parametrize("guises", [("AAL",), ("AAL", "AAL"), ("AAL", "WME", "SSE")])
def test_two_varieties_are_needed(guises) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="expected two different"):
        build_guise_ratings(ROWS, guises=guises, scales=SCALES)


def test_who_met_both_guises_is_refused() -> None:
    both = [*ROWS, ("ann", "p-wme", "p", "WME", "cold-warm", 20.0)]
    with pytest.raises(ValueError, match="ann rated two guises of p"):
        build_guise_ratings(both, guises=GUISES, scales=SCALES)


def simulate(rng, *, people: int = 40, items: int = 12, shift: float = 8.0):  # type: ignore[no-untyped-def]
    """Each person rates three texts of either guise; people, items and their guises differ."""
    truth = shift + rng.normal(0, 6, items)
    level, of_item = rng.normal(0, 10, people), rng.normal(0, 8, items)
    rows = []
    for person in range(people):
        for place, item in enumerate(rng.choice(items, 6, replace=False)):
            guise = GUISES[place % 2]
            value = 50 + level[person] + of_item[item] + rng.normal(0, 12)
            value += truth[item] / 2 if guise == "AAL" else -truth[item] / 2
            name = f"i{item:02}"
            rows.append((f"s{person:03}", f"{name}-{guise}", name, guise, "cold-warm", value))
    return build_guise_ratings(rows, guises=GUISES, scales=("cold-warm",)), shift


def test_intervals_cover_the_difference_that_was_planted() -> None:
    """95 % intervals of 120 studies: between 93 % (a chance of 0.2 % below) and all of them."""
    rng, covered = np.random.default_rng(11), 0
    for _ in range(120):
        one, shift = simulate(rng)
        found = draw_guises(one, n_resamples=200, seed=1)
        interval = bias_corrected_interval(found.difference[0], found.difference_draws[:, 0])
        covered += interval.low <= shift <= interval.high
    assert covered >= 0.93 * 120


def test_person_values_say_how_far_other_people_move_the_difference() -> None:
    """Same texts, other people, 150 times: the mean standard error is the spread that is seen."""
    seen, told = [], []
    for number in range(150):
        texts = np.random.default_rng(5)
        truth, of_item = 8 + texts.normal(0, 6, 12), texts.normal(0, 8, 12)
        rng = np.random.default_rng([9, number])
        rows = []
        for person in range(60):
            level = rng.normal(0, 10)
            for place, item in enumerate(rng.choice(12, 6, replace=False)):
                value = 50 + level + of_item[item] + rng.normal(0, 12)
                value += truth[item] * (0.5 - place % 2)
                names = (f"s{person}", f"{item}-{place % 2}", f"i{item:02}", GUISES[place % 2])
                rows.append((*names, "cold-warm", value))
        one = build_guise_ratings(rows, guises=GUISES, scales=("cold-warm",))
        values = person_values(one)[:, 0]
        seen.append(draw_guises(one, n_resamples=0, seed=1).difference[0])
        told.append(np.std(values, ddof=1) / np.sqrt(values.size))
    assert np.mean(told) == pytest.approx(np.std(seen, ddof=1), rel=0.2)


def few_people(people: int, items: int) -> GuiseRatings:
    """Each person rates one guise of every item, in turn, on one scale."""
    rows = [
        (f"s{person}", f"i{item}-{guise}", f"i{item}", guise, "cold-warm", 20.0 + 10 * person)
        for person in range(people)
        for item in range(items)
        for guise in [GUISES[(person + item) % 2]]
    ]
    return build_guise_ratings(rows, guises=GUISES, scales=("cold-warm",))


@pytest.mark.parametrize(
    ("people", "items", "reason"),
    [(2, 1, UndefinedReason.ONE_TEXT), (6, 1, UndefinedReason.ONE_TEXT),
     (2, 3, UndefinedReason.FEW_RATERS), (3, 2, "")],
)  # fmt: skip
def test_one_pair_or_two_people_give_no_interval_and_no_p(
    people: int, items: int, reason: str
) -> None:
    """Two people and one text: a difference of −10 that every resample with both repeats.

    An interval over people and texts needs more than one text, and two people are drawn alike in
    every resample that has a difference.
    """
    one = few_people(people, items)
    [line] = analyze_guise_people(one, [], {}, GuisePeopleOptions(n_resamples=200)).scales
    assert line.difference.interval_reason == reason
    assert math.isnan(line.difference.low) == math.isnan(line.p_value) == bool(reason)
    assert math.isnan(line.p_holm) == bool(reason)
    if (people, items) == (2, 1):  # 20 by the first in AAL, 30 by the second in WME
        assert (line.difference.value, line.difference.n, line.n_people) == (-10.0, 1, 2)
    [estimate] = rated_speakers_picture(one, PictureOptions(n_resamples=200)).estimates(0.95)
    assert (estimate.interval_reason, estimate.n) == (reason, people)
    assert math.isnan(estimate.low) == bool(reason)


def test_two_people_give_no_interval_of_two_groups() -> None:
    """Each rated one of two groups: whenever both are drawn the difference is the same."""
    for people, reason in ((2, UndefinedReason.FEW_RATERS), (3, "")):
        values = np.full((people, 2, 1), np.nan)
        values[np.arange(people), np.arange(people) % 2, 0] = 10.0 * np.arange(people)
        cube = RatingCube(tuple("abc"[:people]), ("one", "other"), ("cold-warm",), values)
        [found] = rated_groups_picture(cube, PictureOptions(n_resamples=200)).estimates(0.95)
        assert found.value == {2: -10.0, 3: 0.0}[people]  # 0 − 10; (0 + 20) / 2 − 10
        assert found.interval_reason == reason
        assert math.isnan(found.low) == bool(reason)
