"""Interfaces of language models for measures of slots, one per ability.

A *context* is a sentence with one open slot. A word of n subwords is put to the test in the slot
as n mask tokens, which are filled from left to right with its own subwords.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from annotation.common.lazy import np, npt
from probing.lm.cache import BoundedCache
from probing.lm.word_places import OpenSentence

#: How the factors of a word's probability are normalized; see :meth:`SlotModel.word_logprobs`.
Renormalization = Literal["class", "released"]


@dataclass(frozen=True)
class SlotContext:
    """A sentence with one open slot between `before` and `after`.

    Either side may hold further mask tokens on purpose, such as the masked group of a prior.
    How many there are is stated, so that a mask that slipped in with a text is noticed.

    The model reads the tokens of the sentence with those of the word replaced by masks; if
    `written`, those of the text with mask tokens in it, as in released code. The two differ where
    a tokenizer puts a space of its own behind a mask token.
    """

    before: str
    after: str
    masks_before: int = 0
    masks_after: int = 0
    written: bool = False


@dataclass(frozen=True)
class Subwords:
    """A word as the model reads it in the middle of a sentence, with no special tokens."""

    word: str
    ids: tuple[int, ...]
    tokens: tuple[str, ...]


class SlotState(NamedTuple):
    """One input of the model, and the position of the mask that is read from it.

    Of an encoder and decoder the ids are those of both, and the position is where the decoder's
    begin; it is read after its last token.
    """

    ids: tuple[int, ...]
    position: int


@dataclass(frozen=True)
class SlotChain:
    """The distinct states, and what is looked up in each.

    The arrays are parallel, (n_targets,) int, sorted by state: target token `target` is subword
    `subword` of word `word` in context `context`, and is read at `states[state]`.
    """

    states: tuple[SlotState, ...]
    state: npt.NDArray[np.int64]
    context: npt.NDArray[np.int64]
    word: npt.NDArray[np.int64]
    subword: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]

    @property
    def tokens(self) -> int:
        """Number of tokens that the forward passes read, padding aside."""
        return sum(len(state.ids) for state in self.states)


@dataclass(frozen=True)
class SlotBatch:
    """The model's output at open slots, with the targets that were asked for there.

    Attributes
    ----------
    hidden : (n_rows, hidden_size) float, the input of the output layer at the mask.
    logits : (n_rows, vocabulary_size) float, the output layer's values there.
    has_bias : whether the output layer has a bias vector.
    row, context, word, subword, target : (n_targets,) int
        Target token `target` is subword number `subword` of word `word` in context `context`
        and is looked up at row `row` of `hidden` and `logits`. A row may serve many targets.
    """

    hidden: npt.NDArray[np.floating]
    logits: npt.NDArray[np.floating]
    has_bias: bool
    row: npt.NDArray[np.int64]
    context: npt.NDArray[np.int64]
    word: npt.NDArray[np.int64]
    subword: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]


#: What of a word is scored in a slot: all of it by the chain rule, or one of its subwords.
WordPart = Literal["word", "first", "last"]

#: Which subwords of a span give its embedding; ``mean`` averages them all.
Pieces = Literal["first", "last", "mean"]


@dataclass(frozen=True)
class SpanText:
    """A sentence and a word or phrase in it (character offsets)."""

    text: str
    start: int
    end: int


@runtime_checkable
class SlotTokenizer(Protocol):
    """Facts of a tokenizer that opens slots; enough to plan and check a run."""

    @property
    def mask_token(self) -> str | None:
        """The mask token as it is written in a text; None for a causal model, which has none."""

    @property
    def max_length(self) -> int:
        """The most tokens that the model reads at once, special tokens included."""

    @property
    def hyphens_start_words(self) -> bool:
        """Whether pieces after a hyphen count as word-initial (so under WordPiece)."""

    @property
    def mask_takes_space(self) -> bool:
        """Whether no token for the space before a mask is left over."""

    def split(self, word: str) -> Subwords:
        """Return the subwords of `word` in a plain sentence; :class:`UnknownWordError`."""

    def open(self, contexts: Sequence[SlotContext], words: Sequence[str]) -> list[OpenSentence]:
        """Return every context with its slot open, and each word's ids in it, or why it has none.

        Raises :class:`MaskCountError` where a context holds other masks than it states.
        """

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the token ids of `text`, special tokens included."""

    def unknown_parts(self, text: str) -> int:
        """Return how many pieces of `text` the tokenizer replaces by its unknown token."""

    def encode_slot(self, context: SlotContext, masks: int) -> tuple[tuple[int, ...], int]:
        """Return the token ids with `masks` masks in the slot, and the first one's position."""

    def slot_chain(
        self, contexts: Sequence[SlotContext], words: Sequence[str], *, part: WordPart = "word"
    ) -> SlotChain:
        """Return the forward passes that the words need in the contexts, each of them once."""


@runtime_checkable
class SlotModel(SlotTokenizer, Protocol):
    """A language model that can say which word belongs in an open slot."""

    @property
    def abilities(self) -> frozenset[str]:
        """Names of the abilities, here ``word_logprobs`` and ``slot``."""

    @property
    def cache(self) -> BoundedCache:
        """A bounded memory that lives as long as the model, for what many shards share."""

    def word_logprobs(
        self,
        contexts: Sequence[SlotContext],
        words: Sequence[str],
        *,
        renorm: Renormalization | None = None,
        part: WordPart = "word",
    ) -> npt.NDArray[np.float64]:
        """Return ln P(word | context) by the chain rule, (n_contexts, n_words), in nats.

        Each subword is read at its mask while the masks before it hold the word's earlier
        subwords and the masks after it are still masked. `renorm` divides each factor by the
        mass of the class of its token (``class``), or as released by Cao et al. 2022, the first
        by the word-initial and all later ones by the continuation mass (``released``).
        With another `part` the word counts as its first or last subword, read at its own mask
        while all of the word's masks are open; a causal model reads the subwords before it.
        """

    def slot(self, contexts: Sequence[SlotContext], words: Sequence[str]) -> Iterator[SlotBatch]:
        """Yield hidden states and logits for every subword of every word in every context."""


@runtime_checkable
class EmbeddingModel(Protocol):
    """A model that gives words in their sentences a vector."""

    @property
    def abilities(self) -> frozenset[str]:
        """Names of the abilities, here ``embed``."""

    @property
    def cache(self) -> BoundedCache:
        """A bounded memory that lives as long as the model, for what many shards share."""

    @property
    def max_length(self) -> int:
        """The most tokens that the model reads at once, special tokens included."""

    @property
    def own_pieces(self) -> Pieces:
        """Which subword stands for a word unless somebody says otherwise."""

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the token ids of `text`, special tokens included."""

    def embed(
        self, spans: Sequence[SpanText], *, pieces: Pieces = "first"
    ) -> npt.NDArray[np.floating]:
        """Return the last hidden state at each span, (n_spans, hidden_size).

        Raises ContextTooLongError for a sentence that does not fit; nothing is cut.
        """
