"""What a model of slots hands on from its tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from probing.lm.chain import SlotChain
from probing.lm.protocols import SlotContext, SlotTokenizer, Subwords, WordPart

T = TypeVar("T", bound=SlotTokenizer)


class SlotFacts(Generic[T]):
    """The tokenizer's side of :class:`probing.lm.protocols.SlotModel`."""

    tokenizer: T

    @property
    def mask_token(self) -> str | None:
        """The mask token as it is written in a text; None where there is none."""
        return self.tokenizer.mask_token

    @property
    def max_length(self) -> int:
        """The most tokens that the model reads at once, special tokens included."""
        return self.tokenizer.max_length

    @property
    def hyphens_start_words(self) -> bool:
        """Whether pieces after a hyphen count as word-initial (so under WordPiece)."""
        return self.tokenizer.hyphens_start_words

    @property
    def mask_takes_space(self) -> bool:
        """Whether no token for the space before a mask is left over."""
        return self.tokenizer.mask_takes_space

    def split(self, word: str) -> Subwords:
        """Return the subwords of `word` inside a sentence; :class:`UnknownWordError`."""
        return self.tokenizer.split(word)

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the token ids of `text`, special tokens included."""
        return self.tokenizer.encode(text)

    def unknown_parts(self, text: str) -> int:
        """Return how many pieces of `text` the tokenizer replaces by its unknown token."""
        return self.tokenizer.unknown_parts(text)

    def encode_slot(self, context: SlotContext, masks: int) -> tuple[tuple[int, ...], int]:
        """Return the token ids with the slot open, and where the first subword will stand."""
        return self.tokenizer.encode_slot(context, masks)

    def slot_chain(
        self, contexts: Sequence[SlotContext], words: Sequence[str], *, part: WordPart = "word"
    ) -> SlotChain:
        """Return the forward passes that the words need, each of them once."""
        return self.tokenizer.slot_chain(contexts, words, part=part)
