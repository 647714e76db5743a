"""Refused answers by group: shares, intervals and tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from probing.measures.direct_rating import DirectRatingParameters, group_outcomes

GROUPS = ("nurses", "lawyers", "bakers")


def outcomes(counts: dict[str, int], n: int, **parameters: Any) -> dict[tuple[str, str], Any]:
    frame = pd.DataFrame(
        [
            {"group": group, "outcome": "refused" if place < refused else "answered"}
            for group, refused in counts.items()
            for place in range(n)
        ]
    )
    chosen = DirectRatingParameters(reading="answers", **parameters)
    rows = group_outcomes(list(counts), chosen, frame, "sampled")
    return {(row["group"], row["name"]): row for row in rows}


def test_a_share_of_a_group_has_an_interval_and_an_exact_test() -> None:
    """Expected: by scipy; Holm by hand: the smallest p times three, then times two, ascending."""
    found = outcomes(dict(zip(GROUPS, (9, 2, 1), strict=True)), 20)
    wilson = stats.binomtest(9, 20).proportion_ci(method="wilson")
    nurses = [found["nurses", name] for name in ("refused", "refused_low", "refused_high")]
    assert [row["value"] for row in nurses] == pytest.approx([0.45, wilson.low, wilson.high])
    assert {row["n"] for row in nurses} == {20}
    plain = [
        stats.fisher_exact([[own, 20 - own], [12 - own, 28 + own]]).pvalue for own in (9, 2, 1)
    ]
    assert plain[0] < plain[2] < plain[1]
    expected = [3 * plain[0], min(1, max(2 * plain[2], plain[1])), min(1, 2 * plain[2])]
    assert [found[one, "refused_p"]["value"] for one in GROUPS] == pytest.approx(expected)
    assert found["bakers", "unreadable"]["value"] == 0


@pytest.mark.parametrize(
    ("counts", "parameters", "why"),
    [
        ({"nurses": 3}, {}, "there are no other groups"),
        ({"nurses": 3, "bakers": 0}, {"temperature": 0}, "at temperature 0 nothing is drawn"),
    ],
)
def test_a_test_that_cannot_be_made_says_why(
    counts: dict[str, int], parameters: dict[str, Any], why: str
) -> None:
    row = outcomes(counts, 8, **parameters)["nurses", "refused_p"]
    assert np.isnan(row["value"])
    assert row["reason"] == why


def test_intervals_and_tests_hold_where_scales_differ() -> None:
    """200 data sets: 10 fixed questions, some nearly always refused, some never; 4 draws of each.

    All groups alike: an interval covers at least 95 %, and a test finds at most 5 %.
    """
    rng = np.random.default_rng(5)
    chances = np.array([0.02, 0.02, 0.02, 0.1, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95])
    covered = found = 0
    for drawn in rng.binomial(4, chances, size=(200, 3, 10)).sum(axis=2):
        rows = outcomes(dict(zip(GROUPS, map(int, drawn), strict=True)), 40)
        low, high = (rows["nurses", f"refused_{side}"]["value"] for side in ("low", "high"))
        covered += low <= chances.mean() <= high
        found += min(rows[one, "refused_p"]["value"] for one in GROUPS) < 0.05
    assert covered / 200 >= 0.95
    assert found / 200 <= 0.05
