"""Contextual embeddings against the model's own hidden states, read one sentence at a time."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from probing.lm import ContextTooLongError
from probing.lm.masked import MaskedLanguageModel
from probing.lm.protocols import Pieces, SpanText

SPANS = [
    SpanText("The teenager was warm to her friend.", 4, 12),
    SpanText("Teenagers are poor.", 0, 9),
    SpanText("It was a cold day for all elderly people in the house.", 26, 40),
]


def expected(lm: MaskedLanguageModel, span: SpanText, pieces: Pieces) -> np.ndarray:
    ids, offsets = lm.tokenizer.encode_with_offsets(span.text)
    with torch.inference_mode():
        hidden = lm._body(input_ids=torch.tensor([ids])).last_hidden_state[0]
    inside = [i for i, (a, b) in enumerate(offsets) if a < span.end and b > span.start]
    chosen = {"first": inside[:1], "last": inside[-1:], "mean": inside}[pieces]
    return hidden[chosen].mean(dim=0).numpy()


@pytest.mark.parametrize("pieces", ["first", "last", "mean"])
def test_spans_have_the_models_last_hidden_state(
    tiny_model: MaskedLanguageModel, pieces: Pieces
) -> None:
    found = tiny_model.embed(SPANS, pieces=pieces)
    for row, span in zip(found, SPANS, strict=True):
        np.testing.assert_allclose(row, expected(tiny_model, span, pieces), atol=1e-5)


def test_the_tokens_of_a_span_are_those_of_its_text(tiny_model: MaskedLanguageModel) -> None:
    span = SPANS[2]
    ids, offsets = tiny_model.tokenizer.encode_with_offsets(span.text)
    inside = [span.text[a:b] for a, b in offsets if a < span.end and b > span.start]
    assert "".join(inside).replace(" ", "") == "elderlypeople"
    assert len(ids) == len(offsets)


def test_a_sentence_that_does_not_fit_is_refused(tiny_bert: MaskedLanguageModel) -> None:
    text = "very " * tiny_bert.max_length
    with pytest.raises(ContextTooLongError, match="tokens, and the model reads"):
        tiny_bert.embed([SpanText(text, 0, 4)])


@pytest.mark.parametrize(("start", "end"), [(3, 3), (-1, 2), (0, 99)])
def test_a_span_outside_its_text_is_refused(
    tiny_bert: MaskedLanguageModel, start: int, end: int
) -> None:
    with pytest.raises(ValueError, match="lies outside"):
        tiny_bert.embed([SpanText("A warm day", start, end)])
