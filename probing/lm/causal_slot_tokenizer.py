"""The tokenizer of a causal language model, seen through the slot of a template."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from probing.lm.chain import SlotChain, SlotState, scored_pieces, to_chain
from probing.lm.errors import (
    ContextTooLongError,
    MaskCountError,
    TokenizerError,
    UnknownWordError,
)
from probing.lm.protocols import SlotContext, Subwords, WordPart
from probing.lm.sources import ModelFacts
from probing.lm.subwords import detect_scheme, token_classes

#: Where a configuration states no number of positions, templates are short enough anyway.
_UNSTATED_LENGTH = 1024


class CausalSlotTokenizer:
    """Facts for planning and checking a run of a slot measure with a causal model.

    Parameters
    ----------
    tokenizer : a Hugging Face tokenizer.
    facts : of the model, with its vocabulary size.
    """

    mask_token = None
    mask_takes_space = True

    def __init__(self, tokenizer: Any, facts: ModelFacts) -> None:
        self._tokenizer = tokenizer
        self.facts = facts
        self.max_length = facts.max_length or _UNSTATED_LENGTH
        self.pad_id: int = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
        vocabulary: dict[str, int] = tokenizer.get_vocab()
        self.scheme = detect_scheme(vocabulary)
        size = facts.vocabulary_size or len(tokenizer)
        self.word_initial, self.continuation = token_classes(vocabulary, self.scheme, size)
        self._prefix = self._find_prefix()
        self._words: dict[str, Subwords] = {}

    @property
    def hyphens_start_words(self) -> bool:
        """Whether pieces after a hyphen count as word-initial."""
        return self.scheme == "wordpiece"

    def split(self, word: str) -> Subwords:
        """Return the subwords of `word` after a space; :class:`UnknownWordError`."""
        if word in self._words:
            return self._words[word]
        if not word.strip():
            raise UnknownWordError("The word is empty. Give a word with letters.")
        ids = tuple(self._plain(f" {word}"))
        unknown = {*self._tokenizer.all_special_ids}
        if not ids or set(ids) & unknown:
            raise UnknownWordError(
                f"The tokenizer cannot encode '{word}': a part of it is unknown to the model or "
                "reads as a special token. Replace the adjective, check its spelling, or use a "
                "model whose tokenizer knows its characters."
            )
        found = Subwords(word, ids, tuple(self._tokenizer.convert_ids_to_tokens(list(ids))))
        self._words[word] = found
        return found

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the token ids of `text`, with a begin token where the tokenizer has one."""
        return (*self._prefix, *self._plain(text))

    def unknown_parts(self, text: str) -> int:
        """Return how many pieces of `text` the tokenizer replaces by its unknown token."""
        unknown = self._tokenizer.unk_token_id
        own = len(self._prefix)
        return sum(token == unknown for token in self.encode(text)[own:]) if unknown else 0

    def encode_slot(self, context: SlotContext, masks: int) -> tuple[tuple[int, ...], int]:
        """Return the token ids before the slot, and where the first subword will stand.

        Raises
        ------
        MaskCountError
            The context asks for masks of its own, as a masked group does.
        ContextTooLongError
            The text before the slot and a word of `masks` subwords do not fit.
        TokenizerError
            Nothing stands before the slot, and the model has no token to begin with.
        """
        if context.masks_before or context.masks_after:
            raise MaskCountError(
                "A causal model has no mask token, so no group can be masked. Choose the prior "
                "noun, which puts person or people in its place."
            )
        before = context.before.rstrip()
        ids = self.encode(before) if before else tuple(self._prefix)
        if not ids:
            raise TokenizerError(
                "Nothing stands before the adjective, and the model has no token to begin with. "
                "Choose a template in which the adjective comes later."
            )
        if len(ids) + masks > self.max_length:
            raise ContextTooLongError(
                f"The text '{before}' has {len(ids)} tokens, {masks} more are to follow, and the "
                f"model reads {self.max_length}. Shorten the template or the group's name."
            )
        return ids, len(ids)

    def slot_chain(
        self, contexts: Sequence[SlotContext], words: Sequence[str], *, part: WordPart = "word"
    ) -> SlotChain:
        """Return the forward passes: one per context and beginning of a word, each once.

        The first subwords of all words share the pass that reads the context alone.
        """
        split = [self.split(word).ids for word in words]
        longest = max(map(len, split))
        steps: list[tuple[SlotState, int, int, int, int]] = []
        for c, context in enumerate(contexts):
            ids, first = self.encode_slot(context, longest)
            for w, pieces in enumerate(split):
                for i, target in scored_pieces(pieces, part):
                    state = SlotState((*ids, *pieces[:i]), first + i - 1)
                    steps.append((state, c, w, i, target))
        return to_chain(steps)

    def _plain(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False))

    def _find_prefix(self) -> list[int]:
        """Return the tokens that the tokenizer puts before every text."""
        plain, whole = self._plain("a"), list(self._tokenizer.encode("a"))
        starts = range(len(whole) - len(plain) + 1)
        return next((whole[:n] for n in starts if whole[n : n + len(plain)] == plain), [])
