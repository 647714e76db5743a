"""Causal language models seen through the slot of a template: the word that comes next.

A causal model reads what stands before the slot and nothing after it, so the group has to come
first. It has no mask token: nothing can stand in for a masked group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from probing.lm.batching import batches_by_length
from probing.lm.decoding import pad
from probing.lm.errors import WrongModelKindError
from probing.lm.protocols import SlotChain
from probing.lm.slot_model import SlotModelBase, SlotOutput
from probing.lm.slot_tokenizers import CausalSlotTokenizer

_PROBE_TOLERANCE = 1e-3


class CausalSlotModel(SlotModelBase[CausalSlotTokenizer]):
    """A causal language model that says which word belongs next.

    Made by :func:`probing.lm.loaders.load_slot_model`.
    """

    abilities = frozenset({"word_logprobs", "slot", "embed"})
    own_pieces = "last"

    def __init__(
        self,
        model: Any,
        tokenizer: CausalSlotTokenizer,
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
        self._body = getattr(model, model.base_model_prefix)
        self._require_plain_head()

    def _forward(self, chain: SlotChain) -> Iterator[SlotOutput]:
        lengths = [len(state.ids) for state in chain.states]
        for batch in batches_by_length(lengths, self.batch_tokens):
            place = np.full(len(chain.states), -1)
            place[list(batch)] = np.arange(len(batch))
            lookups = np.flatnonzero(place[chain.state] >= 0)
            hidden, logits = self._read([chain.states[index].ids for index in batch])
            yield lookups, place[chain.state[lookups]], hidden, logits

    def _hidden_states(self, ids: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        output = self._body(input_ids=ids, attention_mask=attended, use_cache=False)
        hidden: torch.Tensor = output.last_hidden_state
        return hidden

    @torch.inference_mode()
    def _read(self, rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the input and output of the output layer after the last token of each row."""
        # Padding on the right: what comes later is never attended to.
        ids, attended = pad(rows, self.tokenizer.pad_id, self._model.device)
        ends = torch.tensor([len(row) - 1 for row in rows], device=ids.device)
        states = self._hidden_states(ids, attended)
        return self._output(states[torch.arange(len(rows), device=ids.device), ends])

    @torch.inference_mode()
    def _require_plain_head(self) -> None:
        """Compare one output with the model's own: some families scale or cap their logits."""
        row = list(self.tokenizer.encode("a"))
        _, ours = self._read([row])
        theirs = self._model(input_ids=torch.tensor([row], device=self._model.device)).logits[0, -1]
        if not torch.allclose(
            ours[0], theirs.float(), rtol=_PROBE_TOLERANCE, atol=_PROBE_TOLERANCE
        ):
            raise WrongModelKindError(
                f"The output layer of '{self.facts.source}' does more than multiply by its weights "
                "(it scales or caps its logits), so measures of slots do not know it. Choose a "
                "model of another family."
            )
