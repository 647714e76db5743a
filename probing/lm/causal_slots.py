"""Causal language models seen through the slot of a template: the word that comes next.

A causal model reads what stands before the slot and nothing after it, so the group has to come
first. It has no mask token: nothing can stand in for a masked group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from probing.lm.decoder_slots import DecoderSlotModel
from probing.lm.decoding import pad
from probing.lm.protocols import SlotState
from probing.lm.slot_tokenizers import CausalSlotTokenizer


class CausalSlotModel(DecoderSlotModel[CausalSlotTokenizer]):
    """A causal language model that says which word belongs next.

    Made by :func:`probing.lm.loaders.load_slot_model`.
    """

    abilities = frozenset({"word_logprobs", "slot", "embed"})

    def __init__(self, model: Any, tokenizer: CausalSlotTokenizer, **how: Any) -> None:
        super().__init__(model, tokenizer, **how)
        self._body = getattr(model, model.base_model_prefix)
        row = list(tokenizer.encode("a"))
        self._require_plain_head(SlotState(tuple(row), len(row)), input_ids=row)

    def _hidden_states(self, ids: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        output = self._body(input_ids=ids, attention_mask=attended, use_cache=False)
        hidden: torch.Tensor = output.last_hidden_state
        return hidden

    @torch.inference_mode()
    def _read(self, states: Sequence[SlotState]) -> tuple[torch.Tensor, torch.Tensor]:
        rows = [state.ids for state in states]
        # Padding on the right: what comes later is never attended to.
        ids, attended = pad(rows, self.tokenizer.pad_id, self._model.device)
        ends = torch.tensor([len(row) - 1 for row in rows], device=ids.device)
        hidden = self._hidden_states(ids, attended)
        return self._output(hidden[torch.arange(len(rows), device=ids.device), ends])
