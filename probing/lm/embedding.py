"""Contextual embeddings of words and phrases inside their sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import torch

from probing.lm.errors import ContextTooLongError
from probing.lm.protocols import Pieces, SpanText
from probing.lm.subwords import MaskedTokenizer

#: Token ids and attention, (n, width), to the last hidden state, (n, width, hidden_size).
Encoder = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@torch.inference_mode()
def embed_spans(
    encoder: Encoder,
    tokenizer: MaskedTokenizer,
    spans: Sequence[SpanText],
    *,
    pieces: Pieces,
    batch_size: int,
    device: torch.device,
) -> npt.NDArray[np.floating]:
    """Return the last hidden state at each span, (n_spans, hidden_size), in the order given.

    float64 for a model in float64, else float32. Sentences are read sorted by length. A span's
    tokens are those that share a character with it.

    Raises
    ------
    ContextTooLongError
        A sentence is longer than the model reads.
    ValueError
        A span lies outside its text or covers no token.
    """
    located = [_locate(tokenizer, span, pieces) for span in spans]
    order = sorted(range(len(located)), key=lambda index: len(located[index][0]))
    found: list[npt.NDArray[np.floating] | None] = [None] * len(located)
    for start in range(0, len(order), batch_size):
        batch = order[start : start + batch_size]
        width = max(len(located[index][0]) for index in batch)
        ids = torch.full((len(batch), width), tokenizer.pad_id)
        attended = torch.zeros((len(batch), width), dtype=torch.long)
        for row, index in enumerate(batch):
            tokens = located[index][0]
            ids[row, : len(tokens)] = torch.tensor(tokens)
            attended[row, : len(tokens)] = 1
        hidden = encoder(ids.to(device), attended.to(device))
        if hidden.dtype != torch.float64:
            hidden = hidden.float()
        for row, index in enumerate(batch):
            chosen = torch.tensor(located[index][1], device=hidden.device)
            found[index] = hidden[row, chosen].mean(dim=0).cpu().numpy()
    return np.stack([vector for vector in found if vector is not None])


def _locate(
    tokenizer: MaskedTokenizer, span: SpanText, pieces: Pieces
) -> tuple[tuple[int, ...], list[int]]:
    """Return the sentence's token ids, and the positions whose states make the embedding."""
    if not 0 <= span.start < span.end <= len(span.text):
        raise ValueError(f"the span {span.start} to {span.end} lies outside '{span.text}'")
    ids, offsets = tokenizer.encode_with_offsets(span.text)
    if len(ids) > tokenizer.max_length:
        raise ContextTooLongError(
            f"The sentence '{span.text}' has {len(ids)} tokens, and the model reads "
            f"{tokenizer.max_length}. Leave it out."
        )
    inside = [
        position
        for position, (start, end) in enumerate(offsets)
        if start < span.end and end > span.start
    ]
    if not inside:
        raise ValueError(f"no token covers '{span.text[span.start : span.end]}'")
    if pieces == "first":
        return ids, inside[:1]
    return ids, inside[-1:] if pieces == "last" else inside
