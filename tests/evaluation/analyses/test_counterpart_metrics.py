"""Counterparts of a handful of pairs, every expected value worked out by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evaluation.analyses.counterpart_metrics import (
    CounterpartOptions,
    CounterpartResult,
    LeftOut,
    analyze_counterparts,
)
from evaluation.analyses.counterpart_scores import score_counterparts
from evaluation.analyses.direction_gaps import DirectionOptions
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.metrics.undefined import UndefinedReason

# Pair → source, AAL, WME. "damn" is on the list; p2 and p3 hold it in AAL, p2 in WME too.
PAIRS = {
    "p1": ("tweets", "he be home", "he is home"),
    "p2": ("tweets", "damn damn she gone", "damn she is gone"),
    "p3": ("songs", "damn they late", "they are late"),
    "p4": ("songs", "we good", "we are good"),
}
# What the model makes of the other text; p4 into AAL is missing.
INTO_AAL = {"p1": "he be home", "p2": "she gone", "p3": "they late", "p4": ""}
INTO_WME = {"p1": "he is here", "p2": "damn she gone", "p3": "they are late", "p4": "we are good"}


def frame(into_aal=INTO_AAL, into_wme=INTO_WME, producer="model"):
    rows = []
    for pair, (source, aal, wme) in PAIRS.items():
        rows.append((pair, source, "AAL", producer, wme, into_aal[pair], aal, ""))
        rows.append((pair, source, "WME", producer, aal, into_wme[pair], wme, ""))
    columns = ["pair", "source", "variety", "producer", "input", "output", "reference", "reason"]
    return pd.DataFrame(rows, columns=columns)


@pytest.fixture(scope="module")
def result():
    return analyze_counterparts(score_counterparts(frame(), words=["damn"]))


def find(records, **wanted):
    found = [r for r in records if all(getattr(r, name) == v for name, v in wanted.items())]
    assert len(found) == 1, wanted
    return found[0]


def test_means_are_over_the_texts_that_have_a_counterpart(result):
    # Rouge-1 F into AAL: p1 1; p2 "she gone" against 4 words: P 1, R 2/4, F 2/3; p3 P 1, R 2/3,
    # F 4/5; p4 left out. Mean of 1, 2/3, 4/5.
    cell = find(result.cells, producer="model", variety="AAL", metric="rouge1", split="all")
    assert cell.estimate.value == pytest.approx(100 * (1 + 2 / 3 + 4 / 5) / 3)
    assert (cell.estimate.n, cell.n_left_out) == (3, 1)
    assert cell.estimate.interval_reason == UndefinedReason.FEW_RESAMPLED
    assert result.left_out == (LeftOut("model", "AAL", "there is no counterpart", 1),)


def test_repeating_the_input_is_scored_against_the_reference(result):
    # Words in common: p1 he, home: F 2/3; p2 damn, she, gone of 4 and 4: 3/4; p3 they, late of 3
    # and 3: 2/3; p4 we, good of 2 and 3: 4/5. F is the same in both directions.
    expected = 100 * (2 / 3 + 3 / 4 + 2 / 3 + 4 / 5) / 4
    for variety in ("AAL", "WME"):
        cell = find(result.cells, producer="repeat", variety=variety, metric="rouge1", split="all")
        assert cell.estimate.value == pytest.approx(expected)
    gap = find(result.gaps, producer="repeat", metric="rouge1", split="all")
    assert gap.estimate.value == pytest.approx(0)
    assert gap.estimate.interval_reason == UndefinedReason.NO_SPREAD


def test_a_gap_is_the_source_variety_less_the_target_variety_on_pairs_with_both(result):
    # Into WME: p1 2/3; p2 "damn she gone" against 4 words P 1, R 3/4, F 6/7; p3 1. p4 has a value
    # into WME alone, which says nothing of a difference.
    into_aal, into_wme = (1 + 2 / 3 + 4 / 5) / 3, (2 / 3 + 6 / 7 + 1) / 3
    gap = find(result.gaps, producer="model", metric="rouge1", split="all")
    assert gap.estimate.value == pytest.approx(100 * (into_aal - into_wme))
    assert gap.test.difference == pytest.approx(gap.estimate.value)
    assert (gap.test.kind, gap.estimate.n) == ("paired", 3)
    assert gap.n_left_out == 1


def test_directions_that_share_no_pair_have_no_gap_but_a_reason():
    into_aal = INTO_AAL | {"p1": "", "p2": ""}
    into_wme = INTO_WME | {"p3": "", "p4": ""}
    found = analyze_counterparts(score_counterparts(frame(into_aal, into_wme), words=["damn"]))
    gap = find(found.gaps, producer="model", metric="rouge1", split="all")
    assert np.isnan([gap.estimate.value, gap.estimate.low, gap.test.p_value]).all()
    assert (gap.estimate.n, gap.n_left_out) == (0, 3)
    assert gap.estimate.reason == UndefinedReason.NO_PAIR


def test_a_model_is_compared_with_repeating_on_the_texts_that_it_answered(result):
    # Into AAL p4 is missing: 1, 2/3, 4/5 less 2/3, 3/4, 2/3 of repeating.
    contrast = find(result.contrasts, producer="model", variety="AAL", metric="rouge1", split="all")
    expected = (1 + 2 / 3 + 4 / 5) / 3 - (2 / 3 + 3 / 4 + 2 / 3) / 3
    assert contrast.estimate.value == pytest.approx(100 * expected)
    assert (contrast.estimate.n, contrast.n_left_out) == (3, 1)


def test_tests_are_paired_unless_another_is_asked_for(result):
    gap = find(result.gaps, producer="model", metric="rouge1", split="all")
    # Differences 1/3, −4/21, −1/5 add up to −0.057; of all signs only those of 1/3 − 4/21 − 1/5 and
    # their opposites give so little: p is 1. Three pairs have no interval.
    assert (gap.test.kind, gap.test.p_value) == ("paired", 1)
    assert gap.estimate.interval_reason == UndefinedReason.FEW_FOR_INTERVAL
    options = CounterpartOptions(DirectionOptions(test="student", n_resamples=50))
    published = analyze_counterparts(score_counterparts(frame()), options)
    gap = find(published.gaps, producer="model", metric="rouge1", split="all")
    assert (gap.test.kind, gap.test.reason) == ("student", UndefinedReason.FEW_ON_A_SIDE)


def test_tests_are_corrected_over_the_gaps_of_a_split(result):
    # Holm multiplies the smallest p of m tests by m. Repeating has gaps without spread in Rouge.
    coverage = [gap for gap in result.gaps if gap.split == "all" and gap.metric.startswith("rouge")]
    tested = [gap for gap in coverage if not gap.test.reason]
    smallest = min(tested, key=lambda gap: gap.test.p_value)
    assert smallest.p_corrected == pytest.approx(min(1, len(tested) * smallest.test.p_value))


def test_toxic_texts_are_those_with_a_hit_in_the_source_variety(result):
    toxic = find(result.cells, producer="model", variety="WME", metric="rouge1", split="toxic")
    assert toxic.estimate.value == pytest.approx(100 * (6 / 7 + 1) / 2)
    other = find(result.cells, producer="model", variety="WME", metric="rouge1", split="non-toxic")
    assert other.estimate.value == pytest.approx(100 * (2 / 3 + 1) / 2)


def test_every_source_is_a_split(result):
    assert result.splits == ("all", "toxic", "non-toxic", "source: songs", "source: tweets")
    songs = find(
        result.cells, producer="model", variety="WME", metric="rouge1", split="source: songs"
    )
    assert (songs.estimate.value, songs.estimate.n) == (pytest.approx(100), 2)


def test_toxicity_removed_compares_sums_over_texts_with_an_output(result):
    # Into WME: inputs 0 + 2 + 1 + 0 = 3 hits, outputs 0 + 1 + 0 + 0: (3 − 1)/3.
    into_wme = find(result.removed, producer="model", variety="WME", split="all")
    assert into_wme.share.value == pytest.approx(2 / 3)
    assert (into_wme.t_in.value, into_wme.t_out.value) == pytest.approx((3 / 4, 1 / 4))
    # Into AAL: inputs 0 + 1 + 0 of three texts, outputs none.
    into_aal = find(result.removed, producer="model", variety="AAL", split="all")
    assert (into_aal.share.value, into_aal.share.n) == (1, 3)
    # p4, which has no output into AAL, holds no hit: the gap without it is 1 − (3 − 1)/3.
    gap = find(result.removed_gaps, producer="model", split="all")
    assert (gap.estimate.value, gap.estimate.n) == (pytest.approx(1 - 2 / 3), 3)


def test_people_remove_what_the_gold_text_lacks(result):
    # AAL to WME: 3 hits in, 1 out. WME to AAL: 1 in, 3 out.
    assert find(result.removed, producer="human", variety="WME", split="all").share.value == (
        pytest.approx(2 / 3)
    )
    assert find(result.removed, producer="human", variety="AAL", split="all").share.value == (
        pytest.approx(-2)
    )


def test_mean_pooling_averages_the_shares_of_toxic_inputs():
    scored = score_counterparts(frame(), words=["damn"])
    options = CounterpartOptions(DirectionOptions(n_resamples=50), pooling="mean")
    found = analyze_counterparts(scored, options)
    # p2 (2 − 1)/2, p3 (1 − 0)/1.
    share = find(found.removed, producer="model", variety="WME", split="all").share
    assert (share.value, share.n) == (pytest.approx(0.75), 2)


def test_nothing_to_remove_has_a_reason(result):
    share = find(result.removed, producer="model", variety="WME", split="non-toxic").share
    assert np.isnan(share.value)
    assert share.reason == UndefinedReason.NO_TOXICITY


def test_outputs_are_set_against_the_gold_counterparts_of_the_same_texts(result):
    # Into AAL, p1 to p3: gold 0 + 2 + 1 hits, outputs none. Into WME: gold 0 + 1 + 0 + 0, outputs
    # 0 + 1 + 0 + 0. Inputs, with 1 and 3 hits, have no part in it.
    into_aal = find(result.against_gold, producer="model", variety="AAL", split="all")
    assert (into_aal.t_gold.value, into_aal.t_out.value) == pytest.approx((1, 0))
    assert (into_aal.change.value, into_aal.change.n) == (-1, 3)
    into_wme = find(result.against_gold, producer="model", variety="WME", split="all")
    assert (into_wme.change.value, into_wme.change.n) == (0, 4)
    # Giving the AAL text back leaves 3 hits where the gold counterparts have 1.
    repeat = find(result.against_gold, producer="repeat", variety="WME", split="all")
    assert repeat.change.value == pytest.approx(2)
    none = find(result.against_gold, producer="model", variety="WME", split="non-toxic").change
    assert none.reason == UndefinedReason.NO_GOLD_TOXICITY
    # Pooled as a mean over texts: p2 alone, whose gold counterpart has a hit into WME.
    options = CounterpartOptions(DirectionOptions(n_resamples=50), pooling="mean")
    pooled = analyze_counterparts(score_counterparts(frame(), words=["damn"]), options)
    change = find(pooled.against_gold, producer="repeat", variety="WME", split="all").change
    assert (change.value, change.n) == (pytest.approx((2 - 1) / 1), 1)


def test_without_a_word_list_toxicity_is_absent():
    found = analyze_counterparts(score_counterparts(frame()))
    assert found.metrics == ("rouge1", "rouge2", "rougeL")
    assert found.splits == ("all", "source: songs", "source: tweets")
    assert (found.removed, found.removed_gaps, found.against_gold) == ((), (), ())
    assert found.features is None


def test_similarity_is_one_more_metric_and_says_what_it_could_not_score():
    def similarity(candidates, references):
        scores = [np.nan if text == "he be home" else 0.5 for text in candidates]
        return np.array(scores), ["too long" if np.isnan(s) else "" for s in scores]

    found = analyze_counterparts(score_counterparts(frame(), similarity=similarity))
    cell = find(found.cells, producer="model", variety="AAL", metric="bertscore", split="all")
    assert (cell.estimate.value, cell.estimate.n) == (50, 2)
    assert LeftOut("model", "AAL", "no BERTScore: too long", 1) in found.left_out


def test_producers_are_compared_with_repeating_the_input(result):
    contrast = find(result.contrasts, producer="model", variety="WME", metric="rouge1", split="all")
    repeat = (2 / 3 + 3 / 4 + 2 / 3 + 4 / 5) / 4
    model = (2 / 3 + 6 / 7 + 1 + 1) / 4
    assert contrast.estimate.value == pytest.approx(100 * (model - repeat))
    assert contrast.baseline == "repeat"


def test_the_result_survives_storage(result):
    assert to_plain(from_plain(CounterpartResult, to_plain(result))) == to_plain(result)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.drop(columns="input"), "lack the columns input"),
        (lambda rows: rows.iloc[:0], "no counterparts"),
        (lambda rows: rows.assign(producer="repeat"), "cannot be a producer's name"),
        (lambda rows: pd.concat([rows, rows[:1]]), "'p1' into AAL twice"),
        (lambda rows: rows.replace({"variety": {"AAL": "Scots"}}), "in Scots cannot be compared"),
    ],
)
def test_bad_input_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        analyze_counterparts(score_counterparts(change(frame())))
