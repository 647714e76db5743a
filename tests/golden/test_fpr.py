"""False positive rates, gaps and spans against golden/expected/fpr_amazon.json and the paper.

Those values were recomputed from the predictions that Kohankhaki et al. released; the spans of
Table 4 and the white extremes from their stored tables of gaps.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evaluation.analyses.fpr_comparison import MeanGap, average_spans, count_extremes, size_gaps
from evaluation.analyses.fpr_counts import GapOptions, Predictions
from evaluation.analyses.fpr_gaps import ModelGaps, analyze_gaps
from probing.measures.probe_stimuli import SENTIMENT

pytestmark = pytest.mark.shared

SIDES = ("negative", "positive")
SETS = ("amazon", "ns_prompts", "regard")


@pytest.fixture(scope="module")
def golden(shared_dir: Path) -> dict[str, Any]:
    file = shared_dir / "golden" / "expected" / "fpr_amazon.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def published(shared_dir: Path) -> dict[str, Any]:
    file = shared_dir / "golden" / "expected" / "published_values.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))["kohankhaki"]
    return found


def analyze(shared_dir: Path, model: str, **options: Any) -> ModelGaps:
    frame = pd.read_csv(shared_dir / "golden" / "data" / "fpr_amazon.csv")
    columns = [name for name in frame if name.startswith(f"{model}:")]
    sentences = pd.DataFrame(
        {"group": frame["group"], "filler": "", "template": "", "label": frame["y_true"]}
    )
    predictions = Predictions(
        model,
        "amazon",
        sentences,
        frame[columns].to_numpy().T,
        tuple(name.partition(":")[2] for name in columns),
        dict.fromkeys(frame["group"], "group"),
        SENTIMENT,
    )
    return analyze_gaps(predictions, GapOptions(n_resamples=0, **options))


def stored_gaps(shared_dir: Path, name: str) -> pd.DataFrame:
    file = shared_dir / "data" / "fpr_gap" / "stats_files" / f"{name}_gaps.csv"
    return pd.read_csv(file, skiprows=[1])


@pytest.mark.parametrize("model", ["Llama-3-8B", "RoBERTa-125M"])
def test_rates_and_gaps_match_the_released_predictions(
    shared_dir: Path, golden: dict[str, Any], model: str
) -> None:
    found = analyze(shared_dir, model)
    expected = golden["exact"][model]
    for rate in found.rates:
        stated = expected["per_run"][rate.run][rate.group]
        assert rate.fpr == pytest.approx(stated[f"{rate.side}_fpr"], abs=1e-9)
        assert rate.accuracy == pytest.approx(stated["accuracy"], abs=1e-9)
        if rate.side in SIDES:
            assert rate.gap == pytest.approx(stated[f"{rate.side}_gap"], abs=1e-9)
    for side in SIDES:
        for gap in found.of(side):
            stated = expected["per_group"][gap.group][f"{side}_gap"]
            assert gap.gap.value == pytest.approx(stated["mean"], abs=1e-9)
            assert gap.sd == pytest.approx(stated["sd"], abs=1e-9)
            assert gap.released_half_width == pytest.approx(
                stated["half_width_normal_1.96"], abs=1e-9
            )
            assert gap.t_half_width == pytest.approx(stated["half_width_t"], abs=1e-9)
        span = next(span for span in found.spans if span.side == side)
        assert span.span.value == pytest.approx(expected["gap_span"][side], abs=1e-9)
    stated = golden["accuracy"][model]
    assert found.accuracy.mean == pytest.approx(stated["mean"], abs=1e-9)
    assert found.accuracy.sd == pytest.approx(stated["sd_ddof1"], abs=1e-9)


@pytest.mark.parametrize("model", ["Llama-3-8B", "RoBERTa-125M"])
def test_decisions_match_with_the_released_interval(
    shared_dir: Path, golden: dict[str, Any], model: str
) -> None:
    found = analyze(shared_dir, model, interval="released")
    for side in SIDES:
        for gap in found.of(side):
            stated = golden["exact"][model]["per_group"][gap.group][f"{side}_gap"]
            assert gap.decision == stated["decision_normal"]


@pytest.mark.parametrize("model", ["Llama-3-8B", "RoBERTa-125M"])
def test_released_rates_give_the_stored_tables_to_double_precision(
    shared_dir: Path, model: str
) -> None:
    """published_values.json: amazon_gaps.csv is reproduced to 1e-16."""
    stored = stored_gaps(shared_dir, "amazon").set_index(["model", "group"])
    found = analyze(shared_dir, model, released_eps=True)
    for side in SIDES:
        for gap in found.of(side):
            row = stored.loc[model, gap.group]
            assert abs(gap.gap.value - row[f"{side}_FPR_gap"]) <= 1.2e-16
            assert abs(gap.released_half_width - row[f"{side}_FPR_gap_width"]) <= 1.2e-16


def all_gaps(shared_dir: Path) -> list[MeanGap]:
    return [
        MeanGap(str(row["model"]), name, side, str(row["group"]), float(row[f"{side}_FPR_gap"]))
        for name in SETS
        for _, row in stored_gaps(shared_dir, name).iterrows()
        for side in SIDES
    ]


def test_spans_match_table_4(shared_dir: Path, published: dict[str, Any]) -> None:
    spans = average_spans(all_gaps(shared_dir))
    assert len(spans) == 22
    for span in spans:
        stated = published["table_4_average_spans"]["values"][span.side][span.model]
        np.testing.assert_allclose(span.by_set, [stated[name] for name in SETS], atol=1e-9)
        assert span.average == pytest.approx(stated["average"], abs=1e-9)
    largest = max(
        (span for span in spans if span.side == "negative"), key=lambda span: span.average
    )
    assert (largest.model, largest.rank) == ("Llama-2-13B", 11)


@pytest.mark.parametrize("side", SIDES)
def test_white_is_an_extreme_as_often_as_published(
    shared_dir: Path, published: dict[str, Any], side: str
) -> None:
    extremes = count_extremes(all_gaps(shared_dir))
    white = next(e for e in extremes if (e.side, e.group) == (side, "white"))
    stated = published["white_is_extreme"][side]
    assert (white.n_highest + white.n_lowest, white.n) == (stated["count"], stated["of"])


def test_large_and_small_gaps_are_sized_by_the_largest_of_their_set() -> None:
    """By hand: 0.08 of 0.1 is large, 0.01 of 0.1 small, 0.05 neither."""
    gaps = [
        MeanGap("m", "s", "negative", group, value)
        for group, value in {"a": -0.1, "b": 0.08, "c": 0.05, "d": 0.01}.items()
    ]
    assert [gap.size for gap in size_gaps(gaps)] == ["large", "large", "", "small"]
