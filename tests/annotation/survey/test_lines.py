"""Order and sides of the lines over many seeds, within five standard deviations of fair draws."""

from __future__ import annotations

from collections import Counter
from math import sqrt

import pytest

from annotation.models import Instrument, PoleSides, ScaleOrder, TraitScale
from annotation.survey.visits.rating_lines import lay_out_lines

N = 2000
SCALES = [
    TraitScale(pk=number, slug=f"low{number}-high{number}", low=f"low{number}",
               high=f"high{number}", position=number)
    for number in range(1, 9)
]  # fmt: skip


def lay_out(seed: int, **options: str):
    return lay_out_lines(SCALES, instrument=Instrument(**options), seed=seed)


def within_chance(count: int, share: float) -> bool:
    return abs(count - N * share) < 5 * sqrt(N * share * (1 - share))


def test_every_scale_comes_at_every_place_equally_often() -> None:
    places = Counter((line.key, line.position) for seed in range(N) for line in lay_out(seed))
    assert len(places) == len(SCALES) ** 2
    assert all(within_chance(count, 1 / len(SCALES)) for count in places.values())


def test_sides_are_turned_for_one_half_of_the_submissions_and_all_lines_of_each() -> None:
    together = {"pole_sides": PoleSides.COUNTERBALANCED}
    turned = [{line.flipped for line in lay_out(seed, **together)} for seed in range(N)]
    assert all(len(sides) == 1 for sides in turned)
    assert within_chance(turned.count({True}), 1 / 2)


def test_sides_do_not_follow_the_order() -> None:
    both = Counter(
        (lay_out(seed)[0].key == SCALES[0].slug, lay_out(seed)[0].flipped) for seed in range(N)
    )
    assert within_chance(both[True, True], 1 / (2 * len(SCALES)))


def test_new_instruments_turn_each_scale_by_itself() -> None:
    """Half of the submissions see a scale turned, and pairs of scales a quarter of them both."""
    assert Instrument().pole_sides == PoleSides.PER_SCALE
    first, second = SCALES[0].slug, SCALES[1].slug
    seen: Counter[tuple[bool, bool]] = Counter()
    for seed in range(N):
        sides = {line.key: line.flipped for line in lay_out(seed)}
        seen[sides[first], sides[second]] += 1
    for both in ((False, False), (False, True), (True, False), (True, True)):
        assert within_chance(seen[both], 1 / 4)


def test_same_seed_gives_the_same_page() -> None:
    assert lay_out(7) == lay_out(7)
    assert lay_out_lines(reversed(SCALES), instrument=Instrument(), seed=7) == lay_out(7)


def test_fixed_options_keep_the_instruments_order_and_sides() -> None:
    for seed in range(50):
        lines = lay_out(seed, scale_order=ScaleOrder.FIXED, pole_sides=PoleSides.FIXED)
        assert [line.key for line in lines] == [scale.slug for scale in SCALES]
        assert not any(line.flipped for line in lines)


@pytest.mark.parametrize(("flipped", "shown", "stored"), [(False, 71, 71), (True, 71, 29)])
def test_place_on_the_line_becomes_the_scales_own_value(flipped, shown, stored) -> None:
    lines = (lay_out(seed) for seed in range(50))
    line = next(line for page in lines for line in page if line.flipped is flipped)
    assert line.to_scale(shown) == stored
    assert (line.left, line.right) == (
        (line.scale.high, line.scale.low) if flipped else (line.scale.low, line.scale.high)
    )
