"""Hidden spans: teacher forcing against transformers, best spans against full enumeration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from probing.lm import ContextTooLongError, MaskCountError, SpanContext, best_spans, load_text_model
from probing.lm.best_spans import best_closed_spans, best_spans_of_length
from probing.lm.causal import CausalModel
from probing.lm.seq2seq import Seq2SeqModel
from probing.measures.span_prediction import span_values
from tests.probing.lm.tiny_bart import make_tiny_bart

pytestmark = pytest.mark.shared

CONTEXTS = [
    SpanContext("she is ", "usually working", " late at the store."),
    SpanContext("he ", "be", " cookin dinner"),
    SpanContext("", "they been", " talking"),
    SpanContext("my brother stays playing ", "music", ""),
    SpanContext("we are ready to ", "go home", "."),
]


@pytest.fixture(scope="module")
def bart(tmp_path_factory: pytest.TempPathFactory) -> Seq2SeqModel:
    lm = load_text_model(make_tiny_bart(tmp_path_factory.mktemp("bart")), threads=1)
    assert isinstance(lm, Seq2SeqModel)
    return lm


@pytest.fixture(scope="module")
def t5(checkpoints: Path) -> Seq2SeqModel:
    return load_text_model(checkpoints / "tiny-t5", threads=1)  # type: ignore[return-value]


@pytest.fixture(scope="module")
def opt(checkpoints: Path) -> CausalModel:
    return load_text_model(checkpoints / "tiny-opt", threads=1)  # type: ignore[return-value]


@torch.inference_mode()
def direct(lm: Seq2SeqModel, source: list[int], *targets: list[int]) -> torch.Tensor:
    """ln P of the whole vocabulary at each place of every target, by labels of equal length."""
    sources = torch.tensor([source]).expand(len(targets), -1)
    output = lm._model(input_ids=sources, labels=torch.tensor(targets))
    return torch.log_softmax(output.logits.double(), dim=-1)


def test_bart_restores_the_text_around_one_mask(bart: Seq2SeqModel) -> None:
    """The span's tokens are those that the whole text has where the span stands."""
    tokenizer = bart.tokenizer._tokenizer
    scores = bart.score_spans(CONTEXTS, n_best=0)
    for context, score in zip(CONTEXTS, scores, strict=True):
        whole = context.before + context.span + context.after
        target = tokenizer(whole).input_ids
        hidden = tokenizer(f"{context.before}<mask>{context.after}").input_ids
        assert hidden.count(bart.tokenizer.mask_id) == 1
        start = len(tokenizer(context.before.rstrip(), add_special_tokens=False).input_ids) + 1
        end = len(tokenizer(context.before + context.span, add_special_tokens=False).input_ids) + 1
        logprobs = direct(bart, hidden, target)[0]
        expected = [float(logprobs[place, target[place]]) for place in range(start, end)]
        np.testing.assert_allclose(score.token_logprobs, expected, atol=1e-5)
        assert tokenizer.decode(target[start:end]).strip() == context.span


def test_best_spans_of_two_tokens_are_the_best_of_all_pairs(bart: Seq2SeqModel) -> None:
    """Every pair of ordinary tokens is scored on its own; no beam is needed for that."""
    context = CONTEXTS[1]
    tokenizer = bart.tokenizer
    hidden, target, places = tokenizer.encode_masked(context)
    ordinary = [n for n in range(bart.facts.vocabulary_size or 0) if n not in tokenizer.special_ids]
    begun = target[: places[0]]
    first = direct(bart, hidden, [*begun, 0])[0, len(begun)]
    seconds = direct(bart, hidden, *([*begun, one, 0] for one in ordinary))[:, len(begun) + 1]
    both = (first[ordinary, None] + seconds[:, ordinary]).tolist()
    pairs = [
        (value, (one, two))
        for one, row in zip(ordinary, both, strict=True)
        for two, value in zip(ordinary, row, strict=True)
    ]
    expected = sorted(pairs, reverse=True)[:5]
    decoding = bart._open_after([hidden], [begun])
    found = best_spans_of_length(decoding, 5, lengths=[2], banned=tokenizer.special_ids)[0]
    assert found is not None
    np.testing.assert_allclose(
        [span.logprob for span in found], [value for value, _ in expected], atol=1e-5
    )
    assert [span.ids for span in found] == [ids for _, ids in expected]


def test_closed_spans_count_their_closing(t5: Seq2SeqModel) -> None:
    """Every span of one token, closed by the next sentinel or the end token."""
    source, _ = t5.tokenizer.encode_sentinel(CONTEXTS[1])
    zero, one = t5._sentinels()
    closers = [one, 1]
    special = t5.tokenizer.special_ids
    ordinary = [n for n in range(t5.facts.vocabulary_size or 0) if n not in special]
    first = direct(t5, source, [zero, 0])[0, 1]
    seconds = direct(t5, source, *([zero, token, 0] for token in ordinary))[:, 2]
    values = (first[ordinary] + torch.logsumexp(seconds[:, closers], dim=1)).tolist()
    expected = dict(zip(ordinary, values, strict=True))
    decoding = t5._open_after([source], [[zero]])
    found = best_closed_spans(decoding, 8, closing=closers, banned=special)[0]
    assert found is not None
    assert len(found) == 8
    assert [span.logprob for span in found] == sorted((s.logprob for s in found), reverse=True)
    short = {span.ids[0]: span.logprob for span in found if len(span.ids) == 1}
    assert short
    for token, value in short.items():
        assert abs(value - expected[token]) < 1e-5
    better = {token for token in ordinary if expected[token] > found[-1].logprob + 1e-5}
    assert better <= set(short)


@torch.inference_mode()
def test_closed_spans_are_the_best_of_all_up_to_two_tokens(t5: Seq2SeqModel) -> None:
    """Spans of three tokens cannot win where no two tokens are likelier than the fifth span."""
    source, _ = t5.tokenizer.encode_sentinel(CONTEXTS[0])
    zero, one = t5._sentinels()
    special = t5.tokenizer.special_ids
    ordinary = [n for n in range(t5.facts.vocabulary_size or 0) if n not in special]
    closers = [one, 1]
    first = direct(t5, source, [zero, 0])[0, 1]
    after_one = direct(t5, source, *([zero, token, 0] for token in ordinary))[:, 2]
    begun = first[ordinary, None] + after_one[:, ordinary]
    every = [
        (float(first[token] + torch.logsumexp(after_one[line, closers], dim=0)), (token,))
        for line, token in enumerate(ordinary)
    ]
    likeliest = begun.flatten().topk(400)
    for total, place in zip(likeliest.values.tolist(), likeliest.indices.tolist(), strict=True):
        pair = (ordinary[place // len(ordinary)], ordinary[place % len(ordinary)])
        ending = direct(t5, source, [zero, *pair, 0])[0, 3]
        every.append((total + float(torch.logsumexp(ending[closers], dim=0)), pair))
    expected = sorted(every, reverse=True)[:5]
    assert likeliest.values[-1] < expected[-1][0]  # no other pair can win
    decoding = t5._open_after([source], [[zero]])
    found = best_closed_spans(decoding, 5, closing=closers, banned=special)[0]
    assert found is not None
    shorter = [span for span in found if len(span.ids) <= 2]
    np.testing.assert_allclose(
        [span.logprob for span in shorter],
        [value for value, _ in expected[: len(shorter)]],
        atol=1e-5,
    )


def test_a_search_that_takes_too_long_gives_no_spans(
    opt: CausalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(best_spans, "MOST_BEGINNINGS", 40)
    context = SpanContext("she is ", "usually working late tonight", " at the store.")
    (score,) = opt.score_spans([context])
    assert not score.certain
    assert score.best_spans == ()
    assert len(score.token_logprobs) > 1
    rows = span_values(score, normalize=True)
    assert [(name, reason) for name, _, reason, _ in rows if reason] == [
        ("top5_entropy", "the five likeliest spans are not certain after 2,000 beginnings of spans")
    ]


def test_longer_closed_spans_are_scored_by_the_chain_rule(t5: Seq2SeqModel) -> None:
    zero, one = t5._sentinels()
    for context in CONTEXTS:
        source, _ = t5.tokenizer.encode_sentinel(context)
        decoding = t5._open_after([source], [[zero]])
        spans = best_closed_spans(decoding, 5, closing=[one, 1], banned=t5.tokenizer.special_ids)[0]
        for span in spans:
            logprobs = direct(t5, source, [zero, *span.ids, one])[0]
            total = sum(float(logprobs[1 + n, token]) for n, token in enumerate(span.ids))
            total += float(torch.logsumexp(logprobs[1 + len(span.ids), [one, 1]], dim=0))
            assert abs(span.logprob - total) < 1e-5


def test_probabilities_of_best_spans_stay_below_one(t5: Seq2SeqModel) -> None:
    for score in t5.score_spans(CONTEXTS):
        assert len(score.best_logprobs) == len(score.best_spans) == 5
        assert np.exp(score.best_logprobs).sum() < 1
        assert not np.any(np.diff(score.best_logprobs) > 0)


def test_a_causal_model_sees_what_stands_before_alone(opt: CausalModel) -> None:
    tokenizer = opt.tokenizer
    for context, score in zip(CONTEXTS, opt.score_spans(CONTEXTS, n_best=3), strict=True):
        before = tokenizer.encode(context.before.rstrip())
        whole = tokenizer.encode(context.before + context.span)
        with torch.inference_mode():
            logits = opt._model(input_ids=torch.tensor([whole])).logits[0].double()
        logprobs = torch.log_softmax(logits, dim=-1)
        expected = [
            float(logprobs[place - 1, whole[place]]) for place in range(len(before), len(whole))
        ]
        np.testing.assert_allclose(score.token_logprobs, expected, atol=1e-5)
        assert len(score.best_spans) == 3
    changed = [SpanContext(c.before, c.span, " something else") for c in CONTEXTS]
    for one, other in zip(opt.score_spans(CONTEXTS), opt.score_spans(changed), strict=True):
        np.testing.assert_array_equal(one.token_logprobs, other.token_logprobs)
        assert one.best_spans == other.best_spans


def test_without_a_begin_token_a_span_at_the_beginning_lacks_its_first_token(
    checkpoints: Path,
) -> None:
    lm: Any = load_text_model(checkpoints / "tiny-gpt2", threads=1)
    n = len(lm.tokenizer.encode_plain("they been"))
    score = lm.score_spans([SpanContext("", "they been", " talking")])[0]
    assert len(score.token_logprobs) == n - 1
    assert score.best_spans == ()
    (alone,) = lm.token_logprobs(["they been"])
    np.testing.assert_allclose(score.token_logprobs, alone, atol=1e-6)


@pytest.mark.parametrize("name", ["bart", "t5", "opt"])
def test_scores_of_spans_depend_on_no_other_in_the_batch(
    name: str, request: pytest.FixtureRequest
) -> None:
    lm = request.getfixturevalue(name)
    together = lm.score_spans(CONTEXTS)
    for context, score in zip(CONTEXTS, together, strict=True):
        (alone,) = lm.score_spans([context])
        np.testing.assert_allclose(score.token_logprobs, alone.token_logprobs, atol=1e-5)
        np.testing.assert_allclose(score.best_logprobs, alone.best_logprobs, atol=1e-5)
        assert score.best_spans == alone.best_spans


@pytest.mark.parametrize(("name", "token"), [("bart", "<mask>"), ("t5", "<extra_id_0>")])
def test_a_text_that_brings_the_hiding_token_is_refused(
    name: str, token: str, request: pytest.FixtureRequest
) -> None:
    lm = request.getfixturevalue(name)
    with pytest.raises(MaskCountError, match="2 times"):
        lm.score_spans([SpanContext(f"he {token} ", "be", " late")])


def test_a_text_with_a_span_that_does_not_fit_is_refused(
    bart: Seq2SeqModel, opt: CausalModel
) -> None:
    long = SpanContext("he be " * 40, "cookin", " dinner")
    for lm in (bart, opt):
        with pytest.raises(ContextTooLongError, match="the model reads"):
            lm.score_spans([long])
