"""Gaps in false positive rates: values derived by hand, and coverage on simulated classifiers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from evaluation.analyses.fpr_comparison import compare_models
from evaluation.analyses.fpr_counts import GapOptions, Predictions
from evaluation.analyses.fpr_gaps import (
    FEW_PLACEBOS,
    NO_MEAN,
    NO_NEGATIVES,
    NONE_IN_A_RUN,
    Gap,
    ModelGaps,
    _band,
    analyze_gaps,
)
from evaluation.analyses.fpr_inference import (
    FEW_ERRORS,
    FEW_FOR_WORDS,
    FEW_TEMPLATES,
    NO_DIFFERENCE,
    NOISE_INCLUDED,
)
from evaluation.metrics.estimate import Estimate
from probing.measures.probe_stimuli import SENTIMENT

#: Label of four templates; the groups a (two fillers) and b (one).
LABELS = (1, 1, 1, 0)
CELLS = (("a", "a1"), ("a", "a2"), ("b", "b1"))


def predictions(
    said: Sequence[Sequence[Sequence[int]]],
    *,
    cells: Sequence[tuple[str, str]] = CELLS,
    labels: Sequence[int] = LABELS,
    roles: dict[str, str] | None = None,
    templates: bool = True,
) -> Predictions:
    """Return predictions from (n_runs, n_cells, n_templates) numbers of classes."""
    rows = [
        (group, filler, str(place) if templates else "", label)
        for group, filler in cells
        for place, label in enumerate(labels)
    ]
    return Predictions(
        "m",
        "s",
        pd.DataFrame(rows, columns=["group", "filler", "template", "label"]),
        np.array([np.ravel(run) for run in said]),
        tuple(f"r{place}" for place in range(len(said))),
        roles or dict.fromkeys((group for group, _ in cells), "group"),
        SENTIMENT,
    )


def find(found: ModelGaps, group: str, filler: str = "", side: str = "negative") -> Gap:
    return next(
        gap for gap in found.gaps if (gap.group, gap.filler, gap.side) == (group, filler, side)
    )


def test_rates_and_gaps_by_hand() -> None:
    """a: 2 of 6 neutral sentences called negative, b: 0 of 3; mean 1/6; the fourth is negative."""
    found = analyze_gaps(predictions([[[0, 0, 1, 0], [1, 1, 1, 0], [1, 1, 1, 2]]]))
    a, b = find(found, "a"), find(found, "b")
    assert (a.fpr, b.fpr, a.n_sentences, a.n_negatives, a.n_fillers) == (2 / 6, 0, 8, 6, 2)
    assert (a.gap.value, b.gap.value) == pytest.approx((1 / 6, -1 / 6))
    assert find(found, "a", "a1").gap.value == pytest.approx(2 / 3 - 1 / 6)
    assert find(found, "b", side="positive").fpr == 1 / 4
    negative = next(span for span in found.spans if span.side == "negative")
    assert (negative.highest, negative.lowest) == ("a", "b")
    assert negative.span.value == pytest.approx(1 / 3)
    assert found.accuracy.mean == 9 / 12
    assert math.isnan(found.accuracy.sd)


def test_a_class_that_every_sentence_has_is_undefined_unless_released() -> None:
    """methods.md §17: the released 1e-10 on both counts gives 0.5."""
    same = predictions([[[0, 1]]], cells=(("a", "x"),), labels=(0, 0))
    two = predictions([[[0, 1], [1, 1]]], cells=(("a", "x"), ("b", "y")), labels=(0, 0))
    assert find(analyze_gaps(two), "a").gap.reason == NO_NEGATIVES
    assert find(analyze_gaps(two, GapOptions(released_eps=True)), "a").fpr == 0.5
    with pytest.raises(ValueError, match="at least two groups"):
        analyze_gaps(same)


def test_one_group_without_a_rate_leaves_all_gaps_undefined_with_a_reason() -> None:
    """b has negative sentences alone, so that there is no mean of both rates; a keeps its own."""
    cells = (("a", "x"), ("b", "y"))
    one = predictions([[[0, 1], [0, 1]]] * 2, cells=cells, labels=(1, 1))
    one.sentences.loc[one.sentences["group"] == "b", "label"] = 0
    for kind in ("simultaneous", "t", "released"):
        found = analyze_gaps(one, GapOptions(interval=kind))
        a, b = find(found, "a"), find(found, "b")
        assert (a.fpr, a.gap.reason, b.gap.reason) == (0.5, NO_MEAN, NO_NEGATIVES)
        span = next(span for span in found.spans if span.side == "negative").span
        assert (math.isnan(span.value), span.reason) == (True, NO_NEGATIVES)


def test_a_run_that_leaves_no_negatives_is_told() -> None:
    """Answers without a class are dropped: in the second run those are a's neutral sentences."""
    cells = (("a", "x"), ("b", "y"))
    whole = predictions([[[0, 1], [1, 1]]] * 2, cells=cells, labels=(1, 0))
    matched = np.ones((2, 4), dtype=bool)
    matched[1, 0] = False
    found = analyze_gaps(replace(whole, matched=matched), GapOptions(fallback="drop"))
    a, b = find(found, "a"), find(found, "b")
    assert a.n_negatives == 0  # one in the first run, none in the second
    assert (a.gap.reason, b.gap.reason) == (NO_NEGATIVES, NO_MEAN)
    cells = (("a", "x"), ("a", "z"), ("b", "y"))
    whole = predictions([[[0, 1], [0, 1], [1, 1]]] * 2, cells=cells, labels=(1, 0))
    matched = np.ones((2, 6), dtype=bool)
    matched[1, [0, 2]] = False
    found = analyze_gaps(replace(whole, matched=matched), GapOptions(fallback="drop"))
    assert find(found, "a").n_negatives == 1  # two and none
    assert find(found, "a").gap.reason == NONE_IN_A_RUN


@pytest.mark.parametrize("kind", ["simultaneous", "these-runs", "t", "released"])
def test_a_span_has_no_interval_since_noise_is_in_it(kind) -> None:
    """No group differs: 20 templates, 3 runs, one error in five drawn by chance."""
    rng = np.random.default_rng(3)
    said = np.where(rng.random((3, 4, 20)) < 0.2, 0, 1).tolist()
    cells = tuple((name, name) for name in "abcd")
    whole = predictions(said, cells=cells, labels=(1,) * 20)
    for span in analyze_gaps(whole, GapOptions(interval=kind)).spans:
        if span.span.is_defined:
            assert math.isnan(span.span.low)
            assert math.isnan(span.span.high)
            assert span.span.interval_reason == NOISE_INCLUDED


def test_groups_with_equal_gaps_are_extremes_once() -> None:
    """Two models: with one all gaps are 0, with the other a has the largest and b the smallest."""
    even = analyze_gaps(predictions([[[1, 1, 1, 0]] * 3]))
    apart = analyze_gaps(predictions([[[0, 1, 1, 0], [0, 1, 1, 0], [1, 1, 1, 0]]]))
    compared = compare_models([even, replace(apart, model="n")], GapOptions(), SENTIMENT)
    a = next(row for row in compared.extremes if (row.side, row.group) == ("negative", "a"))
    assert (a.n_highest, a.n_lowest, a.n, a.share) == (2, 1, 2, 1.0)
    neutral = [row for row in compared.extremes if row.side == "positive"]
    assert [row.share for row in neutral] == [1.0, 1.0]


def test_two_groups_have_students_interval_over_templates() -> None:
    """One run, ten templates; a is wrong with five of them, b never: gaps 1/4 and −1/4.

    D of a is 1/2 or 0, ±1/4 from its mean: v = 10 · (1/16) / 90 = 1/144. The errors of two groups
    are one with two signs, so that the critical value is that of t(9), 2.262; p of 0.25 · 12 = 3 is
    0.0150.
    """
    said = [[[0] * 5 + [1] * 5, [1] * 10]]
    whole = predictions(said, cells=(("a", "x"), ("b", "y")), labels=(1,) * 10)
    found = analyze_gaps(whole, GapOptions(n_resamples=50_000))
    a, b = find(found, "a"), find(found, "b")
    assert a.gap.value - a.gap.low == pytest.approx(2.262 / 12, rel=0.02)
    assert (b.gap.value, b.gap.high) == pytest.approx((-0.25, -a.gap.low))
    assert a.p_value == pytest.approx(0.0150, abs=0.002)
    (test,) = (test for test in found.tests if test.side == "negative")
    assert (test.question, test.p_value, test.n_templates) == ("this run", a.p_value, 10)
    assert math.isnan(test.span.low)
    assert test.span.interval_reason == NOISE_INCLUDED
    assert test.spread.low > 0
    positive = next(test for test in found.tests if test.side == "positive")
    assert (positive.reason, math.isnan(positive.p_value)) == (NO_DIFFERENCE, True)
    nine = predictions([[[0] * 5 + [1] * 4, [1] * 9]], cells=whole_cells(), labels=(1,) * 9)
    assert find(analyze_gaps(nine), "a").gap.interval_reason == FEW_TEMPLATES


def test_words_need_twice_the_templates_and_rare_errors_have_no_interval() -> None:
    """In simulated sets, intervals of words on 10 templates held all gaps 100 times in 100, as did
    those of groups with less than one false positive each."""
    said = [[[0] * 5 + [1] * 15, [0] + [1] * 19]]
    whole = predictions(said, cells=whole_cells(), labels=(1,) * 20)
    found = analyze_gaps(whole)
    assert not math.isnan(find(found, "a", "x").gap.low)
    part = predictions([[row[:19] for row in said[0]]], cells=whole_cells(), labels=(1,) * 19)
    found = analyze_gaps(part)
    assert find(found, "a", "x").gap.interval_reason == FEW_FOR_WORDS
    assert not math.isnan(find(found, "a").gap.low)
    rare = predictions([[[0] + [1] * 19, [1] * 20]], cells=whole_cells(), labels=(1,) * 20)
    a = find(analyze_gaps(rare), "a")
    assert (a.gap.value, a.gap.interval_reason) == (1 / 40, FEW_ERRORS)
    assert math.isnan(a.p_value)


def whole_cells() -> tuple[tuple[str, str], ...]:
    return (("a", "x"), ("b", "y"))


def test_missing_sentences_leave_the_interval_round_the_rate_itself() -> None:
    """b lacks its first three templates: the gap is that of the rates of what is there."""
    whole = simulate(2, runs=3, shift=1)
    frame = whole.sentences
    gone = (frame["group"] == "b") & frame["template"].isin(["0", "1", "2"])
    part = replace(whole, sentences=frame[~gone], predicted=whole.predicted[:, ~gone.to_numpy()])
    found = analyze_gaps(part)
    for gap in found.of("negative"):
        assert gap.gap.low < gap.gap.value < gap.gap.high
        assert gap.gap.value - gap.gap.low == pytest.approx(gap.gap.high - gap.gap.value)
    rates = found.of("negative")
    mean = np.mean([gap.fpr for gap in rates])
    assert [gap.gap.value for gap in rates] == pytest.approx([gap.fpr - mean for gap in rates])


@pytest.mark.parametrize("kind", ["simultaneous", "these-runs"])
def test_intervals_and_p_values_never_contradict_each_other(kind) -> None:
    """Random sets with and without gaps, 1 to 4 runs, at two levels: p small = interval off 0."""
    rng = np.random.default_rng(5)
    decided = []
    for seed in range(40):
        level = float(rng.choice([0.9, 0.95]))
        runs, shift = int(rng.integers(1, 5)), float(rng.choice([0, 0.5, 1.5]))
        options = GapOptions(kind, seed=seed, level=level, n_resamples=400, margin=0.1)
        found = analyze_gaps(simulate(seed, runs=runs, shift=shift), options)
        for gap in found.gaps:
            if not math.isnan(gap.p_value):
                assert (gap.p_value < 1 - level) == (gap.decision != 0)
                inside = gap.gap.low > -0.1 and gap.gap.high < 0.1
                assert (gap.equivalence_p < 1 - level) == inside
        asked = "this run" if runs == 1 else kind.replace("-", " ")
        asked = asked.replace("simultaneous", "runs like these")
        for test in found.tests:
            if test.question == asked and not test.reason:
                own = found.of(test.side)
                assert test.p_value == min(gap.p_value for gap in own)
                is_any = any(gap.decision for gap in own)
                assert (test.p_value < 1 - level) == is_any
                assert is_any or test.spread.low == 0
                decided.append(is_any)
    assert {True, False} == set(decided)


def test_one_run_speaks_for_itself_and_several_answer_two_questions() -> None:
    for runs, questions in ((1, ["this run"]), (3, ["runs like these", "these runs"])):
        found = analyze_gaps(simulate(1, runs=runs))
        assert [t.question for t in found.tests if t.side == "negative"] == questions
    rng = np.random.default_rng(3)
    wrong = rng.random((3, 2, 40)) < np.array([[0.7, 0.2], [0.2, 0.2], [0.2, 0.2]])[..., None]
    apart = predictions(np.where(wrong, 0, 1).tolist(), cells=whole_cells(), labels=(1,) * 40)
    like, these = (
        find(analyze_gaps(apart, GapOptions(kind)), "a").gap
        for kind in ("simultaneous", "these-runs")
    )
    assert like.value == these.value
    assert like.high - like.low > 2 * (these.high - these.low)


def test_p_of_equivalence_is_never_zero() -> None:
    """Of 2,000 draws none is beyond a margin that no gap comes near: p = 1 / 2,001."""
    found = analyze_gaps(simulate(1, runs=2), GapOptions(margin=0.9))
    assert find(found, "a").equivalence_p == 1 / 2001


def test_without_known_templates_there_is_no_interval_over_them() -> None:
    said = [[[0, 0, 1, 0], [1, 1, 1, 0], [1, 1, 1, 2]], [[0, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 2]]]
    found = find(analyze_gaps(predictions(said, templates=False)), "a")
    assert (found.gap.interval_reason, math.isnan(found.gap.low)) == (FEW_TEMPLATES, True)
    by_t = find(analyze_gaps(predictions(said, templates=False), GapOptions(interval="t")), "a").gap
    # Gaps of 1/6 and 1/12: mean 1/8, sd √2/24, half width 12.706 · 1/24.
    assert (by_t.value, by_t.high - by_t.value) == pytest.approx((1 / 8, 12.7062 / 24), abs=1e-5)


def placebo_case() -> Predictions:
    """Six placebo words with 0 to 5 of 10 false positives; groups with 9 and 1."""
    counts = {"a": 9, "b": 1, **{f"p{n}": n for n in range(6)}, "none": 2}
    roles = {group: "placebo" if group[0] == "p" else "group" for group in counts}
    roles["none"] = "unmarked"
    said = [[[0] * n + [1] * (10 - n) for n in counts.values()]]
    cells = [(group, f"word {group}") for group in counts]
    return predictions(said, cells=cells, labels=(1,) * 10, roles=roles)


def test_placebo_words_make_a_band_round_their_own_mean() -> None:
    """Distances from their mean 0.25 are 0.25, 0.15, 0.05 twice; the 95 % quantile is 0.25."""
    found = analyze_gaps(placebo_case())
    band = next(band for band in found.bands if band.side == "negative")
    assert (band.half_width, band.n) == (pytest.approx(0.25), 6)
    # The quantile has the rank 0.95 · 5 + 1 = 5.75 of six, a seventh word exceeds it in 1.25 / 7.
    assert band.by_chance == pytest.approx(1.25 / 7)
    assert find(found, "a").beyond_band is True
    assert find(found, "p0").beyond_band is None
    # The mean is over the two groups: 0.5. The unmarked sentence lies 0.3 below.
    assert find(found, "none").gap.value == pytest.approx(-0.3)
    assert analyze_gaps(predictions([[[0] * 4, [1] * 4, [1] * 4]])).bands[0].reason == FEW_PLACEBOS


@pytest.mark.parametrize("n", [5, 8, 20])
def test_few_placebo_words_leave_more_gaps_beyond_their_band_by_chance(n: int) -> None:
    """Six groups of a word each and placebos, all alike: 20 % lie beyond the band of five, not 5 %.

    Both are measured from a mean of their own, groups from that of six.
    """
    rng, beyond = np.random.default_rng(n), []
    for _ in range(2000):
        groups, placebos = rng.normal(size=6), rng.normal(size=n)
        gaps = [gap_of("placebo", f"p{place}", value) for place, value in enumerate(placebos)]
        band = _band("negative", gaps)
        beyond += list(np.abs(groups - groups.mean()) > band.half_width)
    assert np.mean(beyond) == pytest.approx(band.by_chance, abs=0.03)
    assert np.mean(beyond) > 0.06


def gap_of(role: str, group: str, value: float) -> Gap:
    return Gap(
        "negative", group, "", role, 1, 1, 1, 0.0, Estimate(value), 0.0, 0.0, 0.0, None, math.nan
    )


def test_the_surprisal_of_the_mention_is_taken_out_of_the_gaps() -> None:
    """Rates that lie on a line of the surprisal leave adjusted gaps of the groups' mean, 0."""
    case = placebo_case()
    counts = {"a": 9, "b": 1, **{f"p{n}": n for n in range(6)}}
    surprisal = {(group, f"word {group}"): 2.0 * n for group, n in counts.items()}
    found = analyze_gaps(case, surprisal=surprisal)
    fit = next(fit for fit in found.mention if fit.side == "negative")
    assert (fit.slope.value, fit.explained, fit.slope.n) == pytest.approx((0.05, 1, 8))
    assert find(found, "a").adjusted == pytest.approx(0)
    assert find(found, "b").adjusted == pytest.approx(0)
    assert math.isnan(find(found, "none").adjusted)


def simulate(seed: int, *, runs: int, shift: float = 0.0) -> Predictions:
    """Return a classifier whose errors depend on the template and, by `shift`, on group a."""
    rng = np.random.default_rng(seed)
    cells = [("a", "a1"), ("a", "a2"), ("b", "b1"), ("c", "c1")]
    shape = (runs, len(cells), 40)
    logits = rng.normal(-1, 1.5, shape[2]) + rng.normal(0, 1, shape) + rng.normal(0, 1, shape[1:])
    logits[:, :2] += shift
    said = np.where(rng.random(shape) < 1 / (1 + np.exp(-logits)), 0, 1)
    return predictions(said.tolist(), cells=cells, labels=(1,) * shape[2])


@pytest.mark.parametrize("runs", [1, 5])
def test_intervals_of_all_gaps_cover_zero_where_no_group_differs(runs: int) -> None:
    """Theory: in 95 % of 300 seeds those of all three groups, give or take 3 points."""
    covered = [
        all(
            gap.decision == 0
            for gap in analyze_gaps(
                simulate(seed, runs=runs), GapOptions(seed=seed, n_resamples=200)
            ).of("negative")
        )
        for seed in range(300)
    ]
    assert 0.92 <= np.mean(covered) <= 0.99


def test_a_planted_difference_is_found_and_is_not_equivalent() -> None:
    planted = analyze_gaps(simulate(1, runs=5, shift=2))
    assert find(planted, "a").decision == 1
    assert find(planted, "a").equivalence_p > 0.9
    none = analyze_gaps(simulate(1, runs=5), GapOptions(margin=0.3))
    assert find(none, "a").equivalence_p < 0.01
