"""Which words of a text are hidden.

Deas et al. (2023), §4: spans of words, length ~ Poisson(2), position uniform over the words; noun
phrases and verb phrases by themselves. No code is released, so the details are ours: a length of 0
is drawn again (a zero-truncated Poisson), a length is at most one word less than the text, and the
start is uniform over the positions at which the span fits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from probing.lm.text_protocols import SpanContext

_WORD = re.compile(r"\S+")

Offsets = tuple[int, int]


def word_offsets(text: str) -> list[Offsets]:
    """Return where each word begins and ends; a word is a run without white space."""
    return [match.span() for match in _WORD.finditer(text)]


def draw_length(n_words: int, *, mean: float, rng: np.random.Generator) -> int:
    """Draw a length from Poisson(`mean`) without 0, at most `n_words` - 1.

    Raises ValueError for fewer than two words, of which none can be hidden with context left.
    """
    if n_words < 2:
        raise ValueError(f"a text of {n_words} words has no span with a word of context")
    length = 0
    while length == 0:
        length = int(rng.poisson(mean))
    return min(length, n_words - 1)


def draw_random_span(text: str, *, mean: float, rng: np.random.Generator) -> Offsets | None:
    """Draw the offsets of a span of whole words; None where the text has fewer than two."""
    words = word_offsets(text)
    if len(words) < 2:
        return None
    length = draw_length(len(words), mean=mean, rng=rng)
    first = int(rng.integers(len(words) - length + 1))
    return words[first][0], words[first + length - 1][1]


def admissible(text: str, spans: Iterable[Offsets]) -> list[Offsets]:
    """Return the spans without the white space at their ends, sorted, each once.

    Empty ones and those that leave no word of context are left out.
    """
    kept = set()
    for start, end in spans:
        inside = text[start:end]
        begin = start + len(inside) - len(inside.lstrip())
        stop = begin + len(inside.strip())
        if begin < stop and (text[:begin] + text[stop:]).strip():
            kept.add((begin, stop))
    return sorted(kept)


def draw_phrase(text: str, spans: Sequence[Offsets], *, rng: np.random.Generator) -> Offsets | None:
    """Draw one of the admissible spans, each as likely; None where there is none."""
    choices = admissible(text, spans)
    return choices[int(rng.integers(len(choices)))] if choices else None


def hide(text: str, span: Offsets) -> SpanContext:
    """Return the text with the span at `span` hidden."""
    start, end = span
    return SpanContext(before=text[:start], span=text[start:end], after=text[end:])
