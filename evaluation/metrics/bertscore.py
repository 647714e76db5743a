"""BERTScore: greedy matching of contextual embeddings of a text and its reference.

Zhang et al. (2020), eq. 1. With unit vectors x of the reference and x̂ of the candidate, and
weights w of their tokens,

    P = Σ_j w(x̂_j) max_i x_i·x̂_j / Σ_j w(x̂_j)    R = Σ_i w(x_i) max_j x_i·x̂_j / Σ_i w(x_i)

and F = 2PR / (P + R). All tokens may be matched, those that open and close a text as well, but
these weigh nothing in the averages. Weights are 1, or idf: ln((N + 1) / (df + 1)) over the N
references. The package bert-score lets padding enter the maxima as a similarity of 0, so that its
results depend on the neighbors in a batch; here padding has no part, which equals its batches of
one text. `released_padding` gives the package's numbers for a batch size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.undefined import UndefinedReason

Floats = NDArray[np.float64]

#: Pairs whose embeddings are held at once: some 50 MB for sentences and a hidden size of 1,024.
PAIRS_AT_ONCE = 256


class Tokens(Protocol):
    """One text's tokens; see `probing.lm.token_embeddings.TokenEmbeddings`."""

    @property
    def ids(self) -> NDArray[np.int64]: ...
    @property
    def vectors(self) -> NDArray[np.float32]: ...
    @property
    def special(self) -> NDArray[np.bool_]: ...
    @property
    def reason(self) -> str: ...


class Encoder(Protocol):
    """What BERTScore asks of an encoder."""

    def token_ids(self, texts: Sequence[str]) -> list[NDArray[np.int64]]: ...
    def embed(self, texts: Sequence[str]) -> Sequence[Tokens]: ...


@dataclass(frozen=True)
class BertScores:
    """Scores of every text, (n_texts,), NaN with a reason where undefined.

    reasons : (n_texts,) empty where there is a score
    """

    precision: Floats
    recall: Floats
    f: Floats
    reasons: tuple[str, ...]


def bert_scores(
    candidates: Sequence[str],
    references: Sequence[str],
    encoder: Encoder,
    *,
    idf: bool = False,
    baseline: tuple[float, float, float] | None = None,
    released_padding: int | None = None,
) -> BertScores:
    """Return the scores of every candidate against the reference at the same place.

    candidates, references : (n_texts,)
    idf : weigh tokens by how rare they are among the references
    baseline : (P, R, F) of unrelated texts; scores become (score − b) / (1 − b), which spreads
        them out and changes no order. None = as they are
    released_padding : a batch size of bert-score, to reproduce what padding does to its results

    A text without tokens, without tokens that weigh anything, or longer than the encoder reads
    has no score, with the reason. Raises ValueError for lists of unequal length.
    """
    if len(candidates) != len(references):
        raise ValueError(
            f"every candidate needs its reference: got {len(candidates)} candidates and "
            f"{len(references)} references"
        )
    if baseline is not None and not all(value < 1 for value in baseline):
        raise ValueError(f"baselines lie below 1, got {baseline}")
    n = len(candidates)
    weigh = _idf_weights(encoder.token_ids(references)) if idf else _equal_weights
    padding = _paddings(candidates, references, encoder, released_padding)
    scores, reasons = np.full((3, n), np.nan), [""] * n
    # Those of one reference stand together, so that it is embedded once and not once a producer.
    order = sorted(range(n), key=lambda i: references[i])
    for start in range(0, n, PAIRS_AT_ONCE):
        some = order[start : start + PAIRS_AT_ONCE]
        texts = list(dict.fromkeys(text for i in some for text in (candidates[i], references[i])))
        embedded = dict(zip(texts, encoder.embed(texts), strict=True))
        weighed = {text: _Weighed(tokens, weigh) for text, tokens in embedded.items()}
        for i in some:
            candidate, reference = weighed[candidates[i]], weighed[references[i]]
            reasons[i] = _why_not(candidate, reference)
            if not reasons[i]:
                scores[:, i], reasons[i] = _score(candidate, reference, *padding[i])
    if baseline is not None:
        base = np.array(baseline)[:, None]
        scores = (scores - base) / (1 - base)
    return BertScores(scores[0], scores[1], scores[2], tuple(reasons))


def bert_similarity(
    encoder: Encoder, *, idf: bool = False, baseline: tuple[float, float, float] | None = None
) -> Callable[[Sequence[str], Sequence[str]], tuple[Floats, tuple[str, ...]]]:
    """Return a function from candidates and references to F and the reasons for its NaN."""

    def similarity(
        candidates: Sequence[str], references: Sequence[str]
    ) -> tuple[Floats, tuple[str, ...]]:
        found = bert_scores(candidates, references, encoder, idf=idf, baseline=baseline)
        return found.f, found.reasons

    return similarity


class _Weighed:
    """Unit vectors and weights of one text's tokens."""

    def __init__(self, tokens: Tokens, weigh: Callable[[NDArray[np.int64]], Floats]) -> None:
        self.reason = tokens.reason
        self.weights = np.where(tokens.special, 0.0, weigh(tokens.ids))
        if not self.reason:
            vectors = tokens.vectors.astype(np.float64)
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            self.unit = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def _why_not(candidate: _Weighed, reference: _Weighed) -> str:
    for side, text in (("counterpart", candidate), ("reference", reference)):
        if text.reason:
            return f"the {side} is {text.reason}"
        if not text.weights.sum() > 0:
            return f"the {side} has no token that counts"
    return ""


def _score(
    candidate: _Weighed, reference: _Weighed, candidate_padded: bool, reference_padded: bool
) -> tuple[tuple[float, float, float], str]:
    similarity = candidate.unit @ reference.unit.T
    best_for_candidate = similarity.max(axis=1)
    best_for_reference = similarity.max(axis=0)
    if reference_padded:
        best_for_candidate = np.maximum(best_for_candidate, 0)
    if candidate_padded:
        best_for_reference = np.maximum(best_for_reference, 0)
    p = float(candidate.weights @ best_for_candidate / candidate.weights.sum())
    r = float(reference.weights @ best_for_reference / reference.weights.sum())
    if p + r == 0:
        return (p, r, np.nan), UndefinedReason.NO_HARMONIC_MEAN
    return (p, r, 2 * p * r / (p + r)), ""


def _equal_weights(ids: NDArray[np.int64]) -> Floats:
    return np.ones(len(ids))


def _idf_weights(
    references: Sequence[NDArray[np.int64]],
) -> Callable[[NDArray[np.int64]], Floats]:
    n = len(references)
    holding = Counter(token for ids in references for token in set(ids.tolist()))

    def weigh(ids: NDArray[np.int64]) -> Floats:
        return np.array([np.log((n + 1) / (holding[token] + 1)) for token in ids.tolist()])

    return weigh


def _paddings(
    candidates: Sequence[str],
    references: Sequence[str],
    encoder: Encoder,
    batch_size: int | None,
) -> list[tuple[bool, bool]]:
    """Return whether bert-score would pad the candidate and the reference of every pair."""
    if batch_size is None:
        return [(False, False)] * len(candidates)
    if batch_size < 1:
        raise ValueError(f"a batch holds at least one text, got {batch_size}")
    sides = []
    for texts in (candidates, references):
        lengths = np.array([len(ids) for ids in encoder.token_ids(texts)])
        padded: list[bool] = []
        for start in range(0, len(lengths), batch_size):
            batch = lengths[start : start + batch_size]
            padded += (batch < batch.max()).tolist()
        sides.append(padded)
    return list(zip(*sides, strict=True))
