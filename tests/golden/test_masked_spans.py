"""Hidden spans of T5 against golden/expected/masked_span_t5.json."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from probing.lm.best_spans import best_spans_of_length
from tests.golden.text_cases import load_expected, load_lm, span_context

pytestmark = pytest.mark.shared


def test_every_token_of_every_span_matches(shared_dir: Path) -> None:
    golden = load_expected(shared_dir, "masked_span_t5")
    tolerance = golden["header"]["tolerance"]
    lm = load_lm(shared_dir, "tiny-t5")
    contexts = [span_context(case) for case in golden["cases"]]
    scores = lm.score_spans(contexts, n_best=0)
    assert len(scores) == len(golden["cases"]) == 12
    for case, context, score in zip(golden["cases"], contexts, scores, strict=True):
        assert lm.tokenizer.encode_sentinel(context) == (case["source_ids"], case["span_ids"])
        np.testing.assert_allclose(
            score.token_logprobs, case["token_log_probs"], rtol=0, atol=tolerance["abs"]
        )
        np.testing.assert_allclose(
            np.exp(-score.token_logprobs.mean()),
            case["span_perplexity"],
            rtol=tolerance["perplexity_rel"],
        )
        assert score.best_spans == ()


def test_the_entropy_of_the_five_likeliest_first_tokens_matches(shared_dir: Path) -> None:
    """The file's entropy is of the first token alone: the best spans of one token."""
    golden = load_expected(shared_dir, "masked_span_t5")
    lm = load_lm(shared_dir, "tiny-t5")
    for case in golden["cases"]:
        source, _ = lm.tokenizer.encode_sentinel(span_context(case))
        decoding = lm._open_after([source], [[lm.tokenizer.sentinels[0]]])
        spans = best_spans_of_length(decoding, 5, lengths=[1], banned=())[0]
        p = np.exp([span.logprob for span in spans])
        p /= p.sum()
        np.testing.assert_allclose(
            -(p * np.log(p)).sum(),
            case["next_token_top5_entropy_nats_renormalised"],
            rtol=0,
            atol=golden["header"]["tolerance"]["abs"],
        )
