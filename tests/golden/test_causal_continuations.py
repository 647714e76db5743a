"""Continuations and perplexities of causal models against causal_continuations.json."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from probing.lm import SpanContext
from tests.golden.text_cases import load_expected, load_lm

pytestmark = pytest.mark.shared

MODELS = ("tiny-gpt2", "tiny-opt", "tiny-llama")


@pytest.mark.parametrize("name", MODELS)
def test_every_token_of_every_continuation_matches(shared_dir: Path, name: str) -> None:
    golden = load_expected(shared_dir, "causal_continuations")
    atol = golden["header"]["tolerance"]["abs"]
    cases = golden["models"][name]["continuations"]
    words = list(cases[0]["token_log_probs"])
    pairs = [(case, word) for case in cases for word in words]
    found = load_lm(shared_dir, name).score_spans(
        [SpanContext(f"{case['prompt']} ", word, "") for case, word in pairs], n_best=0
    )
    assert len(cases) == 24
    for (case, word), score in zip(pairs, found, strict=True):
        expected = case["token_log_probs"][word]
        np.testing.assert_allclose(score.token_logprobs, expected, rtol=0, atol=atol)


@pytest.mark.parametrize("name", MODELS)
def test_a_begin_token_lets_the_first_token_be_scored(shared_dir: Path, name: str) -> None:
    golden = load_expected(shared_dir, "causal_continuations")
    cases = golden["models"][name]["perplexity"]
    begins = golden["models"][name]["begins_with"] is not None
    lm = load_lm(shared_dir, name)
    scores = lm.token_logprobs([case["text"] for case in cases])
    own = [len(lm.tokenizer.encode_plain(case["text"])) for case in cases]
    assert [len(score) for score in scores] == [count - (not begins) for count in own]
    np.testing.assert_allclose(
        [np.exp(-np.mean(score)) for score in scores],
        [case["perplexity_encoded_sequence"] for case in cases],
        rtol=golden["header"]["tolerance"]["perplexity_rel"],
    )
