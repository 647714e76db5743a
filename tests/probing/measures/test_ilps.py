"""ILPS by its first and its last subword, against transformers asked sentence by sentence."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

from probing.lm.loaders import load_slot_model
from probing.lm.masked import MaskedLanguageModel
from probing.measures.ilps import Ilps, IlpsParameters
from probing.measures.stimuli import Group, Stimuli, Template, Trait

pytestmark = pytest.mark.shared

MEASURE = Ilps()
STIMULI = Stimuli(
    groups=(Group("elderly", "elderly person", "elderly people", "Elderly people"),),
    traits=(
        Trait("unconfident-confident", "unconfident", "confident", "agency"),
        Trait("low-high", "low-status", "high-status", "agency"),
        Trait("poor-wealthy", "poor", "wealthy", "agency"),
    ),
    templates=(Template("that", "That {singular} is {trait}."),),
)
SENTENCE, PRIOR = "That elderly person is SLOT.", "That MASK is SLOT."


def scores(lm, **parameters) -> pd.Series:
    """Value by word."""
    chosen = IlpsParameters(**parameters)
    (shard,) = MEASURE.plan(STIMULI, chosen)
    return MEASURE.compute(shard.payload, STIMULI, chosen, lm).set_index("word")["value"]


def plain_logprob(folder: str, sentence: str, word: str, subword: str) -> float:
    """ln P of one subword at its own mask, all masks of the word open; one call of the model."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForMaskedLM.from_pretrained(folder).eval()
    spaced = word if folder.endswith("tiny-bert") else f" {word}"
    pieces = tokenizer(spaced, add_special_tokens=False)["input_ids"]
    text = sentence.replace("MASK", tokenizer.mask_token)
    text = text.replace("SLOT", " ".join([tokenizer.mask_token] * len(pieces)))
    inputs = tokenizer(text, return_tensors="pt")
    masks = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero().flatten()
    slot = masks[-len(pieces) :]
    place = 0 if subword == "first" else len(pieces) - 1
    with torch.no_grad():
        logits = model(**inputs).logits[0, slot[place]].double()
    return float(torch.log_softmax(logits, dim=0)[pieces[place]])


@pytest.mark.parametrize("subword", ["first", "last"])
def test_a_score_is_the_difference_of_one_subwords_log_probabilities(
    tiny_model: MaskedLanguageModel, subword: str
) -> None:
    found = scores(tiny_model, subword=subword)
    folder = str(tiny_model.facts.source)
    for word, value in found.items():
        expected = plain_logprob(folder, SENTENCE, word, subword) - plain_logprob(
            folder, PRIOR, word, subword
        )
        assert value == pytest.approx(expected, abs=1e-5), word


def test_words_of_one_subword_have_one_score_either_way(tiny_model: MaskedLanguageModel) -> None:
    first, last = scores(tiny_model), scores(tiny_model, subword="last")
    single = [word for word in first.index if len(tiny_model.split(word).ids) == 1]
    several = [word for word in first.index if word not in single]
    assert single
    assert first[single].tolist() == pytest.approx(last[single].tolist(), abs=1e-6)
    assert (first[several] - last[several]).abs().min() > 1e-6


def test_a_remark_names_the_words_that_share_the_subword_that_counts(
    tiny_bert: MaskedLanguageModel,
) -> None:
    """Under WordPiece low-status and high-status both end with “status”."""

    def remarks(subword: str) -> list[str]:
        chosen = IlpsParameters(subword=subword)
        return [problem.message for problem in MEASURE.problems(STIMULI, chosen, tiny_bert)]

    shared = "low-status, high-status end with the same subword"
    assert any(text.startswith(shared) for text in remarks("last"))
    assert not any("low-status" in text for text in remarks("first"))


def test_a_causal_model_reads_the_earlier_subwords_before_the_last(checkpoints: Path) -> None:
    lm = load_slot_model(checkpoints / "tiny-gpt2", threads=1)
    chosen = IlpsParameters(subword="last", prior="noun")
    # Both end with “status”, but the model has read “low” or “high” before it.
    assert not any("low-status" in p.message for p in MEASURE.problems(STIMULI, chosen, lm))
    found = scores(lm, subword="last", prior="noun")
    tokenizer = AutoTokenizer.from_pretrained(checkpoints / "tiny-gpt2")

    def plain(before: str, word: str) -> float:
        ids = tokenizer(before)["input_ids"] + tokenizer(f" {word}")["input_ids"]
        with torch.no_grad():
            logits = lm._model(input_ids=torch.tensor([ids])).logits[0, -2].double()
        return float(torch.log_softmax(logits, dim=0)[ids[-1]])

    for word, value in found.items():
        expected = plain("That elderly person is", word) - plain("That person is", word)
        assert value == pytest.approx(expected, abs=1e-4), word
