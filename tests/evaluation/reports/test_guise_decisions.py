"""The report on verdicts, with counts derived by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from tests.evaluation.reports.computing import compute
from tests.evaluation.reports.guises import guise_stimuli, made_up_logs, store_guise_run

pytestmark = pytest.mark.django_db

FEW = {"resamples": 200}
WORDS = ("acquitted", "convicted")


def decided(first, second, *, n_prompts=1, empty=None, **options):
    """Store a run whose texts convict where a 1 stands, acquit at 0 and tie at 0.5."""
    stimuli = guise_stimuli(WORDS, len(first), purpose="guilt", n_prompts=n_prompts)

    def logs(verdicts):
        convicts = np.array(verdicts, dtype=float)
        table = np.log(np.stack([0.5 - 0.2 * convicts, 0.3 + 0.2 * convicts], axis=1))
        return np.repeat(table[None], n_prompts, axis=0)

    without = np.log(np.tile([0.4, 0.4], (n_prompts, 1))) if empty is None else empty
    return store_guise_run(stimuli, logs(first), logs(second), empty=without, **options)


def test_rates_and_tests_are_those_of_the_counts():
    """20 pairs: 14 convicted after the first guise, 8 after the second, 7 against 1 discordant."""
    first = [1] * 14 + [0] * 6
    second = [1] * 7 + [0] * 7 + [1] + [0] * 5
    run = decided(first, second)
    _, document = compute("guise_decisions", Chosen(runs=(run,)), **FEW)
    line = document.frames["tests"].iloc[0]
    assert (line["first"], line["second"]) == (0.7, 0.4)
    assert line["difference"] == pytest.approx(0.3)
    assert line["increase"] == pytest.approx(14 / 8 - 1)
    assert line["p_equal"] == pytest.approx(stats.chisquare([14, 8]).pvalue)
    table = stats.chi2_contingency([[14, 6], [8, 12]], correction=False)
    assert line["chi2_contingency"] == pytest.approx(table.statistic)
    assert line["p_mcnemar"] == pytest.approx(stats.binomtest(7, 8).pvalue)
    assert line["n_discordant"] == 8


def test_a_tie_counts_half_or_as_released():
    run = decided([0.5, 1, 0, 0], [0, 0, 0, 0])
    _, ours = compute("guise_decisions", Chosen(runs=(run,)), **FEW)
    assert ours.frames["tests"].iloc[0]["first"] == 1.5 / 4
    assert ours.frames["tests"].iloc[0]["n_ties"] == 1
    _, released = compute("guise_decisions", Chosen(runs=(run,)), ties="released", **FEW)
    assert released.frames["tests"].iloc[0]["first"] == 2 / 4
    # Nothing to divide by: the increase is undefined, the rates are not.
    assert np.isnan(ours.frames["tests"].iloc[0]["increase"])


def test_the_calibration_takes_off_what_the_prompt_alone_says():
    """By hand: without a text P = 0.45 for convicted and 0.1 for acquitted. A text with 0.5 and
    0.3 raises acquitted more; without calibration it is convicted."""
    empty = np.log(np.array([[0.1, 0.45]]))
    run = decided([1, 1], [1, 0], empty=empty)
    _, calibrated = compute("guise_decisions", Chosen(runs=(run,)), **FEW)
    assert calibrated.frames["tests"].iloc[0]["first"] == 0
    _, plain = compute("guise_decisions", Chosen(runs=(run,)), calibration="off", **FEW)
    assert plain.frames["tests"].iloc[0]["first"] == 1


def test_other_outcomes_and_purposes_are_refused():
    words = ("convicted", "released")
    stimuli = guise_stimuli(words, 3, purpose="guilt", n_prompts=1)
    run = store_guise_run(stimuli, *made_up_logs(words, 3, {}, n_prompts=1))
    with pytest.raises(ReportError, match="Run it with the list of “convicted” and “acquitted”"):
        compute("guise_decisions", Chosen(runs=(run,)), **FEW)
    traits = store_guise_run(guise_stimuli(("lazy",), 3), *made_up_logs(("lazy",), 3, {}))
    with pytest.raises(ReportError, match="prompts on guilt or on the penalty"):
        compute("guise_decisions", Chosen(runs=(traits,)), **FEW)


def test_decisions_that_repeat_in_every_prompt_are_no_independent_evidence():
    """8 of 20 pairs differ, 6 one way: alike in three prompts, counts of 18 against 6.

    The paper's test takes 24 decisions for independent: χ² = (18 − 6)² / 24 = 6, p = 0.014. The
    interval over texts, of about 0.2 ± 2 · 0.6 / √20, reaches zero, and the first lines say so.
    """
    first = [1] * 6 + [0] * 2 + [0] * 12
    second = [0] * 6 + [1] * 2 + [0] * 12
    run = decided(first, second, n_prompts=3)
    _, document = compute("guise_decisions", Chosen(runs=(run,)), **FEW)
    line = document.frames["tests"].iloc[0]
    assert line["p_equal"] == pytest.approx(stats.chisquare([18, 6]).pvalue)
    assert line["low"] < 0 < line["high"]
    assert any("every decision for independent" in banner for banner in document.banners)
    crossed = document.frames["crossed_effects"].iloc[0]
    assert (crossed["effect"], crossed["n_texts"], crossed["n_prompts"]) == (
        pytest.approx(0.2), 20, 3,
    )  # fmt: skip
    # All prompts decide alike: the text alone varies. Differences are 1 (6), −1 (2), 0 (12).
    assert crossed["share_texts"] == pytest.approx(1)
    error = np.sqrt((8 / 20 - 0.04) * 20 / 19 / 20)
    assert crossed["p"] == pytest.approx(2 * stats.t.sf(0.2 / error, 19))
    left_out = document.frames["left_out_prompts"]
    assert left_out["difference"].to_list() == pytest.approx([0.2] * 3)
    assert left_out["p_equal"].to_list() == pytest.approx([stats.chisquare([12, 4]).pvalue] * 3)


@pytest.mark.parametrize(("level", "banner"), [(0.95, True), (0.99, False)])
def test_test_and_interval_are_asked_at_one_level(level, banner):
    """18 counts against 6: χ² = 6, p = 0.014, is significant at 5 % and not at 1 %.

    Neither interval leaves out zero: at 99 % the two agree.
    """
    first = [1] * 6 + [0] * 2 + [0] * 12
    second = [0] * 6 + [1] * 2 + [0] * 12
    run = decided(first, second, n_prompts=3)
    _, document = compute("guise_decisions", Chosen(runs=(run,)), level=level, **FEW)
    line = document.frames["tests"].iloc[0]
    assert line["p_equal"] == pytest.approx(stats.chi2.sf(6, 1))
    assert line["low"] < 0 < line["high"]
    told = [text for text in document.banners if "every decision for independent" in text]
    assert bool(told) == banner


def test_all_three_tests_are_corrected_over_models():
    """By hand: of two models 8 of 8 and 7 of 8 discordant pairs lie one way: p = 2/2⁸ and 18/2⁸.

    Holm doubles the smaller: 4/256; the larger stays. Uncorrected, McNemar’s would be set beside a
    corrected test of the paper.
    """
    runs = [
        decided([1] * (8 - back) + [0] * back + [0] * 4, [0] * (8 - back) + [1] * back + [0] * 4,
                name=name)
        for name, back in (("one", 0), ("two", 1))
    ]  # fmt: skip
    _, document = compute("guise_decisions", Chosen(runs=tuple(runs)), **FEW)
    lines = document.frames["tests"].set_index("model")
    assert lines["p_mcnemar"].to_list() == pytest.approx([2 / 256, 18 / 256])
    assert lines["p_mcnemar_holm"].to_list() == pytest.approx([4 / 256, 18 / 256])
    raw = lines["p_contingency"]
    assert raw["one"] < raw["two"]
    assert lines["p_contingency_holm"].to_list() == pytest.approx(
        [2 * raw["one"], max(2 * raw["one"], raw["two"])]
    )
    assert [key.lines[1].split(", ")[1] for key in document.keys] == [
        "p = 0.016 (McNemar)",
        "p = 0.070 (McNemar)",
    ]
    table = next(
        block
        for section in document.sections
        for block in section.blocks
        if getattr(block, "data", "") == "tests" and hasattr(block, "rows")
    )
    assert [head.head for head in table.columns][-2:] == ["p (2 × 2)", "p (McNemar)"]
    assert [row.cells[-1] for row in table.rows] == ["0.016", "0.070"]
    assert table.caption.endswith("McNemar’s test of pairs, corrected alike.")
