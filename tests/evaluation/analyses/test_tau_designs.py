"""The program `shared/designs/tau_designs.py`, given the product's tau in the place of its own.

A few data sets of some rows in every run of the tests, 500 of all with `STEREOSCOPE_TESTS_DEEP=1`.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from types import ModuleType

import numpy as np
import pytest

from evaluation.analyses.true_tau import true_tau

DEEP = bool(os.environ.get("STEREOSCOPE_TESTS_DEEP"))
STUDIES = 500 if DEEP else 12
SEED = int(os.environ.get("STEREOSCOPE_TESTS_SEED", "20261125"))
QUICK = ("b crossed, 30 x 8", "e skewed, crossed 30 x 12", "i 8 groups, 40 people")
NO_INTERVAL = ("f two-humped means", "k uneven spread, unequal n", "x 20 people")


@pytest.fixture(scope="module")
def program(shared_dir) -> ModuleType:
    path = shared_dir / "designs" / "tau_designs.py"
    if not path.exists():
        pytest.skip("the design programs are not here")
    spec = importlib.util.spec_from_file_location("tau_designs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_every_design_is_covered_or_has_no_interval(program):
    """|bias| below .01 and coverage of 92 to 99 %, each but for what so few data sets allow."""
    short = []
    for name in program.DESIGNS if DEEP else (*QUICK, "f two-humped means, 30 x 12"):
        for tau in program.TAUS.get(name, program.OTHER_TAUS):
            rng = np.random.default_rng([SEED, sorted(program.DESIGNS).index(name), int(100 * tau)])
            errors, held = [], []
            for _ in range(STUDIES):
                ratings, scores, means = program.draw_study(rng, tau, **program.DESIGNS[name])
                truth = program.Study(ratings, scores).tau_b(means.ravel())
                answer = true_tau(ratings, scores).noise_free(0.95)
                if not np.isnan(answer.low):
                    errors.append(answer.value - truth)
                    held.append(answer.low <= truth <= answer.high)
            if name.startswith(NO_INTERVAL):
                assert len(held) < STUDIES / 20, name
                continue
            assert len(held) > STUDIES / 2, name
            bias, covered = np.mean(errors), np.mean(held)
            noise = 2 * np.std(errors) / np.sqrt(len(errors))
            luck = 2 * np.sqrt(0.95 * 0.05 / len(held))
            if abs(bias) > 0.01 + noise or not 0.92 - luck <= covered <= 0.99 + luck:
                short.append(f"{name}, {tau}: {bias:+.4f}, {100 * covered:.1f} %")
    assert not short
