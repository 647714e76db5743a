"""Reports on gaps in false positive rates, from predictions that were made elsewhere."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evaluation.reports.parts.document import KeyNumber
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import EVEN_ENDS, Chosen
from evaluation.reports.registry import get_kind
from tests.evaluation.reports.computing import compute
from tests.evaluation.reports.predictions import GROUPS, NAMES, import_predictions, make_runs

pytestmark = pytest.mark.django_db


def test_a_report_has_gaps_words_controls_and_spans() -> None:
    """By hand: asian 1 and 0 in the two runs, hispanic 0: gaps 1/4 and −1/4, span 1/2."""
    (run,) = make_runs()
    _, document = compute("fpr_gaps", Chosen(runs=(run,)), resamples=100)
    gaps = document.frames["gaps"].query("side == 'negative'").set_index(["group", "word"])
    asian = gaps.loc["asian", ""]
    assert (asian["fpr"], asian["gap"], asian["n_negatives"]) == (0.5, 0.25, 2)
    assert (asian["beyond_band"], asian["n_words"]) == (True, 1)
    assert gaps.loc[("hispanic", ""), "n_words"] == 2
    assert gaps.loc[("unmarked", ""), "gap"] == -0.25
    positive = document.frames["gaps"].query("side == 'positive' and group == 'unmarked'")
    assert positive["gap"].iloc[0] == 0.5
    spans = document.frames["spans"].set_index("side")
    assert (spans.loc["negative", "span"], spans.loc["negative", "highest"]) == (0.5, "Asian")
    assert spans.loc["negative", "band"] == 0
    assert [key.value for key in document.keys if "Span" in key.label] == ["0.500", "0.000"]
    assert any("Asian rests on one word" in text for text in document.caveats)
    beyond = next(key for key in document.keys if key.label == "Gaps beyond the placebo band")
    # Two groups on two sides beside five placebo words: one word in five lies beyond their band.
    assert (beyond.small, beyond.lines[0]) == ("of 4", "0.8 expected by chance")
    figure = document.find_figure("gaps-negative")
    assert figure is not None
    assert "latino" in figure.svg_file


def test_gaps_are_regressed_on_the_surprisal_of_the_mention() -> None:
    """By hand: words with the gaps 1/4 (asian) and −1/4 (all others) and surprisals 9 and 4."""
    (run,) = make_runs()
    rows = ["group,word,surprisal", "asian,asian,8", "asian,asian,10"]
    rows += [f"{GROUPS.get(word, f'placebo-{word}')},{word},4" for word in NAMES[1:]]
    text = "\n".join(rows)
    _, document = compute("fpr_gaps", Chosen(runs=(run,)), resamples=100, surprisals=text)
    fit = document.frames["mention"].set_index("side").loc["negative"]
    assert (fit["slope"], fit["explained"], fit["n_words"]) == pytest.approx((0.1, 1, 8))
    gaps = document.frames["gaps"].query("side == 'negative'").set_index(["group", "word"])
    assert gaps.loc[("asian", ""), "adjusted"] == pytest.approx(0)
    assert any(section.heading == "Surprisal of the mention" for section in document.sections)
    for bad, message in (
        ("word,surprisal", "Give the columns group, word, surprisal"),
        ("group,word,surprisal\nasian,asian,−1", "Line 2: give a group"),
        ("group,word,surprisal\nasian,chinese,3", "no word “chinese” of the group “asian”"),
    ):
        with pytest.raises(ReportError, match=message):
            compute("fpr_gaps", Chosen(runs=(run,)), surprisals=bad)


@pytest.mark.parametrize(("kind", "told"), [("released", "95 %"), ("t", "99 %")])
def test_the_released_interval_is_called_by_its_own_coverage(kind: str, told: str) -> None:
    """1.96 sd / √n is that of 95 %, whatever coverage other intervals have."""
    (run,) = make_runs()
    _, document = compute("fpr_gaps", Chosen(runs=(run,)), resamples=100, level=0.99, interval=kind)
    gaps = next(table for table in document.tables if table.name == "gaps")
    spans = next(table for table in document.tables if table.name == "spans")
    assert (gaps.level, spans.level) == (told, "99 %")
    assert any(text.startswith("Each labeled template") for text in document.method)
    assert any(text.startswith(f"Intervals ({told})") for text in document.method)
    row = gaps.frame.query("side == 'negative' and group == 'asian' and word == ''").iloc[0]
    # Gaps of 1/2 and 0 in the two runs: sd 1/√8, half width sd/√2 = 1/4 times 1.96 or t(1).
    quantile = {"released": 1.96, "t": 63.6567}[kind]
    assert row["high"] - row["gap"] == pytest.approx(quantile / 4, rel=1e-5)


def test_intervals_without_width_carry_a_caveat() -> None:
    """Nobody says anything but the truth on the sentence that names nobody: 0.000 to 0.000."""
    (run,) = make_runs()
    report, document = compute("fpr_gaps", Chosen(runs=(run,)), interval="t")
    assert EVEN_ENDS in document.caveats
    for text, even in (
        ("0.000 to 0.000", True),
        ("95 % interval −0.2 to −0.2", True),
        ("+1 to +1", True),
        ("1.0 to 11.0", False),
        ("0.50 to 0.501", False),
        ("11 to 1", False),
        ("−0.2 to 0.2", False),
    ):
        keys = (KeyNumber("τ", "", "", (text,)),)
        only = replace(document, keys=keys, sections=(), caveats=())
        assert (EVEN_ENDS in get_kind("fpr_gaps").complete(report, only).caveats) == even, text


def test_averages_over_unlike_sets_are_told() -> None:
    runs = [*make_runs(("m1", "m2")), *make_runs(("m1",), data_set="other")]
    _, document = compute("fpr_comparison", Chosen(runs=tuple(runs)), resamples=100)
    assert any("ranks compare averages over unlike sets" in text for text in document.caveats)
    _, document = compute("fpr_comparison", Chosen(runs=tuple(runs[:2])), resamples=100)
    assert not any("unlike sets" in text for text in document.caveats)


def test_runs_of_several_models_belong_into_the_comparison() -> None:
    runs = tuple(make_runs(("m1", "m2")))
    with pytest.raises(ReportError, match="The runs are of 2 models"):
        compute("fpr_gaps", Chosen(runs=runs))
    more = (*runs, *make_runs(("m1",), "other"))
    _, document = compute("fpr_comparison", Chosen(runs=more), resamples=100)
    averages = document.frames["averages"].query("side == 'negative'").set_index("model")
    assert averages.loc["m1", ["span_tiny", "span_other", "average"]].tolist() == [0.5] * 3
    assert (averages.loc["m2", "n_sets"], averages.loc["m2", "rank"]) == (1, 1)
    extremes = document.frames["extremes"].query("side == 'negative'").set_index("group")
    assert extremes.loc["asian", ["n_highest", "n_lowest", "n"]].tolist() == [3, 0, 3]
    sizes = document.frames["sizes"].query("side == 'negative'")
    assert set(sizes["size"]) == {"large"}
    assert document.find_figure("gaps-2-positive") is not None


@pytest.mark.shared
def test_the_report_reproduces_the_released_gaps(shared_dir: Path) -> None:
    golden = json.loads(
        (shared_dir / "golden" / "expected" / "fpr_amazon.json").read_text(encoding="utf-8")
    )
    content = (shared_dir / "golden" / "data" / "fpr_amazon.csv").read_bytes()
    runs = import_predictions(content, "p.csv", "amazon")
    _, document = compute("fpr_comparison", Chosen(runs=tuple(runs)), interval="released")
    gaps = document.frames["gaps"].set_index(["model", "side", "group"])
    for model, expected in golden["exact"].items():
        for group, sides in expected["per_group"].items():
            for side, stated in sides.items():
                row = gaps.loc[model, side.removesuffix("_gap"), group]
                assert row["gap"] == pytest.approx(stated["mean"], abs=1e-9)
                assert row["released_half_width"] == pytest.approx(
                    stated["half_width_normal_1.96"], abs=1e-9
                )
                assert row["decision"] == stated["decision_normal"]
    averages = document.frames["averages"].set_index(["side", "model"])
    for model, expected in golden["exact"].items():
        for side, span in expected["gap_span"].items():
            assert averages.loc[(side, model), "average"] == pytest.approx(span, abs=1e-9)
    accuracy = document.frames["accuracy"].set_index("model")
    for model, stated in golden["accuracy"].items():
        assert accuracy.loc[model, "accuracy"] == pytest.approx(stated["mean"], abs=1e-9)
        assert accuracy.loc[model, "sd"] == pytest.approx(stated["sd_ddof1"], abs=1e-9)
