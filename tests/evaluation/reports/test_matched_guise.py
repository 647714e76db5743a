"""The matched guise report on made-up log probabilities, with numbers derived by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from django.core.management import call_command

from evaluation.metrics.crossed_effects import crossed_effects
from evaluation.models import Report
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from tests.evaluation.reports.computing import compute
from tests.evaluation.reports.guises import (
    guise_stimuli,
    made_up_logs,
    store_guise_run,
    store_norms,
)

pytestmark = pytest.mark.django_db

WORDS = ("loud", "lazy", "kind", "musical", "rude", "calm")
FEW = {"resamples": 200, "permutations": 500}


def planted(effects=(("lazy", 0.5), ("loud", 0.3)), **how):
    first, second = made_up_logs(WORDS, 40, dict(effects), **how)
    return guise_stimuli(WORDS, 40), first, second


def test_a_planted_association_comes_first_with_its_size_and_interval():
    """By hand: the mean of (ln P − ln P') / ln 10 over pairs and prompts."""
    store_norms()
    stimuli, first, second = planted()
    run = store_guise_run(stimuli, first, second)
    _, document = compute("matched_guise", Chosen(runs=(run,)), **FEW)
    scores = document.frames["scores"].set_index("attribute")
    expected = ((first - second).astype(np.float32) / np.log(10)).mean(axis=(0, 1))
    for place, word in enumerate(WORDS):
        assert scores.loc[word, "q"] == pytest.approx(expected[place], abs=1e-5)
        assert scores.loc[word, "low"] < scores.loc[word, "q"] < scores.loc[word, "high"]
    assert list(scores.loc[["lazy", "loud"], "rank"]) == [1, 2]
    assert scores.loc["lazy", "low"] > 0
    assert scores.loc["lazy", "p_holm"] < 0.05 < scores.loc["calm", "p_holm"]
    assert scores.loc["lazy", "n_prompts"] == 3


def test_agreement_is_the_mean_average_precision_over_prompts():
    """By hand: 1933 names lazy, loud, musical. Every prompt ranks lazy, loud first, then by place.

    With ranks 1, 2 and r: AP_1 = 1, AP_2 = 1, AP_3 = (1 + 1 + 3/r) / 3.
    """
    store_norms()
    stimuli, first, second = planted([("lazy", 2), ("loud", 1.5), ("musical", 1)])
    run = store_guise_run(stimuli, first, second)
    _, document = compute("matched_guise", Chosen(runs=(run,)), **FEW)
    agreement = document.frames["agreement"].set_index("study")
    assert agreement.loc["katz", "map"] == 1
    assert (agreement.loc["katz", ["least", "most"]] == 1).all()
    assert agreement.loc["katz", "shared"] == 3
    # 2012 names kind and musical; musical is third: AP_1 = 1 / rank of kind.
    assert agreement.loc["bergsieker", "map"] < 0.6
    # 3 of 6 shared by chance: 1 / C(6, 3).
    assert agreement.loc["katz", "p_shared"] == pytest.approx(1 / 20)
    favor = document.frames["favorability"].set_index("source")
    # Katz: (−1.5 · 75 − 0.5 · 30 + 1 · 20) / 125; all three have a norm.
    assert favor.loc["katz", "weighted"] == pytest.approx((-112.5 - 15 + 20) / 125)
    assert favor.loc["katz", "unweighted"] == pytest.approx(-1 / 3)
    tops = document.frames["tops"]
    assert list(tops[tops["source"] == "covert"]["attribute"])[:3] == ["lazy", "loud", "musical"]


def test_overt_runs_stand_beside_covert_ones():
    store_norms()
    stimuli, first, second = planted()
    covert = store_guise_run(stimuli, first, second)
    names = guise_stimuli(WORDS, 2, purpose="overt", varieties=("Black", "White"))
    overt = store_guise_run(names, *made_up_logs(WORDS, 2, {"kind": 1.0}, seed=1))
    _, document = compute("matched_guise", Chosen(runs=(covert, overt)), **FEW)
    tops = document.frames["tops"]
    first_ones = tops[tops["rank"] == 1].set_index("source")["attribute"]
    assert (first_ones["covert"], first_ones["overt"]) == ("lazy", "kind")
    assert set(document.frames["agreement"]["probe"]) == {"covert", "overt"}


@pytest.mark.parametrize(
    ("pairs", "paired", "matching", "why"),
    [
        (40, True, "pooled", "texts are pooled"),
        (40, False, "meaning_matched", "some texts are in none"),
        (1, True, "meaning_matched", "at least two texts"),
    ],
)
def test_a_missing_p_has_its_own_reason(pairs, paired, matching, why):
    """One question has interval and p, or neither."""
    stimuli = replace(guise_stimuli(WORDS, pairs), paired=paired)
    run = store_guise_run(stimuli, *made_up_logs(WORDS, pairs, {"lazy": 0.5}))
    _, document = compute("matched_guise", Chosen(runs=(run,)), matching=matching, **FEW)
    scores = document.frames["scores"]
    assert scores["p"].isna().all()
    assert all(reason.endswith(why) for reason in scores["reason"])
    section = next(part for part in document.sections if part.heading == "Every attribute")
    assert section.why.endswith(f"There is no p: {scores['reason'][0]}.")
    assert scores["low"].isna().all()


def test_runs_of_one_model_are_averaged_within_prompts():
    """By hand: two settings of the same model with q of 2 and 0 for one attribute give 1."""
    tables = []
    for value in (2.0, 0.0):
        second = np.full((3, 4, len(WORDS)), -5.0)
        first = second.copy()
        first[..., 0] += value * np.log(10)
        tables.append(store_guise_run(guise_stimuli(WORDS, 4), first, second))
    _, document = compute("matched_guise", Chosen(runs=tuple(tables)), **FEW)
    scores = document.frames["scores"].set_index("attribute")
    assert scores.loc["loud", "q"] == pytest.approx(1.0, abs=1e-6)
    assert len(scores) == len(WORDS)


def test_without_norms_there_are_scores_and_no_agreement():
    stimuli, first, second = planted()
    run = store_guise_run(stimuli, first, second)
    _, document = compute("matched_guise", Chosen(runs=(run,)), **FEW)
    assert document.frames["agreement"].empty
    assert document.frames["favorability"].empty
    assert list(document.frames["agreement"].columns)[:3] == ["model", "probe", "study"]


def test_runs_that_do_not_fit_are_refused():
    stimuli, first, second = planted()
    run = store_guise_run(stimuli, first, second)
    jobs = guise_stimuli(("doctor",), 2, purpose="occupations")
    other = store_guise_run(jobs, *made_up_logs(("doctor",), 2, {}))
    with pytest.raises(ReportError, match="asks about occupations"):
        compute("matched_guise", Chosen(runs=(other,)), **FEW)
    few = store_guise_run(guise_stimuli(("lazy",), 2), *made_up_logs(("lazy",), 2, {}))
    with pytest.raises(ReportError, match="have different attributes"):
        compute("matched_guise", Chosen(runs=(run, few)), **FEW)
    with pytest.raises(ReportError, match="no norm “none-such”"):
        compute("matched_guise", Chosen(runs=(run,)), studies="none-such", **FEW)


def test_the_command_builds_and_verifies_it(capsys, tmp_path):
    store_norms()
    stimuli, first, second = planted()
    run = store_guise_run(stimuli, first, second)
    call_command(
        "report", "matched_guise", "--run", str(run.pk), "--resamples", "100",
        "--permutations", "200", "--output", str(tmp_path / "report"),
    )  # fmt: skip
    assert "lazy (+" in capsys.readouterr().out
    assert (tmp_path / "report").is_dir()
    call_command("report", "verify", Report.objects.get().public_id)
    assert "every number is the same" in capsys.readouterr().out


def test_texts_and_prompts_are_both_taken_as_samples():
    """The table of log ratios of one attribute goes into crossed effects as it is."""
    store_norms()
    stimuli, first, second = planted()
    run = store_guise_run(stimuli, first, second)
    _, document = compute("matched_guise", Chosen(runs=(run,)), **FEW)
    lines = document.frames["crossed_effects"].set_index("name")
    ratios = (first - second)[..., WORDS.index("lazy")].astype(np.float32) / np.log(10)
    expected = crossed_effects(ratios)
    assert lines.loc["lazy", "effect"] == pytest.approx(expected.estimate.value, abs=1e-5)
    assert lines.loc["lazy", "p"] == pytest.approx(expected.p_value, rel=1e-3)
    assert lines.loc["lazy", "question"] == "these prompts"
    # δ of 1933: the mean of lazy, loud and musical less that of the other three.
    scores = document.frames["scores"].set_index("attribute")["q"]
    delta = scores[["lazy", "loud", "musical"]].mean() - scores[["kind", "rude", "calm"]].mean()
    assert lines.loc["δ, Study of 1933", "effect"] == pytest.approx(delta, abs=1e-6)


def test_versions_of_a_family_are_averaged_and_shown_one_by_one():
    """Two models of one family; a standard error over 2 versions × 3 prompts."""
    store_norms()
    runs = []
    for number, effect in enumerate((2.0, 0.0)):
        stimuli, first, second = planted([("lazy", effect)], noise=0.01, seed=number)
        runs.append(store_guise_run(stimuli, first, second, name=f"tiny-{number}"))
    for run in runs:
        run.model.family = "tiny"
        run.model.save()
    _, document = compute("matched_guise", Chosen(runs=tuple(runs)), average="family", **FEW)
    assert set(document.frames["scores"]["model"]) == {"tiny"}
    table = document.frames["variation"]
    katz = table[table["study"] == "katz"].set_index(["factor", "level"])
    assert katz.loc[("all", ""), "n"] == 6
    strengths = katz.loc["version"]["strength"]
    # By hand: 2 / ln 10 for one of the three attributes of 1933.
    assert strengths["tiny-0"] == pytest.approx(2 / np.log(10) / 3, abs=0.01)
    assert strengths["tiny-1"] == pytest.approx(0, abs=0.01)
    assert katz.loc[("all", ""), "strength"] == pytest.approx(strengths.mean(), abs=1e-9)
    cells = [strengths["tiny-0"]] * 3 + [strengths["tiny-1"]] * 3
    error = np.std(cells, ddof=1) / 6**0.5
    low, high = katz.loc[("all", ""), ["strength_low", "strength_high"]]
    assert (high - low) / 2 == pytest.approx(error, rel=0.05)
    assert set(katz.loc["prompt"].index) == {prompt.slug for prompt in planted()[0].prompts}
    nulls = document.frames["nulls"].set_index("quantity")
    assert nulls.loc["MAP of a random ranking", "n"] == FEW["permutations"]
