"""The likeliest spans of a model by beam search, with their exact probabilities.

Two ways to say where a span ends, since not every model says it itself:

- *closed*: the model closes the span with a token of its own, such as T5's next sentinel. The
  probability of a span includes that of closing it, summed over the closing tokens.
- *of given length*: all spans of as many tokens as the reference.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import torch

from probing.lm.decoding import Decoding
from probing.lm.numerics import log_softmax

#: Beams that are followed at the least (methods.md §15: width >= 5).
WIDTH = 5
#: A span that is not closed after so many tokens is given up.
LONGEST = 32


@dataclass(frozen=True)
class FoundSpan:
    """Token ids of a span, and its total ln P."""

    ids: tuple[int, ...]
    logprob: float


def best_closed_spans(
    decoding: Decoding, n_best: int, *, closing: Collection[int], banned: Collection[int]
) -> list[list[FoundSpan]]:
    """Return, per row, the likeliest spans that the model closes itself, best first.

    A span has at least one token and none of `banned`. The search ends where no open beam can
    become as likely as the spans already found, or after :data:`LONGEST` tokens.
    """
    n_rows, width = decoding.logits.shape[0], max(n_best, WIDTH)
    found: list[list[FoundSpan]] = [[] for _ in range(n_rows)]
    closers = sorted(closing)
    beams: list[list[FoundSpan]] = [[FoundSpan((), 0.0)] for _ in range(n_rows)]
    for length in range(LONGEST + 1):
        logprobs = log_softmax(decoding.logits)
        if length:
            closed = torch.logsumexp(logprobs[:, closers], dim=1).tolist()
            flat = ((row, beam) for row, row_beams in enumerate(beams) for beam in row_beams)
            for place, (row, beam) in enumerate(flat):
                found[row].append(FoundSpan(beam.ids, beam.logprob + closed[place]))
            found = [sorted(spans, key=_by_logprob)[:n_best] for spans in found]
        if length == LONGEST:
            break
        logprobs[:, sorted({*closers, *banned})] = -torch.inf
        beams = _extend(decoding, beams, logprobs, width, found, n_best)
        if not any(beams):
            break
    return found


def best_spans_of_length(
    decoding: Decoding, n_best: int, *, lengths: list[int], banned: Collection[int]
) -> list[list[FoundSpan]]:
    """Return, per row, the likeliest spans of the row's own number of tokens, best first."""
    n_rows, width = decoding.logits.shape[0], max(n_best, WIDTH)
    found: list[list[FoundSpan]] = [[] for _ in range(n_rows)]
    beams: list[list[FoundSpan]] = [[FoundSpan((), 0.0)] for _ in range(n_rows)]
    for length in range(1, max(lengths) + 1):
        logprobs = log_softmax(decoding.logits)
        logprobs[:, sorted(banned)] = -torch.inf
        beams, parents = _grow(beams, logprobs, width)
        for row, wanted in enumerate(lengths):
            if wanted == length:
                found[row] = beams[row][:n_best]
                beams[row], parents[row] = [], []
        if not any(beams):
            break
        _follow(decoding, beams, parents)
    return found


def _extend(
    decoding: Decoding,
    beams: list[list[FoundSpan]],
    logprobs: torch.Tensor,
    width: int,
    found: list[list[FoundSpan]],
    n_best: int,
) -> list[list[FoundSpan]]:
    """Grow every beam by a token, drop those that can no longer win, and read the rest."""
    grown, parents = _grow(beams, logprobs, width)
    for row, spans in enumerate(found):
        if len(spans) == n_best:
            # ln P only falls while a span grows.
            kept = [n for n, beam in enumerate(grown[row]) if beam.logprob > spans[-1].logprob]
            grown[row] = [grown[row][n] for n in kept]
            parents[row] = [parents[row][n] for n in kept]
    if any(grown):
        _follow(decoding, grown, parents)
    return grown


def _grow(
    beams: list[list[FoundSpan]], logprobs: torch.Tensor, width: int
) -> tuple[list[list[FoundSpan]], list[list[int]]]:
    """Return each row's `width` likeliest beams with one more token, and what they grew from.

    `logprobs` has a line per beam, row by row; parents are lines of it.
    """
    best = logprobs.topk(min(width, logprobs.shape[1]), dim=1)
    values, tokens = best.values.tolist(), best.indices.tolist()
    line = 0
    grown: list[list[FoundSpan]] = []
    parents: list[list[int]] = []
    for row_beams in beams:
        candidates = []
        for beam in row_beams:
            candidates += [
                (FoundSpan((*beam.ids, token), beam.logprob + value), line)
                for value, token in zip(values[line], tokens[line], strict=True)
                if value > float("-inf")
            ]
            line += 1
        candidates = sorted(candidates, key=lambda one: _by_logprob(one[0]))[:width]
        grown.append([beam for beam, _ in candidates])
        parents.append([parent for _, parent in candidates])
    return grown, parents


def _follow(decoding: Decoding, beams: list[list[FoundSpan]], parents: list[list[int]]) -> None:
    """Let `decoding` hold the given beams, line by line."""
    decoding.select(torch.tensor([line for row in parents for line in row]))
    decoding.advance(torch.tensor([beam.ids[-1] for row in beams for beam in row]))


def _by_logprob(span: FoundSpan) -> tuple[float, tuple[int, ...]]:
    return -span.logprob, span.ids
