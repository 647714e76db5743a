"""The program `shared/designs/ceat_designs.py`, given the product's p-values."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import stats

from probing.measures.ceat_p_values import leaning_of, permutation_p_value, relative_p_value

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def program(shared_dir: Path) -> ModuleType:
    file = shared_dir / "designs" / "ceat_designs.py"
    spec = importlib.util.spec_from_file_location("ceat_designs", file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def beside_others(vectors: list[np.ndarray], poles: list[np.ndarray]) -> float:
    own, *others = (leaning_of(v, poles[:1], poles[1:], words_alike=True) for v in vectors)
    return relative_p_value(own, others, words_alike=True)


def test_the_p_value_is_that_of_the_program(program: ModuleType) -> None:
    for number, design in enumerate(program.DESIGNS.values()):
        vectors, poles, _ = program.draw_study(np.random.default_rng(number), design)
        d, error, df = program.relative(vectors, poles, 0)
        expected = 2 * stats.t.sf(abs(d) / error, df)
        assert beside_others(vectors, poles) == pytest.approx(expected, rel=1e-9)


def test_where_all_groups_lean_alike_none_is_found_to_lean_more(program: ModuleType) -> None:
    """100 sets: permutation of the poles, another question, finds that the group leans."""
    design = program.DESIGNS["all lean alike, 20 of the group"]
    relative, at_all = [], []
    for seed in range(100):
        rng = np.random.default_rng([20261125, seed])
        vectors, poles, _ = program.draw_study(rng, design)
        relative.append(beside_others(vectors, poles) < 0.05)
        p = permutation_p_value(vectors[0], poles[:1], poles[1:], n_permutations=199, rng=rng)
        at_all.append(p < 0.05)
    assert np.mean(relative) <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 100)
    assert np.mean(at_all) > 0.3


def test_one_context_and_one_group_have_no_p_value() -> None:
    a, b = np.eye(3)[:2], np.eye(3)[1:]
    own, single = (leaning_of(v, [a], [b], words_alike=True) for v in (a, a[:1]))
    assert np.isnan(relative_p_value(own, [], words_alike=True))
    assert np.isnan(relative_p_value(own, [single], words_alike=True))
    short = [leaning_of(v, [a[:1]], [b], words_alike=True) for v in (a, b)]
    assert np.isnan(relative_p_value(short[0], short[1:], words_alike=True))
