"""CEAT's effect sizes against golden/expected/ceat.json.

Those values come from other code after the published formulas, on vectors made for the purpose;
the contexts of every draw are stored, so that no random numbers are involved.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from probing.measures.ceat import (
    combine_draws,
    draw_effects,
    pooled_effect,
    sample_draws,
    unit_vectors,
)

pytestmark = pytest.mark.shared


@pytest.fixture(params=range(8))
def case(request: pytest.FixtureRequest, shared_dir: Path) -> dict[str, Any]:
    file = shared_dir / "golden" / "expected" / "ceat.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    return data["cases"][request.param] | {"rel": data["header"]["tolerance"]["rel"]}


def _vectors(case: dict[str, Any]) -> tuple[Any, list[Any], list[Any]]:
    return (
        unit_vectors(np.array(case["group_vectors"])),
        [unit_vectors(np.array(word)) for word in case["A"]],
        [unit_vectors(np.array(word)) for word in case["B"]],
    )


def test_pooled_effect_matches(case: dict[str, Any]) -> None:
    found = pooled_effect(*_vectors(case))
    assert found.value == pytest.approx(case["pooled_context_effect"], rel=case["rel"])


def test_every_draw_matches(case: dict[str, Any]) -> None:
    effects, variances = draw_effects(*_vectors(case), np.array(case["draws"]))
    np.testing.assert_allclose(effects, case["effect_sizes"], rtol=case["rel"])
    np.testing.assert_allclose(variances, case["variances_released"], rtol=case["rel"])


def test_the_combination_of_draws_matches(case: dict[str, Any]) -> None:
    found = combine_draws(*draw_effects(*_vectors(case), np.array(case["draws"])))
    expected = case["random_effects"]
    for name, key in (
        ("heterogeneity", "Q"),
        ("tau_squared", "tau_squared"),
        ("combined", "combined"),
        ("variance", "variance"),
        ("z", "z"),
        ("p_one_sided", "p_one_sided"),
        ("p_two_sided", "p_two_sided"),
    ):
        assert getattr(found, name) == pytest.approx(expected[key], rel=1e-8), name
    assert found.n == len(case["draws"])


def test_one_word_per_pole_always_gives_the_square_root_of_two(case: dict[str, Any]) -> None:
    """With two cosines x > y: (x − y) / (|x − y| / √2) = √2 by hand."""
    group, positive, negative = _vectors(case)
    counts = [len(group), len(positive[0]), len(negative[0])]
    draws = sample_draws(np.random.default_rng(3), counts, 20)
    effects, _ = draw_effects(group, positive[:1], negative[:1], draws)
    np.testing.assert_allclose(np.abs(effects), np.sqrt(2), rtol=1e-9)
