"""Base of the models that fill the slot of a template and give words an embedding."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
import torch

from probing.lm.cache import BoundedCache
from probing.lm.decoding import pad
from probing.lm.errors import ContextTooLongError
from probing.lm.numerics import at_least_float32, widen
from probing.lm.protocols import (
    Pieces,
    Renormalization,
    SlotBatch,
    SlotChain,
    SlotContext,
    SpanText,
    Subwords,
    WordPart,
)
from probing.lm.slot_tokenizers import (
    CausalSlotTokenizer,
    EncoderTokenizer,
    MaskedTokenizer,
    ScoringTokenizer,
    SentinelTokenizer,
)
from probing.lm.sources import ModelFacts
from probing.lm.word_places import OpenSentence

E = TypeVar("E", bound=ScoringTokenizer)
T = TypeVar("T", bound=MaskedTokenizer | CausalSlotTokenizer | SentinelTokenizer)

#: Targets, the row of each, and the input and the output of the output layer, (n_rows, …).
SlotOutput = tuple[Any, npt.NDArray[np.int64], torch.Tensor, torch.Tensor]


class Embedder(ABC, Generic[E]):
    """A model that gives words in sentences an embedding; a subclass says how it reads them.

    Which sentences share a batch depends on nothing but the arguments, so that a repeated call on
    the same machine gives the same numbers.
    """

    #: Which subword stands for a word where nobody says: the first, but for models that have not
    #: read the word there (methods.md §6).
    own_pieces: Pieces = "first"
    #: Sentences of one pass for embeddings.
    batch_size = 64

    def __init__(
        self, model: Any, tokenizer: E, facts: ModelFacts, *, revision: str, cache_size: int = 64
    ) -> None:
        self._model = model
        self.tokenizer = tokenizer
        self.facts = facts
        #: The hub's commit, or ``sha256:…`` of a local folder's files.
        self.revision = revision
        self.cache = BoundedCache(cache_size)

    @abstractmethod
    def _hidden_states(self, ids: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        """Return the last hidden state of every token, (n_rows, longest, hidden_size)."""

    @property
    def network(self) -> Any:
        """The model of transformers itself, for trials."""
        return self._model

    @property
    def device(self) -> str:
        """The device that the weights are on, such as ``cpu`` or ``cuda:0``."""
        return str(self._model.device)

    @property
    def max_length(self) -> int:
        """The most tokens that the model reads at once, special tokens included."""
        return self.tokenizer.max_length

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the token ids of `text`, special tokens included."""
        return self.tokenizer.encode(text)

    @torch.inference_mode()
    def embed(
        self, spans: Sequence[SpanText], *, pieces: Pieces = "first"
    ) -> npt.NDArray[np.floating]:
        """Return the last hidden state at each span, (n_spans, hidden_size), in the order given.

        `pieces` says which of a span's subwords count: the first, the last, or all by their mean.
        A span's tokens are those that share a character with it. Of an encoder and decoder the
        states are the encoder's. float64 for a model in float64, else float32. Sentences are read
        sorted by length.

        Raises
        ------
        ContextTooLongError
            A sentence is longer than the model reads.
        ValueError
            A span lies outside its text or covers no token.
        """
        located = [_locate(self.tokenizer, span, pieces) for span in spans]
        order = sorted(range(len(located)), key=lambda index: len(located[index][0]))
        found: dict[int, npt.NDArray[np.floating]] = {}
        lengths = [len(located[index][0]) for index in order]
        switch = self.facts.switch_length
        short = len(order) if switch is None else bisect_right(lengths, switch)
        starts = [*range(0, short, self.batch_size), *range(short, len(order), self.batch_size)]
        for start, end in pairwise([*starts, len(order)]):
            batch = order[start:end]
            rows = [located[index][0] for index in batch]
            # Padding on the right: a causal model never attends to it.
            ids, attended = pad(rows, self.tokenizer.pad_id, self._model.device)
            hidden = at_least_float32(self._hidden_states(ids, attended))
            for row, index in enumerate(batch):
                chosen = torch.tensor(located[index][1], device=hidden.device)
                found[index] = hidden[row, chosen].mean(dim=0).cpu().numpy()
        return np.stack([found[index] for index in range(len(located))])


class EncoderModel(Embedder[EncoderTokenizer]):
    """An encoder without a head. Made by :func:`probing.lm.loaders.load_encoder`."""

    abilities = frozenset({"embed"})

    def _hidden_states(self, ids: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        hidden: torch.Tensor = self._model(input_ids=ids, attention_mask=attended).last_hidden_state
        return hidden


class SlotModelBase(Embedder[T], Generic[T]):
    """A model with its tokenizer; a subclass says how the sentences of a chain are read."""

    #: Tokens of the original vocabulary; None where the released renormalization is not defined.
    _base: torch.Tensor | None = None

    def __init__(
        self,
        model: Any,
        tokenizer: T,
        facts: ModelFacts,
        *,
        weight: torch.Tensor,
        bias: torch.Tensor | None,
        revision: str,
        cache_size: int = 64,
    ) -> None:
        super().__init__(model, tokenizer, facts, revision=revision, cache_size=cache_size)
        self._weight = at_least_float32(weight.detach())
        self._bias = None if bias is None else at_least_float32(bias.detach())
        self._initial = torch.from_numpy(tokenizer.word_initial)
        self._continuation = torch.from_numpy(tokenizer.continuation)

    @abstractmethod
    def _forward(self, chain: SlotChain) -> Iterator[SlotOutput]:
        """Yield what the model gives for the states of the chain, batch by batch."""

    def word_logprobs(
        self,
        contexts: Sequence[SlotContext],
        words: Sequence[str],
        *,
        renorm: Renormalization | None = None,
        part: WordPart = "word",
    ) -> npt.NDArray[np.float64]:
        """Return ln P(word | context) by the chain rule, (n_contexts, n_words), in nats.

        Log-softmax in float64 over the full vocabulary of the output layer (Cao et al. 2022,
        §3.2). With `renorm`, a factor is divided by the mass of its token's class (``class``),
        or of the word-initial tokens for the first subword and of the continuation tokens for
        all later ones, both within the base vocabulary (``released``, masked models alone); the
        latter is not a probability for hyphenated words under WordPiece. With another `part` a
        word counts as its first or last subword: a masked model reads it at its own mask while all
        of the word's masks are open, a causal one after the subwords before it.

        Raises
        ------
        UnknownWordError, MaskCountError, ContextTooLongError
            A word or context that cannot be put to this model.
        """
        if renorm not in (None, "class", "released"):
            raise ValueError(f"renorm is None, 'class' or 'released', not {renorm!r}")
        if renorm == "released" and self._base is None:
            raise ValueError("the released renormalization is defined for masked models alone")
        chain = self.slot_chain(contexts, words, part=part)
        factors = np.empty(len(chain.target), dtype=np.float64)
        for lookups, rows, _, logits in self._forward(chain):
            values = widen(logits)
            row = torch.from_numpy(rows).to(values.device)
            target = torch.from_numpy(chain.target[lookups]).to(values.device)
            subword = torch.from_numpy(chain.subword[lookups]).to(values.device)
            norms = self._log_normalizers(values, row, target, subword, renorm)
            factors[lookups] = (values[row, target] - norms).cpu().numpy()
        totals = np.zeros((len(contexts), len(words)), dtype=np.float64)
        # Summed subword by subword, so that the order of addition never depends on the batches.
        order = np.argsort(chain.subword, kind="stable")
        np.add.at(totals, (chain.context[order], chain.word[order]), factors[order])
        return totals

    def slot(self, contexts: Sequence[SlotContext], words: Sequence[str]) -> Iterator[SlotBatch]:
        """Yield hidden states and logits for every subword of every word in every context.

        `hidden` is the input of the output layer: of a masked model after the head's transform, of
        a causal one after its final norm.
        """
        chain = self.slot_chain(contexts, words)
        for lookups, rows, hidden, logits in self._forward(chain):
            yield SlotBatch(
                hidden=hidden.cpu().numpy(),
                logits=logits.cpu().numpy(),
                has_bias=self._bias is not None,
                row=rows,
                context=chain.context[lookups],
                word=chain.word[lookups],
                subword=chain.subword[lookups],
                target=chain.target[lookups],
            )

    def _log_normalizers(
        self,
        logits: torch.Tensor,
        row: torch.Tensor,
        target: torch.Tensor,
        subword: torch.Tensor,
        renorm: Renormalization | None,
    ) -> torch.Tensor:
        """Return, per target, the log of the summed exp(logit) that its factor is divided by."""
        if renorm is None:
            return torch.logsumexp(logits, dim=1)[row]
        initial, continuation = self._initial, self._continuation
        if self._base is not None and renorm == "released":
            initial, continuation = initial & self._base, continuation & self._base
            first = subword == 0
        else:
            first = initial.to(logits.device)[target]
        masses = [
            torch.logsumexp(logits[:, members.to(logits.device)], dim=1)[row]
            for members in (initial, continuation)
        ]
        return torch.where(first, masses[0], masses[1])

    def _output(self, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the input and the output of the output layer."""
        hidden = at_least_float32(hidden)
        return hidden, torch.nn.functional.linear(hidden, self._weight, self._bias)

    # --- the tokenizer's side of probing.lm.protocols.SlotModel ------------------------------

    @property
    def mask_token(self) -> str | None:
        """The mask token as it is written in a text; None where there is none."""
        return self.tokenizer.mask_token

    @property
    def hyphens_start_words(self) -> bool:
        """Whether pieces after a hyphen count as word-initial (so under WordPiece)."""
        return self.tokenizer.hyphens_start_words

    @property
    def mask_takes_space(self) -> bool:
        """Whether no token for the space before a mask is left over."""
        return self.tokenizer.mask_takes_space

    def split(self, word: str) -> Subwords:
        """Return the subwords of `word` in a plain sentence; :class:`UnknownWordError`."""
        return self.tokenizer.split(word)

    def open(self, contexts: Sequence[SlotContext], words: Sequence[str]) -> list[OpenSentence]:
        """Return every context with its slot open, and each word's ids in it."""
        return self.tokenizer.open(contexts, words)

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


def _locate(
    tokenizer: ScoringTokenizer, span: SpanText, pieces: Pieces
) -> tuple[tuple[int, ...], list[int]]:
    """Return the sentence's token ids, and the positions whose states make the embedding."""
    if not 0 <= span.start < span.end <= len(span.text):
        raise ValueError(f"the span {span.start} to {span.end} lies outside '{span.text}'")
    ids, offsets = tokenizer.encode_with_offsets(span.text)
    if len(ids) > tokenizer.max_length:
        raise ContextTooLongError(
            f"The sentence '{span.text}' has {len(ids)} tokens, and the model reads "
            f"{tokenizer.max_length}. Leave it out."
        )
    inside = [
        position
        for position, (start, end) in enumerate(offsets)
        if start < span.end and end > span.start
    ]
    if not inside:
        raise ValueError(f"no token covers '{span.text[span.start : span.end]}'")
    if pieces == "first":
        return ids, inside[:1]
    return ids, inside[-1:] if pieces == "last" else inside
