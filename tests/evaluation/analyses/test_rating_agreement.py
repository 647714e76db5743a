"""Agreement of raters on a few cells by hand, and what cannot be said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.analyses.rating_agreement import (
    RatingAgreement,
    RatingAgreementOptions,
    analyze_rating_agreement,
)
from evaluation.metrics.undefined import UndefinedReason
from evaluation.reports.rating_agreement import NEGATIVE_HALVES, caveats

SCALES = ["warm", "rich", "modern"]
# Group → one row a rater, one value a scale.
FOUR = {"women": [[80, 20, 50], [70, 30, 60]], "men": [[10, 90, 40], [30, 70, 20]]}


def frame(groups=FOUR, *, same_people=False):
    rows = [
        (f"{'' if same_people else group}{rater}", group, scale, float(value))
        for group, raters in groups.items()
        for rater, values in enumerate(raters)
        for scale, value in zip(SCALES, values, strict=True)
        if value is not None
    ]
    return pd.DataFrame(rows, columns=["submission", "group", "scale", "value"])


def analyze(ratings, groups=("women", "men"), **options):
    return analyze_rating_agreement(
        ratings,
        groups=list(groups),
        scales=SCALES,
        dimensions={"warm": "communion", "rich": "agency", "modern": "beliefs"},
        options=RatingAgreementOptions(**({"n_resamples": 50, "n_splits": 20} | options)),
    )


def plain_alpha(units):
    """1 − D_o / D_e with squared differences, from the definition (Krippendorff 2019, ch. 12)."""
    units = [values for values in units if len(values) > 1]
    everything = [value for values in units for value in values]
    n = len(everything)
    observed = sum(
        (a - b) ** 2 / (len(values) - 1) for values in units for a in values for b in values
    )
    expected = sum((a - b) ** 2 for a in everything for b in everything) / (n - 1)
    return 1 - observed / expected


def columns(raters):
    return [list(values) for values in zip(*raters, strict=True)]


def test_alpha_takes_scales_within_a_group_and_all_cells_overall():
    found = analyze(frame())
    by_group = {row.group: row for row in found.groups}
    for group, raters in FOUR.items():
        assert by_group[group].alpha.value == pytest.approx(plain_alpha(columns(raters)))
        assert (by_group[group].n_raters, by_group[group].alpha.n_units) == (2, 3)
    cells = [unit for raters in FOUR.values() for unit in columns(raters)]
    assert found.overall.value == pytest.approx(plain_alpha(cells))
    assert (found.overall.measurement, found.overall.n_values) == ("interval", 12)
    assert [alpha.measurement for alpha in found.levels] == [
        "nominal",
        "ordinal",
        "interval",
        "ratio",
    ]


def test_a_scale_has_the_groups_for_units_and_a_dimension_its_cells():
    found = analyze(frame())
    warm = next(row.alpha for row in found.scales if row.scale == "warm")
    assert warm.value == pytest.approx(plain_alpha([[80, 70], [10, 30]]))
    communion = next(row.alpha for row in found.dimensions if row.dimension == "communion")
    assert communion.value == warm.value


def test_who_rates_two_groups_is_one_person():
    assert analyze(frame()).n_raters == 4
    assert analyze(frame(same_people=True)).n_raters == 2


def test_two_raters_have_one_split_whichever_half_is_the_first():
    # Pearson's r of the two profiles is the same in either order.
    women = {"women": FOUR["women"]}
    found = analyze(frame(women), groups=["women"]).groups[0].split_half
    r = np.corrcoef(*np.array(FOUR["women"], dtype=float))[0, 1]
    assert (found.r, found.spearman_brown) == pytest.approx((r, 2 * r / (1 + r)))
    assert (found.sd, found.n_raters, found.n_splits) == (pytest.approx(0, abs=1e-12), 2, 20)


def test_whoever_left_a_scale_out_is_in_alpha_and_in_no_half():
    raters = {"women": [[80, 20, 50], [70, None, 60], [75, 30, 55]]}
    found = analyze(frame(raters), groups=["women"]).groups[0]
    assert (found.n_raters, found.split_half.n_raters) == (3, 2)
    assert found.alpha.value == pytest.approx(plain_alpha([[80, 70, 75], [20, 30], [50, 60, 55]]))


@pytest.mark.parametrize(
    ("raters", "alpha", "halves"),
    [
        ([[80, 20, 50]], UndefinedReason.NO_UNIT_TWICE, UndefinedReason.ONE_COMPLETE_RATER),
        ([[50, 50, 50]] * 3, UndefinedReason.NO_VARIATION, UndefinedReason.FEW_SPLITS),
    ],
    ids=["one rater", "everything alike"],
)
def test_what_cannot_be_said_has_a_reason(raters, alpha, halves):
    found = analyze(frame({"women": raters}), groups=["women"])
    assert (found.overall.reason, found.split_half.reason) == (alpha, halves)
    assert np.isnan([found.overall.value, found.split_half.r]).all()


def test_leaving_out_a_group_moves_no_number_of_another():
    rng = np.random.default_rng(1)
    many = {name: rng.integers(0, 101, (8, 3)).tolist() for name in ("women", "men", "trans")}
    rows = {}
    for groups in (("women", "men", "trans"), ("trans", "men")):
        rows[groups] = {row.group: row for row in analyze(frame(many), groups=groups).groups}
    (whole, fewer) = rows.values()
    for group in ("trans", "men"):
        assert to_plain(whole[group]) == to_plain(fewer[group])


def test_the_result_survives_storage():
    found = analyze(frame())
    assert to_plain(from_plain(RatingAgreement, to_plain(found))) == to_plain(found)


def test_halves_that_disagree_carry_a_caveat() -> None:
    """Two people rate one way and two the other: r of the two profiles is −4550/√(5075 · 4100).

    A third of the splits sets like beside like and has that r, −0.9975, of which Spearman–Brown is
    −797; all others have the same mixed profile in either half and r = 1.
    """
    up, down = (0.0, 50.0, 100.0, 40.0), (100.0, 50.0, 10.0, 60.0)
    rows = [
        (f"s{person}", "one", f"scale-{place}", value)
        for person, profile in enumerate([up, up, down, down])
        for place, value in enumerate(profile)
    ]
    ratings = pd.DataFrame(rows, columns=["submission", "group", "scale", "value"])
    scales = [f"scale-{place}" for place in range(4)]
    options = RatingAgreementOptions(n_resamples=0, n_splits=60)
    torn = analyze_rating_agreement(ratings, groups=["one"], scales=scales, options=options)
    assert torn.split_half.spearman_brown < torn.split_half.r
    assert NEGATIVE_HALVES in caveats(torn)
    alike = ratings[ratings["submission"].isin(["s0", "s1"])]
    alike = pd.concat([alike, alike.assign(submission=alike["submission"] + "b")])
    agreed = analyze_rating_agreement(alike, groups=["one"], scales=scales, options=options)
    assert (agreed.split_half.r, agreed.split_half.spearman_brown) == pytest.approx((1, 1))
    assert NEGATIVE_HALVES not in caveats(agreed)
