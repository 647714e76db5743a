"""Base of slot models with a decoder: what comes after the last token of a state is the word."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import torch

from probing.lm.batching import batches_by_length
from probing.lm.examination import read_at
from probing.lm.numerics import at_least_float32
from probing.lm.protocols import SlotChain, SlotState
from probing.lm.slot_model import SlotModelBase, SlotOutput
from probing.lm.slot_tokenizers import CausalSlotTokenizer, SentinelTokenizer

T = TypeVar("T", bound=CausalSlotTokenizer | SentinelTokenizer)


class DecoderSlotModel(SlotModelBase[T]):
    """A model that says which word comes next; a subclass says how it reads states."""

    own_pieces = "last"

    def __init__(
        self,
        model: Any,
        tokenizer: T,
        *,
        revision: str,
        batch_tokens: int,
        cache_size: int = 64,
    ) -> None:
        decoder = model.get_output_embeddings()
        super().__init__(
            model,
            tokenizer,
            tokenizer.facts,
            weight=decoder.weight,
            bias=getattr(decoder, "bias", None),
            revision=revision,
            cache_size=cache_size,
        )
        self.batch_tokens = batch_tokens

    @cached_property
    @abstractmethod
    def _plain_head(self) -> bool:
        """Whether logits are hidden states times weights, which are read in float32 then."""

    @abstractmethod
    def _read(self, states: Sequence[SlotState]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the input and output of the output layer after the last token of each state."""

    def _forward(self, chain: SlotChain) -> Iterator[SlotOutput]:
        lengths = [len(state.ids) for state in chain.states]
        for batch in batches_by_length(lengths, self.batch_tokens, switch=self.facts.switch_length):
            place = np.full(len(chain.states), -1)
            place[list(batch)] = np.arange(len(batch))
            lookups = np.flatnonzero(place[chain.state] >= 0)
            hidden, logits = self._read([chain.states[index] for index in batch])
            yield lookups, place[chain.state[lookups]], hidden, logits

    def _output_of(self, places: torch.Tensor, **inputs: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the input and output of the output layer at one place of each row."""
        hidden, logits = read_at(self._model, places, **inputs)
        if hidden is None:
            return torch.empty(len(logits), 0), at_least_float32(logits)
        if self._plain_head:
            return self._output(hidden)
        return at_least_float32(hidden), at_least_float32(logits)
