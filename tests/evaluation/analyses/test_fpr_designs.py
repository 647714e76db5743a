"""The program that draws studies with known gaps, given the product's own functions."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from evaluation.analyses.fpr_inference import gap_errors, joint_test

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def program(shared_dir: Path) -> ModuleType:
    file = shared_dir / "designs" / "fpr_designs.py"
    spec = importlib.util.spec_from_file_location("fpr_designs", file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def study(program: ModuleType, design: Any, seed: int) -> tuple[bool, list[bool]] | None:
    """Return whether any gap was found, and whether the intervals hold the truth.

    One run answers for this run alone, several for runs like these. Truths: all gaps at once, the
    spread.
    """
    rng = np.random.default_rng([20261125, seed])
    shares, like, these = program.draw_study(rng, design)
    truth = these if design[2] == 1 else like
    errors = gap_errors(shares, shares, rng, level=0.95, n_draws=1000)
    if errors.reason:
        return None
    test = joint_test("negative", "", errors, 0.95)
    half = errors.critical * np.sqrt(errors.v)
    sd, spread = truth.std(ddof=1), test.spread
    held = [bool(np.all(np.abs(errors.gap - truth) <= half))]
    return test.p_value < 0.05, [*held, spread.low - 1e-9 <= sd <= spread.high + 1e-9]


@pytest.mark.parametrize(
    "name", ["6 x 40, 1 run alike, none", "runs differ, 3 runs, none", "6 x 40, 5 runs, gaps"]
)
def test_a_thin_slice_holds(program: ModuleType, name: str) -> None:
    """Nominal 95 %; over 100 studies 2.2 points of standard error, four of which are allowed."""
    check(program, name, studies=100, room=0.088)


@pytest.mark.slow
def test_all_designs_hold(program: ModuleType) -> None:
    """Standard error 1.8 points, three of which are allowed; docs/coverage.md has 500 a row."""
    for name in program.DESIGNS:
        check(program, name, studies=150, room=0.055)


def check(program: ModuleType, name: str, *, studies: int, room: float) -> None:
    design = program.DESIGNS[name]
    drawn = [study(program, design, seed) for seed in range(studies)]
    rows = [row for row in drawn if row]
    assert rows
    if not design[5]:  # no group differs, in runs like these
        like_these = design[2] > 1 or not design[4]
        assert not like_these or np.mean([found for found, _ in rows]) <= 0.05 + room, name
    assert np.all(np.mean([held for _, held in rows], axis=0) >= 0.95 - room), name
