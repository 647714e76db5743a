"""Matched guise probing the straightforward way: one text, one prompt, one pass, all logits.

Shares nothing with :mod:`probing`; the three ways of reading the end of a prompt are those of
Hofmann et al. (2024), Methods, Probing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch


class PlainGuises:
    """A model with its tokenizer, asked one prompt at a time."""

    def __init__(self, kind: str, model: Any, tokenizer: Any, attributes: Sequence[str]) -> None:
        self.kind, self.model, self.tokenizer = kind, model, tokenizer
        self.ids = [
            tokenizer.encode(f" {word}", add_special_tokens=False)[0] for word in attributes
        ]

    def encode(self, text: str) -> list[int]:
        """Return the ids of a filled prompt with its end open."""
        end = {"causal": "", "masked": f" {self.tokenizer.mask_token}", "seq2seq": " <extra_id_0>"}
        ids: list[int] = self.tokenizer.encode(text + end[self.kind])
        return ids

    @torch.inference_mode()
    def logprobs(self, text: str) -> npt.NDArray[np.float64]:
        """Return ln P of every attribute, (n_attributes,)."""
        ids = torch.tensor([self.encode(text)], device=self.model.device)
        if self.kind == "seq2seq":
            opening = self.tokenizer.convert_tokens_to_ids("<extra_id_0>")
            begun = torch.tensor(
                [[self.model.config.decoder_start_token_id, opening]], device=ids.device
            )
            logits = self.model(input_ids=ids, decoder_input_ids=begun).logits[0, -1]
        else:
            logits = self.model(input_ids=ids).logits[0]
            if self.kind == "masked":
                logits = logits[ids[0] == self.tokenizer.mask_token_id][0]
            else:
                logits = logits[-1]
        found: npt.NDArray[np.float64] = torch.log_softmax(logits.double(), dim=0).cpu().numpy()
        return found[self.ids]

    @torch.inference_mode()
    def bare_pass(self, rows: Sequence[Sequence[int]]) -> None:
        """Read rows in one batch, padded on the right, without any logits."""
        width = max(map(len, rows))
        pad = self.tokenizer.pad_token_id or 0
        ids = torch.tensor([[*row, *[pad] * (width - len(row))] for row in rows])
        mask = (torch.arange(width) < torch.tensor([[len(row)] for row in rows])).int()
        ids, mask = ids.to(self.model.device), mask.to(self.model.device)
        if self.kind == "seq2seq":
            encoded = self.model.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
            found = self.model.decoder(
                input_ids=torch.zeros((len(rows), 2), dtype=torch.long, device=ids.device),
                encoder_hidden_states=encoded,
                encoder_attention_mask=mask,
                use_cache=False,
            )
        else:
            body = getattr(self.model, self.model.base_model_prefix)
            more = {"use_cache": False} if self.kind == "causal" else {}
            found = body(input_ids=ids, attention_mask=mask, **more)
        float(found.last_hidden_state[0, 0, 0])  # waits for a GPU
