"""Signs that a file of ratings was damaged on its way: copied columns and rows. No Django.

Looked for are columns of one group that hold the same ratings, or one value alone; people who
rated a group alike on every scale; people who rated two groups alike; and stretches of values
that come again in the order of the file. In the published file of Cao et al. (2022), three scales
of women hold identical ratings of all 20 annotators. A sign is no proof: it asks for a look at
the source.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

#: With fewer ratings two columns, or two rows, are alike by chance.
FEWEST_ALIKE = 4
#: How many stretches of a file may come again by chance before one is no sign any more.
EXPECTED_BY_CHANCE = 0.01
#: A row of so many rounds of the same values is told, however few values these are.
MANY_ROUNDS = 4
PEOPLE_NAMED = 6


class PlacedRating(NamedTuple):
    """One rating; the order of ratings is that of the file."""

    person: str
    group: str
    scale: str
    value: float


class DamageKind(StrEnum):
    """What looks damaged."""

    IDENTICAL_COLUMNS = "identical_columns"
    CONSTANT_COLUMN = "constant_column"
    IDENTICAL_ROWS = "identical_rows"
    DUPLICATED_ROWS = "duplicated_rows"
    REPEATED_VALUES = "repeated_values"


@dataclass(frozen=True)
class Damage:
    """One sign of damage: where it is, and who gave the ratings that are alike.

    people : as the file names them; a record keeps their number alone
    """

    kind: DamageKind
    groups: tuple[str, ...]
    scales: tuple[str, ...]
    n_people: int
    people: tuple[str, ...] = ()

    @property
    def record(self) -> dict[str, Any]:
        """Plain values for a JSON column, without anybody's name."""
        return {
            "kind": self.kind.value,
            "groups": list(self.groups),
            "scales": list(self.scales),
            "n_people": self.n_people,
        }


def read_damage(record: Mapping[str, Any]) -> Damage:
    """Return the sign that a record keeps."""
    return Damage(
        DamageKind(record["kind"]),
        tuple(record["groups"]),
        tuple(record["scales"]),
        record["n_people"],
    )


def find_damage(ratings: Iterable[PlacedRating]) -> tuple[Damage, ...]:
    """Return every sign of damage, by kind and then in the order of the file.

    ratings : one for each person, group and scale
    """
    columns: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    rows: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for person, group, scale, value in ratings:
        columns[group][scale][person] = value
        rows[person, group][scale] = value
    return (
        *_identical_columns(columns),
        *_constant_columns(columns),
        *_identical_rows(rows),
        *_duplicated_rows(rows),
        *_repeated_values(columns, rows),
    )


def describe_damage(damage: Damage, names: Mapping[str, str], *, people_named: bool = False) -> str:
    """Return a sign in a sentence; ``names`` has those of groups and scales, by slug.

    people_named : says who gave the ratings, as the file calls them
    """
    groups = " and ".join(names.get(slug, slug) for slug in damage.groups)
    scales = [f"“{names.get(slug, slug)}”" for slug in damage.scales]
    people = f"{damage.n_people} people" if damage.n_people > 1 else "1 person"
    if people_named and damage.n_people <= PEOPLE_NAMED and damage.people:
        people = ", ".join(damage.people)
    n = "the scale" if len(scales) == 1 else f"all {len(scales)} scales"
    match damage.kind:
        case DamageKind.IDENTICAL_COLUMNS:
            listed = f"{', '.join(scales[:-1])} and {scales[-1]}"
            what = f"{listed} hold identical ratings from all {damage.n_people} people"
        case DamageKind.CONSTANT_COLUMN:
            what = f"all {damage.n_people} people have the same rating on {scales[0]}"
        case DamageKind.IDENTICAL_ROWS:
            what = f"{people} have identical ratings on {n}"
        case DamageKind.DUPLICATED_ROWS:
            what = f"{people} has the same ratings for these groups on {n}"
        case DamageKind.REPEATED_VALUES if len(scales) == 1:
            what = f"on {scales[0]} a sequence of ratings comes again further down the file"
        case _:
            what = f"the ratings of {people} repeat in sequence"
    return f"{groups}: {what}. Compare the source."


def _sign(
    kind: DamageKind, groups: Iterable[str], scales: Iterable[str], people: Iterable[str]
) -> Damage:
    named = tuple(people)
    return Damage(kind, tuple(groups), tuple(scales), len(named), named)


def _identical_columns(
    columns: Mapping[str, Mapping[str, Mapping[str, float]]],
) -> Iterable[Damage]:
    for group, by_scale in columns.items():
        alike: dict[Hashable, list[str]] = defaultdict(list)
        for scale, column in by_scale.items():
            if len(column) >= FEWEST_ALIKE and len(set(column.values())) > 1:
                alike[frozenset(column.items())].append(scale)
        for scales in alike.values():
            if len(scales) > 1:
                people = by_scale[scales[0]]
                yield _sign(DamageKind.IDENTICAL_COLUMNS, [group], scales, people)


def _constant_columns(columns: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Iterable[Damage]:
    for group, by_scale in columns.items():
        for scale, column in by_scale.items():
            if len(column) >= FEWEST_ALIKE and len(set(column.values())) == 1:
                yield _sign(DamageKind.CONSTANT_COLUMN, [group], [scale], column)


def _identical_rows(rows: Mapping[tuple[str, str], Mapping[str, float]]) -> Iterable[Damage]:
    """Yield people who gave one group the same ratings."""
    alike: dict[Hashable, list[str]] = defaultdict(list)
    for (person, group), row in rows.items():
        if len(row) >= FEWEST_ALIKE:
            alike[group, frozenset(row.items())].append(person)
    for (group, _), people in alike.items():  # type: ignore[misc]
        if len(people) > 1:
            yield _sign(DamageKind.IDENTICAL_ROWS, [group], rows[people[0], group], people)


def _duplicated_rows(rows: Mapping[tuple[str, str], Mapping[str, float]]) -> Iterable[Damage]:
    """Yield groups that one person gave the same ratings."""
    alike: dict[Hashable, list[str]] = defaultdict(list)
    for (person, group), row in rows.items():
        if len(row) >= FEWEST_ALIKE:
            alike[person, frozenset(row.items())].append(group)
    for (person, _), groups in alike.items():  # type: ignore[misc]
        if len(groups) > 1:
            yield _sign(DamageKind.DUPLICATED_ROWS, groups, rows[person, groups[0]], [person])


def _repeated_values(
    columns: Mapping[str, Mapping[str, Mapping[str, float]]],
    rows: Mapping[tuple[str, str], Mapping[str, float]],
) -> Iterable[Damage]:
    n_sequences = len(rows) + sum(len(by_scale) for by_scale in columns.values())
    for group, by_scale in columns.items():
        for scale, column in by_scale.items():
            if repeats(tuple(column.values()), n_sequences):
                yield _sign(DamageKind.REPEATED_VALUES, [group], [scale], column)
    for (person, group), row in rows.items():
        if repeats(tuple(row.values()), n_sequences):
            yield _sign(DamageKind.REPEATED_VALUES, [group], row, [person])


def repeats(values: Sequence[float], n_sequences: int = 1) -> bool:
    """Return whether a stretch of at least three different values comes again in a sequence.

    A stretch is long enough where fewer than `EXPECTED_BY_CHANCE` of its length would come again
    in a file of so many sequences, if every value were drawn on its own with the frequencies that
    it has here: two values are equal with q = Σ p², n²/2 pairs of places in each sequence. Four
    rounds of the same two values or more are told, too.
    """
    n = len(values)
    equal = sum((times / n) ** 2 for times in Counter(values).values()) if n else 1.0
    if equal == 1 or n < FEWEST_ALIKE:
        return False
    if any(values[period:] == values[:-period] for period in range(2, n // MANY_ROUNDS + 1)):
        return True
    length = math.ceil(math.log(EXPECTED_BY_CHANCE * 2 / (n_sequences * n * n)) / math.log(equal))
    first_places: dict[tuple[float, ...], int] = {}
    for place in range(n - length + 1):
        stretch = tuple(values[place : place + length])
        if place - first_places.setdefault(stretch, place) > 1 and len(set(stretch)) > 2:
            return True
    return False
