"""Decoding token by token with a key-value cache, many texts at once."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import torch

from probing.lm.batching import batches_by_length
from probing.lm.examination import read_at


class Decoding(Protocol):
    """Texts that are being written, one row each; `logits` are those of the next token."""

    logits: torch.Tensor

    def advance(self, tokens: torch.Tensor) -> None:
        """Read one more token per row, (n_rows,)."""

    def select(self, rows: torch.Tensor) -> None:
        """Continue with these rows, which may repeat or leave out some."""

    def fork(self, rows: torch.Tensor) -> Decoding:
        """Return a decoding of these rows that leaves this one as it is."""


class CausalDecoding:
    """Rows of a causal model, padded on the left so that all end together.

    Padding is neither attended to nor counted: positions start at each row's first token.
    """

    logits: torch.Tensor
    _past: Any

    def __init__(self, model: Any, prompts: Sequence[Sequence[int]], pad_id: int) -> None:
        self._model = model
        takes = inspect.signature(model.forward).parameters
        self._positions = "position_ids" in takes
        # Of a prompt's logits only the last are needed; those of all would fill the memory.
        self._last = {"logits_to_keep": 1} if "logits_to_keep" in takes else {}
        ids, self._mask = pad(prompts, pad_id, model.device, left=True)
        self._read(ids, (self._mask.cumsum(1) - 1).clamp(min=0), None)

    def advance(self, tokens: torch.Tensor) -> None:
        tokens = tokens.to(self._mask.device)
        places = self._mask.sum(1, keepdim=True)
        self._mask = torch.cat([self._mask, torch.ones_like(places)], dim=1)
        self._read(tokens[:, None], places, self._past)

    def select(self, rows: torch.Tensor) -> None:
        rows = rows.to(self._mask.device)
        self._mask, self.logits = self._mask[rows], self.logits[rows]
        self._past.reorder_cache(rows)

    def fork(self, rows: torch.Tensor) -> CausalDecoding:
        other = copy.copy(self)
        other._past = copy.deepcopy(self._past)
        other.select(rows)
        return other

    @torch.inference_mode()
    def _read(self, ids: torch.Tensor, places: torch.Tensor, past: Any) -> None:
        more = {"position_ids": places} if self._positions else {}
        output = self._model(
            input_ids=ids,
            attention_mask=self._mask,
            past_key_values=past,
            use_cache=True,
            **self._last,
            **more,
        )
        self.logits, self._past = output.logits[:, -1], output.past_key_values


class WholeDecoding:
    """Rows of a causal model that are read anew with every token: no cache is kept.

    For models whose caches cannot be copied, and for rows that grow beyond a length at which their
    positions change.
    """

    logits: torch.Tensor

    def __init__(
        self, model: Any, prompts: Sequence[Sequence[int]], pad_id: int, *, switch: int | None
    ) -> None:
        self._model, self._pad_id, self._switch = model, pad_id, switch
        self._rows = [list(prompt) for prompt in prompts]
        self._read()

    def advance(self, tokens: torch.Tensor) -> None:
        self._rows = [[*row, token] for row, token in zip(self._rows, tokens.tolist(), strict=True)]
        self._read()

    def select(self, rows: torch.Tensor) -> None:
        self._rows = [self._rows[row] for row in rows.tolist()]
        self.logits = self.logits[rows.to(self.logits.device)]

    def fork(self, rows: torch.Tensor) -> WholeDecoding:
        other = copy.copy(self)
        other.select(rows)
        return other

    @torch.inference_mode()
    def _read(self) -> None:
        lengths = [len(row) for row in self._rows]
        found: dict[int, torch.Tensor] = {}
        for batch in batches_by_length(lengths, sum(lengths) * 2, switch=self._switch):
            rows = [self._rows[index] for index in batch]
            ids, mask = pad(rows, self._pad_id, self._model.device)
            ends = mask.sum(1) - 1
            _, logits = read_at(
                self._model, ends, input_ids=ids, attention_mask=mask, use_cache=False
            )
            found.update(zip(batch, logits, strict=True))
        self.logits = torch.stack([found[index] for index in range(len(lengths))])


class Seq2SeqDecoding:
    """Rows of a decoder after beginnings of equal length, each with its own encoded source.

    Sources are encoded once. Without a cache, rows are read from their beginnings with every token.
    """

    logits: torch.Tensor

    def __init__(
        self,
        model: Any,
        sources: Sequence[Sequence[int]],
        beginnings: Sequence[Sequence[int]],
        pad_id: int,
        *,
        cached: bool,
    ) -> None:
        self._model, self._cached = model, cached
        self._past: Any = None
        ids, self._mask = pad(sources, pad_id, model.device)
        with torch.inference_mode():
            encoder = model.get_encoder()
            self._encoded = encoder(input_ids=ids, attention_mask=self._mask).last_hidden_state
        self._unread = torch.tensor(beginnings, device=model.device)
        self._read()

    def advance(self, tokens: torch.Tensor) -> None:
        self._unread = torch.cat([self._unread, tokens.to(self._mask.device)[:, None]], dim=1)
        self._read()

    def select(self, rows: torch.Tensor) -> None:
        rows = rows.to(self._mask.device)
        self._mask, self.logits = self._mask[rows], self.logits[rows]
        self._encoded, self._unread = self._encoded[rows], self._unread[rows]
        if self._cached:
            self._past.reorder_cache(rows)

    def fork(self, rows: torch.Tensor) -> Seq2SeqDecoding:
        other = copy.copy(self)
        other._past = copy.deepcopy(self._past)
        other.select(rows)
        return other

    @torch.inference_mode()
    def _read(self) -> None:
        output = self._model(
            encoder_outputs=encoder_output(self._encoded),
            attention_mask=self._mask,
            decoder_input_ids=self._unread,
            past_key_values=self._past,
            use_cache=self._cached,
        )
        self.logits = output.logits[:, -1]
        if self._cached:
            self._past, self._unread = output.past_key_values, self._unread[:, :0]


def go_on(
    decoding: Decoding, known: Sequence[int], beginnings: Sequence[tuple[int, ...]]
) -> Iterator[tuple[tuple[int, ...], torch.Tensor]]:
    """Yield each beginning that starts with `known`, which was read, and the logits after it."""
    yield tuple(known), decoding.logits
    n = len(decoding.logits)
    for longer in beginnings:
        if longer and longer[:-1] == known:
            forked = decoding.fork(torch.arange(n))
            forked.advance(torch.full((n,), longer[-1]))
            yield from go_on(forked, longer, beginnings)


def encoder_output(states: torch.Tensor) -> Any:
    """Return encoded sources in the form that a decoder takes, mixtures of experts included."""
    from transformers.modeling_outputs import MoEModelOutput

    return MoEModelOutput(last_hidden_state=states)


def pad(
    rows: Sequence[Sequence[int]], pad_id: int, device: Any, *, left: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (n_rows, longest) ids and which of them are no padding, on `device`."""
    width = max(map(len, rows))
    ids = torch.full((len(rows), width), pad_id)
    mask = torch.zeros((len(rows), width), dtype=torch.long)
    for index, row in enumerate(rows):
        place = slice(width - len(row), width) if left else slice(0, len(row))
        ids[index, place] = torch.tensor(list(row), dtype=torch.long)
        mask[index, place] = 1
    return ids.to(device), mask.to(device)
