"""Writing by beam search, as transformers does it."""

from __future__ import annotations

from typing import Any

import torch
import transformers

from probing.lm.text_protocols import Generation, GenerationSettings
from probing.lm.writing import Ending, banned_tokens, first_stop


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
) -> list[Generation]:
    """Return the best text per row of `ids`: the highest mean ln P per token of the ended beams.

    `ids` are prompts padded on the left (causal), or sources padded on the right.
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
