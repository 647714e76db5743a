"""Causal language models: GPT-2, OPT, Llama and whatever else reads from left to right."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from probing.lm.batching import batches_by_length
from probing.lm.best_spans import WIDTH, FoundSpan, best_spans_of_length
from probing.lm.decoding import CausalDecoding, Decoding, WholeDecoding, pad
from probing.lm.end_words import Opening, Row, shared_beginning
from probing.lm.examination import agrees, body_of, read_at, trial_ids
from probing.lm.numerics import pick_logprobs
from probing.lm.text_model import TextModel
from probing.lm.text_protocols import SpanContext, SpanScore

#: Tokens that all rows have to begin with before reading them apart is worth a pass.
_LEAST_SHARED = 2
#: Tokens of a trial of caches beyond a window of attention, and the longest window that is tried
#: before any row reaches past it.
_TRIAL_TOKENS, _LONGEST_WINDOW = 8, 512
#: Settings that say how far attention reaches.
_WINDOWS = (
    *("sliding_window", "sliding_window_size", "window_size", "keep_window_size"),
    *("attention_chunk_size", "local_attention", "index_topk"),
)

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
            sizes = [len(rows[index]) - firsts[index] for index in chosen]
            spans = best_spans_of_length(
                self._open([rows[index][: firsts[index]] for index in chosen], max(sizes)),
                n_best,
                lengths=sizes,
                banned=self.tokenizer.special_ids,
            )
            best.update(zip(chosen, spans, strict=True))
        return self._span_scores(scores, best)

    @torch.inference_mode()
    def _read_ends(
        self, rows: Sequence[Row], opening: Opening
    ) -> Iterator[tuple[Sequence[int], torch.Tensor]]:
        opened = [(*row, *opening.known) for row in rows]
        yield from self._read_after(opened, self._shared(opened))

    def _shared(self, rows: Sequence[Row]) -> int:
        """Return how many tokens that all rows begin with are worth reading apart, once."""
        shared = shared_beginning(rows) if len(rows) > 1 else 0
        if shared < _LEAST_SHARED or self._switches(rows) or not self._shares(_longest(rows)):
            return 0
        return shared

    @torch.inference_mode()
    def end_logits(self, rows: Sequence[Row]) -> torch.Tensor:
        """Return the logits after every row, (n_rows, vocabulary), as runs read them."""
        return _in_order(self._read_ends(rows, Opening((), 0)))

    @property
    def shares_beginnings(self) -> bool:
        """Whether rows are read after a cached beginning, which some caches do not allow."""
        return self._shares(0)

    def _read_answers(
        self, rows: Sequence[Row], beginnings: Sequence[Row]
    ) -> Iterator[tuple[Row, Sequence[int], torch.Tensor]]:
        """Yield as the base does, but read each row once, with all beginnings behind it.

        They are a tree: each of its tokens sees the row, what it goes on from, and nothing else.
        """
        written = max(map(len, beginnings))
        alone = not written or self._switches(rows, written)
        if alone or not self._reads_trees(_longest(rows) + written):
            yield from super()._read_answers(rows, beginnings)
        else:
            yield from self._read_trees(rows, sorted(beginnings, key=len), self._shared(rows))

    @torch.inference_mode()
    def _read_trees(
        self, rows: Sequence[Row], tree: Sequence[Row], shared: int
    ) -> Iterator[tuple[Row, Sequence[int], torch.Tensor]]:
        """Yield what of a tree, whose root comes first, is read after some rows, and the logits."""
        past = self._read_beginning(rows[0][:shared]) if shared else None
        nodes = [known for known in tree if known]
        sees = torch.tensor([[one == known[: len(one)] for one in nodes] for known in nodes])
        lengths = [len(row) - shared + len(nodes) for row in rows]
        for places in self._like_length(lengths, most=self._most_rows // len(tree)):
            ids, real = pad(
                [rows[place][shared:] for place in places], self.tokenizer.pad_id, "cpu"
            )
            n, width = ids.shape
            ends = real.sum(1, keepdim=True)
            depths = torch.tensor([len(known) for known in nodes], dtype=torch.long)
            last = torch.tensor([known[-1] for known in nodes], dtype=torch.long)
            whole = width + len(nodes)
            seen = torch.zeros((n, whole, shared + whole), dtype=torch.bool)
            seen[:, :, :shared] = True
            seen[:, :width, shared : shared + width] = torch.ones(width, width).tril().bool()
            seen[:, width:, shared : shared + width] = real[:, None].bool()
            seen[:, width:, shared + width :] = sees
            inner = torch.arange(width).expand(n, -1)
            given: dict[str, Any] = {
                "input_ids": torch.cat([ids, last.expand(n, -1)], dim=1),
                "position_ids": shared + torch.cat([inner, ends + depths - 1], dim=1),
                "attention_mask": self._additive(seen),
            }
            read = torch.cat([ends - 1, torch.arange(width, whole).expand(n, -1)], dim=1)
            logits = self._logits_at(given, read, past)
            for place, known in enumerate(tree):
                yield known, places, logits[:, place]

    def _additive(self, seen: torch.Tensor) -> torch.Tensor:
        """Return a mask for each head that adds to scores: 0 where seen, else the least number."""
        mask = torch.zeros(seen.shape, dtype=self._model.dtype)
        return mask.masked_fill(~seen, torch.finfo(mask.dtype).min)[:, None]

    def _read_after(
        self, rows: Sequence[Row], shared: int
    ) -> Iterator[tuple[Sequence[int], torch.Tensor]]:
        """Yield as `_read_ends` does; the first `shared` tokens are those of all rows."""
        past = self._read_beginning(rows[0][:shared]) if shared else None
        for places in self._like_length([len(row) - shared for row in rows]):
            # Padding on the right: what comes later is never attended to.
            ids, mask = pad(
                [rows[place][shared:] for place in places],
                self.tokenizer.pad_id,
                self._model.device,
            )
            given: dict[str, Any] = {"input_ids": ids, "attention_mask": mask}
            if past is not None:
                begun = mask.new_ones(len(ids), shared)
                given["attention_mask"] = torch.cat([begun, mask], dim=1)
                positions = torch.arange(shared, shared + ids.shape[1], device=ids.device)
                given["position_ids"] = positions.expand(len(ids), -1)
            yield places, self._logits_at(given, mask.sum(1) - 1, past)

    def _read_beginning(self, ids: Row) -> Any:
        """Return the key-value cache of what rows begin with."""
        row = torch.tensor([ids], device=self._model.device)
        return body_of(self._model)(input_ids=row, use_cache=True).past_key_values

    def _logits_at(self, given: dict[str, Any], places: torch.Tensor, past: Any) -> torch.Tensor:
        """Return the logits at one place of each row, or several, after a cached beginning."""
        given = {name: value.to(self._model.device) for name, value in given.items()}
        more: dict[str, Any] = {"use_cache": False}
        if past is not None:
            shared = copy.deepcopy(past)
            shared.batch_repeat_interleave(len(places))
            more = {"use_cache": True, "past_key_values": shared}
        if "position_ids" not in inspect.signature(self._model.forward).parameters:
            given.pop("position_ids", None)
        _, logits = read_at(self._model, places.to(self._model.device), **given, **more)
        return logits

    def _switches(self, rows: Sequence[Sequence[int]], more: int = 0) -> bool:
        """Whether some of the rows, with so many tokens more, are read with other positions."""
        switch = self.facts.switch_length
        return switch is not None and _longest(rows) + more > switch

    def _shares(self, reach: int) -> bool:
        """Whether rows of so many tokens have their logits after a cached beginning, too."""
        begun = self._trial_length(reach)
        return self._tried(
            ("shares", begun),
            lambda: all(self._keeps_beginning(begun, ends) for ends in ((3, 5), (1, 1))),
        )

    def _keeps_beginning(self, begun: int, ends: tuple[int, int]) -> bool:
        ids = trial_ids(self._model, begun + sum(ends))
        rows = [
            (*ids[:begun], *ids[begun : begun + ends[0]]),
            (*ids[:begun], *ids[begun + ends[0] :]),
        ]
        read = [self._read_after([row], 0) for row in rows]
        whole = torch.cat([logits for passes in read for _, logits in passes])

        return agrees(lambda: _in_order(self._read_after(rows, begun)), whole)

    def _trial_length(self, reach: int) -> int:
        """Return the tokens of a trial that outgrows every window which `reach` tokens outgrow."""
        config = self._model.config.get_text_config()
        windows = [getattr(config, name, None) for name in _WINDOWS]
        outgrown = [
            size
            for size in windows
            if isinstance(size, int) and size <= max(reach, _LONGEST_WINDOW)
        ]
        length = max(outgrown, default=0) + _TRIAL_TOKENS
        # Rows that are read with other positions never go on from a cache.
        limits = [most for most in (self.max_length, self.facts.switch_length) if most]
        return min(length, *(most - _TRIAL_TOKENS for most in limits)) if limits else length

    def _reads_trees(self, reach: int) -> bool:
        """Whether rows of so many tokens have their logits with a tree of tokens behind them."""
        length = self._trial_length(reach)
        return self._tried(("trees", length), lambda: self._keeps_trees(length))

    def _keeps_trees(self, length: int) -> bool:
        ids = trial_ids(self._model, length + 3)
        one, two, three = ids[length:]
        tree: list[Row] = [(), (one,), (two,), (one, two), (one, three), (one, two, three)]
        # One row is as long as asked for, and all begin alike.
        rows: list[Row] = [(*ids[:length],), (*ids[:3],), (*ids[:2], *ids[4:7])]
        longer = [(*row, *known) for known in tree for row in rows]
        whole = _in_order(self._read_after(longer, 0))

        def read(shared: int) -> torch.Tensor:
            at: dict[Row, list[tuple[Sequence[int], torch.Tensor]]] = {known: [] for known in tree}
            for known, places, logits in self._read_trees(rows, tree, shared):
                at[known].append((places, logits))
            return torch.cat([_in_order(found) for found in at.values()])

        shares = (0, 2) if self._shares(length) else (0,)
        return all(agrees(partial(read, shared), whole) for shared in shares)

    def _decodes(self, rows: Sequence[Sequence[int]], written: int) -> bool:
        if self._switches(rows, written):
            return False
        length = self._trial_length(_longest(rows) + written)
        return self._tried(("decodes", length), lambda: self._grows(length))

    def _grows(self, length: int) -> bool:
        # One row within a window, one that grows out of it, and one that is out of it.
        ids = trial_ids(self._model, length + 2)
        prompts = [ids[:3], ids[1 : max(4, length - _TRIAL_TOKENS)], ids[:length]]
        more = torch.tensor(ids[: len(prompts) + 1])

        def grow(decoding: Decoding) -> torch.Tensor:
            decoding.advance(more[1:])
            forked = decoding.fork(torch.tensor([2, 1, 1, 0]))
            forked.advance(more)
            return forked.logits

        return agrees(
            lambda: grow(CausalDecoding(self._model, prompts, self.tokenizer.pad_id)),
            grow(self._read_whole(prompts)),
        )

    def _open(self, rows: list[list[int]], written: int) -> Decoding:
        if not self._decodes(rows, written):
            return self._read_whole(rows)
        return CausalDecoding(self._model, rows, self.tokenizer.pad_id)

    def _read_whole(self, rows: list[list[int]]) -> Decoding:
        return WholeDecoding(
            self._model, rows, self.tokenizer.pad_id, switch=self.facts.switch_length
        )

    @torch.inference_mode()
    def _score(self, rows: Sequence[Sequence[int]], firsts: Sequence[int]) -> list[Logprobs]:
        """Return ln P of each row's tokens from its `first` on, each given all before it."""
        found = [np.empty(0, dtype=np.float64) for _ in rows]
        scored = [index for index, row in enumerate(rows) if len(row) > firsts[index]]
        lengths = [len(rows[index]) for index in scored]
        for batch in batches_by_length(
            lengths, self._scoring_budget(), switch=self.facts.switch_length
        ):
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


def _longest(rows: Sequence[Sequence[int]]) -> int:
    return max(map(len, rows))


def _in_order(found: Iterable[tuple[Sequence[int], torch.Tensor]]) -> torch.Tensor:
    """Return logits in the order of the places that they were read for."""
    lines = {
        place: line for places, logits in found for place, line in zip(places, logits, strict=True)
    }
    return torch.stack([lines[place] for place in range(len(lines))])
