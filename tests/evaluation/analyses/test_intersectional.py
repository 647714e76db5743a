"""Order, dominance and emergence on tables whose answers follow by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from evaluation.analyses.emergence_norms import (
    Association,
    compare_with_norms,
    predict_associations,
)
from evaluation.analyses.intersectional import (
    FEW_COMPONENTS,
    FEW_ON_A_SIDE,
    ComponentMeans,
    analyze_intersections,
)
from evaluation.analyses.intersectional_result import (
    IntersectionalOptions,
    IntersectionalResult,
    PairedGroup,
)
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.metrics.undefined import UndefinedReason

RISING = [1.0, 2.0, 3.0, 4.0]
FALLING = [4.0, 3.0, 2.0, 1.0]
DOMAINS = {"young": "age", "old": "age", "rich": "socioeconomic", "poor": "socioeconomic"}
PAIRS = [
    PairedGroup("young-rich", "young", "rich"),
    PairedGroup("rich-young", "rich", "young"),
    PairedGroup("old-poor", "old", "poor"),
]


@pytest.fixture
def scores() -> pd.DataFrame:
    """Age prevails: every paired group ranks the traits as its age does, against its wealth."""
    rows = {
        "young": RISING,
        "old": RISING,
        "rich": FALLING,
        "poor": FALLING,
        "young-rich": [1.5, 2.5, 3.5, 9.0],
        "rich-young": [0.0, 2.5, 2.75, 4.0],
        "old-poor": [1.0, 2.0, 3.0, 4.0],
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["a", "b", "c", "d"])


def test_a_known_domination_is_found(scores: pd.DataFrame) -> None:
    """All taus with age are 1, all with wealth −1: the means differ by 2."""
    found = analyze_intersections(scores, PAIRS, DOMAINS)
    (row,) = found.domain_pairs
    assert (row.first_domain, row.second_domain) == ("age", "socioeconomic")
    assert (row.tau_first, row.tau_second, row.difference) == (1.0, -1.0, 2.0)
    assert (row.n, row.interval_reason) == (3, FEW_ON_A_SIDE)
    assert row.dominant == "age"
    relations = {entry.domain: entry for entry in found.relations}
    assert relations["age"].dominates == ("socioeconomic",)
    assert relations["socioeconomic"].dominated_by == ("age",)


@pytest.mark.parametrize(("threshold", "dominant"), [(2.0, "age"), (2.1, "")])
def test_reaching_the_threshold_dominates(
    scores: pd.DataFrame, threshold: float, dominant: str
) -> None:
    options = IntersectionalOptions(dominance_threshold=threshold)
    (row,) = analyze_intersections(scores, PAIRS, DOMAINS, options).domain_pairs
    assert row.dominant == dominant


def test_order_counts_only_groups_that_exist_in_both_orders(scores: pd.DataFrame) -> None:
    """old-poor has no reverse: n is 2. First components: young 1, rich −1; mean 0."""
    summary = analyze_intersections(scores, PAIRS, DOMAINS).summary
    assert (summary.first.value, summary.second.value, summary.best.value) == (0.0, 0.0, 1.0)
    assert summary.reversed.value == 1.0
    assert summary.reversed.n == 2


def test_order_of_all_groups_is_the_papers_average(scores: pd.DataFrame) -> None:
    """old-poor joins: first components 1, −1 and 1 make a mean of 1/3, over three."""
    found = analyze_intersections(scores, PAIRS, DOMAINS).summary_of_all
    assert found is not None
    assert (found.first.value, found.first.n) == (pytest.approx(1 / 3), 3)
    assert (found.best.value, found.best.n) == (1.0, 3)
    assert (found.reversed.value, found.reversed.n) == (1.0, 2)


def test_the_interval_leaves_out_one_component_at_a_time() -> None:
    """Pairs ab 1, cd 2, de 3, ef 6: θ = 3; without a or b 11/3, c 10/3, d 3.5, e 1.5, f 2.

    The jackknife's variance is 5/6 · (2 · 4/9 + 1/9 + 1/4 + 9/4 + 1) = 3.75; of it the pairs'
    4/3 · ((−2)² + (−1)² + 0² + 3²) / 4² = 7/6 is taken out once. t(5) at 95 % is 2.570582.
    """
    pairs = [("a", "b"), ("c", "d"), ("d", "e"), ("e", "f")]
    found = ComponentMeans(pairs, 0.95).mean(np.array([1.0, 2.0, 3.0, 6.0]))
    reach = 2.570581835636314 * math.sqrt(3.75 - 7 / 6)
    assert (found.value, found.n) == (3.0, 4)
    assert (found.low, found.high) == pytest.approx((3 - reach, 3 + reach))


def test_too_few_components_and_one_that_all_share_give_no_interval() -> None:
    few = ComponentMeans([("a", "b"), ("c", "d")], 0.95).mean(np.array([1.0, 2.0]))
    assert (few.value, few.interval_reason) == (1.5, FEW_COMPONENTS)
    star = ComponentMeans([("a", name) for name in "bcdef"], 0.95).mean(np.arange(5.0))
    assert (star.value, star.interval_reason) == (2.0, UndefinedReason.UNSTABLE)


def test_leaving_out_a_group_moves_no_interval_of_others(scores: pd.DataFrame) -> None:
    rng = np.random.default_rng(4)
    names = [("age", f"a{i}") for i in range(4)] + [("wealth", f"w{i}") for i in range(4)]
    names += [("faith", "f0"), ("faith", "f1")]
    domains = {slug: domain for domain, slug in names}
    pairs = [
        PairedGroup(f"{a}-{b}", a, b) for a in domains for b in domains if domains[a] != domains[b]
    ]
    rows = [*domains, *(pair.slug for pair in pairs)]
    table = pd.DataFrame(rng.normal(size=(len(rows), 8)), index=rows)
    fewer = [pair for pair in pairs if "f1" not in (pair.first, pair.second)]
    options = IntersectionalOptions(n_resamples=100)
    whole, less = (
        {
            (row.first_domain, row.second_domain): row
            for row in analyze_intersections(table, some, domains, options).domain_pairs
        }
        for some in (pairs, fewer)
    )
    assert whole["age", "wealth"] == less["age", "wealth"]
    assert whole["age", "faith"] != less["age", "faith"]


def test_the_least_excess_decides_what_emerges(scores: pd.DataFrame) -> None:
    found = analyze_intersections(scores, PAIRS, DOMAINS, IntersectionalOptions(least_excess=0.5))
    assert [entry.excess for entry in found.emergent] == [5.0, 1.0]
    assert found.n_emergent == 2
    with pytest.raises(ValueError, match="expected 0 or more"):
        analyze_intersections(scores, PAIRS, DOMAINS, IntersectionalOptions(least_excess=-1))


def test_emergent_traits_exceed_both_components(scores: pd.DataFrame) -> None:
    """By hand: young-rich d is 9 against 4 and 1, an excess of 5; c is 3.5 against 3 and 2, 0.5.

    rich-young a is 0 against 4 and 1, below both by 1. old-poor lies within its components.
    """
    found = analyze_intersections(scores, PAIRS, DOMAINS)
    listed = [(e.pair, e.trait, e.pole, e.excess) for e in found.emergent]
    assert listed == [
        ("young-rich", "d", "high", 5.0),
        ("rich-young", "a", "low", 1.0),
        ("young-rich", "c", "high", 0.5),
    ]
    assert (found.n_emergent, found.n_associations) == (3, 12)


def test_only_the_top_is_listed_but_all_are_counted(scores: pd.DataFrame) -> None:
    found = analyze_intersections(scores, PAIRS, DOMAINS, IntersectionalOptions(top=1))
    assert [entry.excess for entry in found.emergent] == [5.0]
    assert found.n_emergent == 3


def test_a_group_without_variation_is_left_out_with_the_reason(scores: pd.DataFrame) -> None:
    scores.loc["old-poor"] = 1.0
    found = analyze_intersections(scores, PAIRS, DOMAINS)
    row = next(row for row in found.orders if row.pair == "old-poor")
    assert math.isnan(row.tau_first)
    assert row.reason
    assert found.left_out == (f"old-poor: {row.reason}",)
    assert found.domain_pairs[0].n == 2


def test_missing_scores_are_no_emergence(scores: pd.DataFrame) -> None:
    scores.loc["young-rich", "d"] = np.nan
    found = analyze_intersections(scores, PAIRS, DOMAINS)
    assert [(e.pair, e.trait) for e in found.emergent] == [("rich-young", "a"), ("young-rich", "c")]
    assert found.n_associations == 11


@pytest.mark.parametrize(
    ("pairs", "domains", "message"),
    [
        ([], DOMAINS, "no paired groups"),
        ([PairedGroup("young-rich", "young", "rich")] * 2, DOMAINS, "'young-rich' is listed twice"),
        ([PairedGroup("nobody", "young", "rich")], DOMAINS, "'nobody' has no scores"),
        ([PairedGroup("young-rich", "young", "rich")], {"young": "age"}, "'rich' has no domain"),
    ],
)
def test_what_cannot_be_analyzed_is_refused(
    scores: pd.DataFrame, pairs: list[PairedGroup], domains: dict[str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        analyze_intersections(scores, pairs, domains)


def test_the_result_survives_storage(scores: pd.DataFrame) -> None:
    scores.loc["old-poor"] = 1.0
    plain = to_plain(analyze_intersections(scores, PAIRS, DOMAINS))
    assert to_plain(from_plain(IntersectionalResult, plain)) == plain


def test_norms_are_compared_as_sets(scores: pd.DataFrame) -> None:
    """Emergent: young+rich high agency (d) and high and low beliefs (c, a).

    Expected: young+rich high agency and low agency. Possible: 1 group × 2 dimensions × 2 poles.
    One hit of three predicted and two expected; chance hits 3 · 2 / 4 = 1.5.
    """
    emergent = analyze_intersections(scores, PAIRS, DOMAINS).emergent
    dimensions = {"a": "beliefs", "b": "agency", "c": "beliefs", "d": "agency"}
    predicted = predict_associations(emergent, dimensions)
    both = frozenset(("young", "rich"))
    assert predicted == {
        Association(both, "agency", "high"),
        Association(both, "beliefs", "high"),
        Association(both, "beliefs", "low"),
    }
    expected = [Association(both, "agency", "high"), Association(both, "agency", "low")]
    found = compare_with_norms(predicted, expected, dimensions=["agency", "beliefs"])
    assert (found.n_hits, found.n_predicted, found.n_expected, found.n_possible) == (1, 3, 2, 4)
    assert found.precision == pytest.approx(1 / 3)
    assert found.recall == pytest.approx(1 / 2)
    assert found.chance_precision == pytest.approx(1.5 / 3)
    assert found.chance_recall == pytest.approx(1.5 / 2)
    assert found.p_value == pytest.approx(1.0)  # three of four cannot miss both


def test_no_prediction_has_no_precision() -> None:
    expected = [Association(frozenset(("young", "rich")), "agency", "high")]
    found = compare_with_norms([], expected, dimensions=["agency"])
    assert math.isnan(found.precision)
    assert found.reason == "no trait emerges for its groups"
