"""Precision and recall over thresholds, worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from evaluation.analyses.emergence_norms import Association
from evaluation.analyses.intersectional_result import Emergence
from evaluation.analyses.norm_curve import (
    NormCurve,
    average_precision,
    trace_norms,
)
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.metrics.undefined import UndefinedReason
from evaluation.reports.intersectional_tables import curve_table

DIMENSIONS = {"a": "agency", "b": "beliefs", "c": "agency"}
GROUPS = [("young", "rich"), ("old", "poor"), ("young", "poor")]


def emergent(first: str, second: str, trait: str, pole: str, excess: float) -> Emergence:
    return Emergence(f"{first}-{second}", first, second, trait, pole, excess, 0.0, 0.0, 0.0)


def expected(*entries: tuple[int, str, str]) -> list[Association]:
    return [Association(frozenset(GROUPS[i]), name, pole) for i, name, pole in entries]  # type: ignore[arg-type]


FOUND = [
    emergent("young", "rich", "a", "high", 0.5),
    emergent("rich", "young", "c", "high", 3.0),  # the other order and another trait of agency
    emergent("old", "poor", "b", "low", 2.0),
    emergent("old", "poor", "b", "high", 1.0),
    emergent("nobody", "else", "a", "high", 9.0),  # not on the list
]
LIST = expected((0, "agency", "high"), (1, "beliefs", "high"), (1, "agency", "low"))


def test_the_curve_by_hand() -> None:
    """Ranks: young + rich high agency (3.0, a hit), old + poor low beliefs (2.0), high (1.0, hit).

    Of the 2 groups × 2 dimensions × 2 poles five do not emerge, one of them expected:
    AP = 1/3 · 1 + 1/3 · 2/3 + 1/3 · 3/8.
    """
    found = trace_norms(FOUND, LIST, DIMENSIONS, n_resamples=200)
    assert [(p.threshold, p.n_predicted, p.n_hits) for p in found.points] == [
        (3.0, 1, 1),
        (2.0, 2, 1),
        (1.0, 3, 2),
    ]
    assert [p.precision for p in found.points] == [1.0, 0.5, pytest.approx(2 / 3)]
    assert [p.recall for p in found.points] == pytest.approx([1 / 3, 1 / 3, 2 / 3])
    assert found.average_precision == pytest.approx((1 + 2 / 3 + 3 / 8) / 3)
    assert (found.n_groups, found.n_expected, found.n_possible) == (2, 3, 8)
    assert (math.isnan(found.low), found.interval_reason) == (True, UndefinedReason.RANKING)
    assert to_plain(from_plain(NormCurve, to_plain(found))) == to_plain(found)


def test_ties_count_together_whatever_their_order() -> None:
    """One block of four with two hits: precision 1/2 at recall 1."""
    for hits in ([1.0, 1, 0, 0], [0.0, 0, 1, 1]):
        assert average_precision(np.ones(4), np.array(hits)) == pytest.approx(0.5)


def test_chance_is_that_of_a_random_order() -> None:
    """No relation: p-values are uniform, so that 5 % of 200 lists fall below .05."""
    rng = np.random.default_rng(2)
    below = 0
    for seed in range(200):
        some = [
            emergent(*pair, trait, pole, float(rng.random()))
            for pair in GROUPS
            for trait in ("a", "b")
            for pole in ("low", "high")
        ]
        places = rng.permutation(12)[:4]
        cells = [
            (g, d, p) for g in range(3) for d in ("agency", "beliefs") for p in ("low", "high")
        ]
        found = trace_norms(
            some, expected(*(cells[i] for i in places)), DIMENSIONS, n_resamples=99, seed=seed
        )
        below += found.p_value <= 0.05
    assert below <= 10 + 3 * np.sqrt(200 * 0.05 * 0.95)
    assert below >= 1


def test_the_value_stands_without_interval_and_the_row_says_why() -> None:
    found = trace_norms(FOUND, [*LIST, *expected((2, "beliefs", "low"))], DIMENSIONS)
    assert found.chance < found.average_precision
    assert found.estimate.note == UndefinedReason.RANKING


def test_nothing_to_compare_has_a_reason() -> None:
    assert trace_norms([], LIST, DIMENSIONS).reason == "no trait emerges for its groups"
    assert trace_norms(FOUND, [], DIMENSIONS).reason == "the list of norms is empty"


def test_without_shuffles_there_is_no_p() -> None:
    found = trace_norms(FOUND, LIST, DIMENSIONS, n_resamples=0)
    assert found.average_precision == pytest.approx((1 + 2 / 3 + 3 / 8) / 3)
    assert (math.isnan(found.p_value), math.isnan(found.chance), found.n_shuffles) == (
        True,
        True,
        0,
    )


def test_a_small_p_is_printed_as_small() -> None:
    """No shuffle of 2,000 as large: p = 1 / 2,001, which three decimals would print as 0.000."""
    few = replace(trace_norms(FOUND, LIST, DIMENSIONS, n_resamples=0), p_value=1 / 2001)
    table = curve_table(few, "95 %")
    assert table.column("p_value").cells(few) == ["< 0.001"]
