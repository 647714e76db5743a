"""The markedness check on tables whose answers follow by hand."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from scipy import stats

from evaluation.analyses.markedness import (
    NO_DEVIATION,
    TOO_FEW_GROUPS,
    Markedness,
    MarkednessOptions,
    analyse_markedness,
)
from evaluation.analyses.plain_record import from_plain, to_plain


def table(**rows: list[float]) -> pd.DataFrame:
    return pd.DataFrame.from_dict(rows, orient="index", columns=["a", "b"])


def test_groups_that_all_deviate_alike_are_explained_by_mention() -> None:
    scores = table(unmarked=[1, 1], white=[3, 0], black=[3, 0], asian=[3, 0])
    found = analyse_markedness(scores, ["white", "black", "asian"])
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
    found = analyse_markedness(scores, ["white", "black", "asian"], MarkednessOptions(level=0.9))
    wanted = stats.ttest_1samp([2, 3, 5], 0).confidence_interval(0.9)
    row = found.by_trait[0]
    assert (row.low, row.high) == pytest.approx((wanted.low, wanted.high))
    one = analyse_markedness(scores, ["white"]).by_trait[0]
    assert math.isnan(one.low)


def test_a_group_that_goes_its_own_way_is_not_explained() -> None:
    """Deviations (2, 0), (2, 0), (0, 4). For the third, the others' mean is (2, 0).

    1 − ((0 − 2)² + (4 − 0)²) / (0² + 4²) = 1 − 20/16. For the first: the others' mean is (1, 2),
    1 − (1² + 2²) / 2² = −1/4.
    """
    scores = table(unmarked=[0, 0], white=[2, 0], black=[2, 0], asian=[0, 4])
    found = {
        row.group: row for row in analyse_markedness(scores, ["white", "black", "asian"]).by_group
    }
    assert found["asian"].explained == pytest.approx(1 - 20 / 16)
    assert found["white"].explained == pytest.approx(-1 / 4)


def test_a_missing_score_leaves_its_trait_out_and_is_counted() -> None:
    scores = table(unmarked=[0, 0], white=[2, math.nan], black=[2, 1], asian=[2, 1])
    found = analyse_markedness(scores, ["white", "black", "asian"])
    assert [row.n_traits for row in found.by_group] == [1, 2, 2]
    assert found.n_cells == 5


def test_one_group_alone_has_nobody_to_compare_with() -> None:
    found = analyse_markedness(table(unmarked=[0, 0], white=[2, 0]), ["white"])
    assert found.by_group[0].reason == TOO_FEW_GROUPS
    assert found.by_group[0].deviation == pytest.approx(math.sqrt(2))
    assert found.reason == TOO_FEW_GROUPS


def test_no_deviation_has_no_share() -> None:
    found = analyse_markedness(
        table(unmarked=[1, 1], white=[1, 1], black=[2, 1]), ["white", "black"]
    )
    assert math.isnan(found.by_group[0].explained)
    assert found.by_group[0].reason == NO_DEVIATION
    assert to_plain(from_plain(Markedness, to_plain(found))) == to_plain(found)


def test_the_seed_gives_the_interval() -> None:
    scores = table(unmarked=[0, 0], white=[2, 0], black=[2, 1], asian=[1, 4])
    groups = ["white", "black", "asian"]
    assert analyse_markedness(scores, groups) == analyse_markedness(scores, groups)
    row = analyse_markedness(scores, groups, MarkednessOptions(n_resamples=500)).by_group[1]
    assert row.low <= row.explained <= row.high


@pytest.mark.parametrize(
    ("groups", "message"),
    [(["unmarked"], "no group"), (["nobody"], "'nobody' has no scores")],
)
def test_what_cannot_be_checked_is_refused(groups: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        analyse_markedness(table(unmarked=[0, 0], white=[2, 0]), groups)
    with pytest.raises(ValueError, match="no row 'unmarked'"):
        analyse_markedness(table(white=[2, 0]), ["white"])
