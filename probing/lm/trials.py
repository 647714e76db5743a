"""Trials of a model: do its numbers depend on anything that they must not depend on?

A model reads a few random tokens in two ways that must agree: alone and in a batch, whole and
after a shared beginning, with all rows of its output layer and with one. Differences are the
largest of ln P, in nats, among the likeliest tokens of each place.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from probing.lm.certificate import Check, Outcome
from probing.lm.decoding import pad
from probing.lm.examination import PASS_ERRORS, describe_fault, read_at, trial_ids
from probing.lm.protocols import SlotState

if TYPE_CHECKING:
    from probing.lm.causal import CausalModel
    from probing.lm.masked import MaskedLanguageModel

#: Nats by which two readings may differ by rounding, and from which on they contradict each other.
TOLERANCE, CONTRADICTION = 1e-4, 1e-2
#: The latter in half precision, where rounding alone is larger.
HALF_CONTRADICTION = 0.5
#: Tokens that are compared at each place.
_LIKELIEST = 100
#: Lengths of the rows that share a batch.
_LENGTHS = (5, 12, 9)
#: Rows and tokens of a pass that is timed.
_TIMED_ROWS, _TIMED_TOKENS = 8, 32
#: Passes that are timed at least, and seconds of them at least and at most.
_TIMED_PASSES, _LEAST_SECONDS, _MOST_SECONDS = 5, 0.1, 2.0
#: CPU seconds of a pass up to which one thread reads alone: waking others costs more than they
#: save, and hundreds of times more if other programs use the processors.
_SHORT_PASS = 0.01

_PREFIX = "prefix"


class Trials:
    """The trials of one model.

    Parameters
    ----------
    model : of transformers, in evaluation mode.
    kind : ``masked``, ``causal``, ``seq2seq``, ``classifier``, or ``encoder``, whose hidden states
        are compared instead of ln P.
    pad_id : the token that pads.
    max_length : the most tokens that the model reads, None if it has no limit.
    causal, masked : the same model as runs read it, if it is of this kind.
    """

    def __init__(
        self,
        model: Any,
        kind: str,
        *,
        pad_id: int,
        max_length: int | None = None,
        causal: CausalModel | None = None,
        masked: MaskedLanguageModel | None = None,
    ) -> None:
        self._model, self._kind, self._pad = model, kind, pad_id
        self._causal, self._masked = causal, masked
        self._half = torch.finfo(model.dtype).bits < 32
        longest = max(_LENGTHS)
        ids = trial_ids(model, longest + len(_LENGTHS))
        # Some classifiers read what stands at the end token.
        end = model.config.eos_token_id if kind == "classifier" else None
        ends = (end,) if isinstance(end, int) else ()
        self._longest = max_length or _TIMED_TOKENS
        most = self._longest - len(ends)
        self._rows = [
            (*ids[place : place + min(n, most)], *ends) for place, n in enumerate(_LENGTHS)
        ]

    def run(self) -> Iterator[Check]:
        """Yield every check that this kind of model can be put to."""
        with torch.inference_mode():
            if self._kind != "classifier":
                yield self._checked("leak", self._leak)
            yield self._checked("batches", self._batches)
            yield self._checked("repeat", self._repeat)
            if self._causal is not None:
                yield self._checked(_PREFIX, self._prefix)
            if self._masked is not None or self._kind in ("causal", "seq2seq"):
                yield self._checked("rows", self._output_rows)

    def measure(self) -> Iterator[Check]:
        """Yield the speed of reading and the memory of the weights, which depend on the machine."""
        with torch.inference_mode():
            yield self._checked("speed", self._speed)
        parts = [*self._model.parameters(), *self._model.buffers()]
        size = sum(part.numel() * part.element_size() for part in parts)
        yield Check(name="memory", outcome="noted", result=f"{size / 1e6:,.1f} MB", value=size)

    def _checked(self, name: str, trial: Callable[[], Check]) -> Check:
        try:
            return trial()
        except PASS_ERRORS as error:
            return Check(
                name=name, outcome="failed", result=f"It can't be read: {describe_fault(error)}."
            )

    def _leak(self) -> Check:
        """Change the last token; a causal model's earlier places must not notice, a masked must."""
        row = self._rows[1]
        other = (*row[:-1], self._rows[2][-1])
        one, two = (self._read([ids], decode=True)[0][:-1] for ids in (row, other))
        change = self._difference(one, two)
        if self._kind in ("masked", "encoder"):
            reads = change > TOLERANCE
            what = "ln P" if self._kind == "masked" else "hidden states"
            return Check(
                name="leak",
                outcome="passed" if reads else "look",
                result=f"reads in both directions; a later token changes {what} by up to "
                f"{change:.2g}"
                if reads
                else "a later token changes nothing, as if it read from left to right",
                value=change,
            )
        return self._compared("leak", change, "largest change of ln P")

    def _batches(self) -> Check:
        together = self._read(self._rows)
        alone = [self._read([row])[0] for row in self._rows]
        return self._compared("batches", max(map(self._difference, alone, together)))

    def _repeat(self) -> Check:
        one, two = (self._read(self._rows) for _ in range(2))
        same = all(torch.equal(first, second) for first, second in zip(one, two, strict=True))
        change = max(map(self._difference, one, two))
        if same:
            return Check(name="repeat", outcome="passed", result="equal to the last bit", value=0.0)
        return self._compared("repeat", change)

    def _prefix(self) -> Check:
        if self._causal is None:
            raise ValueError("only causal models share beginnings")
        if not self._causal.shares_beginnings:
            return Check(
                name=_PREFIX,
                outcome="noted",
                result="not shared: its cache can't be copied exactly, so every text is read whole",
            )
        begun = self._rows[1][:6]
        rows = [(*begun, *ids) for ids in self._rows]
        shared = torch.log_softmax(self._causal.end_logits(rows).double(), dim=-1)
        whole = torch.stack([self._read([row])[0][-1] for row in rows])
        return self._compared(_PREFIX, _difference(whole, shared))

    def _output_rows(self) -> Check:
        if self._masked is not None:
            places = [len(row) // 2 for row in self._rows]
            states = [SlotState(*state) for state in zip(self._rows, places, strict=True)]
            _, read = self._masked.read(states)
            full = [rows[place] for rows, place in zip(self._read(self._rows), places, strict=True)]
            return self._compared("rows", _difference(torch.stack(full), _logprobs(read)))
        ids, mask = pad(self._rows, self._pad, self._model.device)
        ends = mask.sum(1) - 1
        given: dict[str, Any] = {"input_ids": ids, "attention_mask": mask}
        if self._kind == "seq2seq":
            given["decoder_input_ids"] = ids
        whole = self._model(**given, use_cache=False).logits
        _, alone = read_at(self._model, ends, **given, use_cache=False)
        last = whole[torch.arange(len(ends), device=ends.device), ends]
        return self._compared("rows", _difference(_logprobs(last), _logprobs(alone)))

    def _speed(self) -> Check:
        n_tokens = min(_TIMED_TOKENS, self._longest)
        ids = trial_ids(self._model, _TIMED_ROWS + n_tokens)
        rows = [tuple(ids[place : place + n_tokens]) for place in range(_TIMED_ROWS)]
        threads = torch.get_num_threads()
        try:
            torch.set_num_threads(1)
            self._time(rows)  # the first pass takes longer: memory is laid out
            begun = time.thread_time()
            self._time(rows)
            if time.thread_time() - begun > _SHORT_PASS:
                torch.set_num_threads(threads)
                self._time(rows)
            used = torch.get_num_threads()
            seconds: list[float] = []
            while not seconds or (
                sum(seconds) < _MOST_SECONDS
                and (len(seconds) < _TIMED_PASSES or sum(seconds) < _LEAST_SECONDS)
            ):
                seconds.append(self._time(rows))
        finally:
            torch.set_num_threads(threads)
        paces = len(rows) * n_tokens / np.array(seconds)
        low, median, high = (float(pace) for pace in np.quantile(paces, (0.25, 0.5, 0.75)))
        return Check(
            name="speed",
            outcome="noted",
            result=f"{median:,.0f} tokens a second, {len(rows)} texts at once, on {used} "
            f"{'thread' if used == 1 else 'threads'}; median of {len(paces)} passes, half of them "
            f"between {low:,.0f} and {high:,.0f}",
            value=median,
        )

    def _time(self, rows: Sequence[tuple[int, ...]]) -> float:
        """Return the seconds of a pass."""
        begun = time.perf_counter()
        self._read(rows)
        return time.perf_counter() - begun

    def _read(self, rows: Sequence[tuple[int, ...]], *, decode: bool = False) -> list[torch.Tensor]:
        """Return ln P at every place of every row, (n_places, n_classes), read in one pass.

        Of an encoder and decoder the rows are the encoder's, or, if `decode`, the decoder's.
        """
        # Padding on the right, as runs pad.
        ids, mask = pad(rows, self._pad, self._model.device)
        given: dict[str, Any] = {"input_ids": ids, "attention_mask": mask}
        if self._kind == "seq2seq":
            begun = torch.tensor([self._rows[0][:3]], device=ids.device).expand(len(rows), -1)
            if decode:
                source = torch.tensor([self._rows[0]], device=ids.device).expand(len(rows), -1)
                given = {"input_ids": source, "decoder_input_ids": ids}
            else:
                given["decoder_input_ids"] = begun
        if self._kind in ("causal", "seq2seq"):
            given["use_cache"] = False
        if self._kind == "encoder":
            states = self._model(**given).last_hidden_state
            if states.shape[:2] != ids.shape:
                raise ValueError("there is not one hidden state for each token")
            return [line[: len(row)] for line, row in zip(states.double(), rows, strict=True)]
        logits = self._model(**given).logits
        if self._kind == "classifier" or (self._kind == "seq2seq" and not decode):
            return [_logprobs(line) for line in logits]
        return [_logprobs(line[: len(row)]) for line, row in zip(logits, rows, strict=True)]

    def _difference(self, first: torch.Tensor, second: torch.Tensor) -> float:
        if self._kind == "encoder":
            return float((first - second).abs().max())
        return _difference(first, second)

    @property
    def _contradiction(self) -> float:
        return HALF_CONTRADICTION if self._half else CONTRADICTION

    def _compared(self, name: str, change: float, what: str = "largest difference") -> Check:
        outcome: Outcome = "passed" if change <= TOLERANCE else "look"
        if not change <= self._contradiction:  # also where it is no number
            outcome = "failed"
        unit = "of a hidden state" if self._kind == "encoder" else "nats"
        return Check(name=name, outcome=outcome, result=f"{what} {change:.1g} {unit}", value=change)


def _logprobs(logits: torch.Tensor) -> torch.Tensor:
    return torch.log_softmax(logits.double(), dim=-1)


def _difference(first: torch.Tensor, second: torch.Tensor) -> float:
    """Return the largest difference among the likeliest tokens of the first reading."""
    places = first.topk(min(_LIKELIEST, first.shape[-1]), dim=-1).indices
    return float((first.gather(-1, places) - second.gather(-1, places)).abs().max())
