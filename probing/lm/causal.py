"""Causal language models: GPT-2, OPT, Llama and whatever else reads from left to right."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from probing.lm.batching import batches_by_length
from probing.lm.best_spans import WIDTH, FoundSpan, best_spans_of_length
from probing.lm.decoding import CausalDecoding, Decoding, pad
from probing.lm.end_words import Opening, Row, shared_beginning
from probing.lm.numerics import pick_logprobs
from probing.lm.text_model import TextModel
from probing.lm.text_protocols import SpanContext, SpanScore

#: Tokens that all rows have to begin with before reading them apart is worth a pass.
_LEAST_SHARED = 2
_HEAD_TOLERANCE = 1e-3

Logprobs = npt.NDArray[np.float64]


class CausalModel(TextModel):
    """A causal language model that writes, scores texts and continues their left contexts.

    Made by :func:`probing.lm.loaders.load_text_model`.
    """

    def token_logprobs(self, texts: Sequence[str]) -> list[Logprobs]:
        """Return ln P of every token of every text given those before it, (n_scored,).

        The first token is scored only if the tokenizer puts a begin token before it
        (methods.md §13): a one-token text of GPT-2 gives an empty array.
        """
        rows = [self.tokenizer.encode(text) for text in texts]
        for row, text in zip(rows, texts, strict=True):
            self.tokenizer.require_fit(len(row), text)
        return self._score(rows, [1] * len(rows))

    def score_spans(self, contexts: Sequence[SpanContext], *, n_best: int = 5) -> list[SpanScore]:
        """Return the score of every reference span given what stands before it.

        What follows the span is not seen, which makes this another quantity than that of models
        that fill a gap (methods.md §15). A causal model does not say where a span ends: its best
        spans have as many tokens as the reference. A span at the very beginning lacks its first
        token where the tokenizer has no begin token, and there are no best spans then.
        """
        rows, firsts = [], []
        for context in contexts:
            before, span = self.tokenizer.encode_continuation(context.before, context.span)
            self.tokenizer.require_fit(len(before) + len(span), context.before + context.span)
            rows.append([*before, *span])
            firsts.append(len(before))
        scores = self._score(rows, [max(first, 1) for first in firsts])
        best: dict[int, list[FoundSpan] | None] = {}
        usable = [index for index, first in enumerate(firsts) if first] if n_best else []
        lengths = [len(rows[index]) * WIDTH for index in usable]
        for batch in batches_by_length(lengths, self.batch_tokens):
            chosen = [usable[place] for place in batch]
            spans = best_spans_of_length(
                self._open([rows[index][: firsts[index]] for index in chosen]),
                n_best,
                lengths=[len(rows[index]) - firsts[index] for index in chosen],
                banned=self.tokenizer.special_ids,
            )
            best.update(zip(chosen, spans, strict=True))
        return self._span_scores(scores, best)

    @torch.inference_mode()
    def _read_ends(
        self, rows: Sequence[Row], opening: Opening
    ) -> Iterator[tuple[Sequence[int], torch.Tensor]]:
        opened = [(*row, *opening.known) for row in rows]
        shared = shared_beginning(opened) if len(opened) > 1 else 0
        past = self._read_beginning(opened[0][:shared]) if shared >= _LEAST_SHARED else None
        begun = 0 if past is None else shared
        for places in self._like_length([len(row) - begun for row in opened]):
            # Padding on the right: what comes later is never attended to.
            ids, mask = pad(
                [opened[place][begun:] for place in places],
                self.tokenizer.pad_id,
                self._model.device,
            )
            yield places, self._logits_at(ids, mask, mask.sum(1) - 1, past, begun)

    def _read_beginning(self, ids: Row) -> Any:
        """Return the key-value cache of what rows begin with; None where a model keeps none."""
        row = torch.tensor([ids], device=self._model.device)
        return getattr(self._body(input_ids=row, use_cache=True), "past_key_values", None)

    def _logits_at(
        self, ids: torch.Tensor, mask: torch.Tensor, places: torch.Tensor, past: Any, begun: int
    ) -> torch.Tensor:
        """Return the logits at one place of each row, (n_rows, vocabulary)."""
        more: dict[str, Any] = {"use_cache": False}
        if past is not None:
            shared = copy.deepcopy(past)
            shared.batch_repeat_interleave(len(ids))
            more = {"use_cache": True, "past_key_values": shared}
            mask = torch.cat([mask.new_ones(len(ids), begun), mask], dim=1)
            if self._takes_positions:
                positions = torch.arange(begun, begun + ids.shape[1], device=ids.device)
                more["position_ids"] = positions.expand(len(ids), -1)
        lines = torch.arange(len(ids), device=ids.device)
        if self._has_plain_head:
            hidden = self._body(input_ids=ids, attention_mask=mask, **more).last_hidden_state
            found: torch.Tensor = self._model.get_output_embeddings()(hidden[lines, places])
            return found
        logits: torch.Tensor = self._model(input_ids=ids, attention_mask=mask, **more).logits
        return logits[lines, places]

    @cached_property
    def _body(self) -> Any:
        return getattr(self._model, self._model.base_model_prefix)

    @cached_property
    def _takes_positions(self) -> bool:
        return "position_ids" in inspect.signature(self._body.forward).parameters

    @cached_property
    def _has_plain_head(self) -> bool:
        """Whether logits are the output layer's values: some families scale or cap them."""
        ids = torch.tensor([self.tokenizer.encode("a")], device=self._model.device)
        ours = self._model.get_output_embeddings()(self._body(input_ids=ids).last_hidden_state)
        theirs = self._model(input_ids=ids).logits
        return torch.allclose(
            ours.float(), theirs.float(), rtol=_HEAD_TOLERANCE, atol=_HEAD_TOLERANCE
        )

    def _open(self, rows: list[list[int]]) -> Decoding:
        return CausalDecoding(self._model, rows, self.tokenizer.pad_id)

    @torch.inference_mode()
    def _score(self, rows: Sequence[Sequence[int]], firsts: Sequence[int]) -> list[Logprobs]:
        """Return ln P of each row's tokens from its `first` on, each given all before it."""
        found = [np.empty(0, dtype=np.float64) for _ in rows]
        scored = [index for index, row in enumerate(rows) if len(row) > firsts[index]]
        lengths = [len(rows[index]) for index in scored]
        for batch in batches_by_length(lengths, self._scoring_budget()):
            chosen = [scored[place] for place in batch]
            # Padding on the right: what comes later is never attended to.
            ids, mask = pad(
                [rows[index] for index in chosen], self.tokenizer.pad_id, self._model.device
            )
            logits = self._model(input_ids=ids, attention_mask=mask, use_cache=False).logits
            for line, index in enumerate(chosen):
                first, last = firsts[index], len(rows[index])
                picked = pick_logprobs(logits[line, first - 1 : last - 1], ids[line, first:last])
                found[index] = picked.numpy()
        return found
