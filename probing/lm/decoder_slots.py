"""Base of slot models with a decoder: what comes after the last token of a state is the word."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import torch

from probing.lm.batching import batches_by_length
from probing.lm.errors import WrongModelKindError
from probing.lm.protocols import SlotChain, SlotState
from probing.lm.slot_model import SlotModelBase, SlotOutput
from probing.lm.slot_tokenizers import CausalSlotTokenizer, SentinelTokenizer

_PROBE_TOLERANCE = 1e-3

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

    @abstractmethod
    def _read(self, states: Sequence[SlotState]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the input and output of the output layer after the last token of each state."""

    def _forward(self, chain: SlotChain) -> Iterator[SlotOutput]:
        lengths = [len(state.ids) for state in chain.states]
        for batch in batches_by_length(lengths, self.batch_tokens):
            place = np.full(len(chain.states), -1)
            place[list(batch)] = np.arange(len(batch))
            lookups = np.flatnonzero(place[chain.state] >= 0)
            hidden, logits = self._read([chain.states[index] for index in batch])
            yield lookups, place[chain.state[lookups]], hidden, logits

    def _require_plain_head(self, state: SlotState, **inputs: list[int]) -> None:
        """Compare one output with the model's own: some families scale or cap their logits.

        inputs : the same state as the model itself takes it
        """
        _, ours = self._read([state])
        rows = {
            name: torch.tensor([ids], device=self._model.device) for name, ids in inputs.items()
        }
        with torch.inference_mode():
            theirs = self._model(**rows).logits[0, -1]
        if not torch.allclose(
            ours[0], theirs.float(), rtol=_PROBE_TOLERANCE, atol=_PROBE_TOLERANCE
        ):
            raise WrongModelKindError(
                f"The output layer of '{self.facts.source}' does more than multiply by its weights "
                "(it scales or caps its logits), so measures of slots do not know it. Choose a "
                "model of another family."
            )
