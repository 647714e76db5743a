"""Agreement of free texts against golden/expected/levenshtein_alpha.json.

Those values come from enumerating every pair one by one.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from evaluation.metrics.levenshtein_alpha import levenshtein_alpha, simulate_shuffled_distance

pytestmark = pytest.mark.shared

KEYS = {
    "characters": "character_distance",
    "words": "word_distance",
    "normalized": "normalised_by_longer",
}


@pytest.fixture(params=range(14))
def case(request, shared_dir):
    file = shared_dir / "golden" / "expected" / "levenshtein_alpha.json"
    golden = json.loads(file.read_text(encoding="utf-8"))
    assert len(golden["cases"]) == 14
    return golden["cases"][request.param] | {"tolerance": golden["header"]["tolerance"]["abs"]}


def _annotations(case):
    rows = [
        (item, annotator, text)
        for annotator, row in enumerate(case["annotators_by_items"])
        for item, text in enumerate(row)
        if text is not None
    ]
    return zip(*rows, strict=True)


@pytest.mark.parametrize("distance", KEYS)
def test_alpha_and_its_parts_match_by_every_definition(case, distance):
    annotations = [list(column) for column in _annotations(case)]
    golden = case[KEYS[distance]]
    # The file keeps ten significant digits.
    close = {"rel": 1e-9, "abs": case["tolerance"]}
    form = golden["krippendorff_form"]
    for expected, d_o, d_e, alpha in (
        ("exact", golden["D_o"], golden["D_e_exact_different_items"], golden["alpha"]),
        (
            "shuffle",
            golden["D_o"],
            golden["D_e_shuffle_expectation"],
            golden["alpha_shuffle_expectation"],
        ),
        ("krippendorff", form["D_o"], form["D_e"], form["alpha"]),
    ):
        found = levenshtein_alpha(*annotations, distance=distance, expected=expected, n_resamples=0)
        assert found.observed == pytest.approx(d_o, **close), expected
        assert found.expected == pytest.approx(d_e, **close), expected
        assert found.value == pytest.approx(alpha, **close), expected
        assert found.n_pairs == golden["n_pairs_observed"]


@pytest.mark.parametrize("distance", KEYS)
def test_the_simulated_shuffle_agrees_with_another_simulation(case, distance):
    found = simulate_shuffled_distance(*_annotations(case), distance=distance)
    golden = case[KEYS[distance]]["D_e_shuffle_monte_carlo"]
    error = np.hypot(found.standard_error, golden["standard_error"])
    assert abs(found.mean - golden["mean"]) <= 4 * error
