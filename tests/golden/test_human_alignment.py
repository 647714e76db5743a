"""Tau, p and precision at 3 against the golden values, ties included."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from evaluation.analyses.alignment import analyze_alignment
from evaluation.analyses.alignment_result import AlignmentOptions
from evaluation.metrics import kendall_tau_b, precision_at_k
from tests.golden.published_ratings import read_published_ratings

TOLERANCE = 1e-9  # header of human_alignment.json


@pytest.fixture(scope="module")
def golden(shared_dir):
    folder = shared_dir / "golden" / "expected"
    return {
        name: json.loads((folder / f"human_{name}.json").read_text())
        for name in ("alignment", "groups")
    }


def close(found: list[float], expected: list[float]) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE)


@pytest.mark.shared
def test_metrics_match_the_golden_values_of_every_group(golden):
    compared = 0
    for case in golden["alignment"]["cases"]:
        for group, scores in case["scores"].items():
            means = golden["groups"]["groups"][group]["mean"]
            expected = case["per_group"][group]
            tau, precision = kendall_tau_b(scores, means), precision_at_k(scores, means)
            close(
                [tau.value, tau.p_value, precision.top, precision.bottom, precision.mean],
                [expected[key] for key in ("tau_b", "p", "p_at_3_top", "p_at_3_bottom", "p_at_3")],
            )
            compared += 1
    assert compared == 64


@pytest.mark.shared
@pytest.mark.parametrize("number", range(4))
def test_analysis_of_the_published_ratings_matches_the_golden_values(golden, shared_dir, number):
    case, scales = golden["alignment"]["cases"][number], golden["alignment"]["trait_pairs"]
    groups = list(case["scores"])
    found = analyze_alignment(
        ratings=read_published_ratings(shared_dir),
        scores=pd.DataFrame.from_dict(case["scores"], orient="index", columns=scales),
        groups=groups,
        scales=scales,
        options=AlignmentOptions(n_resamples=0, n_splits=0),
    )
    for record in found.by_group:
        expected = case["per_group"][record.group]
        close(
            [record.tau.value, record.p_value, record.precision.value],
            [expected["tau_b"], expected["p"], expected["p_at_3"]],
        )
    pooled, overall = found.pooled, case["overall"]
    close(
        [pooled.tau.value, pooled.p_value, pooled.group_tau.value, pooled.precision.value],
        [overall["tau_b_pooled"], overall["p"], overall["mean_of_group_tau_b"], overall["p_at_3"]],
    )
