"""T5 in a slot, and embeddings of causal and encoder-decoder models, against the models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tokenizers
import torch
import transformers

from probing.lm import MaskCountError, TokenizerError
from probing.lm.loaders import load_slot_model, load_slot_tokenizer
from probing.lm.protocols import SlotContext, SpanText
from probing.lm.seq2seq_slots import Seq2SeqSlotModel
from probing.lm.text_tokenizer import find_sentinels
from probing.measures.ceat import Ceat, CeatParameters
from probing.measures.ilps import Ilps, IlpsStar
from probing.measures.sensitivity import SensitivityTest, subword_changes
from probing.measures.slot_measure import prior_context
from probing.measures.stimuli import Group, Stimuli, Template, Trait
from tests.probing.lm.tiny_bart import make_tiny_bart

pytestmark = pytest.mark.shared

WORDS = ["warm", "unconfident", "science-oriented"]
CONTEXTS = [SlotContext("That teenager is ", "."), SlotContext("All elderly people are ", ".")]
TEMPLATE = Template("that", "That {singular} is {trait}.")
STIMULI = Stimuli(
    groups=(
        Group("teenager", "teenager", "teenagers", "Teenagers"),
        Group("elderly", "elderly person", "elderly people", "Elderly people"),
    ),
    traits=(Trait("cold-warm", "cold", "warm", "communion"),),
    templates=(TEMPLATE,),
)


@pytest.fixture(scope="module")
def t5(shared_dir: Path) -> Seq2SeqSlotModel:
    found = load_slot_model(shared_dir / "golden" / "models" / "tiny-t5", threads=1)
    assert isinstance(found, Seq2SeqSlotModel)
    return found


def own_logits(lm: Seq2SeqSlotModel, context: SlotContext, written: list[int]) -> torch.Tensor:
    """Return the model's own logits after the sentinel and these tokens."""
    source = lm.encode(f"{context.before}<extra_id_0>{context.after}")
    start = lm._model.config.decoder_start_token_id
    begun = [start, lm.tokenizer.sentinels[0], *written]
    with torch.inference_mode():
        output = lm._model(
            input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([begun])
        )
    return output.logits[0, -1].double()


def test_words_have_the_models_own_probability(t5: Seq2SeqSlotModel) -> None:
    found = t5.word_logprobs(CONTEXTS, WORDS)
    for c, context in enumerate(CONTEXTS):
        for w, word in enumerate(WORDS):
            pieces, total = t5.split(word).ids, 0.0
            for i, piece in enumerate(pieces):
                logits = own_logits(t5, context, list(pieces[:i]))
                total += float(torch.log_softmax(logits, dim=0)[piece])
            assert found[c, w] == pytest.approx(total, abs=1e-4)


def test_set_reads_the_input_of_the_output_layer_scaled_where_embeddings_are_tied(
    t5: Seq2SeqSlotModel,
) -> None:
    """methods.md §5.1: decoder output times d_model**-0.5; its product with W are the logits."""
    assert t5._model.config.tie_word_embeddings
    weight = t5._model.lm_head.weight.detach().numpy()
    for batch in t5.slot(CONTEXTS[:1], ["warm"]):
        assert not batch.has_bias
        np.testing.assert_allclose(batch.hidden @ weight.T, batch.logits, atol=1e-4)
        (first,) = batch.logits[batch.row[batch.subword == 0]]
        np.testing.assert_allclose(first, own_logits(t5, CONTEXTS[0], []).numpy(), atol=1e-4)
    assert np.isfinite(subword_changes(t5, CONTEXTS[:1], ["warm"])).all()


@pytest.mark.parametrize("prior", ["mask", "noun"])
@pytest.mark.parametrize("measure", [Ilps(), IlpsStar(), SensitivityTest()])
def test_every_slot_measure_scores_with_either_prior(t5, measure, prior) -> None:
    chosen = measure.Parameters(prior=prior)
    assert not [p for p in measure.problems(STIMULI, chosen, t5.tokenizer) if p.fatal]
    frames = [
        measure.compute(shard.payload, STIMULI, chosen, t5)
        for shard in measure.plan(STIMULI, chosen)
    ]
    scores = measure.aggregate(STIMULI, chosen, frames)
    assert np.isfinite(scores["value"]).all()
    assert measure.estimate(STIMULI, chosen, t5.tokenizer).forward_passes > 0


def test_a_masked_group_is_the_second_sentinel_wherever_it_stands(t5: Seq2SeqSlotModel) -> None:
    behind = Template("those", "The {trait} people are {plural}.")
    for template in (TEMPLATE, behind):
        ids, place = t5.encode_slot(prior_context(template, "mask", t5), 1)
        assert ids[place] == t5.tokenizer.sentinels[0]
        assert ids.count(t5.tokenizer.sentinels[1]) == 1


def test_a_text_that_brings_a_sentinel_is_refused(t5: Seq2SeqSlotModel) -> None:
    with pytest.raises(MaskCountError, match="2 times <extra_id_0>"):
        t5.encode_slot(SlotContext("The <extra_id_0> person is ", "."), 1)


def test_bart_gives_embeddings_and_no_slots(tmp_path: Path) -> None:
    folder = make_tiny_bart(tmp_path)
    facts = load_slot_tokenizer(folder)
    assert facts.abilities == {"embed"}
    with pytest.raises(TokenizerError, match="T5 family"):
        facts.encode_slot(CONTEXTS[0], 1)
    lm = load_slot_model(folder, threads=1)
    assert lm.embed([SpanText("a warm day", 2, 6)]).shape[0] == 1


@pytest.mark.parametrize("name", ["gpt2", "opt", "llama", "t5"])
@pytest.mark.parametrize("pieces", ["first", "last"])
def test_embeddings_are_the_models_own_last_states(shared_dir: Path, name: str, pieces) -> None:
    """By hand: the base model's (T5: its encoder's) last hidden state at the word's tokens.

    Words of several subwords are found by their own tokens in the sentence's.
    """
    lm = load_slot_model(shared_dir / "golden" / "models" / f"tiny-{name}", threads=1)
    assert lm.own_pieces == "last"
    assert "embed" in lm.abilities
    texts = ["They are unconfident today, all of them.", "She is unconfident."]
    spans = [SpanText(text, text.index("unc"), text.index("unc") + 11) for text in texts]
    found = lm.embed(spans, pieces=pieces)
    for row, text in zip(found, texts, strict=True):
        ids, own = list(lm.encode(text)), list(lm.split("unconfident").ids)
        place = next(i for i in range(len(ids)) if ids[i : i + len(own)] == own)
        body = lm._model.get_encoder() if name == "t5" else lm._model.base_model
        with torch.inference_mode():
            states = body(input_ids=torch.tensor([ids])).last_hidden_state[0]
        wanted = states[place if pieces == "first" else place + len(own) - 1]
        np.testing.assert_allclose(row, wanted.float().numpy(), atol=1e-4)


def test_ceat_takes_the_models_own_subword_unless_one_is_chosen(t5: Seq2SeqSlotModel) -> None:
    from tests.probing.measures.test_ceat import draw, run

    default, last, first = (
        run(draw(), t5, pieces=pieces).query("name == 'pair_score'")["value"].to_numpy()
        for pieces in ("automatic", "last", "first")
    )
    np.testing.assert_array_equal(default, last)
    assert not np.allclose(default, first, equal_nan=True)
    assert not [p for p in Ceat().problems(draw(), CeatParameters(), t5.tokenizer) if p.fatal]


@pytest.mark.parametrize("mark", ["", "▁"])
def test_sentinels_are_found_with_the_mark_of_a_word_and_without(mark: str) -> None:
    """UMT5 has “▁<extra_id_0>” among its ordinary pieces."""
    pieces = ["<unk>", "▁", "a", *(f"{mark}<extra_id_{n}>" for n in range(2))]
    model = tokenizers.models.Unigram([(piece, -1.0) for piece in pieces], unk_id=0)
    built = tokenizers.Tokenizer(model)
    built.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=built, unk_token="<unk>")
    assert find_sentinels(tokenizer) == (3, 4)
    assert 3 in tokenizer.encode("a <extra_id_0>") or not mark
