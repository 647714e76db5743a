"""Causal language models seen through the slot of a template: the word that comes next.

A causal model reads what stands before the slot and nothing after it, so the group has to come
first. It has no mask token: nothing can stand in for a masked group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from probing.lm.batching import batches_by_length
from probing.lm.cache import BoundedCache
from probing.lm.causal_slot_tokenizer import CausalSlotTokenizer
from probing.lm.chain import SlotChain
from probing.lm.decoding import pad
from probing.lm.errors import WrongModelKindError
from probing.lm.protocols import Renormalisation, SlotBatch, SlotContext, WordPart
from probing.lm.slot_facts import SlotFacts

_PROBE_TOLERANCE = 1e-3


class CausalSlotModel(SlotFacts[CausalSlotTokenizer]):
    """A causal language model that says which word belongs next.

    Made by :func:`probing.lm.slot_loading.load_slot_model`.
    """

    abilities = frozenset({"word_logprobs", "slot"})

    def __init__(
        self,
        model: Any,
        tokenizer: CausalSlotTokenizer,
        *,
        revision: str,
        batch_tokens: int,
        cache_size: int = 64,
    ) -> None:
        self._model = model
        self.tokenizer = tokenizer
        self.facts = tokenizer.facts
        #: The hub's commit, or ``sha256:…`` of a local folder's files.
        self.revision = revision
        self.batch_tokens = batch_tokens
        self.cache = BoundedCache(cache_size)
        self._body = getattr(model, model.base_model_prefix)
        decoder = model.get_output_embeddings()
        self._weight = _at_least_float32(decoder.weight.detach())
        bias = getattr(decoder, "bias", None)
        self._bias = None if bias is None else _at_least_float32(bias.detach())
        self._initial = torch.from_numpy(tokenizer.word_initial)
        self._continuation = torch.from_numpy(tokenizer.continuation)
        self._require_plain_head()

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
        """Return ln P(word | what stands before it) by the chain rule, (n_contexts, n_words).

        In nats, log-softmax in float64. ``renorm="class"`` divides a factor by the mass of its
        token's class; the released renormalisation is defined for masked models alone. With
        another `part` a word counts as its first subword, or as its last one after the others.
        """
        if renorm == "released":
            raise ValueError("the released renormalisation is defined for masked models alone")
        chain = self.slot_chain(contexts, words, part=part)
        factors = np.empty(len(chain.target), dtype=np.float64)
        for lookups, rows, _, logits in self._forward(chain):
            values = logits.cpu().double()
            row, target = torch.from_numpy(rows), torch.from_numpy(chain.target[lookups])
            if renorm is None:
                norms = torch.logsumexp(values, dim=1)[row]
            else:
                masses = [
                    torch.logsumexp(values[:, members], dim=1)[row]
                    for members in (self._initial, self._continuation)
                ]
                norms = torch.where(self._initial[target], masses[0], masses[1])
            factors[lookups] = (values[row, target] - norms).numpy()
        totals = np.zeros((len(contexts), len(words)), dtype=np.float64)
        # Summed subword by subword, so that the order of addition never depends on the batches.
        order = np.argsort(chain.subword, kind="stable")
        np.add.at(totals, (chain.context[order], chain.word[order]), factors[order])
        return totals

    def slot(self, contexts: Sequence[SlotContext], words: Sequence[str]) -> Iterator[SlotBatch]:
        """Yield hidden states and logits for every subword of every word in every context.

        `hidden` is the input of the output layer: the output of the model's final norm.
        """
        chain = self.slot_chain(contexts, words)
        for lookups, rows, hidden, logits in self._forward(chain):
            yield SlotBatch(
                hidden=hidden.cpu().numpy(),
                logits=logits.cpu().numpy(),
                has_bias=self._bias is not None,
                row=rows,
                context=chain.context[lookups],
                word=chain.word[lookups],
                subword=chain.subword[lookups],
                target=chain.target[lookups],
            )

    def _forward(
        self, chain: SlotChain
    ) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], torch.Tensor, torch.Tensor]]:
        """Yield (targets, their rows, hidden states, logits) batch by batch."""
        lengths = [len(state.ids) for state in chain.states]
        for batch in batches_by_length(lengths, self.batch_tokens):
            place = np.full(len(chain.states), -1)
            place[list(batch)] = np.arange(len(batch))
            lookups = np.flatnonzero(place[chain.state] >= 0)
            hidden, logits = self._read([chain.states[index].ids for index in batch])
            yield lookups, place[chain.state[lookups]], hidden, logits

    @torch.inference_mode()
    def _read(self, rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the input and output of the output layer after the last token of each row."""
        # Padding on the right: what comes later is never attended to.
        ids, attended = pad(rows, self.tokenizer.pad_id, self._model.device)
        output = self._body(input_ids=ids, attention_mask=attended, use_cache=False)
        ends = torch.tensor([len(row) - 1 for row in rows], device=ids.device)
        hidden = output.last_hidden_state[torch.arange(len(rows), device=ids.device), ends]
        hidden = _at_least_float32(hidden)
        return hidden, torch.nn.functional.linear(hidden, self._weight, self._bias)

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


def _at_least_float32(values: torch.Tensor) -> torch.Tensor:
    return values if values.dtype == torch.float64 else values.float()
