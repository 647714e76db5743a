"""The adapter against transformers' own forward pass, sentence by sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from probing.lm import SlotBatch, SlotContext, load_masked
from probing.lm.families import MASKED_FAMILIES
from probing.lm.masked import MaskedLanguageModel
from probing.lm.sources import ModelFacts

WORDS = ["poor", "wealthy", "unconfident", "low-status", "dominated"]
CONTEXTS = [
    SlotContext("That man is ", "."),
    SlotContext("Why are elderly people ", "?"),
    SlotContext("The ", " people are Native Americans."),
]

#: Configuration class and head of a model of random weights for every family.
_SIZES = {
    "vocab_size": 1000,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 80,
}
_DISTILBERT = {
    "vocab_size": 1000,
    "dim": 32,
    "n_layers": 2,
    "n_heads": 4,
    "hidden_dim": 48,
    "max_position_embeddings": 80,
}


def direct_logprob(model: Any, lm: MaskedLanguageModel, context: SlotContext, word: str) -> float:
    """ln P(word | context), one unpadded sentence at a time, straight from the definition."""
    pieces, mask = lm.split(word).ids, lm.tokenizer.mask_id
    ids = list(lm.encode(context.before + " ".join([lm.mask_token] * len(pieces)) + context.after))
    total = 0.0
    for piece in pieces:
        position = ids.index(mask)
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([ids])).logits[0, position]
        total += float(torch.log_softmax(logits.double(), dim=0)[piece])
        ids[position] = piece
    return total


def test_word_logprobs_are_the_chain_rule(tiny_model: MaskedLanguageModel) -> None:
    model = transformers.AutoModelForMaskedLM.from_pretrained(tiny_model.facts.source).eval()
    expected = [[direct_logprob(model, tiny_model, c, w) for w in WORDS] for c in CONTEXTS]
    found = tiny_model.word_logprobs(CONTEXTS, WORDS)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, atol=2e-6)


#: As the published configurations have it.
_DEBERTA = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
_OWN_SETTINGS: dict[str, dict[str, Any]] = {
    "albert": {"embedding_size": 16},
    "deberta": {**_DEBERTA, "legacy": False, "max_relative_positions": -1},
    "deberta-v2": {**_DEBERTA, "legacy": False, "position_buckets": 16, "share_att_key": True},
    "modernbert": {"cls_token_id": 0, "sep_token_id": 2, "bos_token_id": 0, "eos_token_id": 2},
    "electra": {"embedding_size": 24},
    "longformer": {"attention_window": 16},
    "big_bird": {"attention_type": "block_sparse", "block_size": 16},
}


@pytest.mark.parametrize("family", MASKED_FAMILIES)
def test_every_family_gives_the_logits_of_its_own_forward_pass(
    family: str, tiny_roberta: MaskedLanguageModel
) -> None:
    """Random weights, sentences of different length in one batch, so that padding matters.

    And again without any padding, in as many batches as there are lengths.
    """
    sizes: dict[str, Any] = dict(_DISTILBERT if family == "distilbert" else _SIZES)
    sizes |= _OWN_SETTINGS.get(family, {})
    torch.manual_seed(1)
    config = transformers.AutoConfig.for_model(family, pad_token_id=1, **sizes)
    model = transformers.AutoModelForMaskedLM.from_config(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.2 * torch.randn_like(weight))  # fresh biases are zero and prove nothing
    facts = ModelFacts("random", "masked", family, None, 1000, 32, 64, None)
    lm = MaskedLanguageModel(
        model, tiny_roberta.tokenizer, MASKED_FAMILIES[family], facts, revision="", batch_size=64
    )
    lengths = {len(state.ids) for state in lm.slot_chain(CONTEXTS, WORDS).states}
    for padding, n_batches in ((1000, 1), (0, len(lengths))):
        lm.padding = padding
        batches = list(lm.slot(CONTEXTS, WORDS))
        assert len(batches) == n_batches
        seen = {place for batch in batches for place in compare_with_own_pass(lm, model, batch)}
        assert len(seen) == sum(len(lm.split(word).ids) for word in WORDS) * len(CONTEXTS)


def compare_with_own_pass(
    lm: MaskedLanguageModel, model: Any, batch: SlotBatch
) -> set[tuple[int, int, int]]:
    """Read every slot of a batch alone; return which context, word and subword there were."""
    seen = set()
    for context, word, subword, row in zip(
        batch.context, batch.word, batch.subword, batch.row, strict=True
    ):
        pieces = lm.split(WORDS[word]).ids
        masks = " ".join([lm.mask_token] * len(pieces))
        ids = list(lm.encode(CONTEXTS[context].before + masks + CONTEXTS[context].after))
        first = ids.index(lm.tokenizer.mask_id)
        ids[first : first + subword] = pieces[:subword]
        with torch.inference_mode():
            own = model(input_ids=torch.tensor([ids])).logits[0, first + subword]
        np.testing.assert_allclose(batch.logits[row], own.numpy(), atol=1e-4, rtol=1e-4)
        assert lm._bias is not None
        again = batch.hidden[row] @ lm._weight.numpy().T + lm._bias.numpy()
        np.testing.assert_allclose(batch.logits[row], again, atol=1e-4, rtol=1e-4)
        seen.add((int(context), int(word), int(subword)))
    return seen


@pytest.mark.parametrize("family", ["deberta", "deberta-v2"])
def test_published_deberta_checkpoints_load_with_their_own_head(
    family: str, tiny_roberta: MaskedLanguageModel, tmp_path: Path
) -> None:
    """Their configurations say nothing of the head that their weights are for."""
    config = transformers.AutoConfig.for_model(
        family, pad_token_id=1, **_SIZES, **_OWN_SETTINGS[family]
    )
    torch.manual_seed(2)
    model = transformers.AutoModelForMaskedLM.from_config(config).eval()
    model.save_pretrained(tmp_path)
    tiny_roberta.tokenizer._tokenizer.save_pretrained(tmp_path)
    file = tmp_path / "config.json"
    stored = json.loads(file.read_text())
    del stored["legacy"]
    stored["vocab_size"] = config.vocab_size
    file.write_text(json.dumps(stored))
    lm = load_masked(tmp_path, threads=1)
    found = lm.word_logprobs(CONTEXTS[:1], WORDS[:2])
    expected = [direct_logprob(model, lm, CONTEXTS[0], word) for word in WORDS[:2]]
    np.testing.assert_allclose(found[0], expected, atol=1e-5)


def test_batch_size_does_not_change_results(tiny_model: MaskedLanguageModel) -> None:
    usual = tiny_model.word_logprobs(CONTEXTS, WORDS)
    size = tiny_model.batch_size
    try:
        for tiny_model.batch_size in (1, 3, 7):
            found = tiny_model.word_logprobs(CONTEXTS, WORDS)
            np.testing.assert_allclose(found, usual, atol=1e-6, rtol=1e-6)
    finally:
        tiny_model.batch_size = size


def test_the_order_of_contexts_and_words_only_orders_the_result(
    tiny_model: MaskedLanguageModel,
) -> None:
    usual = tiny_model.word_logprobs(CONTEXTS, WORDS)
    found = tiny_model.word_logprobs(CONTEXTS[::-1], WORDS[::-1])
    np.testing.assert_allclose(found[::-1, ::-1], usual, atol=1e-6, rtol=1e-6)


def test_a_repeated_call_gives_the_same_bits(tiny_model: MaskedLanguageModel) -> None:
    first = tiny_model.word_logprobs(CONTEXTS, WORDS)
    assert np.array_equal(first, tiny_model.word_logprobs(CONTEXTS, WORDS))


def test_class_renormalization_makes_one_step_sum_to_one(tiny_model: MaskedLanguageModel) -> None:
    """Given that a word begins here, the one-token words share a mass of exactly one."""
    vocabulary = tiny_model.tokenizer
    logits = next(tiny_model.slot(CONTEXTS[:1], ["poor"])).logits[0].astype(np.float64)
    initial = np.exp(logits[vocabulary.word_initial])
    expected = np.log(np.exp(logits[list(tiny_model.split("poor").ids)]) / initial.sum())
    found = tiny_model.word_logprobs(CONTEXTS[:1], ["poor"], renorm="class")
    np.testing.assert_allclose(found[0], expected, atol=1e-9)
    plain = tiny_model.word_logprobs(CONTEXTS[:1], ["poor"])
    assert found[0, 0] > plain[0, 0]


def test_an_unknown_renormalization_is_refused(tiny_bert: MaskedLanguageModel) -> None:
    with pytest.raises(ValueError, match="renorm"):
        tiny_bert.word_logprobs(CONTEXTS, WORDS, renorm="half")  # type: ignore[arg-type]
