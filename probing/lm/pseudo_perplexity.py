"""Pseudo-log-likelihood of texts: a masked language model scores every token behind a mask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from probing.lm.batching import batches_of_like_length
from probing.lm.end_words import EndWordReader, OpenEnd, Opening, Row
from probing.lm.errors import ContextTooLongError, MaskCountError
from probing.lm.protocols import SlotContext, SlotState

if TYPE_CHECKING:
    import torch

    from probing.lm.masked import MaskedLanguageModel
    from probing.lm.slot_tokenizers import MaskedTokenizer


class MaskedScorerFacts:
    """What the tokenizer of a masked language model tells about scoring texts with it."""

    abilities = frozenset({"text_logprob", "end_word"})
    kind: Literal["masked"] = "masked"

    def __init__(self, tokenizer: MaskedTokenizer) -> None:
        self.tokenizer = tokenizer

    @property
    def max_length(self) -> int:
        """The most tokens read at once, special tokens included."""
        return self.tokenizer.max_length

    def count_tokens(self, text: str) -> int:
        """Return the tokens that `text` takes, special tokens included."""
        return len(self.tokenizer.encode(text))

    def open_ends(self, prompts: Sequence[str], words: Sequence[str]) -> list[OpenEnd]:
        """Return the ids of prompts with a mask at their ends, and those of words there.

        Raises :class:`ContextTooLongError` unless there is room for the masks of every word.
        """
        contexts = [SlotContext(f"{prompt} ", "") for prompt in prompts]
        found = []
        for context, opened in zip(contexts, self.tokenizer.open(contexts, words), strict=True):
            self.tokenizer.encode_slot(context, max(map(len, opened.pieces), default=1))
            ids, _ = self.tokenizer.encode_slot(context, 1)
            found.append(OpenEnd(ids, tuple(opened.pieces)))
        return found


class MaskedScorer(MaskedScorerFacts, EndWordReader):
    """Scores texts with a masked language model by their pseudo-log-likelihood.

    Parameters
    ----------
    model : the masked language model.
    batch_tokens : the most tokens of one forward pass, padding included.
    """

    def __init__(self, model: MaskedLanguageModel, *, batch_tokens: int) -> None:
        if batch_tokens < 1:
            raise ValueError(f"batch_tokens must be at least 1, not {batch_tokens}")
        super().__init__(model.tokenizer)
        self.model = model
        self.batch_tokens = batch_tokens
        self.revision = model.revision
        self.facts = model.facts
        self.cache = model.cache

    @property
    def network(self) -> Any:
        """The model of transformers itself, for trials."""
        return self.model.network

    @property
    def device(self) -> str:
        """The device that the weights are on, such as ``cpu`` or ``cuda:0``."""
        return self.model.device

    def token_logprobs(self, texts: Sequence[str]) -> list[npt.NDArray[np.float64]]:
        """Return ln P of every ordinary token of every text given all others (methods.md §13).

        Tokens that the tokenizer puts around every text are never masked. A part of a text that
        the tokenizer does not know is scored as its unknown token.
        """
        states: list[SlotState] = []
        targets: list[int] = []
        owner: list[int] = []
        for number, text in enumerate(texts):
            ids, ordinary = self._encode(text)
            for place in ordinary:
                masked = (*ids[:place], self.tokenizer.mask_id, *ids[place + 1 :])
                states.append(SlotState(masked, place))
                targets.append(ids[place])
                owner.append(number)
        values = self.model.read_logprobs(states, targets, batch_tokens=self.batch_tokens)
        owners = np.array(owner, dtype=np.int64)
        return [values[owners == number] for number in range(len(texts))]

    _opens_masks = True

    def _read_ends(
        self, rows: Sequence[Row], opening: Opening
    ) -> Iterator[tuple[Sequence[int], torch.Tensor]]:
        mask = self.tokenizer.mask_id
        filled = (*opening.known, *[mask] * opening.masks)
        states = []
        for row in rows:
            place = row.index(mask)
            ids = (*row[:place], *filled, *row[place + 1 :])
            states.append(SlotState(ids, place + len(opening.known)))
        for places in batches_of_like_length(
            [len(state.ids) for state in states],
            most=self.model.batch_size,
            padding=self.model.padding,
        ):
            _, logits = self.model.read([states[place] for place in places])
            yield places, logits

    def _encode(self, text: str) -> tuple[tuple[int, ...], list[int]]:
        """Return the ids of a text, and the places of its ordinary tokens."""
        ids, ordinary = self.tokenizer.encode_ordinary(text)
        if len(ids) > self.max_length:
            raise ContextTooLongError(
                f"The text '{text[:60]}' has {len(ids)} tokens, and the model reads "
                f"{self.max_length}. Shorten the text, or use a model that reads longer ones."
            )
        if self.tokenizer.mask_id in ids:
            raise MaskCountError(
                f"The text '{text[:60]}' holds '{self.tokenizer.mask_token}', which hides tokens "
                "from this model. Remove it."
            )
        return ids, ordinary
