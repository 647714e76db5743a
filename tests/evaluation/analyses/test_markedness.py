"""The markedness check on tables whose answers follow by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evaluation.analyses.markedness import (
    NO_DEVIATION,
    ONE_TEMPLATE,
    SHARE_OF_SQUARES,
    TOO_FEW_GROUPS,
    Markedness,
    MarkednessOptions,
    analyze_markedness,
)
from evaluation.analyses.plain_record import from_plain, to_plain

NO_RESAMPLES = MarkednessOptions(n_resamples=0)


def table(n_templates: int = 2, **rows: list[float]) -> pd.DataFrame:
    """Return the same scores in every template."""
    one = pd.DataFrame.from_dict(rows, orient="index", columns=["a", "b"])
    names = [f"t{i}" for i in range(n_templates)]
    return pd.concat([one] * n_templates, keys=names, names=["template", "group"])


def simulated(
    rng: np.random.Generator, *, baseline: float, n_templates: int = 8, n_groups: int = 10
) -> tuple[pd.DataFrame, list[str]]:
    """Return scores whose groups deviate by mention (1, 1, …) and their own standard normal.

    baseline : standard deviation of the unmarked sentence's error in a template and trait
    """
    n_traits, groups = 12, [f"g{i}" for i in range(n_groups)]
    own = 1 + rng.normal(size=(n_groups, n_traits))
    frames = {}
    for k in range(n_templates):
        values = np.vstack([baseline * rng.normal(size=n_traits), own])
        frames[f"t{k}"] = pd.DataFrame(values, index=["unmarked", *groups])
    return pd.concat(frames, names=["template", "group"]), groups


def test_groups_that_all_deviate_alike_are_explained_by_mention() -> None:
    scores = table(unmarked=[1, 1], white=[3, 0], black=[3, 0], asian=[3, 0])
    found = analyze_markedness(scores, ["white", "black", "asian"])
    assert found.explained == 1
    for row in found.by_group:
        assert (row.explained, row.residual) == (1, 0)
        # deviations are 2 and −1: root of (4 + 1) / 2
        assert row.deviation == pytest.approx(math.sqrt(2.5))
    effects = {row.trait: (row.effect, row.same_sign) for row in found.by_trait}
    assert effects == {"a": (2, 1), "b": (-1, 1)}


def test_interval_of_a_mention_is_students_over_groups() -> None:
    """Source: scipy.stats.ttest_1samp on the groups' deviations 2, 3 and 5."""
    scores = table(unmarked=[1, 0], white=[3, 0], black=[4, 0], asian=[6, 0])
    found = analyze_markedness(scores, ["white", "black", "asian"], MarkednessOptions(level=0.9))
    wanted = stats.ttest_1samp([2, 3, 5], 0).confidence_interval(0.9)
    row = found.by_trait[0]
    assert (row.low, row.high) == pytest.approx((wanted.low, wanted.high))
    one = analyze_markedness(scores, ["white"]).by_trait[0]
    assert math.isnan(one.low)


def test_the_error_of_the_unmarked_sentence_widens_intervals_of_effects() -> None:
    widths = {}
    for baseline in (0.0, 3.0):
        scores, groups = simulated(np.random.default_rng(3), baseline=baseline)
        found = analyze_markedness(scores, groups, MarkednessOptions(n_resamples=300))
        widths[baseline] = np.mean([row.high - row.low for row in found.by_trait])
    assert widths[3.0] > 1.5 * widths[0.0]


def test_intervals_of_effects_cover_the_effect_of_mention() -> None:
    """Mention is 1 in every trait; nominal 95 %, 1,800 intervals of 150 data sets."""
    rng = np.random.default_rng(8)
    covered = [
        row.low <= 1 <= row.high
        for _ in range(150)
        for found in [analyze_markedness(*simulated(rng, baseline=1.5), NO_RESAMPLES)]
        for row in found.by_trait
    ]
    assert 0.93 < np.mean(covered) < 0.985


def test_shares_and_effects_in_one_template_have_no_interval_and_say_why() -> None:
    scores = table(1, unmarked=[0, 0], white=[2, 0], black=[2, 1], asian=[1, 4])
    found = analyze_markedness(scores, ["white", "black", "asian"])
    for one, why in (
        (found.share, SHARE_OF_SQUARES),
        (found.by_group[0].share, SHARE_OF_SQUARES),
        (found.by_trait[0].estimate, ONE_TEMPLATE),
    ):
        assert one.is_defined
        assert (math.isnan(one.low), one.interval_reason) == (True, why)
    assert "two templates or more" in ONE_TEMPLATE


def test_a_deviation_compares_the_same_templates() -> None:
    """White is scored in t0 alone, where the unmarked sentence has 0, not 10 as in t1."""
    scores = table(unmarked=[0, 0], white=[2, 1], black=[3, 1], asian=[3, 1])
    scores.loc[("t1", "unmarked")] = 10
    scores.loc[("t1", "white")] = math.nan
    found = {row.group: row for row in analyze_markedness(scores, ["white", "black"]).by_group}
    assert found["white"].deviation == pytest.approx(math.sqrt(2.5))


def test_a_group_that_goes_its_own_way_is_not_explained() -> None:
    """Deviations (2, 0), (2, 0), (0, 4). For the third, the others' mean is (2, 0).

    1 − ((0 − 2)² + (4 − 0)²) / (0² + 4²) = 1 − 20/16. For the first: the others' mean is (1, 2),
    1 − (1² + 2²) / 2² = −1/4.
    """
    scores = table(unmarked=[0, 0], white=[2, 0], black=[2, 0], asian=[0, 4])
    found = {
        row.group: row for row in analyze_markedness(scores, ["white", "black", "asian"]).by_group
    }
    assert found["asian"].explained == pytest.approx(1 - 20 / 16)
    assert found["white"].explained == pytest.approx(-1 / 4)


def test_a_missing_score_leaves_its_trait_out_and_is_counted() -> None:
    scores = table(unmarked=[0, 0], white=[2, math.nan], black=[2, 1], asian=[2, 1])
    found = analyze_markedness(scores, ["white", "black", "asian"])
    assert [row.n_traits for row in found.by_group] == [1, 2, 2]
    assert found.n_cells == 5


def test_one_group_alone_has_nobody_to_compare_with() -> None:
    found = analyze_markedness(table(unmarked=[0, 0], white=[2, 0]), ["white"])
    assert found.by_group[0].reason == TOO_FEW_GROUPS
    assert found.by_group[0].deviation == pytest.approx(math.sqrt(2))
    assert found.reason == TOO_FEW_GROUPS


def test_no_deviation_has_no_share() -> None:
    found = analyze_markedness(
        table(unmarked=[1, 1], white=[1, 1], black=[2, 1]), ["white", "black"]
    )
    assert math.isnan(found.by_group[0].explained)
    assert found.by_group[0].reason == NO_DEVIATION
    assert to_plain(from_plain(Markedness, to_plain(found))) == to_plain(found)


@pytest.mark.parametrize(
    ("groups", "message"),
    [(["unmarked"], "no group"), (["nobody"], "'nobody' has no scores")],
)
def test_what_cannot_be_checked_is_refused(groups: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        analyze_markedness(table(unmarked=[0, 0], white=[2, 0]), groups)
    with pytest.raises(ValueError, match="no row 'unmarked'"):
        analyze_markedness(table(white=[2, 0]), ["white"])
