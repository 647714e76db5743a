"""Log probabilities of texts: by hand from one forward pass, and independent of the batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from probing.lm import ContextTooLongError, MaskCountError, SpanContext, load_text_model
from probing.lm.batching import batches_by_length

pytestmark = pytest.mark.shared

NAMES = ["tiny-gpt2", "tiny-opt", "tiny-llama", "tiny-t5", "tiny-bert", "tiny-roberta"]
TEXTS = ["he be late", "she is usually working late at the store", "they", "People who say that"]


@pytest.fixture(scope="module")
def models(checkpoints: Path) -> dict[str, Any]:
    return {name: load_text_model(checkpoints / name, threads=1) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_scores_of_texts_depend_on_no_other_in_the_batch(models: dict[str, Any], name: str) -> None:
    lm = models[name]
    together = lm.token_logprobs(TEXTS)
    usual = lm.batch_tokens
    try:
        for lm.batch_tokens in (1, 30):
            for one, other in zip(together, lm.token_logprobs(TEXTS[::-1])[::-1], strict=True):
                assert one.dtype == np.float64
                np.testing.assert_allclose(one, other, atol=1e-5)
    finally:
        lm.batch_tokens = usual


@pytest.mark.parametrize("name", ["tiny-bert", "tiny-roberta"])
def test_a_masked_model_scores_every_token_that_is_the_texts_own(
    models: dict[str, Any], name: str
) -> None:
    """Each token behind a mask, one unpadded sentence at a time."""
    lm = models[name]
    model, tokenizer = lm.model._model, lm.tokenizer._tokenizer
    for text, found in zip(TEXTS, lm.token_logprobs(TEXTS), strict=True):
        ids = tokenizer(text).input_ids
        expected = []
        for place in range(1, len(ids) - 1):
            masked = [*ids[:place], tokenizer.mask_token_id, *ids[place + 1 :]]
            with torch.inference_mode():
                logits = model(input_ids=torch.tensor([masked])).logits[0, place].double()
            expected.append(float(torch.log_softmax(logits, 0)[ids[place]]))
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_text_of_one_token_has_no_value_without_a_begin_token(models: dict[str, Any]) -> None:
    for name, scored in (("tiny-gpt2", 0), ("tiny-opt", 1), ("tiny-llama", 1)):
        lm = models[name]
        assert len(lm.tokenizer.encode_plain("he")) == 1
        assert len(lm.token_logprobs(["he"])[0]) == scored
    assert len(models["tiny-gpt2"].token_logprobs([""])[0]) == 0
    assert models["tiny-gpt2"].token_logprobs([]) == []


def test_a_span_at_the_end_is_scored_as_the_end_of_the_whole_text(models: dict[str, Any]) -> None:
    """Against scoring prompt and span as one text."""
    prompts, words = ["he is ", "The person says: "], ["late", "at the store", "science-oriented"]
    contexts = [SpanContext(prompt, word, "") for prompt in prompts for word in words]
    for name in NAMES[:3]:
        lm = models[name]
        for context, found in zip(contexts, lm.score_spans(contexts, n_best=0), strict=True):
            score = found.token_logprobs
            (whole,) = lm.token_logprobs([context.before + context.span])
            np.testing.assert_allclose(score, whole[len(whole) - len(score) :], atol=1e-5)
            assert len(score) == len(lm.tokenizer.encode_plain(f" {context.span}"))


def test_white_space_at_the_end_of_a_prompt_belongs_to_what_follows(
    models: dict[str, Any],
) -> None:
    contexts = [SpanContext("he is ", "late", ""), SpanContext("he is", " late", "")]
    one, other = models["tiny-gpt2"].score_spans(contexts, n_best=0)
    np.testing.assert_array_equal(one.token_logprobs, other.token_logprobs)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "tiny-t5"])
def test_a_text_that_does_not_fit_is_refused_with_its_length(
    models: dict[str, Any], name: str
) -> None:
    lm = models[name]
    text = "he is late " * 30
    with pytest.raises(ContextTooLongError, match=rf"has {lm.count_tokens(text)} tokens.* 64"):
        lm.token_logprobs([text])


@pytest.mark.parametrize(
    ("name", "token"),
    [("tiny-bert", "[MASK]"), ("tiny-roberta", "<mask>"), ("tiny-t5", "<extra_id_0>")],
)
def test_a_text_that_brings_the_hiding_token_is_refused(
    models: dict[str, Any], name: str, token: str
) -> None:
    with pytest.raises(MaskCountError, match="Remove it"):
        models[name].token_logprobs([f"he {token} late"])


def test_batches_keep_to_the_budget_and_leave_nothing_out() -> None:
    lengths = [5, 1, 9, 2, 2, 30, 7]
    batches = list(batches_by_length(lengths, 12))
    assert sorted(index for batch in batches for index in batch) == list(range(7))
    # By hand: 1+2+2 are padded to 3 x 2, with the 5 to 4 x 5 > 12; 5 and 7 to 2 x 7 > 12.
    assert batches == [[1, 3, 4], [0], [6], [2], [5]]
    with pytest.raises(ValueError, match="budget"):
        list(batches_by_length([1], 0))
