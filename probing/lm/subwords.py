"""How a tokenizer cuts words into subwords, and which tokens begin a word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from probing.lm.chain import SlotChain, build_chain
from probing.lm.errors import (
    ContextTooLongError,
    MaskCountError,
    TokenizerError,
    UnknownWordError,
)
from probing.lm.protocols import SlotContext, Subwords, WordPart

Scheme = Literal["wordpiece", "byte-level", "sentencepiece"]

_MARKERS: dict[Scheme, str] = {"wordpiece": "##", "byte-level": "Ġ", "sentencepiece": "▁"}


class MaskedTokenizer:
    """The tokenizer of a masked language model, seen through its slots.

    Parameters
    ----------
    tokenizer : a Hugging Face tokenizer with a mask token.
    vocabulary_size : rows of the model's output layer; may exceed the tokenizer's own number.
    max_length : the most tokens that the model reads, special tokens included.
    """

    def __init__(self, tokenizer: Any, *, vocabulary_size: int, max_length: int) -> None:
        if tokenizer.mask_token is None or tokenizer.mask_token_id is None:
            raise TokenizerError(
                f"The tokenizer of '{tokenizer.name_or_path}' has no mask token, so no slot can "
                "be opened. Masked language models such as BERT or RoBERTa have one."
            )
        if len(tokenizer) > vocabulary_size:
            raise TokenizerError(
                f"The tokenizer of '{tokenizer.name_or_path}' knows {len(tokenizer):,} tokens, "
                f"but the model scores only {vocabulary_size:,}. They do not belong together; "
                "save the tokenizer of this model into its folder."
            )
        self._tokenizer = tokenizer
        self.vocabulary_size = vocabulary_size
        self.mask_token: str = tokenizer.mask_token
        self.mask_id: int = tokenizer.mask_token_id
        self.pad_id: int = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
        # Tokenizers without a limit of their own state an astronomically large one.
        self.max_length = min(max_length, tokenizer.model_max_length)
        vocabulary: dict[str, int] = tokenizer.get_vocab()
        self.scheme = detect_scheme(vocabulary)
        self.word_initial, self.continuation = token_classes(
            vocabulary, self.scheme, vocabulary_size
        )
        #: (vocabulary_size,) bool: tokens of the original vocabulary, without those added later.
        self.base = np.arange(vocabulary_size) < tokenizer.vocab_size
        self._words: dict[str, Subwords] = {}

    @property
    def hyphens_start_words(self) -> bool:
        """Whether pieces after a hyphen count as word-initial (so under WordPiece)."""
        return self.scheme == "wordpiece"

    @property
    def mask_takes_space(self) -> bool:
        """Whether no token for the space before a mask is left over."""
        marker = _MARKERS[self.scheme]
        tokens = self._tokenizer.convert_ids_to_tokens(list(self.encode(f"a {self.mask_token}")))
        return self.scheme == "wordpiece" or marker not in tokens

    def split(self, word: str) -> Subwords:
        """Return the subwords of `word` inside a sentence.

        Byte-level and sentencepiece tokenizers read the word with its leading space, WordPiece
        without. Special tokens are stripped.

        Raises
        ------
        UnknownWordError
            The word has a part that the tokenizer can only replace by its unknown token, reads
            as a special token, or is empty.
        """
        if word in self._words:
            return self._words[word]
        text = word if self.scheme == "wordpiece" else f" {word}"
        ids = tuple(self._tokenizer.encode(text, add_special_tokens=False))
        if not word.strip() or not ids:
            raise UnknownWordError(
                f"The word '{word}' is empty for this tokenizer. Give a word with letters."
            )
        if set(ids) & set(self._tokenizer.all_special_ids):
            raise UnknownWordError(
                f"The tokenizer cannot encode '{word}': a part of it is unknown to the model or "
                "reads as a special token. Replace the adjective, check its spelling, or use a "
                "model whose tokenizer knows its characters."
            )
        found = Subwords(word, ids, tuple(self._tokenizer.convert_ids_to_tokens(list(ids))))
        self._words[word] = found
        return found

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the token ids of `text`, special tokens included."""
        return tuple(self._tokenizer.encode(text))

    def encode_ordinary(self, text: str) -> tuple[tuple[int, ...], list[int]]:
        """Return the token ids of `text`, and the places of those that are the text's own."""
        ids = self._tokenizer.encode(text)
        own = len(self._tokenizer.encode(text, add_special_tokens=False))
        # The tokens around a text are the same for every text: count those before it.
        before = self._tokenizer.encode("a").index(
            self._tokenizer.encode("a", add_special_tokens=False)[0]
        )
        return tuple(ids), list(range(before, before + own))

    def encode_with_offsets(self, text: str) -> tuple[tuple[int, ...], list[tuple[int, int]]]:
        """Return the token ids of `text` and which characters each covers.

        Special tokens cover none: their offsets are (0, 0).
        """
        if not self._tokenizer.is_fast:
            raise TokenizerError(
                f"The tokenizer of '{self._tokenizer.name_or_path}' does not say where its tokens "
                "stand in a text. Save it with its tokenizer.json."
            )
        found = self._tokenizer(text, return_offsets_mapping=True)
        return tuple(found["input_ids"]), [tuple(pair) for pair in found["offset_mapping"]]

    def unknown_parts(self, text: str) -> int:
        """Return how many pieces of `text` the tokenizer replaces by its unknown token."""
        unknown = self._tokenizer.unk_token_id
        return sum(token == unknown for token in self.encode(text))

    def slot_chain(
        self, contexts: Sequence[SlotContext], words: Sequence[str], *, part: WordPart = "word"
    ) -> SlotChain:
        """Return the forward passes that the words need, each of them once."""
        return build_chain(self, contexts, words, part=part)

    def encode_slot(self, context: SlotContext, masks: int) -> tuple[tuple[int, ...], int]:
        """Return the token ids of `context` with `masks` masks in its slot.

        Also returns the position of the first of them; the others follow directly.

        Raises
        ------
        MaskCountError
            Another text brought its own mask token, or the masks do not follow each other.
        ContextTooLongError
            The sentence is longer than the model reads.
        """
        text = context.before + " ".join([self.mask_token] * masks) + context.after
        ids = self.encode(text)
        found = [position for position, token in enumerate(ids) if token == self.mask_id]
        expected = context.masks_before + masks + context.masks_after
        if len(found) != expected:
            raise MaskCountError(
                f"The sentence '{text}' holds {len(found)} mask tokens where {expected} are "
                f"expected. Remove '{self.mask_token}' from the group or template that brings it."
            )
        first, last = found[context.masks_before], found[context.masks_before + masks - 1]
        if last - first != masks - 1:
            raise MaskCountError(
                f"The tokenizer puts other tokens between the masks of '{text}'. Its mask token "
                "must take up the space before it (lstrip); correct the tokenizer's files."
            )
        if len(ids) > self.max_length:
            raise ContextTooLongError(
                f"The sentence '{text}' has {len(ids)} tokens, and the model reads "
                f"{self.max_length}. Shorten the template or the group's name."
            )
        return ids, first


def detect_scheme(vocabulary: Iterable[str]) -> Scheme:
    """Return how a vocabulary marks the place of a token in its word.

    Decided by which marker occurs most. A vocabulary that marks nothing has only whole words,
    which WordPiece's rule (no ``##``) reads correctly.
    """
    counts: dict[Scheme, int] = dict.fromkeys(_MARKERS, 0)
    for token in vocabulary:
        for scheme, marker in _MARKERS.items():
            counts[scheme] += token.startswith(marker)
    return max(counts, key=lambda scheme: counts[scheme])


def token_classes(
    vocabulary: dict[str, int], scheme: Scheme, vocabulary_size: int
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return which tokens begin a word and which continue one, each (vocabulary_size,) bool.

    Special tokens and punctuation fall in one class or the other by the same test. Rows of the
    output layer that no token uses are in neither.
    """
    initial = np.zeros(vocabulary_size, dtype=bool)
    continuation = np.zeros(vocabulary_size, dtype=bool)
    marker = _MARKERS[scheme]
    for token, index in vocabulary.items():
        starts = token.startswith(marker) != (scheme == "wordpiece")
        (initial if starts else continuation)[index] = True
    return initial, continuation
