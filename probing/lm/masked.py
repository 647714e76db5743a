"""Masked language models of the BERT and RoBERTa families."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from probing.lm.batching import batches_by_length, ranges_of_like_length
from probing.lm.cache import BoundedCache
from probing.lm.chain import SlotChain, SlotState
from probing.lm.embedding import embed_spans
from probing.lm.families import Family
from probing.lm.numerics import pick_logprobs
from probing.lm.protocols import (
    Pieces,
    Renormalisation,
    SlotBatch,
    SlotContext,
    SpanText,
    WordPart,
)
from probing.lm.slot_facts import SlotFacts
from probing.lm.sources import ModelFacts
from probing.lm.subwords import MaskedTokenizer

#: A pass costs a CPU little beside its tokens. A GPU is hardly busy below thousands of them.
_CPU_PADDING, _GPU_PADDING = 32, 4096


class MaskedLanguageModel(SlotFacts[MaskedTokenizer]):
    """A masked language model with its tokenizer, ready to be asked about slots.

    Only the rows of open masks go through the head and the output layer. Which sentences share
    a batch depends on nothing but the arguments, so that a repeated call on the same machine
    gives the same numbers. Made by :func:`probing.lm.loading.load_masked`.
    """

    abilities = frozenset({"word_logprobs", "slot", "embed"})

    def __init__(
        self,
        model: Any,
        tokenizer: MaskedTokenizer,
        family: Family,
        facts: ModelFacts,
        *,
        revision: str,
        batch_size: int = 64,
        cache_size: int = 64,
    ) -> None:
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, not {batch_size}")
        self._model = model
        self.tokenizer = tokenizer
        self.family = family
        self.facts = facts
        #: The hub's commit, or ``sha256:…`` of a local folder's files.
        self.revision = revision
        self.batch_size = batch_size
        self.cache = BoundedCache(cache_size)
        self._body = _part(model, family.body)
        head = next(head for head in family.heads if _has_part(model, head.transform[0]))
        self._transform = [
            torch.nn.functional.gelu if path == "gelu" else _part(model, path)
            for path in head.transform
        ]
        decoder = _part(model, head.decoder)
        bias = _part(model, head.bias) if head.bias else decoder.bias
        # Half precision is too coarse for logits; float() leaves float32 and float64 as they are.
        self._weight = _at_least_float32(decoder.weight.detach())
        self._bias = None if bias is None else _at_least_float32(bias.detach())
        on_cpu = self._weight.device.type == "cpu"
        #: Tokens of padding that are cheaper than one more forward pass.
        self.padding = _CPU_PADDING if on_cpu else _GPU_PADDING
        self._initial = torch.from_numpy(tokenizer.word_initial)
        self._continuation = torch.from_numpy(tokenizer.continuation)
        self._base = torch.from_numpy(tokenizer.base)

    @property
    def device(self) -> str:
        """The device that the weights are on, such as ``cpu`` or ``cuda:0``."""
        return str(self._weight.device)

    def word_logprobs(
        self,
        contexts: Sequence[SlotContext],
        words: Sequence[str],
        *,
        renorm: Renormalisation | None = None,
        part: WordPart = "word",
    ) -> npt.NDArray[np.float64]:
        """Return ln P(word | context) by the chain rule, (n_contexts, n_words), in nats.

        Log-softmax in float64 over the full vocabulary of the output layer (Cao et al. 2022,
        §3.2). With `renorm`, a factor is divided by the mass of its token's class (``class``),
        or of the word-initial tokens for the first subword and of the continuation tokens for
        all later ones, both within the base vocabulary (``released``); the latter is not a
        probability for hyphenated words under WordPiece. With another `part` a word counts as its
        first or last subword, read at its own mask while all of the word's masks are open.

        Raises
        ------
        UnknownWordError, MaskCountError, ContextTooLongError
            A word or context that cannot be put to this model.
        """
        chain = self.slot_chain(contexts, words, part=part)
        factors = np.empty(len(chain.target), dtype=np.float64)
        for rows, lookups, _, logits in self._forward(chain):
            # MPS has no float64; everywhere else the logits stay where they are.
            values = (logits.cpu() if logits.device.type == "mps" else logits).double()
            row = torch.from_numpy(chain.state[lookups] - rows.start).to(values.device)
            target = torch.from_numpy(chain.target[lookups]).to(values.device)
            norms = self._log_normalisers(
                values, row, target, torch.from_numpy(chain.subword[lookups]), renorm
            )
            factors[lookups] = (values[row, target] - norms).cpu().numpy()
        totals = np.zeros((len(contexts), len(words)), dtype=np.float64)
        # Summed subword by subword, so that the order of addition never depends on the batches.
        order = np.argsort(chain.subword, kind="stable")
        np.add.at(totals, (chain.context[order], chain.word[order]), factors[order])
        return totals

    def slot(self, contexts: Sequence[SlotContext], words: Sequence[str]) -> Iterator[SlotBatch]:
        """Yield hidden states and logits for every subword of every word in every context.

        `hidden` is the input of the output layer, after the head's transform.
        """
        chain = self.slot_chain(contexts, words)
        for rows, lookups, hidden, logits in self._forward(chain):
            yield SlotBatch(
                hidden=hidden.cpu().numpy(),
                logits=logits.cpu().numpy(),
                has_bias=self._bias is not None,
                row=chain.state[lookups] - rows.start,
                context=chain.context[lookups],
                word=chain.word[lookups],
                subword=chain.subword[lookups],
                target=chain.target[lookups],
            )

    def read_logprobs(
        self, states: Sequence[SlotState], targets: Sequence[int], *, batch_tokens: int
    ) -> npt.NDArray[np.float64]:
        """Return ln P of one target token per state, (n_states,), in nats."""
        found = np.empty(len(states), dtype=np.float64)
        for batch in batches_by_length([len(state.ids) for state in states], batch_tokens):
            _, logits = self._read([states[index] for index in batch])
            wanted = torch.tensor([targets[index] for index in batch])
            found[batch] = pick_logprobs(logits, wanted).numpy()
        return found

    def embed(
        self, spans: Sequence[SpanText], *, pieces: Pieces = "first"
    ) -> npt.NDArray[np.floating]:
        """Return the last hidden state at each span, (n_spans, hidden_size).

        `pieces` says which of a span's subwords count: the first, the last, or all by their mean.

        Raises
        ------
        ContextTooLongError
            A sentence is longer than the model reads.
        """

        def encode(ids: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
            return self._body(input_ids=ids, attention_mask=attended).last_hidden_state

        return embed_spans(
            encode,
            self.tokenizer,
            spans,
            pieces=pieces,
            batch_size=self.batch_size,
            device=self._weight.device,
        )

    def _log_normalisers(
        self,
        logits: torch.Tensor,
        row: torch.Tensor,
        target: torch.Tensor,
        subword: torch.Tensor,
        renorm: Renormalisation | None,
    ) -> torch.Tensor:
        """Return, per target, the log of the summed exp(logit) that its factor is divided by."""
        if renorm is None:
            return torch.logsumexp(logits, dim=1)[row]
        initial, continuation = self._initial, self._continuation
        if renorm == "released":
            initial, continuation = initial & self._base, continuation & self._base
            first = (subword == 0).to(logits.device)
        elif renorm == "class":
            first = initial.to(logits.device)[target]
        else:
            raise ValueError(f"renorm is None, 'class' or 'released', not {renorm!r}")
        masses = [
            torch.logsumexp(logits[:, members.to(logits.device)], dim=1)[row]
            for members in (initial, continuation)
        ]
        return torch.where(first, masses[0], masses[1])

    def _forward(
        self, chain: SlotChain
    ) -> Iterator[tuple[range, slice, torch.Tensor, torch.Tensor]]:
        """Yield (states, their targets, hidden states, logits) batch by batch, in order."""
        lengths = [len(state.ids) for state in chain.states]
        for rows in ranges_of_like_length(lengths, most=self.batch_size, padding=self.padding):
            lookups = slice(*np.searchsorted(chain.state, [rows.start, rows.stop]).tolist())
            hidden, logits = self._read(chain.states[rows.start : rows.stop])
            yield rows, lookups, hidden, logits

    @torch.inference_mode()
    def _read(self, states: Sequence[SlotState]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the input and output of the output layer at the open mask of each state."""
        width = max(len(state.ids) for state in states)
        ids = torch.full((len(states), width), self.tokenizer.pad_id)
        attended = torch.zeros((len(states), width), dtype=torch.long)
        for row, state in enumerate(states):
            ids[row, : len(state.ids)] = torch.tensor(state.ids)
            attended[row, : len(state.ids)] = 1
        device = self._weight.device
        output = self._body(input_ids=ids.to(device), attention_mask=attended.to(device))
        positions = torch.tensor([state.position for state in states], device=device)
        hidden = output.last_hidden_state[torch.arange(len(states), device=device), positions]
        for step in self._transform:
            hidden = step(hidden)
        hidden = _at_least_float32(hidden)
        return hidden, torch.nn.functional.linear(hidden, self._weight, self._bias)


def _part(model: Any, path: str) -> Any:
    return reduce(getattr, path.split("."), model)


def _has_part(model: Any, path: str) -> bool:
    try:
        _part(model, path)
    except AttributeError:
        return False
    return True


def _at_least_float32(values: torch.Tensor) -> torch.Tensor:
    return values if values.dtype == torch.float64 else values.float()
