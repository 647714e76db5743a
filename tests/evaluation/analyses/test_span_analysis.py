"""Hidden spans: means over trials and percent changes, by hand and from the paper's table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.analyses.span_analysis import (
    SpanLeftOut,
    SpanOptions,
    SpanResult,
    analyze_spans,
)
from evaluation.metrics.undefined import UndefinedReason

NAN = float("nan")


def frame(cells, model="m", name="span_perplexity", condition="random"):
    """Return values from {variety: [[trial 0 of each pair], [trial 1 of each pair] …]}."""
    rows = [
        (
            model,
            name,
            f"p{pair}",
            variety,
            condition,
            trial,
            value,
            "" if value == value else "none",
        )
        for variety, trials in cells.items()
        for trial, values in enumerate(trials)
        for pair, value in enumerate(values)
    ]
    columns = ["model", "name", "pair", "variety", "condition", "trial", "value", "reason"]
    return pd.DataFrame(rows, columns=columns)


def test_a_cell_is_the_mean_over_trials_of_means_over_texts():
    found = analyze_spans(frame({"AAL": [[10, 20, NAN], [30, 50, 10]], "WME": [[8], [12]]}))
    # AAL: trial 0 is 15 over two texts, trial 1 is 30 over three; mean 22.5, sd 15/√2.
    cell = found.cells[0]
    assert (cell.variety, cell.trial_means) == ("AAL", (15, 30))
    assert (cell.estimate.value, cell.estimate.n, cell.n_left_out) == (22.5, 3, 1)
    assert cell.sd == pytest.approx(15 / np.sqrt(2))
    assert found.left_out == (SpanLeftOut("m", "random", "AAL", "none", 1),)
    # The first pair alone has both: AAL (10 + 30)/2, WME (8 + 12)/2.
    (change,) = found.changes
    assert change.estimate.value == pytest.approx(100 * (10 - 20) / 20)
    assert (change.estimate.n, change.n_left_out) == (1, 2)


@pytest.mark.parametrize(
    ("aal", "wme", "percent"),
    # Deas et al. (2023) Table 11, perplexity of T5: random, noun and verb; percentages by hand.
    [(1737.79, 1691.58, -2.659), (3657.64, 3391.09, -7.287), (2420.74, 2144.63, -11.406)],
)
def test_percent_change_of_the_printed_table(aal, wme, percent):
    found = analyze_spans(frame({"AAL": [[aal] * 3] * 5, "WME": [[wme] * 3] * 5}))
    estimate = found.changes[0].estimate
    assert estimate.value == pytest.approx(percent, abs=5e-4)
    # Without spread every resample gives the same, and there is no interval.
    assert (np.isnan(estimate.low), estimate.interval_reason) == (True, UndefinedReason.ALL_ALIKE)


def test_resamples_keep_the_two_texts_of_a_pair_together():
    # WME is half of AAL in every pair but the first, where it is a little more: about −50 % in each
    # resample, though texts differ widely.
    aal = np.random.default_rng(0).exponential(100, size=(5, 40))
    wme = aal / 2
    wme[:, 0] *= 1.01
    found = analyze_spans(frame({"AAL": aal.tolist(), "WME": wme.tolist()}))
    estimate = found.changes[0].estimate
    assert (estimate.low, estimate.high) == pytest.approx((-50, -50), abs=0.2)
    assert estimate.low < estimate.high
    assert found.cells[0].estimate.low < found.cells[0].estimate.high


def test_models_and_conditions_stay_apart():
    both = pd.concat(
        [
            frame({"AAL": [[1, 2]], "WME": [[2, 4]]}, model="a"),
            frame({"AAL": [[2, 2]], "WME": [[1, 1]]}, model="b", condition="noun"),
        ]
    )
    found = analyze_spans(both)
    assert [(c.model, c.condition, c.estimate.value) for c in found.changes] == [
        ("a", "random", 100),
        ("b", "noun", -50),
    ]
    assert (found.models, found.conditions) == (("a", "b"), ("random", "noun"))


def test_what_cannot_be_said_has_a_reason():
    found = analyze_spans(frame({"AAL": [[NAN, NAN]], "WME": [[3, 4]]}))
    missing, there = found.cells
    assert (missing.estimate.n, missing.estimate.reason) == (0, UndefinedReason.NO_VALUES)
    assert (there.estimate.value, there.sd_reason) == (3.5, UndefinedReason.ONE_TRIAL)
    assert np.isnan(found.changes[0].estimate.value)
    zero = analyze_spans(frame({"AAL": [[0.0, 0.0]], "WME": [[3, 4]]}))
    assert zero.changes[0].estimate.reason == UndefinedReason.NO_PERCENTAGE


def test_varieties_that_share_no_pair_have_no_change_but_a_reason():
    found = analyze_spans(frame({"AAL": [[1, NAN]], "WME": [[NAN, 2]]}))
    (change,) = found.changes
    assert (change.estimate.reason, change.n_left_out) == (UndefinedReason.NO_PAIR, 2)


def test_one_variety_alone_has_no_change():
    found = analyze_spans(frame({"AAL": [[1, 2]]}))
    assert len(found.cells) == 1
    assert found.changes[0].estimate.reason == UndefinedReason.NO_VALUES


def test_the_result_survives_storage():
    found = analyze_spans(frame({"AAL": [[1, NAN]], "WME": [[2, 4]]}), SpanOptions(seed=4))
    assert to_plain(from_plain(SpanResult, to_plain(found))) == to_plain(found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.drop(columns="trial"), "lack the columns trial"),
        (lambda rows: rows.iloc[:0], "no values"),
        (lambda rows: rows.assign(value=np.inf), "infinite"),
        (lambda rows: pd.concat([rows, rows]), "twice in one trial"),
        (lambda rows: rows.assign(variety="Scots"), "in Scots cannot be compared"),
    ],
)
def test_bad_input_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        analyze_spans(change(frame({"AAL": [[1, 2]]})))
