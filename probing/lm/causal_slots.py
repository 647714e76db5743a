"""Causal language models seen through the slot of a template: the word that comes next.

A causal model reads what stands before the slot and nothing after it, so the group has to come
first. It has no mask token: nothing can stand in for a masked group.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import torch

from probing.lm.decoder_slots import DecoderSlotModel
from probing.lm.decoding import pad
from probing.lm.examination import body_of, has_plain_head, trial_row
from probing.lm.protocols import SlotState
from probing.lm.slot_tokenizers import CausalSlotTokenizer


class CausalSlotModel(DecoderSlotModel[CausalSlotTokenizer]):
    """A causal language model that says which word belongs next.

    Made by :func:`probing.lm.loaders.load_slot_model`.
    """

    @property
    def abilities(self) -> frozenset[str]:
        """Names of the abilities."""
        self.tokenizer.plain_head = self._plain_head
        return self.tokenizer.abilities

    @cached_property
    def _plain_head(self) -> bool:
        return has_plain_head(self._model, input_ids=trial_row(self._model))

    def _hidden_states(self, ids: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        output = body_of(self._model)(input_ids=ids, attention_mask=attended, use_cache=False)
        hidden: torch.Tensor = output.last_hidden_state
        return hidden

    @torch.inference_mode()
    def _read(self, states: Sequence[SlotState]) -> tuple[torch.Tensor, torch.Tensor]:
        rows = [state.ids for state in states]
        # Padding on the right: what comes later is never attended to.
        ids, attended = pad(rows, self.tokenizer.pad_id, self._model.device)
        return self._output_of(
            attended.sum(1) - 1, input_ids=ids, attention_mask=attended, use_cache=False
        )
