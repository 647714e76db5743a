"""SeT and ILPS* the straightforward way: call by call, from their definitions.

One forward pass of one sentence for every group, adjective and subword; the prior again for every
score; the change of the output layer by column squishing in Python, subword by subword. Shares
nothing with :mod:`probing`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

MARGIN = 1.0


class Sentence(NamedTuple):
    """A sentence up to the adjective and after it."""

    before: str
    after: str


class PlainScore(NamedTuple):
    """A score, and what it compares: Delta of SeT or ln P of ILPS*, of group and prior."""

    value: float
    group: float
    prior: float


class PlainModel:
    """A BERT with its tokenizer, asked one sentence at a time."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model = model
        self.tokenizer = tokenizer

    def pieces(self, word: str) -> list[int]:
        """Return the token ids of a word."""
        ids: list[int] = self.tokenizer.encode(word, add_special_tokens=False)
        return ids

    @torch.inference_mode()
    def read(
        self, sentence: Sentence, filled: Sequence[int], open_: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the output layer's input and output, (hidden,) and (vocabulary,), at a mask.

        It is the first of `open_` masks, after the pieces that are `filled` in already.
        """
        mask = self.tokenizer.mask_token
        text = f"{sentence.before}{' '.join([mask] * (len(filled) + open_))}{sentence.after}"
        ids = self.tokenizer.encode(text, return_tensors="pt").to(self.model.device)
        masks = (ids[0] == self.tokenizer.mask_token_id).nonzero()[:, 0]
        # A prior masks the group as well, here always before the adjective.
        masks = masks[mask in sentence.before :]
        for place, piece in zip(masks, filled, strict=False):
            ids[0, place] = piece
        place = masks[len(filled)]
        states = self.model.bert(input_ids=ids).last_hidden_state
        hidden = self.model.cls.predictions.transform(states)
        return hidden[0, place], self.model.cls.predictions.decoder(hidden)[0, place]

    def ilps_star(self, group: Sentence, prior: Sentence, word: str) -> PlainScore:
        """Return ln P(word | group) - ln P(word | prior), by the chain rule."""
        given = self.logprob(group, word), self.logprob(prior, word)
        return PlainScore(given[0] - given[1], *given)

    def logprob(self, sentence: Sentence, word: str) -> float:
        """Return ln P(word | sentence): pieces from left to right, one pass each."""
        pieces, total = self.pieces(word), 0.0
        for n, piece in enumerate(pieces):
            _, logits = self.read(sentence, pieces[:n], len(pieces) - n)
            total += float(torch.log_softmax(logits.double(), dim=0)[piece])
        return total

    def sensitivity(self, group: Sentence, prior: Sentence, word: str) -> PlainScore:
        """Return ln Delta(prior) - ln Delta(group), SeT."""
        given = self.change(group, word), self.change(prior, word)
        return PlainScore(math.log(given[1]) - math.log(given[0]), *given)

    def change(self, sentence: Sentence, word: str) -> float:
        """Return the largest squared change that a piece of the word needs, masks filled in."""
        pieces, largest = self.pieces(word), 0.0
        for n, piece in enumerate(pieces):
            hidden, logits = self.read(sentence, pieces[:n], len(pieces) - n)
            norm = float(hidden.double().square().sum()) + 1.0  # x = [h; 1], the bias appended
            largest = max(largest, squish(logits.cpu().numpy(), piece) / norm)
        return largest


def squish(logits: npt.NDArray[np.floating], target: int, margin: float = MARGIN) -> float:
    """Return the squared distance to the nearest logits in which `target` wins by `margin`.

    Column squishing (Bittorf et al. 2012, Algorithm 5): with the margin taken off the target, go
    through the rivals from the highest on, and put all that are above the level on the level, the
    mean of the target and those rivals.
    """
    scores = [float(score) for score in logits]
    level, members = scores[target] - margin, 1
    rivals = sorted((i for i in range(len(scores)) if i != target), key=lambda i: -scores[i])
    for i in rivals:
        if scores[i] <= level:
            break
        level = (members * level + scores[i]) / (members + 1)
        members += 1
    squished = [min(score, level) for score in scores]
    squished[target] = level + margin
    return sum((new - old) ** 2 for new, old in zip(squished, scores, strict=True))
