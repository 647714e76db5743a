"""SeT's golden layers and CEAT's golden vectors through whole runs, in checkpoints made of them.

Expected: golden/expected/set_cases.json (checked by its makers against released code, a quadratic
program and a one-dimensional minimization) and ceat.json, with the tolerances that they state. The
models compute in float64.
"""

from __future__ import annotations

import json
from math import erfc, log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from probing.measures.ceat import CORPUS
from probing.measures.sentence_stimuli import draw_sentences
from probing.measures.stimuli import Group, Stimuli, Template, Trait
from probing.measures.streams import named_seed, named_stream
from probing.models import Run, RunStatus, Score
from probing.runs.creation import create_run
from probing.runs.language_models import register_model
from probing.runs.parameters import from_parquet
from probing.runs.worker import work
from tests.probing.runs.built_checkpoints import (
    GROUP,
    TEMPLATE,
    embedding_checkpoint,
    layer_checkpoint,
)
from tests.probing.runs.fixtures import scores_of

pytestmark = [pytest.mark.django_db, pytest.mark.shared]

FLOOR = 1e-12  # methods.md §5.1: a change of zero stands for this one


@pytest.fixture(autouse=True)
def in_float64(settings: Any) -> None:
    settings.MODEL_DTYPE = "float64"


def golden(shared_dir: Path, name: str) -> dict[str, Any]:
    file = shared_dir / "golden" / "expected" / f"{name}.json"
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return data


def finished(run: Run) -> Run:
    work(worker="golden", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    return run


# --- SeT ------------------------------------------------------------------------------------------


def sensitivity_run(folder: Path, pairs: list[tuple[str, str]], **parameters: Any) -> Run:
    """Run SeT on the checkpoint with pairs of (low, high) words."""
    stimuli = Stimuli(
        groups=(Group("tall", GROUP, "tall ones", "Tall ones"),),
        traits=tuple(Trait(f"{low}-{high}", low, high, "golden") for low, high in pairs),
        templates=(Template("that", TEMPLATE),),
    )
    return finished(
        create_run(
            measure="set",
            model=register_model(location=str(folder)),
            stimuli=stimuli,
            parameters=parameters,
            seed=0,
            created_by=None,
        )
    )


def stored_changes(run: Run) -> dict[str, tuple[float, float, float | None]]:
    """Word → change for the group, change for the prior, and the score; None where undefined."""
    (blob,) = run.shards.values_list("result", flat=True)
    assert blob is not None
    rows = from_parquet(blob)
    return {
        row.word: (
            row.delta_group,
            row.delta_prior,
            row.value if np.isfinite(row.value) else None,
        )
        for row in rows.itertuples()
    }


@pytest.mark.parametrize("number", range(24))
def test_every_golden_layer_gives_its_change_in_a_run(
    number: int, shared_dir: Path, tmp_path: Path
) -> None:
    """The prior's logits are all alike, so that its change follows by hand.

    With n equal logits all n − 1 rivals are active: u = γ for each, m = γ (n − 1) / n, and
    Δ = γ² (n − 1) / n / ρ. The prior's input is a coordinate of its own whose weights undo the
    bias; ρ is 1 for it, and 2 with the 1 that is appended for the bias.
    """
    data = golden(shared_dir, "set_cases")
    case, rel = data["cases"][number], data["header"]["tolerance"]["rel"]
    weights, bias = np.array(case["weights"]), np.array(case["bias"])
    size, n, gamma = weights.shape[1], len(bias), case["margin"]
    folder, words = layer_checkpoint(
        tmp_path / "model",
        weights=np.column_stack([weights, -bias]),
        bias=bias,
        hidden=[*case["hidden"], 0.0],
        prior_hidden=[*[0.0] * size, 1.0],
    )
    high, low = words[case["target"]], words[case["target"] - 1]
    trait = f"{low}-{high}"
    for option, expected, rho in (
        ("append", case["delta_squared_frobenius"], 2),
        ("fixed", case["delta_no_bias"], 1),
    ):
        run = sensitivity_run(folder, [(low, high)], gamma=gamma, bias=option)
        changes = stored_changes(run)
        group, prior, value = changes[high]
        prior_by_hand = gamma**2 * (n - 1) / n / rho
        assert group == pytest.approx(expected, rel=rel, abs=1e-13)
        assert prior == pytest.approx(prior_by_hand, rel=rel)
        # A relative error of a change is an absolute one of its logarithm.
        by_hand = log(prior_by_hand) - log(max(expected, FLOOR))
        assert value == pytest.approx(by_hand, rel=rel, abs=rel)
        score = Score.objects.get(run=run, template="", trait=trait)
        other = changes[low][2]
        assert other is not None
        assert score.value == value - other
    if gamma == 1:  # the released code knows no other margin
        run = sensitivity_run(folder, [(low, high)], variant="released")
        stored = case["released_log_one_minus_norm"]
        value = stored_changes(run)[high][2]
        if stored is None:  # a distance of 1 or more: outside the formula's domain
            assert value is None
            score = Score.objects.get(run=run, template="", trait=trait)
            assert score.value is None
            assert "less than 1" in score.reason
        else:
            assert value == pytest.approx(stored - log(1 - sqrt((n - 1) / n / 2)), rel=1e-8)


def test_five_thousand_classes_give_their_changes_in_a_run(
    shared_dir: Path, tmp_path: Path
) -> None:
    """The file holds logits and ρ = ‖x‖²: one coordinate of √(ρ − 1) with weights logits / it.

    The prior's input has the weights 0, so its change is the same for all targets (see above) and
    a pair score is ln Δ(low) − ln Δ(high).
    """
    data = golden(shared_dir, "set_cases")
    large, rel = data["large"], data["header"]["tolerance"]["rel"]
    logits, length = np.array(large["logits"]), sqrt(large["x_norm_sq"] - 1)
    folder, words = layer_checkpoint(
        tmp_path / "model",
        weights=np.column_stack([logits / length, np.zeros_like(logits)]),
        bias=np.zeros_like(logits),
        hidden=[length, 0.0],
        prior_hidden=[0.0, 1.0],
    )
    expected = dict(zip((words[t] for t in large["targets"]), large["delta"], strict=True))
    targets = list(expected)
    pairs = list(zip(targets[::2], targets[1::2], strict=True))
    run = sensitivity_run(folder, pairs)
    changes = stored_changes(run)
    assert {word: change[0] for word, change in changes.items()} == pytest.approx(expected, rel=rel)
    scores = scores_of(run)
    for low, high in pairs:
        value, _, _ = scores["pair_score", "tall", f"{low}-{high}", ""]
        assert value == pytest.approx(log(expected[low]) - log(expected[high]), rel=1e-8)


# --- CEAT -----------------------------------------------------------------------------------------


def association_run(case: dict[str, Any], folder: Path, **parameters: Any) -> Run:
    """Run CEAT on a checkpoint that embeds the case's words as the case says."""
    high = {f"high{i}": rows for i, rows in enumerate(case["A"])}
    low = {f"low{i}": rows for i, rows in enumerate(case["B"])}
    checkpoint, sentences = embedding_checkpoint(
        folder, {"tall": case["group_vectors"], **high, **low}
    )
    (first_high, *other_high), (first_low, *other_low) = high, low
    # A list of one word says so: without any synonym it would count as forgotten.
    lists = tuple(other_low) or (first_low,), tuple(other_high) or (first_high,)
    trait = Trait("low-high", first_low, first_high, "golden", *lists)
    chosen = {"adjectives": "lists", "sentences_per_word": 50, **parameters}
    stimuli = draw_sentences(
        sentences,
        groups=[Group("tall", "tall", "tall", "Tall")],
        traits=[trait],
        name="golden",
        per_word=50,
        seed=0,
        adjectives="lists",
    )
    return finished(
        create_run(
            measure="ceat",
            model=register_model(location=str(checkpoint)),
            stimuli=stimuli,
            parameters=chosen,
            seed=11,
            created_by=None,
        )
    )


@pytest.mark.parametrize("number", range(8))
def test_golden_vectors_give_their_pooled_effect_in_a_run(
    number: int, shared_dir: Path, tmp_path: Path
) -> None:
    data = golden(shared_dir, "ceat")
    case, rel = data["cases"][number], data["header"]["tolerance"]["rel"]
    run = association_run(case, tmp_path / "model", combination="pooled")
    scores = scores_of(run)
    for template in (CORPUS, ""):
        value, _, n = scores["pair_score", "tall", "low-high", template]
        assert value == pytest.approx(case["pooled_context_effect"], rel=rel)
        words = [*case["A"], *case["B"]]
        assert n == len(case["group_vectors"]) * sum(len(rows) for rows in words)


@pytest.mark.parametrize("p_value", ["two-sided", "one-sided"])
@pytest.mark.parametrize("number", range(8))
def test_golden_vectors_give_the_random_effects_of_the_runs_own_draws(
    number: int, p_value: str, shared_dir: Path, tmp_path: Path
) -> None:
    """The stored draws cannot be put into a run, which draws by its seed (tests/golden/test_ceat.py
    compares them); so the formulas of methods.md §6 are written out here for the run's draws."""
    case = golden(shared_dir, "ceat")["cases"][number]
    run = association_run(case, tmp_path / "model", combination="draws", draws=40, p_value=p_value)
    value, _, n = scores_of(run)["pair_score", "tall", "low-high", ""]
    effects, weights = draws_by_hand(case, seed=11, draws=40)
    total = sum(weights)
    mean = sum(w * e for w, e in zip(weights, effects, strict=True)) / total
    q = sum(w * e * e for w, e in zip(weights, effects, strict=True)) - mean * mean * total
    spread = total - sum(w * w for w in weights) / total
    tau = max(0.0, (q - 39) / spread)
    starred = [1 / (1 / w + tau) for w in weights]
    combined = sum(w * e for w, e in zip(starred, effects, strict=True)) / sum(starred)
    z = combined * sqrt(sum(starred))
    assert (value, n) == (pytest.approx(combined, rel=1e-8), 40)
    p, _, _ = scores_of(run)["p_value", "tall", "low-high", ""]
    expected = erfc(z / sqrt(2)) / 2 if p_value == "one-sided" else erfc(abs(z) / sqrt(2))
    assert p == pytest.approx(expected, rel=1e-6)


def draws_by_hand(
    case: dict[str, Any], *, seed: int, draws: int
) -> tuple[list[float], list[float]]:
    """Return each draw's effect size and 1 / v, with contexts picked as a run of that seed does."""
    rng = named_stream(named_seed(seed, "tall", "low-high"), "draws")
    words = [case["group_vectors"], *case["A"], *case["B"]]
    picks = [rng.integers(len(rows), size=draws) for rows in words]
    effects, weights = [], []
    for draw in range(draws):
        group, *others = (
            np.array(rows[pick[draw]]) for rows, pick in zip(words, picks, strict=True)
        )
        cosines = [
            float(group @ other / sqrt(group @ group) / sqrt(other @ other)) for other in others
        ]
        high, low = cosines[: len(case["A"])], cosines[len(case["A"]) :]
        center = sum(cosines) / len(cosines)
        variance = sum((c - center) ** 2 for c in cosines) / (len(cosines) - 1)
        effects.append((sum(high) / len(high) - sum(low) / len(low)) / sqrt(variance))
        weights.append(1 / variance)
    return effects, weights
