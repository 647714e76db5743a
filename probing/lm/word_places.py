"""Where a word is in a tokenized sentence: its own ids, and those around it.

A tokenizer reads a word otherwise alone than in its sentence: many put a token for a space before
every text, or before what follows a mask. So whole sentences are tokenized. In the sentence with a
common word in the slot, that word's tokens are found by their characters; a word that leaves all
other tokens as they are has the tokens between them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from probing.lm.cache import BoundedCache
from probing.lm.errors import TokenizerError, UnknownWordError, WordEdgeError

Row = tuple[int, ...]
#: The characters of a token, first and one past the last; None for what a tokenizer adds.
Offsets = list[tuple[int, int] | None]

#: Stands in the slot while the sentence around it is read, and for a group that is masked.
_COMMON_WORD = "people"
#: Sentences around slots that are kept, since several questions are asked of each.
_REMEMBERED = 256


@dataclass(frozen=True)
class Sentence:
    """Text before and after a slot, each cut where a phrase is masked."""

    before: tuple[str, ...]
    after: tuple[str, ...]

    def with_word(self, word: str) -> str:
        """Return the sentence with a word in its slot."""
        return f"{_COMMON_WORD.join(self.before)}{word}{_COMMON_WORD.join(self.after)}"


@dataclass(frozen=True)
class OpenSentence:
    """The ids before and after a slot, and those of each word in it, or why it has none."""

    before: Row
    after: Row
    words: tuple[Row | UnknownWordError, ...]

    @property
    def pieces(self) -> list[Row]:
        """The ids of each word. Raises the first reason why one has none."""
        for word in self.words:
            if isinstance(word, UnknownWordError):
                raise word
        return [word for word in self.words if not isinstance(word, UnknownWordError)]


class WordFinder:
    """Finds words in sentences for one tokenizer.

    Parameters
    ----------
    tokenizer : a Hugging Face tokenizer, fast or not.
    special : whether the tokenizer puts its special tokens around a text.
    prefix : ids put before every text; for tokenizers that add none themselves.
    mask_id : stands for a masked phrase; for tokenizers of masked models alone.
    """

    def __init__(
        self, tokenizer: Any, *, special: bool, prefix: Row = (), mask_id: int = -1
    ) -> None:
        self._tokenizer = tokenizer
        self._special, self._prefix, self._mask_id = special, prefix, mask_id
        self._unreadable = frozenset(tokenizer.all_special_ids)
        self._frames = BoundedCache(_REMEMBERED)

    def encode(self, texts: Sequence[str]) -> list[Row]:
        """Return the ids of texts."""
        if not texts:
            return []
        found = self._tokenizer(list(texts), add_special_tokens=self._special, verbose=False)
        return [(*self._prefix, *ids) for ids in found["input_ids"]]

    def encode_with_offsets(self, text: str) -> tuple[Row, Offsets]:
        """Return the ids of a text, and the characters of each."""
        if not self._tokenizer.is_fast:
            ids, offsets = self._align(text)
        else:
            found = self._tokenizer(
                text,
                add_special_tokens=self._special,
                return_offsets_mapping=True,
                return_special_tokens_mask=True,
                verbose=False,
            )
            added = found["special_tokens_mask"]
            ids = list(found["input_ids"])
            offsets = [
                None if special and not stop else (start, stop)
                for special, (start, stop) in zip(added, found["offset_mapping"], strict=True)
            ]
        return (*self._prefix, *ids), [*[None] * len(self._prefix), *offsets]

    def open(self, sentences: Sequence[Sentence], words: Sequence[str]) -> list[OpenSentence]:
        """Return every sentence with its slot open, and each word's ids in it.

        Raises
        ------
        WordEdgeError
            A token of the sentence reaches into the slot whatever the word is.
        """
        frames = [self._frames.get_or_compute(one, partial(self._frame, one)) for one in sentences]
        rows = iter(self.encode([one.with_word(word) for one in sentences for word in words]))
        return [
            OpenSentence(
                self._masked(*before),
                self._masked(*after),
                tuple(self._cut(next(rows), before[0], after[0], one, word) for word in words),
            )
            for one, (before, after) in zip(sentences, frames, strict=True)
        ]

    def _frame(self, sentence: Sentence) -> tuple[tuple[Row, Any], tuple[Row, Any]]:
        """Return the ids on both sides of the slot, each with the places of masked phrases."""
        parts = (*sentence.before, *sentence.after)
        text = _COMMON_WORD.join(parts)
        ids, offsets = self.encode_with_offsets(text)
        places, end = [], 0
        for part in parts[:-1]:
            begin, end = end + len(part), end + len(part) + len(_COMMON_WORD)
            places.append(locate(text, offsets, begin, end))
        slot = len(sentence.before) - 1
        first, last = places[slot]
        return (
            (ids[:first], places[:slot]),
            (ids[last:], [(a - last, b - last) for a, b in places[slot + 1 :]]),
        )

    def _masked(self, ids: Row, phrases: Sequence[tuple[int, int]]) -> Row:
        """Return ids with one mask for each phrase."""
        for first, last in reversed(phrases):
            ids = (*ids[:first], self._mask_id, *ids[last:])
        return ids

    def _cut(
        self, ids: Row, before: Row, after: Row, sentence: Sentence, word: str
    ) -> Row | UnknownWordError:
        if not word.strip():
            return UnknownWordError(
                f"The word '{word}' is empty for this tokenizer. Give a word with letters."
            )
        end = len(ids) - len(after)
        if ids[: len(before)] != before or ids[end:] != after or end <= len(before):
            return self._edge_error(sentence, word)
        own = ids[len(before) : end]
        if self._unreadable.intersection(own):
            return UnknownWordError(
                f"The tokenizer cannot encode '{word}': a part of it is unknown to the model or "
                "reads as a special token. Replace the adjective, check its spelling, or use a "
                "model whose tokenizer knows its characters."
            )
        return own

    def _edge_error(self, sentence: Sentence, word: str) -> WordEdgeError:
        text, begin = sentence.with_word(word), len(_COMMON_WORD.join(sentence.before))
        try:
            locate(text, self.encode_with_offsets(text)[1], begin, begin + len(word))
        except WordEdgeError as error:
            return error
        return WordEdgeError(
            f"In '{text}', '{word}' changes how the tokenizer cuts the words beside it, which "
            "would tell the model what is in the slot. Change the template or replace the word."
        )

    def _align(self, text: str) -> tuple[list[int], Offsets]:
        """Return ids and offsets of a tokenizer that tells none, from what its ids decode to."""
        tokenizer = self._tokenizer
        plain = list(tokenizer.encode(text, add_special_tokens=False))
        ids = list(tokenizer.encode(text)) if self._special else plain
        starts = range(len(ids) - len(plain) + 1)
        first = next((n for n in starts if ids[n : n + len(plain)] == plain), 0)
        folded = [(c, place) for place, letter in enumerate(text) for c in _fold(letter)]
        wanted = "".join(c for c, _ in folded)
        places = [*(place for _, place in folded), len(text)]
        offsets: Offsets = []
        begin = 0
        for n in range(1, len(plain) + 1):
            read = _fold(tokenizer.decode(plain[:n], clean_up_tokenization_spaces=False))
            end = _common(read, wanted)
            whole = end == len(read)  # else a part of a character's bytes
            stop = places[end - 1] + 1 if end > begin else places[begin]
            offsets.append((places[begin], stop if whole else places[end] + 1))
            begin = end
        if begin != len(wanted):
            raise TokenizerError(
                f"The tokenizer of '{tokenizer.name_or_path}' does not say where its tokens are in "
                f"a text, and '{text}' cannot be read back from them. Save it with its "
                "tokenizer.json."
            )
        rest = len(ids) - first - len(plain)
        return ids, [*[None] * first, *offsets, *[None] * rest]


def locate(text: str, offsets: Offsets, begin: int, end: int) -> tuple[int, int]:
    """Return the places of the tokens of ``text[begin:end]``: first, and one past the last.

    A token for nothing but the space before it is its own.

    Raises
    ------
    WordEdgeError
        A token covers characters on both sides of an edge, or none covers the stretch.
    """
    word = text[begin:end]
    inside = [place for place, one in enumerate(offsets) if one and one[0] < end and one[1] > begin]
    outside = [
        text[one[0] : begin] + text[end : one[1]]
        for place in inside
        if (one := offsets[place]) is not None
    ]
    if not inside or any(rest.strip() for rest in outside):
        raise WordEdgeError(
            f"In '{text}', '{word}' has no tokens of its own: the tokenizer joins it with what is "
            "beside it. Change the template or replace the word."
        )
    first, space = inside[0], len(text[:begin].rstrip())
    while first and (one := offsets[first - 1]) and one[0] >= space:
        if one[1] == space < begin:
            break  # the end of the word before
        first -= 1
    return first, inside[-1] + 1


def _fold(text: str) -> str:
    """Return a text without spaces, accents and case, as tokenizers may have read it."""
    letters = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in letters if not (c.isspace() or unicodedata.combining(c)))


def _common(first: str, second: str) -> int:
    """Return the number of characters that both begin with."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(first), len(second)))
