"""Encoder-decoder models seen through the slot of a template: T5's hidden span.

The encoder reads the sentence with ``<extra_id_0>`` for the adjective; the decoder continues after
``[start, <extra_id_0>]`` with the adjective's subwords. Models without sentinels, such as BART,
give embeddings alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from probing.lm.decoder_slots import DecoderSlotModel
from probing.lm.decoding import pad
from probing.lm.protocols import SlotState
from probing.lm.slot_tokenizers import SentinelTokenizer


class Seq2SeqSlotModel(DecoderSlotModel[SentinelTokenizer]):
    """An encoder and decoder that says which word belongs in a slot.

    Made by :func:`probing.lm.loaders.load_slot_model`.
    """

    def __init__(self, model: Any, tokenizer: SentinelTokenizer, **how: Any) -> None:
        super().__init__(model, tokenizer, **how)
        config = model.config
        # T5 with tied embeddings scales what the output layer reads (methods.md §5.1).
        scaled = getattr(config, "scale_decoder_outputs", config.tie_word_embeddings)
        self._scale = config.hidden_size**-0.5 if scaled else 1.0
        if tokenizer.sentinels is not None:
            source, begun = list(tokenizer.encode("a")), [tokenizer.start]
            self._require_plain_head(
                SlotState((*source, *begun), len(source)),
                input_ids=source,
                decoder_input_ids=begun,
            )

    @property
    def abilities(self) -> frozenset[str]:
        """Names of the abilities; only models with sentinels fill slots."""
        return self.tokenizer.abilities

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
        given, _ = pad(begun, pad_id, device)
        output = self._model.get_decoder()(
            input_ids=given,
            encoder_hidden_states=encoded,
            encoder_attention_mask=attended,
            use_cache=False,
        )
        ends = torch.tensor([len(row) - 1 for row in begun], device=device)
        hidden = output.last_hidden_state[torch.arange(len(states), device=device), ends]
        return self._output(hidden * self._scale)
