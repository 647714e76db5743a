"""Tokenizers of models that fill slots: how they cut words, and which tokens begin a word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from probing.lm.cache import BoundedCache
from probing.lm.errors import ContextTooLongError, MaskCountError, TokenizerError
from probing.lm.protocols import SlotChain, SlotContext, SlotState, Subwords, WordPart
from probing.lm.slot_passes import build_chain, scored_pieces, to_chain
from probing.lm.sources import ModelFacts
from probing.lm.text_tokenizer import SENTINELS, find_prefix, find_sentinels
from probing.lm.word_places import OpenSentence, Sentence, WordFinder

Scheme = Literal["wordpiece", "byte-level", "sentencepiece"]

_MARKERS: dict[Scheme, str] = {"wordpiece": "##", "byte-level": "Ġ", "sentencepiece": "▁"}
#: Where a configuration states no number of positions, templates are short enough anyway.
_UNSTATED_LENGTH = 1024
#: The sentence that shows how a word is cut where no template is at hand.
PLAIN = SlotContext("They are ", ".")
#: Calls whose open sentences are kept: what is read is also counted, and asked for again.
_REMEMBERED = 16
#: What the slot and a masked group of an encoder and decoder are written as.


class ScoringTokenizer:
    """What tokenizers of masked and of causal models have in common.

    Attributes
    ----------
    word_initial, continuation : (vocabulary_size,) bool, see :func:`token_classes`.
    """

    #: Whether the tokenizer puts its special tokens round a text; otherwise the prefix is ours.
    adds_special = True
    mask_id = -1
    _prefix: tuple[int, ...] = ()

    def __init__(self, tokenizer: Any, *, vocabulary_size: int, max_length: int) -> None:
        self._tokenizer = tokenizer
        self.vocabulary_size = vocabulary_size
        self.max_length = max_length
        self.pad_id: int = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
        vocabulary: dict[str, int] = tokenizer.get_vocab()
        self.scheme = detect_scheme(vocabulary)
        self.word_initial, self.continuation = token_classes(
            vocabulary, self.scheme, vocabulary_size
        )
        self._finder = WordFinder(
            tokenizer, special=self.adds_special, prefix=self._prefix, mask_id=self.mask_id
        )
        self._opened = BoundedCache(_REMEMBERED)

    @property
    def hyphens_start_words(self) -> bool:
        """Whether pieces after a hyphen count as word-initial (so under WordPiece)."""
        return self.scheme == "wordpiece"

    def split(self, word: str) -> Subwords:
        """Return the subwords of `word` in a plain sentence.

        Raises
        ------
        UnknownWordError
            The word has a part that the tokenizer can only replace by its unknown token, reads
            as a special token, or is empty; or its tokens are not its own.
        """
        ids = self.open([PLAIN], [word])[0].pieces[0]
        return Subwords(word, ids, tuple(self._tokenizer.convert_ids_to_tokens(list(ids))))

    def open(self, contexts: Sequence[SlotContext], words: Sequence[str]) -> list[OpenSentence]:
        """Return every context with its slot open, and each word's ids in it, or why it has none.

        Raises
        ------
        MaskCountError
            A context holds other masks than it states.
        WordEdgeError
            The tokenizer joins the slot of a context with what is beside it.
        """
        key = (tuple(contexts), tuple(words))
        return self._opened.get_or_compute(
            key, lambda: self._finder.open([self._sentence(one) for one in contexts], words)
        )

    def _sentence(self, context: SlotContext) -> Sentence:
        """Return the sentence of a context that has no mask but its slot's."""
        return Sentence((context.before,), (context.after,))

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the token ids of `text`, special tokens included."""
        return tuple(self._tokenizer.encode(text))

    def encode_with_offsets(self, text: str) -> tuple[tuple[int, ...], list[tuple[int, int]]]:
        """Return the token ids of `text` as `encode` gives them, and the characters of each.

        Special tokens cover none: their offsets are (0, 0).
        """
        ids, offsets = self._finder.encode_with_offsets(text)
        return ids, [one or (0, 0) for one in offsets]


class EncoderTokenizer(ScoringTokenizer):
    """The tokenizer of an encoder without a head, which opens no slots."""

    abilities = frozenset({"embed"})

    def __init__(self, tokenizer: Any, facts: ModelFacts) -> None:
        super().__init__(
            tokenizer,
            vocabulary_size=max(facts.vocabulary_size or 0, len(tokenizer)),
            max_length=min(facts.max_length or _UNSTATED_LENGTH, tokenizer.model_max_length),
        )
        self.facts = facts


class MaskedTokenizer(ScoringTokenizer):
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
        # Tokenizers without a limit of their own state an astronomically large one.
        longest = min(max_length, tokenizer.model_max_length)
        self.mask_token: str = tokenizer.mask_token
        self.mask_id = int(tokenizer.mask_token_id)
        super().__init__(tokenizer, vocabulary_size=vocabulary_size, max_length=longest)
        #: (vocabulary_size,) bool: tokens of the original vocabulary, without those added later.
        self.base = np.arange(vocabulary_size) < tokenizer.vocab_size

    @property
    def mask_takes_space(self) -> bool:
        """Whether no token for the space before a mask is left over."""
        marker = _MARKERS[self.scheme]
        tokens = self._tokenizer.convert_ids_to_tokens(list(self.encode(f"a {self.mask_token}")))
        return self.scheme == "wordpiece" or marker not in tokens

    def encode_ordinary(self, text: str) -> tuple[tuple[int, ...], list[int]]:
        """Return the token ids of `text`, and the places of those that are the text's own."""
        ids = self._tokenizer.encode(text)
        own = len(self._tokenizer.encode(text, add_special_tokens=False))
        # The tokens around a text are the same for every text: count those before it.
        before = self._tokenizer.encode("a").index(
            self._tokenizer.encode("a", add_special_tokens=False)[0]
        )
        return tuple(ids), list(range(before, before + own))

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
        ids, first = (
            self._written(context, masks) if context.written else self._replaced(context, masks)
        )
        if len(ids) > self.max_length:
            raise ContextTooLongError(
                f"The sentence '{self._text(context, masks)}' has {len(ids)} tokens, and the model "
                f"reads {self.max_length}. Shorten the template or the group's name."
            )
        return ids, first

    def _text(self, context: SlotContext, masks: int) -> str:
        return context.before + " ".join([self.mask_token] * masks) + context.after

    def _sentence(self, context: SlotContext) -> Sentence:
        return self._cut(context, 1)

    def _cut(self, context: SlotContext, masks: int) -> Sentence:
        """Return the sentence cut at the masks that it is said to have."""
        before = tuple(context.before.split(self.mask_token))
        after = tuple(context.after.split(self.mask_token))
        if (len(before) - 1, len(after) - 1) != (context.masks_before, context.masks_after):
            found = len(before) + len(after) - 2 + masks
            raise self._miscounted(context, masks, found)
        return Sentence(before, after)

    def _replaced(self, context: SlotContext, masks: int) -> tuple[tuple[int, ...], int]:
        opened = self._finder.open([self._cut(context, masks)], ())[0]
        ids = (*opened.before, *[self.mask_id] * masks, *opened.after)
        expected = context.masks_before + masks + context.masks_after
        if (found := ids.count(self.mask_id)) != expected:
            raise self._miscounted(context, masks, found)
        return ids, len(opened.before)

    def _written(self, context: SlotContext, masks: int) -> tuple[tuple[int, ...], int]:
        text = self._text(context, masks)
        ids = self.encode(text)
        found = [position for position, token in enumerate(ids) if token == self.mask_id]
        expected = context.masks_before + masks + context.masks_after
        if len(found) != expected:
            raise self._miscounted(context, masks, len(found))
        first, last = found[context.masks_before], found[context.masks_before + masks - 1]
        if last - first != masks - 1:
            raise MaskCountError(
                f"The tokenizer puts other tokens between the masks of '{text}'. Set slot to "
                "replaced, or correct the tokenizer's files: its mask token must take up the space "
                "before it (lstrip)."
            )
        return ids, first

    def _miscounted(self, context: SlotContext, masks: int, found: int) -> MaskCountError:
        expected = context.masks_before + masks + context.masks_after
        return MaskCountError(
            f"The sentence '{self._text(context, masks)}' holds {found} mask tokens where "
            f"{expected} are expected. Remove '{self.mask_token}' from the group or template that "
            "brings it."
        )


class CausalSlotTokenizer(ScoringTokenizer):
    """The tokenizer of a causal language model: enough to plan and check a run of a slot measure.

    Parameters
    ----------
    tokenizer : a Hugging Face tokenizer.
    facts : of the model, with its vocabulary size.
    """

    mask_token = None
    mask_takes_space = True
    adds_special = False
    #: Whether logits are hidden states times weights; some families scale or cap them.
    plain_head = True

    def __init__(self, tokenizer: Any, facts: ModelFacts) -> None:
        self._prefix = tuple(find_prefix(tokenizer))
        super().__init__(
            tokenizer,
            vocabulary_size=facts.vocabulary_size or len(tokenizer),
            max_length=facts.max_length or _UNSTATED_LENGTH,
        )
        self.facts = facts

    @property
    def abilities(self) -> frozenset[str]:
        """Names of the abilities; a slot's state says nothing where logits are scaled or capped."""
        found = {"word_logprobs", "embed"}
        return frozenset(found | {"slot"} if self.plain_head else found)

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the token ids of `text`, with a begin token where the tokenizer has one."""
        return (*self._prefix, *self._tokenizer.encode(text, add_special_tokens=False))

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
        ids = self.open([context], ())[0].before
        if not ids:
            raise TokenizerError(
                "Nothing stands before the adjective, and the model has no token to begin with. "
                "Choose a template in which the adjective comes later."
            )
        if len(ids) + masks > self.max_length:
            raise ContextTooLongError(
                f"The text '{context.before}' has {len(ids)} tokens, {masks} more are to follow, "
                f"and the model reads {self.max_length}. Shorten the template or the group's name."
            )
        return ids, len(ids)

    def slot_chain(
        self, contexts: Sequence[SlotContext], words: Sequence[str], *, part: WordPart = "word"
    ) -> SlotChain:
        """Return the forward passes: one per context and beginning of a word, each once.

        The first subwords of all words share the pass that reads the context alone.
        """
        steps: list[tuple[SlotState, int, int, int, int]] = []
        for c, (context, opened) in enumerate(
            zip(contexts, self.open(contexts, words), strict=True)
        ):
            split = opened.pieces
            ids, first = self.encode_slot(context, max(map(len, split)))
            for w, pieces in enumerate(split):
                for i, target in scored_pieces(pieces, part):
                    state = SlotState((*ids, *pieces[:i]), first + i - 1)
                    steps.append((state, c, w, i, target))
        return to_chain(steps)


class SentinelTokenizer(ScoringTokenizer):
    """The tokenizer of an encoder and decoder whose slot is a hidden span, as of T5.

    The adjective's slot is ``<extra_id_0>``, which the decoder fills first; a masked group is
    ``<extra_id_1>``, wherever it stands (ours). Without sentinels there are embeddings alone.

    Parameters
    ----------
    tokenizer : a Hugging Face tokenizer.
    facts : of the model, with its vocabulary size.
    start : the token that the decoder begins with.
    """

    mask_takes_space = True

    def __init__(self, tokenizer: Any, facts: ModelFacts, *, start: int) -> None:
        super().__init__(
            tokenizer,
            vocabulary_size=facts.vocabulary_size or len(tokenizer),
            max_length=facts.max_length or _UNSTATED_LENGTH,
        )
        self.facts = facts
        self.start = start
        self.sentinels = find_sentinels(tokenizer)

    @property
    def abilities(self) -> frozenset[str]:
        """What the model can do: fill slots only where it has sentinels."""
        return frozenset({"embed"} | ({"word_logprobs", "slot"} if self.sentinels else set()))

    @property
    def mask_token(self) -> str:
        """What stands for a masked group."""
        return SENTINELS[1]

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the token ids of `text` for the encoder, special tokens included."""
        return tuple(self._tokenizer.encode(text))

    def unknown_parts(self, text: str) -> int:
        """Return how many pieces of `text` the tokenizer replaces by its unknown token."""
        return sum(token == self._tokenizer.unk_token_id for token in self.encode(text))

    def encode_slot(self, context: SlotContext, masks: int) -> tuple[tuple[int, ...], int]:
        """Return the encoder's token ids, and where the slot's sentinel stands.

        Raises
        ------
        TokenizerError
            The model has no sentinels.
        MaskCountError
            Another text brought a sentinel of its own.
        ContextTooLongError
            The sentence is longer than the model reads.
        """
        if self.sentinels is None:
            raise TokenizerError(
                f"The tokenizer of '{self.facts.source}' has no <extra_id_0>, so that no slot can "
                "be opened. Use a model of the T5 family."
            )
        text = f"{context.before}{SENTINELS[0]}{context.after}"
        ids = self.encode(text)
        found = [ids.count(sentinel) for sentinel in self.sentinels]
        expected = [1, context.masks_before + context.masks_after]
        if found != expected:
            raise MaskCountError(
                f"The sentence '{text}' holds {found[0]} times {SENTINELS[0]} and {found[1]} "
                f"times {SENTINELS[1]} where {expected[0]} and {expected[1]} are expected. "
                "Remove them from the group or template that brings them."
            )
        if len(ids) + masks > self.max_length:
            raise ContextTooLongError(
                f"The sentence '{text}' has {len(ids)} tokens, {masks} more are to be written, and "
                f"the model reads {self.max_length}. Shorten the template or the group's name."
            )
        return ids, ids.index(self.sentinels[0])

    def slot_chain(
        self, contexts: Sequence[SlotContext], words: Sequence[str], *, part: WordPart = "word"
    ) -> SlotChain:
        """Return the passes: one per context and beginning of a word, each once.

        A state's ids are the encoder's and then the decoder's; its position is where the latter
        begin. It is read after its last token.
        """
        steps: list[tuple[SlotState, int, int, int, int]] = []
        for c, (context, opened) in enumerate(
            zip(contexts, self.open(contexts, words), strict=True)
        ):
            split = opened.pieces
            ids, place = self.encode_slot(context, max(map(len, split)))
            begun = (self.start, ids[place])
            for w, pieces in enumerate(split):
                for i, target in scored_pieces(pieces, part):
                    state = SlotState((*ids, *begun, *pieces[:i]), len(ids))
                    steps.append((state, c, w, i, target))
        return to_chain(steps)


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
