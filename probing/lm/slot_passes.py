"""The forward passes for a set of words in a set of contexts, each of them once.

Scoring subword i of a word reads the context with as many masks as the word has subwords, the
first i of them filled with the word's own. Words of equal length share the pass in which nothing
is filled yet, and words that begin alike share as many passes as they share subwords.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from probing.lm.protocols import SlotChain, SlotContext, SlotState, SlotTokenizer, WordPart


def build_chain(
    tokenizer: SlotTokenizer,
    contexts: Sequence[SlotContext],
    words: Sequence[str],
    *,
    part: WordPart = "word",
) -> SlotChain:
    """Return the states in a fixed order that depends on nothing but the arguments.

    States are sorted by length, so that batches of neighbors need little padding. With
    another `part`, only the first or last subword of every word is looked up, at its own mask
    and before any mask is filled.
    """
    steps: list[tuple[SlotState, int, int, int, int]] = []
    if not words:
        return to_chain(steps)
    for c, (context, opened) in enumerate(
        zip(contexts, tokenizer.open(contexts, words), strict=True)
    ):
        split = opened.pieces
        longest = max(map(len, split))
        ids, first = tokenizer.encode_slot(context, longest)
        for w, pieces in enumerate(split):
            # The masks stand side by side, so that one mask less is one token less.
            spare = longest - len(pieces)
            for i, target in scored_pieces(pieces, part):
                known = i if part == "word" else 0
                filled = (*ids[:first], *pieces[:known], *ids[first + spare + known :])
                steps.append((SlotState(filled, first + i), c, w, i, target))
    return to_chain(steps)


def scored_pieces(pieces: Sequence[int], part: WordPart) -> list[tuple[int, int]]:
    """Return the subwords of a word that are looked up, each with its place in the word."""
    numbered = list(enumerate(pieces))
    return {"word": numbered, "first": numbered[:1], "last": numbered[-1:]}[part]


def to_chain(steps: Sequence[tuple[SlotState, int, int, int, int]]) -> SlotChain:
    """Return (state, context, word, subword, target) steps with every state once, by length."""
    numbers: dict[SlotState, int] = {}
    rows = [(numbers.setdefault(state, len(numbers)), *rest) for state, *rest in steps]
    # Sorting is stable: states of one length stay in the order in which they were met.
    states = sorted(numbers, key=lambda state: len(state.ids))
    place = np.empty(len(states), dtype=np.int64)
    place[[numbers[state] for state in states]] = np.arange(len(states))
    table = np.array(rows, dtype=np.int64).reshape(-1, 5)
    table[:, 0] = place[table[:, 0]]
    table = table[np.argsort(table[:, 0], kind="stable")]
    return SlotChain(tuple(states), *(np.ascontiguousarray(column) for column in table.T))
