"""Encoder-decoder models seen through the slot of a template: T5's hidden span.

The encoder reads the sentence with ``<extra_id_0>`` for the adjective; the decoder continues after
``[start, <extra_id_0>]`` with the adjective's subwords. Models without sentinels, such as BART,
give embeddings alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from probing.lm.batching import batches_by_length
from probing.lm.decoding import pad
from probing.lm.errors import WrongModelKindError
from probing.lm.protocols import SlotChain, SlotState
from probing.lm.slot_model import SlotModelBase, SlotOutput
from probing.lm.slot_tokenizers import SentinelTokenizer

_PROBE_TOLERANCE = 1e-3


class Seq2SeqSlotModel(SlotModelBase[SentinelTokenizer]):
    """An encoder and decoder that says which word belongs in a slot.

    Made by :func:`probing.lm.loaders.load_slot_model`.
    """

    own_pieces = "last"

    def __init__(
        self,
        model: Any,
        tokenizer: SentinelTokenizer,
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
        config = model.config
        # T5 with tied embeddings scales what the output layer reads (methods.md §5.1).
        scaled = getattr(config, "scale_decoder_outputs", config.tie_word_embeddings)
        self._scale = config.hidden_size**-0.5 if scaled else 1.0
        if tokenizer.sentinels is not None:
            self._require_plain_head()

    @property
    def abilities(self) -> frozenset[str]:
        """Names of the abilities; only models with sentinels fill slots."""
        return self.tokenizer.abilities

    def _forward(self, chain: SlotChain) -> Iterator[SlotOutput]:
        lengths = [len(state.ids) for state in chain.states]
        for batch in batches_by_length(lengths, self.batch_tokens):
            place = np.full(len(chain.states), -1)
            place[list(batch)] = np.arange(len(batch))
            lookups = np.flatnonzero(place[chain.state] >= 0)
            hidden, logits = self._read([chain.states[index] for index in batch])
            yield lookups, place[chain.state[lookups]], hidden, logits

    def _hidden_states(self, ids: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        output = self._model.get_encoder()(input_ids=ids, attention_mask=attended)
        hidden: torch.Tensor = output.last_hidden_state
        return hidden

    @torch.inference_mode()
    def _read(self, states: Sequence[SlotState]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the input and output of the output layer after the last token of each state."""
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

    @torch.inference_mode()
    def _require_plain_head(self) -> None:
        """Compare one output with the model's own: some families scale or cap their logits."""
        source, begun = self.tokenizer.encode("a"), [self.tokenizer.start]
        _, ours = self._read([SlotState((*source, *begun), len(source))])
        theirs = self._model(
            input_ids=torch.tensor([source], device=self._model.device),
            decoder_input_ids=torch.tensor([begun], device=self._model.device),
        ).logits[0, -1]
        if not torch.allclose(
            ours[0], theirs.float(), rtol=_PROBE_TOLERANCE, atol=_PROBE_TOLERANCE
        ):
            raise WrongModelKindError(
                f"The output layer of '{self.facts.source}' does more than multiply by its weights "
                "(it scales or caps its logits), so measures of slots do not know it. Choose a "
                "model of another family."
            )
