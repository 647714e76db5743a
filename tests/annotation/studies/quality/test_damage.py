"""Signs of damage in ratings: planted ones are found, and nothing else is."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable

import pytest

from annotation.studies.quality.damage import (
    DamageKind,
    PlacedRating,
    describe_damage,
    find_damage,
    read_damage,
    repeats,
)

SCALES = [f"scale{number}" for number in range(8)]
PEOPLE = [f"person{number}" for number in range(24)]


def cube(seed: int = 1) -> dict[tuple[str, str, str], float]:
    """Ratings heaped at 0, 50 and 100, as people give them."""
    rng = random.Random(seed)
    places = [0, 50, 100, *range(0, 101, 10), *range(3, 100, 8)]
    return {
        (person, group, scale): float(rng.choice(places))
        for person in PEOPLE
        for group in ("women", "men")
        for scale in SCALES
    }


def find(values: dict[tuple[str, str, str], float]) -> list[tuple[str, tuple[str, ...], int]]:
    damage = find_damage(PlacedRating(*key, value) for key, value in values.items())
    return [(found.kind.value, found.groups, found.n_people) for found in damage]


def copy(values: dict, pairs: Iterable[tuple[tuple, tuple]]) -> dict:
    return {**values, **{to: values[origin] for origin, to in pairs}}


def test_sound_ratings_have_no_sign() -> None:
    for seed in range(20):
        assert find(cube(seed)) == []


def test_identical_columns_are_named_once_for_all_of_them() -> None:
    values = cube()
    for scale in SCALES[1:3]:
        pairs = [((p, "women", SCALES[0]), (p, "women", scale)) for p in PEOPLE]
        values = copy(values, pairs)
    assert find(values) == [("identical_columns", ("women",), 24)]
    (damage,) = find_damage(PlacedRating(*key, value) for key, value in values.items())
    assert damage.scales == ("scale0", "scale1", "scale2")
    assert describe_damage(damage, {"women": "Women"}) == (
        "Women: “scale0”, “scale1” and “scale2” hold identical ratings from all 24 people. Compare "
        "the source."
    )
    # What is stored names nobody, and reads the same.
    assert "person0" not in json.dumps(damage.record)
    assert describe_damage(read_damage(damage.record), {}) == describe_damage(damage, {})


def test_a_constant_column_is_found() -> None:
    values = {**cube(), **{(p, "men", "scale3"): 50.0 for p in PEOPLE}}
    assert find(values) == [("constant_column", ("men",), 24)]


def test_people_with_identical_rows_are_found() -> None:
    pairs = [(("person2", "men", scale), ("person9", "men", scale)) for scale in SCALES]
    assert find(copy(cube(), pairs)) == [("identical_rows", ("men",), 2)]


def test_a_row_that_one_person_gave_two_groups_is_found() -> None:
    pairs = [(("person2", "men", scale), ("person2", "women", scale)) for scale in SCALES]
    assert find(copy(cube(), pairs)) == [("duplicated_rows", ("women", "men"), 1)]


def test_values_that_come_again_down_a_column_are_found() -> None:
    pairs = [
        ((PEOPLE[place], "men", "scale4"), (PEOPLE[place + 12], "men", "scale4"))
        for place in range(12)
    ]
    assert find(copy(cube(), pairs)) == [("repeated_values", ("men",), 24)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2, 3, 4] * 4, True),
        ([0, 100] * 8, True),
        ([50] * 16, False),  # a straight line: one value, no sequence
        ([0, 0, 0, 50, 50, 50, 100, 100, 100, 0, 0, 0], False),
        (list(range(0, 96, 6)), False),
        ([1, 2, 3], False),
        ([], False),
    ],
)
def test_what_counts_as_a_sequence_that_comes_again(values: list[float], expected: bool) -> None:
    assert repeats(values, n_sequences=900) is expected


def test_few_ratings_are_alike_by_chance_and_have_no_sign() -> None:
    same = {(p, "men", scale): 50.0 for p in PEOPLE[:3] for scale in SCALES[:3]}
    assert find(same) == []
    assert {kind.value for kind in DamageKind} >= {kind for kind, *_ in find(cube())}
