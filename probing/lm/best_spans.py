"""The likeliest spans of a model, exactly, with their probabilities.

Two ways to say where a span ends, since not every model says it itself:

- *closed*: the model closes the span with a token of its own, such as T5's next sentinel. The
  probability of a span includes that of closing it, summed over the closing tokens.
- *of given length*: all spans of as many tokens as the reference.

The search is a branch and bound. ln P only falls while a span grows, so a beginning that is less
likely than the last of the spans found so far cannot lead to a better one. Where every beginning
above that bound was read, the spans are the true ones; where that takes more than
:data:`MOST_BEGINNINGS`, there is no answer.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection
from dataclasses import dataclass, field

import torch

from probing.lm.decoding import Decoding
from probing.lm.numerics import log_softmax

#: Beginnings of spans that are read for one context at the most.
MOST_BEGINNINGS = 2000
#: Beginnings that are read together, the likeliest first.
WIDTH = 32
#: A span that is not closed after so many tokens is given up.
LONGEST = 32


@dataclass(frozen=True)
class FoundSpan:
    """Token ids of a span, and its total ln P."""

    ids: tuple[int, ...]
    logprob: float


def best_closed_spans(
    decoding: Decoding, n_best: int, *, closing: Collection[int], banned: Collection[int]
) -> list[list[FoundSpan] | None]:
    """Return, per row, the likeliest spans that the model closes itself, best first.

    A span has one to :data:`LONGEST` tokens and none of `banned`. None for a row where the
    search ended before its spans were certain.
    """
    lengths: list[int | None] = [None] * decoding.logits.shape[0]
    return _search_rows(decoding, n_best, lengths, sorted(closing), banned)


def best_spans_of_length(
    decoding: Decoding, n_best: int, *, lengths: list[int], banned: Collection[int]
) -> list[list[FoundSpan] | None]:
    """Return, per row, the likeliest spans of the row's own number of tokens, best first.

    None for a row where the search ended before its spans were certain.
    """
    return _search_rows(decoding, n_best, list(lengths), [], banned)


def _search_rows(
    decoding: Decoding,
    n_best: int,
    lengths: list[int | None],
    closing: list[int],
    banned: Collection[int],
) -> list[list[FoundSpan] | None]:
    found: list[list[FoundSpan] | None] = []
    for row, length in enumerate(lengths):
        search = _Search(n_best, length, closing, sorted({*closing, *banned}))
        certain = search.read_on(decoding.fork(torch.tensor([row])), [FoundSpan((), 0.0)])
        found.append(search.found if certain else None)
    return found


@dataclass
class _Search:
    """The search of one row: of spans of `length` tokens, or of closed ones without it."""

    n_best: int
    length: int | None
    closing: list[int]
    banned: list[int]
    found: list[FoundSpan] = field(default_factory=list)
    n_read: int = 0

    def read_on(self, decoding: Decoding, beginnings: list[FoundSpan]) -> bool:
        """Find all spans that begin so, a beginning per row; False where that takes too many."""
        logprobs = log_softmax(decoding.logits)
        n_tokens = len(beginnings[0].ids)
        if self.closing and n_tokens:
            closed = torch.logsumexp(logprobs[:, self.closing], dim=1).tolist()
            for beginning, logprob in zip(beginnings, closed, strict=True):
                self._keep(FoundSpan(beginning.ids, beginning.logprob + logprob))
        if n_tokens == LONGEST and self.length is None:
            return True
        logprobs[:, self.banned] = -torch.inf
        so_far = torch.tensor(
            [one.logprob for one in beginnings], dtype=logprobs.dtype, device=logprobs.device
        )
        totals = (so_far[:, None] + logprobs).flatten()
        ends = n_tokens + 1 == self.length
        most = self.n_best if ends else MOST_BEGINNINGS + 1
        best = totals.topk(min(most, len(totals)))
        width, places = logprobs.shape[1], best.indices.tolist()
        grown = [
            (FoundSpan((*beginnings[place // width].ids, place % width), logprob), place // width)
            for logprob, place in zip(best.values.tolist(), places, strict=True)
            if logprob > self._bound
        ]
        if ends:
            for span, _ in grown:
                self._keep(span)
            return True
        for start in range(0, len(grown), WIDTH):
            some = [one for one in grown[start : start + WIDTH] if one[0].logprob > self._bound]
            if not some:
                break
            self.n_read += len(some)
            if self.n_read > MOST_BEGINNINGS:
                return False
            inner = decoding.fork(torch.tensor([line for _, line in some]))
            inner.advance(torch.tensor([span.ids[-1] for span, _ in some]))
            if not self.read_on(inner, [span for span, _ in some]):
                return False
        return True

    @property
    def _bound(self) -> float:
        """What a span has to exceed; no beginning that cannot is read."""
        return self.found[-1].logprob if len(self.found) == self.n_best else float("-inf")

    def _keep(self, span: FoundSpan) -> None:
        if span.logprob > self._bound:
            insort(self.found, span, key=lambda one: (-one.logprob, one.ids))
            del self.found[self.n_best :]
