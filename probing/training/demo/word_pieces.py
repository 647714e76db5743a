"""A WordPiece vocabulary learned from a corpus, the same on every machine.

The tokenizers library breaks ties between equally frequent pairs in the order of its hash table,
which differs from run to run; here they are broken alphabetically.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_CONTINUES = "##"


def learn_word_pieces(words: Iterable[str], size: int) -> list[str]:
    """Return a vocabulary of at most `size` tokens for the words of a corpus.

    The most frequent pair of neighboring pieces is joined until the vocabulary is full, so that
    frequent words become one token and rare ones stay in pieces. All ASCII letters, digits and
    punctuation marks are in it, so that any plain English word can be written.

    Raises
    ------
    ValueError
        `size` is too small for the special tokens and single characters.
    """
    counts = Counter(words)
    alphabet = sorted(set(string.ascii_letters + string.digits + string.punctuation).union(*counts))
    inner = [_CONTINUES + letter for letter in alphabet if letter not in string.punctuation]
    vocabulary = list(dict.fromkeys([*SPECIAL_TOKENS, *alphabet, *inner]))
    if len(vocabulary) > size:
        raise ValueError(f"{len(vocabulary)} single tokens do not fit into a vocabulary of {size}")
    known = set(vocabulary)
    pieces = {word: [word[0], *(_CONTINUES + letter for letter in word[1:])] for word in counts}
    while len(vocabulary) < size:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, parts in pieces.items():
            for pair in pairwise(parts):
                pairs[pair] += counts[word]
        if not pairs:
            break  # every word is one token already
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        joined = best[0] + best[1].removeprefix(_CONTINUES)
        if joined not in known:
            known.add(joined)
            vocabulary.append(joined)
        for word, parts in pieces.items():
            pieces[word] = _join(parts, best, joined)
    return vocabulary


def _join(parts: list[str], pair: tuple[str, str], joined: str) -> list[str]:
    result: list[str] = []
    for part in parts:
        if result and (result[-1], part) == pair:
            result[-1] = joined
        else:
            result.append(part)
    return result
