"""Text generation: token by token, the likeliest or sampled with a seed per text, or by beams."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
import transformers

from probing.lm.decoding import Decoding
from probing.lm.errors import GenerationSettingsError
from probing.lm.numerics import widen
from probing.lm.reasoning_blocks import split_reasoning
from probing.lm.text_protocols import Generation, GenerationSettings


@dataclass(frozen=True)
class Ending:
    """How a text ends, and what its tokens read as.

    Attributes
    ----------
    end_ids : tokens that end a text; none of them is part of it.
    forced_first : a token that every text begins with, such as BART's begin token.
    decode : from token ids to text.
    begun : whether what is written begins within a block of reasoning.
    """

    end_ids: frozenset[int]
    forced_first: int | None
    decode: Callable[[Sequence[int]], str]
    begun: bool = False

    def generation(self, ids: Sequence[int], stop: Sequence[str]) -> Generation:
        """Return the text of what was written, without end token, stop text and what follows."""
        ended = next((place for place, token in enumerate(ids) if token in self.end_ids), None)
        text, thought, closed = split_reasoning(
            self.decode(ids if ended is None else ids[:ended]), begun=self.begun
        )
        cut = first_stop(text, stop)
        whole = closed and (ended is not None or cut is not None)
        finish: Literal["stop", "length"] = "stop" if whole else "length"
        n_tokens = len(ids) if ended is None else ended + 1
        return Generation(text[:cut].strip(), n_tokens, finish, thought)


def check_settings(settings: GenerationSettings) -> None:
    """Raise :class:`GenerationSettingsError` for settings that no model can follow."""
    for name, value, least in (
        ("max_new_tokens", settings.max_new_tokens, 1),
        ("temperature", settings.temperature, 0),
        ("beams", settings.beams, 1),
        ("no_repeat_ngram", settings.no_repeat_ngram, 0),
    ):
        if not value >= least:
            raise GenerationSettingsError(f"{name} is {value}, expected at least {least}.")
    if not np.isfinite(settings.temperature):
        raise GenerationSettingsError("temperature is infinite, expected a number such as 0.7.")
    if "" in settings.stop:
        raise GenerationSettingsError("A stop text is empty. Leave it out, or name a text.")


def first_stop(text: str, stop: Sequence[str]) -> int | None:
    """Return where the first of the stop texts begins, or None."""
    found = [place for one in stop if (place := text.find(one)) >= 0]
    return min(found, default=None)


def banned_tokens(written: Sequence[int], size: int) -> set[int]:
    """Return the tokens that would make an n-gram of `written` occur a second time."""
    if size < 1 or len(written) < size:
        return set()
    last = tuple(written[len(written) - size + 1 :])
    grams = range(len(written) - size + 1)
    return {written[at + size - 1] for at in grams if tuple(written[at : at + size - 1]) == last}


def write(
    decoding: Decoding, settings: GenerationSettings, seeds: Sequence[int], ending: Ending
) -> list[Generation]:
    """Return one text per row of `decoding`.

    Drawing uses one number per token from numpy's generator of the row's own seed and inverts
    the cumulated probabilities, so that a text depends on no other row.
    """
    generators = [np.random.default_rng(seed) for seed in seeds]
    written: list[list[int]] = [[] for _ in seeds]
    rows = list(range(len(seeds)))  # rows of `decoding`, as places in `written`
    open_rows = set(rows)
    for step in range(settings.max_new_tokens):
        if step == 0 and ending.forced_first is not None:
            tokens = torch.full((len(rows),), ending.forced_first)
        else:
            banned = [banned_tokens(written[row], settings.no_repeat_ngram) for row in rows]
            drawn = [
                generators[row].random() if settings.temperature and row in open_rows else 0.0
                for row in rows
            ]
            tokens = choose(decoding.logits, settings.temperature, drawn, banned)
        for row, token in zip(rows, tokens.tolist(), strict=True):
            if row in open_rows:
                written[row].append(token)
                if token in ending.end_ids or (
                    settings.stop
                    and first_stop(ending.decode(written[row]), settings.stop) is not None
                ):
                    open_rows.discard(row)
        if not open_rows or step + 1 == settings.max_new_tokens:
            break
        if 2 * len(open_rows) <= len(rows):
            # Ended rows cost as much as open ones; half of them gone is worth a copy.
            kept = [place for place, row in enumerate(rows) if row in open_rows]
            decoding.select(torch.tensor(kept))
            tokens, rows = tokens[kept], [rows[place] for place in kept]
        decoding.advance(tokens)
    return [ending.generation(ids, settings.stop) for ids in written]


def choose(
    logits: torch.Tensor,
    temperature: float,
    drawn: Sequence[float],
    banned: Sequence[Collection[int]],
) -> torch.Tensor:
    """Return one token per row, (n_rows,) on the CPU.

    `drawn` are numbers in [0, 1) that pick from the distribution at `temperature`; at 0 the
    likeliest token is taken, the first of them where several are equally likely.
    """
    values = widen(logits)
    for row, tokens in enumerate(banned):
        if tokens:
            values[row, list(tokens)] = -torch.inf
    if temperature == 0:
        return values.argmax(dim=1).cpu()
    cumulated = torch.softmax(values / temperature, dim=1).cumsum(dim=1)
    # Divided by what the sum came to, which float64 leaves a hair off one.
    wanted = torch.tensor(drawn, dtype=values.dtype, device=values.device)[:, None]
    places = torch.searchsorted(cumulated, wanted * cumulated[:, -1:], right=True)
    return places[:, 0].clamp(max=values.shape[1] - 1).cpu()


class _NoRepeats(transformers.LogitsProcessor):
    """Bans repeated n-grams in what is written; the prompt may be repeated."""

    def __init__(self, size: int, skip: int) -> None:
        self._size, self._skip = size, skip

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        scores = scores.clone()
        for row, ids in enumerate(input_ids[:, self._skip :].tolist()):
            if banned := banned_tokens(ids, self._size):
                scores[row, list(banned)] = -torch.inf
        return scores


class _StopTexts(transformers.StoppingCriteria):
    """Ends a beam where a stop text turns up."""

    def __init__(self, ending: Ending, stop: tuple[str, ...], skip: int) -> None:
        self._ending, self._stop, self._skip = ending, stop, skip

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        texts = (self._ending.decode(ids) for ids in input_ids[:, self._skip :].tolist())
        found = [first_stop(text, self._stop) is not None for text in texts]
        return torch.tensor(found, device=input_ids.device)


@torch.inference_mode()
def search(
    model: Any,
    ids: torch.Tensor,
    mask: torch.Tensor,
    settings: GenerationSettings,
    ending: Ending,
    *,
    pad_id: int,
    cached: bool,
) -> list[Generation]:
    """Return the best text per row of `ids`: the highest mean ln P per token of the ended beams.

    `ids` are prompts padded on the left (causal), or sources padded on the right. Without a cache
    all that is written is read anew with every token.
    """
    skip = 1 if model.config.is_encoder_decoder else ids.shape[1]
    found = model.generate(
        input_ids=ids,
        attention_mask=mask,
        num_beams=settings.beams,
        do_sample=False,
        max_new_tokens=settings.max_new_tokens,
        length_penalty=1.0,
        early_stopping=False,
        pad_token_id=pad_id,
        use_cache=cached,
        logits_processor=transformers.LogitsProcessorList(
            [_NoRepeats(settings.no_repeat_ngram, skip)] if settings.no_repeat_ngram else []
        ),
        stopping_criteria=transformers.StoppingCriteriaList(
            [_StopTexts(ending, settings.stop, skip)] if settings.stop else []
        ),
    )
    texts = []
    for row in found[:, skip:].tolist():
        # Shorter rows are padded; padding is never part of a text.
        while row and row[-1] == pad_id and pad_id not in ending.end_ids:
            row.pop()
        texts.append(ending.generation(row, settings.stop))
    return texts
