"""Agreement, favourability, strength and tests against agreement_and_tests.json.

Its values come from the released helpers of Hofmann et al. (2024), statsmodels, scipy and closed
forms; those of published_values.json from the paper.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation.metrics.attribute_agreement import (
    expected_map,
    human_top,
    map_of_ranks,
    permutation_null,
    rank_attributes,
    ranks_of,
)
from evaluation.metrics.decisions import contingency_test, equal_counts_test
from evaluation.metrics.holm import holm_correction
from evaluation.metrics.one_sided_t import one_sample_t, pooled_t
from evaluation.metrics.prestige import linear_fit, occupation_prestige
from evaluation.metrics.stereotypes import (
    favorability,
    overlap_probability,
    stereotype_strength,
)
from tests.golden.text_cases import load_expected

pytestmark = pytest.mark.shared

STUDIES = ("katz", "gilbert", "karlins", "bergsieker")


@pytest.fixture(scope="module")
def golden(shared_dir: Path) -> dict[str, Any]:
    return load_expected(shared_dir, "agreement_and_tests")


@pytest.fixture(scope="module")
def adjectives(shared_dir: Path) -> list[str]:
    file = shared_dir / "data" / "matched_guise" / "attributes" / "katz.txt"
    return file.read_text(encoding="utf-8").split()


def read_norm(shared_dir: Path, name: str) -> list[dict[str, str]]:
    with (shared_dir / "data" / "norms" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def percentages(shared_dir: Path) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for row in read_norm(shared_dir, "princeton_trilogy"):
        found.setdefault(row["study_key"], {})[row["adjective"]] = float(row["percent"])
    return found


@pytest.fixture(scope="module")
def favour(shared_dir: Path) -> dict[str, float]:
    rows = read_norm(shared_dir, "adjective_favourability")
    return {row["adjective"]: float(row["favourability"]) for row in rows}


@pytest.mark.parametrize("study", STUDIES)
def test_the_human_tops_are_those_of_the_released_helper(
    golden: Any, percentages: Any, adjectives: list[str], study: str
) -> None:
    for k, expected in golden["studies"][study]["top"].items():
        assert human_top(percentages[study], adjectives, int(k)) == expected


def test_rankings_precisions_and_strengths_match(
    golden: Any, percentages: Any, adjectives: list[str], favour: Any
) -> None:
    assert len(golden["cases"]) == 15
    for case in golden["cases"]:
        scores = case["scores"]
        ranking = rank_attributes(scores)
        assert list(ranking) == case["ranking"], case["name"]
        vector = [scores[name] for name in adjectives]
        for study in STUDIES:
            top = human_top(percentages[study], adjectives, 5)
            ranks = ranks_of(vector, [adjectives.index(name) for name in top])
            assert map_of_ranks(ranks) == pytest.approx(case["map"][study])
            for k, expected in case["ap"][study].items():
                # MAP of the first k is the mean of AP of the first 1 to k.
                sums = [n * map_of_ranks(ranks[:n]) if n else 0 for n in (int(k) - 1, int(k))]
                assert sums[1] - sums[0] == pytest.approx(expected)
            strength = case["stereotype_strength"][study]
            assert stereotype_strength(scores, top) == pytest.approx(strength, abs=1e-9)
        found = favorability(ranking, scores, favour)
        assert found.unweighted == pytest.approx(case["unweighted_favourability_top5"])
        if all(scores[name] > 0 for name in ranking[:5]):
            assert found.weighted == pytest.approx(case["weighted_favourability_top5"])
        else:
            assert np.isnan(found.weighted)
            assert found.reason


def test_published_favourabilities_of_people_are_recomputed(
    shared_dir: Path, percentages: Any, adjectives: list[str], favour: Any
) -> None:
    published = load_expected(shared_dir, "published_values")["hofmann_2024"]["human_top5"]
    for study, expected in published["recomputed"].items():
        top = human_top(percentages[study], adjectives, 5)
        assert top == expected["top5"]
        found = favorability(top, percentages[study], favour)
        assert found.weighted == pytest.approx(expected["weighted_favourability"])
        assert found.unweighted == pytest.approx(expected["unweighted"])


def test_the_null_distribution_has_the_exact_mean(golden: Any) -> None:
    null = golden["permutation_null"]
    assert expected_map(37) == pytest.approx(null["exact_mean"], abs=1e-9)
    drawn = permutation_null(
        np.arange(37.0)[None], 5, n_permutations=20_000, rng=np.random.default_rng(0)
    )
    tolerance = golden["header"]["tolerance"]["permutation_null"]
    assert drawn.mean() == pytest.approx(null["exact_mean"], abs=tolerance["mean_abs"])
    simulated = null["simulated"]["katz"]["sd"]
    assert drawn.std() == pytest.approx(simulated, abs=tolerance["sd_abs"])


def test_overlaps_are_hypergeometric(shared_dir: Path) -> None:
    published = load_expected(shared_dir, "published_values")["hofmann_2024"]
    expected = published["overlap_at_least_3_of_5"]["exact_hypergeometric"]
    assert overlap_probability(3) == pytest.approx(expected)


def test_t_tests_match_statsmodels_and_scipy(golden: Any) -> None:
    expected = golden["ttest_vs_null"]
    tests = [
        pooled_t(sample, expected["null_sample"], alternative="greater")
        for sample in expected["samples"]
    ]
    for name, key in (
        ("statistic", "t"),
        ("p_value", "p_one_sided"),
        ("df", "df"),
        ("mean", "mean"),
    ):
        np.testing.assert_allclose([getattr(one, name) for one in tests], expected[key], atol=1e-9)
    released = [one.sd * np.sqrt(1 - 1 / one.n) for one in tests]
    np.testing.assert_allclose(released, expected["sd_ddof0"], atol=1e-9)
    corrected = holm_correction([one.p_value for one in tests])
    np.testing.assert_allclose(corrected, expected["p_holm"], atol=1e-9)

    one = golden["ttest_one_sample"]
    found = one_sample_t(one["sample"], alternative="less")
    assert found.statistic == pytest.approx(one["t"])
    assert found.p_value == pytest.approx(one["p_one_sided_less_paper_text"])
    assert found.p_two_sided == pytest.approx(one["p_two_sided_released"])
    assert (found.mean, found.sd) == pytest.approx((one["mean"], one["sd_ddof1"]))


def test_counts_match_scipy(golden: Any) -> None:
    expected = golden["chi_square_goodness_of_fit"]
    tests = [equal_counts_test(*counts) for counts in expected["counts"]]
    np.testing.assert_allclose([one.statistic for one in tests], expected["statistic"], rtol=1e-9)
    np.testing.assert_allclose([one.p_value for one in tests], expected["p"], atol=1e-9)
    corrected = holm_correction([one.p_value for one in tests])
    np.testing.assert_allclose(corrected, expected["p_holm"], atol=1e-9)
    table = golden["chi_square_contingency"]
    found = contingency_test(table["table"])
    assert (found.statistic, found.p_value) == pytest.approx(tuple(table["no_yates"]))


def test_the_regression_matches_statsmodels(golden: Any) -> None:
    expected = golden["ols"]
    found = linear_fit(expected["x"], expected["y"])
    for name, key in (
        ("intercept", "intercept"),
        ("slope", "beta"),
        ("r_squared", "r2"),
        ("statistic", "F"),
        ("p_value", "p"),
        ("df", "df_resid"),
    ):
        assert getattr(found, name) == pytest.approx(expected[key], abs=1e-8), name


def test_prestige_by_the_released_rule_and_by_words(golden: Any, shared_dir: Path) -> None:
    file = shared_dir / "data" / "matched_guise" / "attributes" / "occupations.txt"
    occupations = file.read_text(encoding="utf-8").split()
    rows = read_norm(shared_dir, "gss_occupational_prestige")
    titles = {row["title"]: float(row["prestige"]) for row in rows}
    expected = golden["occupation_prestige"]
    released = occupation_prestige(occupations, titles, rule="released")
    assert len(released) == expected["n"] == 65
    assert released == pytest.approx(expected["released_matching"])
    words = occupation_prestige(occupations, titles)
    assert set(words) < set(released) or set(words) == set(released)
    # By hand: a rule on words leaves out titles such as "Subcontractor" for "actor".
    made_up = {"Actor": 5.0, "Contractor": 1.0, "Stage actor": 3.0}
    assert occupation_prestige(["actor"], made_up) == {"actor": 4.0}
    assert occupation_prestige(["actor"], made_up, rule="released") == {"actor": 3.0}
