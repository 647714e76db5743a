"""The intersectional analysis against golden/expected/intersectional.json.

Those values were made by other code from the definitions of Cao et al. (2022), §5.2.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evaluation.analyses.intersectional import (
    analyze_intersections,
    emergence_above,
    emergence_below,
)
from evaluation.analyses.intersectional_result import IntersectionalOptions, PairedGroup

pytestmark = pytest.mark.shared


@pytest.fixture
def golden(shared_dir: Path) -> dict[str, Any]:
    file = shared_dir / "golden" / "expected" / "intersectional.json"
    return json.loads(file.read_text(encoding="utf-8"))


@pytest.fixture
def scores(golden: dict[str, Any]) -> pd.DataFrame:
    rows = {**golden["component_scores"], **golden["paired_scores"]}
    return pd.DataFrame.from_dict(rows, orient="index")


@pytest.fixture
def pairs(golden: dict[str, Any]) -> list[PairedGroup]:
    return [PairedGroup(name, *name.split("|")) for name in golden["paired_scores"]]


def test_orders_match(
    golden: dict[str, Any], scores: pd.DataFrame, pairs: list[PairedGroup]
) -> None:
    found = analyze_intersections(scores, pairs, golden["domains"])
    tolerance = golden["header"]["tolerance"]["abs"]
    assert len(found.orders) == len(golden["results"])
    for row in found.orders:
        expected = golden["results"][row.pair]
        for name, key in (
            ("tau_first", "tau_first"),
            ("tau_second", "tau_second"),
            ("tau_best", "tau_best"),
            ("tau_reversed", "tau_reversed_order"),
        ):
            assert getattr(row, name) == pytest.approx(expected[key], abs=tolerance)


def test_emergence_matches(
    golden: dict[str, Any], scores: pd.DataFrame, pairs: list[PairedGroup]
) -> None:
    tolerance = golden["header"]["tolerance"]["abs"]
    for pair in pairs:
        given = [
            scores.loc[slug].to_numpy(dtype=float) for slug in (pair.slug, pair.first, pair.second)
        ]
        expected = golden["results"][pair.slug]
        for function, key in (
            (emergence_above, "emergent_above_max"),
            (emergence_below, "emergent_below_min"),
        ):
            np.testing.assert_allclose(function(*given), expected[key], atol=tolerance, rtol=0)


def test_dominance_matches(
    golden: dict[str, Any], scores: pd.DataFrame, pairs: list[PairedGroup]
) -> None:
    found = analyze_intersections(scores, pairs, golden["domains"])
    tolerance = golden["header"]["tolerance"]["abs"]
    by_domains = {
        frozenset((row.first_domain, row.second_domain)): row for row in found.domain_pairs
    }
    assert len(by_domains) == len(golden["dominance"])
    for names, expected in golden["dominance"].items():
        first, second = names.split("|")
        row = by_domains[frozenset((first, second))]
        taus = {row.first_domain: row.tau_first, row.second_domain: row.tau_second}
        assert taus[first] == pytest.approx(expected["mean_tau_first_domain"], abs=tolerance)
        assert taus[second] == pytest.approx(expected["mean_tau_second_domain"], abs=tolerance)
        assert row.dominant == (expected["dominant"] or "")


def test_intervals_do_not_hang_on_a_seed(
    golden: dict[str, Any], scores: pd.DataFrame, pairs: list[PairedGroup]
) -> None:
    first, second = (
        analyze_intersections(scores, pairs, golden["domains"], IntersectionalOptions(seed=seed))
        for seed in (7, 8)
    )
    assert first.summary == second.summary
    assert first.summary.best.low < first.summary.best.value
