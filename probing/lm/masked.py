"""Masked language models: those of known heads, and any other that passed its trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from probing.lm.batching import batches_by_length, ranges_of_like_length, worthwhile_padding
from probing.lm.decoding import pad
from probing.lm.examination import read_at
from probing.lm.families import Family
from probing.lm.numerics import pick_logprobs
from probing.lm.protocols import SlotChain, SlotState
from probing.lm.slot_model import SlotModelBase, SlotOutput
from probing.lm.slot_tokenizers import MaskedTokenizer
from probing.lm.sources import ModelFacts


class MaskedLanguageModel(SlotModelBase[MaskedTokenizer]):
    """A masked language model with its tokenizer, ready to be asked about slots.

    Only the rows of open masks go through the head and the output layer. Made by
    :func:`probing.lm.loaders.load_masked`.
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
        head = next((one for one in family.heads if _has_part(model, one.transform[0])), None)
        decoder = _part(model, head.decoder) if head else model.get_output_embeddings()
        super().__init__(
            model,
            tokenizer,
            facts,
            weight=decoder.weight,
            bias=_part(model, head.bias) if head and head.bias else decoder.bias,
            revision=revision,
            cache_size=cache_size,
        )
        self.family = family
        self.batch_size = batch_size
        self._body = _part(model, family.body) if family.body else model.base_model
        self._whole = head is None
        self._transform = [
            torch.nn.functional.gelu if path == "gelu" else _part(model, path)
            for path in (head.transform if head else ())
        ]
        self._base = torch.from_numpy(tokenizer.base)
        #: Tokens of padding that are cheaper than one more forward pass.
        self.padding = worthwhile_padding(self._weight.device.type)

    def read_logprobs(
        self, states: Sequence[SlotState], targets: Sequence[int], *, batch_tokens: int
    ) -> npt.NDArray[np.float64]:
        """Return ln P of one target token per state, (n_states,), in nats."""
        found = np.empty(len(states), dtype=np.float64)
        for batch in batches_by_length([len(state.ids) for state in states], batch_tokens):
            _, logits = self.read([states[index] for index in batch])
            wanted = torch.tensor([targets[index] for index in batch])
            found[batch] = pick_logprobs(logits, wanted).numpy()
        return found

    def _forward(self, chain: SlotChain) -> Iterator[SlotOutput]:
        lengths = [len(state.ids) for state in chain.states]
        for rows in ranges_of_like_length(lengths, most=self.batch_size, padding=self.padding):
            lookups = slice(*np.searchsorted(chain.state, [rows.start, rows.stop]).tolist())
            hidden, logits = self.read(chain.states[rows.start : rows.stop])
            yield lookups, chain.state[lookups] - rows.start, hidden, logits

    def _hidden_states(self, ids: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        hidden: torch.Tensor = self._body(input_ids=ids, attention_mask=attended).last_hidden_state
        return hidden

    @torch.inference_mode()
    def read(self, states: Sequence[SlotState]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the input and output of the output layer at the open mask of each state."""
        device = self._weight.device
        ids, attended = pad([state.ids for state in states], self.tokenizer.pad_id, device)
        positions = torch.tensor([state.position for state in states], device=device)
        if self._whole:
            hidden, _ = read_at(self._model, positions, input_ids=ids, attention_mask=attended)
            assert hidden is not None  # the trial watched the output layer
            return self._output(hidden)
        output = self._body(input_ids=ids, attention_mask=attended)
        hidden = output.last_hidden_state[torch.arange(len(states), device=device), positions]
        for step in self._transform:
            hidden = step(hidden)
        return self._output(hidden)


def _part(model: Any, path: str) -> Any:
    return reduce(getattr, path.split("."), model)


def _has_part(model: Any, path: str) -> bool:
    try:
        _part(model, path)
    except AttributeError:
        return False
    return True
