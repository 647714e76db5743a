"""Encoder-decoder models: T5 and Flan-T5, BART, and others that can only generate text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from probing.lm.batching import batches_by_length
from probing.lm.best_spans import WIDTH, FoundSpan, best_closed_spans, best_spans_of_length
from probing.lm.decoding import Decoding, Seq2SeqDecoding, pad
from probing.lm.end_words import Opening, Row
from probing.lm.errors import MaskCountError, TokenizerError
from probing.lm.examination import agrees, trial_ids
from probing.lm.numerics import pick_logprobs
from probing.lm.text_model import TextModel
from probing.lm.text_protocols import SpanContext, SpanScore
from probing.lm.text_tokenizer import shorten

#: Tokens of the longer source of a trial of caches.
_TRIAL_TOKENS = 8

Logprobs = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Forced:
    """A source, what the decoder is made to write, and the places of that which are scored."""

    source: list[int]
    target: list[int]
    places: list[int]

    @property
    def length(self) -> int:
        return len(self.source) + len(self.target)


class Seq2SeqModel(TextModel):
    """An encoder and decoder that writes, and, where it was trained to, fills spans.

    Made by :func:`probing.lm.loaders.load_text_model`.
    """

    def token_logprobs(self, texts: Sequence[str]) -> list[Logprobs]:
        """Return ln P of every token of every text given all others.

        Special tokens that the tokenizer puts round a text are read, but are none of its tokens.

        Each token in turn is hidden behind ``<extra_id_0>``; its ln P is read at the decoder's
        second position, after ``[pad, <extra_id_0>]`` (methods.md §13, T5).
        """
        sentinel = self._sentinels()[0]
        forced: list[_Forced] = []
        owner: list[int] = []
        for number, text in enumerate(texts):
            ids = self.tokenizer.encode(text)
            self.tokenizer.require_fit(len(ids), text)
            if sentinel in ids:
                raise MaskCountError(
                    f"The text '{shorten(text)}' holds '<extra_id_0>', which hides tokens from "
                    "this model. Remove it."
                )
            for place in self._own_places(text, ids):
                hidden = [*ids[:place], sentinel, *ids[place + 1 :]]
                forced.append(_Forced(hidden, [sentinel, ids[place]], [1]))
                owner.append(number)
        found: list[list[Logprobs]] = [[] for _ in texts]
        for number, value in zip(owner, self._score(forced), strict=True):
            found[number].append(value)
        return [np.concatenate(values) if values else np.empty(0) for values in found]

    def _own_places(self, text: str, ids: Sequence[int]) -> range:
        """Return where among ``ids`` the tokens of the text stand, without those round it."""
        plain = self.tokenizer.encode_plain(text)
        for start in range(len(ids) - len(plain) + 1):
            if list(ids[start : start + len(plain)]) == plain:
                return range(start, start + len(plain))
        return range(len(ids) - (ids[-1] in self._ending.end_ids))

    def score_spans(self, contexts: Sequence[SpanContext], *, n_best: int = 5) -> list[SpanScore]:
        """Return the score of every reference span, and the model's own best spans.

        T5 (`sentinel`): the decoder continues after ``[pad, <extra_id_0>]``. Best spans are those
        that the model closes itself, with its next sentinel or the end token; closing counts.
        BART (`mask`): the decoder restores the text up to the span and continues from there. It
        does not say where the span ends: best spans have as many tokens as the reference.
        """
        sentinel = self.span_protocol == "sentinel"
        forced = [self._hide(context, sentinel=sentinel) for context in contexts]
        scores = self._score(forced)
        best: dict[int, list[FoundSpan] | None] = {}
        # The decoder's beginnings have to be of one length to be written on together.
        alike: dict[int, list[int]] = {}
        for index, one in enumerate(forced if n_best else ()):
            if one.places:
                alike.setdefault(one.places[0], []).append(index)
        for members in alike.values():
            lengths = [forced[index].length * WIDTH for index in members]
            for batch in batches_by_length(lengths, self.batch_tokens):
                chosen = [members[place] for place in batch]
                spans = self._search([forced[index] for index in chosen], n_best, sentinel)
                best.update(zip(chosen, spans, strict=True))
        return self._span_scores(scores, best)

    @property
    def _start(self) -> int:
        stated = (
            self._model.generation_config.decoder_start_token_id,
            self.facts.decoder_start,
            self._model.config.pad_token_id,
        )
        return int(next(token for token in stated if token is not None))

    @property
    def _forced(self) -> list[int]:
        """What the decoder has to begin an answer with."""
        first = self._ending.forced_first
        return [] if first is None else [first]

    @torch.inference_mode()
    def _read_ends(
        self, rows: Sequence[Row], opening: Opening
    ) -> Iterator[tuple[Sequence[int], torch.Tensor]]:
        before = self._forced if opening.answers else [self._sentinels()[0]]
        begun = [self._start, *before, *opening.known]
        for places in self._like_length([len(row) for row in rows]):
            ids, mask = pad(
                [rows[place] for place in places], self.tokenizer.pad_id, self._model.device
            )
            given = torch.tensor(begun, device=ids.device).expand(len(places), -1)
            logits = self._model(
                input_ids=ids, attention_mask=mask, decoder_input_ids=given, use_cache=False
            ).logits
            yield places, logits[:, -1]

    def _sentinels(self) -> tuple[int, int]:
        if self.tokenizer.sentinels is None:
            raise TokenizerError(
                f"The tokenizer of '{self.facts.source}' has no <extra_id_0>, so that no token can "
                "be hidden. Use a model of the T5 family."
            )
        return self.tokenizer.sentinels

    def _open(self, rows: list[list[int]], written: int) -> Decoding:
        return self._open_after(rows, [[] for _ in rows])

    def _open_answers(self, rows: list[list[int]], written: int) -> Decoding:
        return self._open_after(rows, [self._forced for _ in rows])

    def _open_after(self, sources: list[list[int]], begun: list[list[int]]) -> Decoding:
        beginnings = [[self._start, *ids] for ids in begun]
        return self._read_begun(sources, beginnings, cached=self._decodes(sources, 0))

    def _read_begun(
        self, sources: list[list[int]], beginnings: list[list[int]], *, cached: bool
    ) -> Decoding:
        return Seq2SeqDecoding(
            self._model, sources, beginnings, self.tokenizer.pad_id, cached=cached
        )

    def _decodes(self, rows: Sequence[Sequence[int]], written: int) -> bool:
        return self._tried(("decodes", 0), self._grows)

    def _grows(self) -> bool:
        ids = trial_ids(self._model, _TRIAL_TOKENS)
        sources, beginnings = [ids[:3], ids], [[self._start, one] for one in ids[:2]]

        def grow(*, cached: bool) -> torch.Tensor:
            decoding = self._read_begun(sources, beginnings, cached=cached)
            decoding.advance(torch.tensor(ids[2:4]))
            forked = decoding.fork(torch.tensor([1, 1, 0]))
            forked.advance(torch.tensor(ids[4:7]))
            return forked.logits

        return agrees(lambda: grow(cached=True), grow(cached=False))

    def _hide(self, context: SpanContext, *, sentinel: bool) -> _Forced:
        text = context.before + context.span + context.after
        if sentinel:
            source, span = self.tokenizer.encode_sentinel(context)
            target = [self._sentinels()[0], *span]
            places = list(range(1, len(target)))
        else:
            source, target, places = self.tokenizer.encode_masked(context)
        self.tokenizer.require_fit(max(len(source), len(target)), text)
        return _Forced(source, target, places)

    def _search(
        self, forced: list[_Forced], n_best: int, sentinel: bool
    ) -> list[list[FoundSpan] | None]:
        begun = [one.target[: one.places[0]] for one in forced]
        decoding = self._open_after([one.source for one in forced], begun)
        special = self.tokenizer.special_ids
        if not sentinel:
            lengths = [len(one.places) for one in forced]
            return best_spans_of_length(decoding, n_best, lengths=lengths, banned=special)
        closing = {self._sentinels()[1], *self._ending.end_ids}
        return best_closed_spans(decoding, n_best, closing=closing, banned=special)

    @torch.inference_mode()
    def _score(self, forced: Sequence[_Forced]) -> list[Logprobs]:
        """Return ln P of the scored tokens of every target, teacher forcing."""
        found = [np.empty(0, dtype=np.float64) for _ in forced]
        lengths = [one.length for one in forced]
        for batch in batches_by_length(lengths, self._scoring_budget()):
            chosen = [forced[index] for index in batch]
            ids, mask = pad(
                [one.source for one in chosen], self.tokenizer.pad_id, self._model.device
            )
            given = [[self._start, *one.target[:-1]] for one in chosen]
            # Padding on the right of a decoder: what comes later is never attended to.
            begun, _ = pad(given, self.tokenizer.pad_id, self._model.device)
            logits = self._model(
                input_ids=ids, attention_mask=mask, decoder_input_ids=begun, use_cache=False
            ).logits
            for line, (index, one) in enumerate(zip(batch, chosen, strict=True)):
                places = torch.tensor(one.places, dtype=torch.long, device=logits.device)
                targets = torch.tensor(
                    [one.target[place] for place in one.places], device=logits.device
                )
                found[index] = pick_logprobs(logits[line, places], targets.long()).numpy()
        return found
