"""Causal models in a slot, against the model's own output and stored continuations."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from probing.lm import MaskCountError, TokenizerError, UnknownWordError
from probing.lm.causal_slots import CausalSlotModel
from probing.lm.loaders import load_slot_model, load_slot_tokenizer
from probing.lm.protocols import SlotContext
from probing.measures.ilps import IlpsStar
from probing.measures.sensitivity import SensitivityTest
from probing.measures.stimuli import Group, Stimuli, Template, Trait

pytestmark = pytest.mark.shared

WORDS = ["warm", "unconfident", "science-oriented"]
CONTEXTS = [SlotContext("That teenager is ", "."), SlotContext("All elderly people are ", ".")]
STIMULI = Stimuli(
    groups=(
        Group("teenager", "teenager", "teenagers", "Teenagers"),
        Group("elderly", "elderly person", "elderly people", "Elderly people"),
    ),
    traits=(Trait("cold-warm", "cold", "warm", "communion"),),
    templates=(Template("that", "That {singular} is {trait}."),),
)


@pytest.fixture(scope="module", params=["gpt2", "opt", "llama"])
def lm(request: pytest.FixtureRequest, shared_dir: Path) -> CausalSlotModel:
    found = load_slot_model(shared_dir / "golden" / "models" / f"tiny-{request.param}", threads=1)
    assert isinstance(found, CausalSlotModel)
    return found


def by_hand(lm: CausalSlotModel, context: SlotContext, word: str) -> float:
    """Sum ln P of the word's tokens, one whole forward pass of the model itself for each."""
    ids = list(lm.encode(context.before.rstrip()))
    total = 0.0
    for piece in lm.split(word).ids:
        with torch.inference_mode():
            logits = lm._model(input_ids=torch.tensor([ids])).logits[0, -1].double()
        total += float(torch.log_softmax(logits, dim=0)[piece])
        ids.append(piece)
    return total


def test_words_have_the_models_own_probability(lm: CausalSlotModel) -> None:
    found = lm.word_logprobs(CONTEXTS, WORDS)
    for c, context in enumerate(CONTEXTS):
        for w, word in enumerate(WORDS):
            assert found[c, w] == pytest.approx(by_hand(lm, context, word), abs=1e-4)


def test_stored_continuations_have_their_stored_probability(
    lm: CausalSlotModel, shared_dir: Path
) -> None:
    """golden/expected/causal_continuations.json, made by other code."""
    data = json.loads((shared_dir / "golden/expected/causal_continuations.json").read_text())
    cases = data["models"][Path(lm.facts.source).name]["continuations"]
    assert cases
    for case in cases:
        context = SlotContext(case["prompt"] + " ", "")
        stored = case["token_log_probs"]
        found = lm.word_logprobs([context], list(stored))[0]
        np.testing.assert_allclose(found, [sum(row) for row in stored.values()], atol=1e-4)


def test_hidden_states_and_weights_give_the_logits(lm: CausalSlotModel) -> None:
    weight = lm._weight.numpy()
    bias = 0 if lm._bias is None else lm._bias.numpy()
    seen = 0
    for batch in lm.slot(CONTEXTS, WORDS):
        np.testing.assert_allclose(batch.hidden @ weight.T + bias, batch.logits, atol=1e-4)
        seen += len(batch.target)
    assert seen == len(CONTEXTS) * sum(len(lm.split(word).ids) for word in WORDS)


def test_first_subwords_share_one_pass_per_context(lm: CausalSlotModel) -> None:
    chain = lm.slot_chain(CONTEXTS, WORDS, part="first")
    assert len(chain.states) == len(CONTEXTS)
    found = lm.word_logprobs(CONTEXTS, WORDS, part="first")
    for c, context in enumerate(CONTEXTS):
        ids = torch.tensor([lm.encode(context.before.rstrip())])
        with torch.inference_mode():
            own = torch.log_softmax(lm._model(input_ids=ids).logits[0, -1].double(), dim=0)
        expected = [float(own[lm.split(word).ids[0]]) for word in WORDS]
        np.testing.assert_allclose(found[c], expected, atol=1e-4)


def test_batches_change_nothing(lm: CausalSlotModel) -> None:
    whole = lm.word_logprobs(CONTEXTS, WORDS)
    before, lm.batch_tokens = lm.batch_tokens, 1
    try:
        np.testing.assert_allclose(lm.word_logprobs(CONTEXTS, WORDS), whole, atol=1e-5)
    finally:
        lm.batch_tokens = before


@pytest.mark.parametrize("measure", [IlpsStar(), SensitivityTest()])
def test_slot_measures_score_causal_models_with_the_generic_noun_as_prior(
    lm: CausalSlotModel, measure: IlpsStar | SensitivityTest
) -> None:
    parameters = measure.Parameters(prior="noun")
    assert not [p for p in measure.problems(STIMULI, parameters, lm) if p.fatal]
    frames = [
        measure.compute(shard.payload, STIMULI, parameters, lm)
        for shard in measure.plan(STIMULI, parameters)
    ]
    scores = measure.aggregate(STIMULI, parameters, frames)
    assert np.isfinite(scores["value"]).all()
    if isinstance(measure, IlpsStar):
        expected = [
            (by_hand(lm, SlotContext(f"That {name} is ", ""), "warm"))
            - by_hand(lm, SlotContext("That person is ", ""), "warm")
            - by_hand(lm, SlotContext(f"That {name} is ", ""), "cold")
            + by_hand(lm, SlotContext("That person is ", ""), "cold")
            for name in ("teenager", "elderly person")
        ]
        overall = scores[scores["template"] == ""]["value"]
        np.testing.assert_allclose(overall, expected, atol=1e-3)


def test_a_masked_group_is_refused_with_the_remedy(lm: CausalSlotModel) -> None:
    found = IlpsStar().problems(STIMULI, IlpsStar().Parameters(), lm)
    assert [(p.where, p.fatal) for p in found] == [("parameter prior", True)]
    assert "Choose the prior noun" in found[0].message
    with pytest.raises(MaskCountError, match="Choose the prior noun"):
        lm.encode_slot(SlotContext("That ", " is ", 1, 0), 1)


def test_a_template_whose_group_comes_later_is_refused(lm: CausalSlotModel) -> None:
    stimuli = Stimuli(
        STIMULI.groups, STIMULI.traits, (Template("the", "The {trait} people are {plural}."),)
    )
    found = IlpsStar().problems(stimuli, IlpsStar().Parameters(prior="noun"), lm)
    assert any(p.fatal and "would not see the group" in p.message for p in found)


def test_what_follows_the_adjective_is_remarked(lm: CausalSlotModel) -> None:
    stimuli = Stimuli(
        STIMULI.groups,
        STIMULI.traits,
        (Template("more", "{Plural} are more {trait} than others."),),
    )
    found = IlpsStar().problems(stimuli, IlpsStar().Parameters(prior="noun"), lm)
    assert any("“than others.”" in p.message for p in found)
    assert not any(p.fatal for p in found)


def test_an_empty_word_is_refused(lm: CausalSlotModel) -> None:
    with pytest.raises(UnknownWordError, match="empty"):
        lm.split(" ")


def test_nothing_before_the_slot_needs_a_begin_token(shared_dir: Path) -> None:
    tokenizer = load_slot_tokenizer(shared_dir / "golden" / "models" / "tiny-gpt2")
    with pytest.raises(TokenizerError, match="no token to begin with"):
        tokenizer.encode_slot(SlotContext("", " is what they are."), 1)
