"""Encoder-decoder models seen through the slot of a template: T5's hidden span.

The encoder reads the sentence with ``<extra_id_0>`` for the adjective; the decoder continues after
``[start, <extra_id_0>]`` with the adjective's subwords. Models without sentinels, such as BART,
give embeddings alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import torch

from probing.lm.decoder_slots import DecoderSlotModel
from probing.lm.decoding import encoder_output, pad
from probing.lm.examination import has_plain_head, trial_row
from probing.lm.protocols import SlotState
from probing.lm.slot_tokenizers import SentinelTokenizer


class Seq2SeqSlotModel(DecoderSlotModel[SentinelTokenizer]):
    """An encoder and decoder that says which word belongs in a slot.

    Made by :func:`probing.lm.loaders.load_slot_model`.
    """

    @property
    def abilities(self) -> frozenset[str]:
        """Names of the abilities; only models with sentinels fill slots."""
        return self.tokenizer.abilities

    @cached_property
    def _plain_head(self) -> bool:
        row = trial_row(self._model)
        return has_plain_head(self._model, input_ids=row, decoder_input_ids=row[:, :1])

    def _hidden_states(self, ids: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        output = self._model.get_encoder()(input_ids=ids, attention_mask=attended)
        hidden: torch.Tensor = output.last_hidden_state
        return hidden

    @torch.inference_mode()
    def _read(self, states: Sequence[SlotState]) -> tuple[torch.Tensor, torch.Tensor]:
        sources = list(dict.fromkeys(state.ids[: state.position] for state in states))
        device, pad_id = self._model.device, self.tokenizer.pad_id
        ids, attended = pad(sources, pad_id, device)
        own = torch.tensor(
            [sources.index(state.ids[: state.position]) for state in states], device=device
        )
        encoded, attended = self._hidden_states(ids, attended)[own], attended[own]
        # Padding on the right of a decoder: what comes later is never attended to.
        begun = [state.ids[state.position :] for state in states]
        given, begins = pad(begun, pad_id, device)
        return self._output_of(
            begins.sum(1) - 1,
            encoder_outputs=encoder_output(encoded),
            attention_mask=attended,
            decoder_input_ids=given,
            use_cache=False,
        )
