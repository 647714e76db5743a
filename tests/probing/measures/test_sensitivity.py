"""SeT: what its golden tests do not cover."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
import transformers
from pydantic import ValidationError

from probing.lm.masked import MaskedLanguageModel
from probing.measures.sensitivity import (
    SensitivityParameters,
    SensitivityTest,
    subword_changes,
)
from probing.measures.slot_measure import group_context
from probing.measures.stimuli import Stimuli
from tests.probing.measures.test_sensitivity_solver import by_minimization

MEASURE = SensitivityTest()
REST = -np.inf  # beyond a word's own subwords


def compare(group: Any, prior: Any, **parameters: Any) -> pd.DataFrame:
    group, prior = np.array(group, dtype=float), np.array(prior, dtype=float)
    words = [f"word-{number}" for number in range(len(group))]
    return MEASURE.compare(group, prior, words, SensitivityParameters(**parameters))


def test_the_largest_change_decides_for_group_and_prior_separately() -> None:
    """ln max(1, 4) - ln max(2, 1) = ln 2, although each subword is compared 1:2 and 4:1."""
    rows = compare([[2.0, 1.0]], [[1.0, 4.0]])
    np.testing.assert_allclose(rows["value"], [np.log(2.0)])
    assert rows["delta_group"].tolist() == [2.0]
    assert rows["delta_prior"].tolist() == [4.0]


def test_the_largest_score_compares_subword_by_subword() -> None:
    """max(ln 1/2, ln 4/1) = ln 4; the places beyond the second word's subword do not count."""
    rows = compare([[2.0, 1.0], [3.0, REST]], [[1.0, 4.0], [1.0, REST]], subword="max_score")
    np.testing.assert_allclose(rows["value"], [np.log(4.0), np.log(1 / 3)])


def placed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows as a shard gives them, which says where they belong."""
    return rows.assign(template="that", group="man", trait="cold-warm")


def test_changes_of_zero_are_raised_to_the_floor_and_reported() -> None:
    rows = compare([[0.0], [0.5], [0.0]], [[0.5], [0.0], [0.0]])
    step = np.log(0.5) - np.log(1e-12)
    np.testing.assert_allclose(rows["value"], [step, -step, 0.0])
    assert rows["floored"].tolist() == [1, 1, 2]
    (remark,) = MEASURE.remarks(_nothing(), SensitivityParameters(), [placed(rows), placed(rows)])
    assert "6 of 6" in remark
    assert "1e-12" in remark


def test_a_change_of_zero_that_is_not_the_largest_needs_no_floor() -> None:
    rows = compare([[0.0, 2.0]], [[0.0, 2.0]])
    assert rows["floored"].tolist() == [0]
    assert MEASURE.remarks(_nothing(), SensitivityParameters(), [placed(rows)]) == []


def test_the_released_variant_by_hand() -> None:
    """Delta 0.25 and 0.01 are distances 0.5 and 0.1: ln 0.5 - ln 0.9."""
    rows = compare([[0.25, 0.04]], [[0.01, REST]], variant="released")
    np.testing.assert_allclose(rows["value"], [np.log(0.5) - np.log(0.9)])


@pytest.mark.parametrize(
    ("group", "prior", "side"), [(1.0, 0.25, "group"), (0.25, 1.44, "prior"), (4.0, 9.0, "group")]
)
def test_the_released_variant_is_undefined_from_a_distance_of_one(
    group: float, prior: float, side: str
) -> None:
    """Also where the offending subword is not the first, which the released code overlooks."""
    rows = compare([[0.01, group]], [[0.01, prior]], variant="released")
    assert rows["value"].isna().all()
    assert rows["reason"].str.startswith(f"the {side}'s distance is").all()


@pytest.mark.parametrize("variant", ["paper", "released"])
def test_changes_that_are_not_numbers_give_nan_with_a_reason(variant: str) -> None:
    rows = compare([[0.5, np.nan], [0.5, 0.5]], [[0.5, 0.5], [np.nan, 0.5]], variant=variant)
    assert rows["value"].isna().all()
    assert (rows["reason"] == "the model gives numbers that are not finite").all()


def test_the_released_variant_has_no_choice_of_subword_rule() -> None:
    with pytest.raises(ValidationError, match="Leave subword at max_change"):
        SensitivityParameters(variant="released", subword="max_score")


@pytest.mark.parametrize("gamma", [0, -1, float("nan"), float("inf")])
def test_a_margin_that_is_not_positive_is_refused(gamma: float) -> None:
    with pytest.raises(ValidationError):
        SensitivityParameters(gamma=gamma)


@pytest.mark.parametrize("gamma", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("bias", ["append", "fixed"])
def test_margin_and_bias_change_the_problem_that_is_solved(
    tiny_model: MaskedLanguageModel, small_stimuli: Stimuli, gamma: float, bias: Any
) -> None:
    """Against numerical minimization, on transformers' own logits and hidden states."""
    model = transformers.AutoModelForMaskedLM.from_pretrained(tiny_model.facts.source).eval()
    template, words = small_stimuli.templates[0], ["poor", "wealthy"]
    contexts = [group_context(template, group) for group in small_stimuli.groups]
    found = subword_changes(tiny_model, contexts, words, gamma=gamma, bias=bias)
    assert found.shape == (3, 2, 1)
    for context, changes in zip(contexts, found, strict=True):
        ids = list(tiny_model.encode(context.before + tiny_model.mask_token + context.after))
        inputs: list[torch.Tensor] = []
        handle = model.get_output_embeddings().register_forward_pre_hook(
            lambda _, received, inputs=inputs: inputs.append(received[0])
        )
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([ids])).logits
        handle.remove()
        position = ids.index(tiny_model.tokenizer.mask_id)
        hidden = inputs[0][0, position].double().numpy()
        norm = float(hidden @ hidden) + (1.0 if bias == "append" else 0.0)
        for word, change in zip(words, changes[:, 0], strict=True):
            (target,) = tiny_model.split(word).ids
            expected = by_minimization(logits[0, position].double().numpy(), target, norm, gamma)
            np.testing.assert_allclose(change, expected, rtol=1e-4, atol=1e-9)


def _nothing() -> Stimuli:
    from tests.probing.measures.test_aggregation import STIMULI

    return STIMULI
