"""Continuations and perplexities of causal models against causal_continuations.json."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.golden.text_cases import load_expected, load_lm

pytestmark = pytest.mark.shared

MODELS = ("tiny-gpt2", "tiny-opt", "tiny-llama")


@pytest.mark.parametrize("name", MODELS)
def test_every_token_of_every_continuation_matches(shared_dir: Path, name: str) -> None:
    golden = load_expected(shared_dir, "causal_continuations")
    atol = golden["header"]["tolerance"]["abs"]
    cases = golden["models"][name]["continuations"]
    words = list(cases[0]["token_log_probs"])
    found = load_lm(shared_dir, name).continuation_logprobs(
        [case["prompt"] for case in cases], [f" {word}" for word in words]
    )
    assert len(cases) == 24
    for case, scores in zip(cases, found, strict=True):
        for word, score in zip(words, scores, strict=True):
            np.testing.assert_allclose(score, case["token_log_probs"][word], rtol=0, atol=atol)


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
