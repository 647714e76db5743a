"""Means, spreads, counts and agreement of the published ratings against the golden values."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest

from evaluation.analyses.alignment import analyze_alignment
from evaluation.analyses.alignment_result import AlignmentOptions
from evaluation.analyses.noise_ceiling import random_halves
from evaluation.analyses.rating_agreement import (
    RatingAgreementOptions,
    analyze_rating_agreement,
)
from evaluation.analyses.rating_cube import build_rating_cube
from evaluation.metrics import kendall_tau_b
from evaluation.metrics.counted_values import CountedValues
from tests.golden.published_ratings import read_published_ratings


@pytest.fixture(scope="module")
def golden(shared_dir):
    return json.loads((shared_dir / "golden" / "expected" / "human_groups.json").read_text())


@pytest.fixture(scope="module")
def ratings(shared_dir):
    return read_published_ratings(shared_dir)


@pytest.mark.shared
def test_means_spreads_and_counts_of_every_group_match(golden, ratings):
    groups, scales = list(golden["groups"]), golden["trait_pairs"]
    found = analyze_alignment(
        ratings=ratings,
        scores=pd.DataFrame(np.nan, groups, scales),
        groups=groups,
        scales=scales,
        options=AlignmentOptions(n_resamples=0, n_splits=0),
    )
    tolerance = golden["header"]["tolerance"]["abs"]
    for record in found.by_group:
        expected = golden["groups"][record.group]
        cells = [cell.human for cell in found.cells if cell.group == record.group]
        assert record.n_raters == expected["n_annotations"]
        assert [cell.n for cell in cells] == expected["n_per_pair"]
        for key, values in (("mean", [c.mean for c in cells]), ("sd", [c.sd for c in cells])):
            np.testing.assert_allclose(values, expected[key], rtol=0, atol=tolerance)
    # The one annotation with a single trait pair (README of the data).
    assert {r.group: r.n_incomplete for r in found.by_group if r.n_incomplete} == {
        "Jewish people": 1
    }


@pytest.mark.shared
def test_tau_between_all_pairs_of_groups_matches(golden):
    for first, second in itertools.combinations(golden["groups"], 2):
        expected = golden["kendall_tau_b"].get(f"{first} | {second}")
        if expected is None:
            continue
        found = kendall_tau_b(golden["groups"][first]["mean"], golden["groups"][second]["mean"])
        assert found.value == pytest.approx(expected["tau_b"], abs=1e-8)
        assert found.p_value == pytest.approx(expected["p"], abs=1e-8)


@pytest.mark.shared
def test_the_halves_behind_the_noise_ceiling_reach_the_golden_split_half_r(golden, ratings):
    # The golden file gives Pearson's r between halves, so the same halves are compared by r here.
    cube, _ = build_rating_cube(
        ratings, groups=list(golden["groups"]), scales=golden["trait_pairs"]
    )
    tolerance = golden["header"]["tolerance"]["split_half_monte_carlo_abs"]
    for g, group in enumerate(cube.groups):
        complete = cube.values[:, g][cube.rated[:, g].all(axis=1)]
        halves = random_halves(len(complete), 1000, np.random.default_rng(g))
        r = [
            np.corrcoef(complete[first].mean(axis=0), complete[~first].mean(axis=0))[0, 1]
            for first in halves
        ]
        expected = golden["groups"][group]["split_half"]["mean_r"]
        assert np.mean(r) == pytest.approx(expected, abs=tolerance)


@pytest.mark.shared
def test_alpha_and_split_halves_of_the_published_ratings_match(golden, ratings):
    """Interval alpha within every group and overall, exactly; halves within their own error."""
    found = analyze_rating_agreement(
        ratings,
        groups=list(golden["groups"]),
        scales=golden["trait_pairs"],
        options=RatingAgreementOptions(n_resamples=0),
    )
    exact = golden["header"]["tolerance"]["abs"]
    loose = golden["header"]["tolerance"]["split_half_monte_carlo_abs"]
    assert found.overall.value == pytest.approx(
        golden["alpha_interval_overall_these_groups"], abs=exact
    )
    halves = golden["split_half_overall"]
    assert found.split_half.r == pytest.approx(halves["mean_r"], abs=loose)
    assert found.split_half.spearman_brown == pytest.approx(
        halves["mean_spearman_brown"], abs=loose
    )
    for row in found.groups:
        expected = golden["groups"][row.group]
        assert row.alpha.value == pytest.approx(expected["alpha_interval_within_group"], abs=exact)
        for value, name in (
            (row.split_half.r, "mean_r"),
            (row.split_half.spearman_brown, "mean_spearman_brown"),
        ):
            assert value == pytest.approx(expected["split_half"][name], abs=loose)


@pytest.mark.shared
def test_alpha_has_the_standard_error_of_a_jackknife_over_submissions(ratings):
    """methods.md §9: standard error .017, computed by other code."""
    groups, scales = sorted(ratings["group"].unique()), sorted(ratings["scale"].unique())
    cube, _ = build_rating_cube(ratings, groups=groups, scales=scales)
    table = cube.flat()
    table = table[:, (~np.isnan(table)).sum(axis=0) >= 2]
    table = table[(~np.isnan(table)).any(axis=1)]
    domain = np.unique(table[~np.isnan(table)])
    without = CountedValues.of(table, domain, "interval").without_annotators()
    n = len(without)
    error = np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    assert error == pytest.approx(0.017, abs=0.001)
