"""Classifiers of whole texts: a checkpoint with a sequence classification head, as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from annotation.common.lazy import np, npt
from probing.lm.batching import batches_by_length
from probing.lm.errors import ContextTooLongError
from probing.lm.sources import ModelFacts
from probing.lm.text_tokenizer import find_prefix, shorten

#: Texts that are encoded and sorted by length at once: what is held in memory beside the model.
CHUNK = 8192
#: Words whose ids are kept.
_MOST_WORDS = 100_000
#: Pre-tokenizers that cut at every space whatever stands round it, so that a text's ids are those
#: of its words.
_CUT_AT_SPACES = frozenset({"BertPreTokenizer", "ByteLevel", "Whitespace", "WhitespaceSplit"})


class ClassifierTokenizer:
    """What a tokenizer and a configuration tell about a classifier; enough for a dry run.

    Made by :func:`probing.lm.loaders.load_classifier_tokenizer`.
    """

    abilities = frozenset({"classify"})

    def __init__(self, tokenizer: Any, facts: ModelFacts) -> None:
        self._tokenizer = tokenizer
        self.facts = facts
        #: Names of the outputs in their order.
        self.labels = facts.labels
        self.max_length = facts.max_length
        found = tokenizer.pad_token_id, tokenizer.eos_token_id, 0
        self.pad_id: int = next(token for token in found if token is not None)
        backend = getattr(tokenizer, "backend_tokenizer", None)
        cut = type(getattr(backend, "pre_tokenizer", None)).__name__
        self.shares_words = cut in _CUT_AT_SPACES
        self._words: dict[str, list[int]] = {}
        prefix, whole = find_prefix(tokenizer), list(tokenizer.encode("a"))
        plain = len(tokenizer.encode("a", add_special_tokens=False))
        self._special = prefix, whole[len(prefix) + plain :]

    def count_tokens(self, text: str) -> int:
        """Return the tokens that `text` takes, special tokens included."""
        return len(self.encode([text])[0])

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of every text, special tokens included; nothing is cut.

        Sentences that differ in one word share the ids of all others where the tokenizer cuts at
        every space, and are encoded one by one where it does not.
        """
        if not self.shares_words or any("  " in text for text in texts):
            return [list(ids) for ids in self._tokenizer(list(texts))["input_ids"]]
        cut = [_words(text) for text in texts]
        if len(self._words) > _MOST_WORDS:
            self._words.clear()
        new = list({word for words in cut for word in words if word not in self._words})
        if new:
            ids = self._tokenizer(new, add_special_tokens=False)["input_ids"]
            self._words.update(zip(new, ids, strict=True))
        before, after = self._special
        return [
            [*before, *(token for word in words for token in self._words[word]), *after]
            for words in cut
        ]


class SequenceClassifier:
    """A classifier with its tokenizer.

    Which texts share a batch depends on nothing but the arguments, so that a repeated call on the
    same machine gives the same numbers.
    """

    def __init__(
        self, model: Any, tokenizer: ClassifierTokenizer, *, revision: str, batch_tokens: int
    ) -> None:
        self._model = model
        self.tokenizer = tokenizer
        self.facts = tokenizer.facts
        #: The hub's commit, or ``sha256:…`` of a local folder's files.
        self.revision = revision
        self.batch_tokens = batch_tokens
        # Causal classifiers read the last token that is no padding.
        model.config.pad_token_id = tokenizer.pad_id

    @property
    def network(self) -> Any:
        """The model of transformers itself, for trials."""
        return self._model

    @property
    def device(self) -> str:
        return str(self._model.device)

    @property
    def abilities(self) -> frozenset[str]:
        return self.tokenizer.abilities

    @property
    def labels(self) -> tuple[str, ...]:
        return self.tokenizer.labels

    @property
    def max_length(self) -> int | None:
        return self.tokenizer.max_length

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        return self.tokenizer.encode(texts)

    def classify(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return the logits, (n_texts, n_labels).

        Raises :class:`ContextTooLongError` for a text that the model cannot read whole.
        """
        found = np.empty((len(texts), len(self.labels)), dtype=np.float32)
        for start in range(0, len(texts), CHUNK):
            chunk = texts[start : start + CHUNK]
            for batch, logits in self._passes(chunk):
                found[[start + index for index in batch]] = logits
        return found

    def _passes(self, texts: Sequence[str]) -> Iterator[tuple[list[int], npt.NDArray[np.float32]]]:
        """Yield the places of the texts of a forward pass, with their logits."""
        import torch

        rows = self.encode(texts)
        lengths = [len(row) for row in rows]
        longest = max(range(len(rows)), key=lengths.__getitem__)
        if self.max_length is not None and lengths[longest] > self.max_length:
            raise ContextTooLongError(
                f"The text '{shorten(texts[longest])}' has {lengths[longest]} tokens, and the "
                f"model reads {self.max_length}. Shorten the text."
            )
        switch = self.facts.switch_length
        for batch in batches_by_length(lengths, self.batch_tokens, switch=switch):
            width = lengths[batch[-1]]
            pad = self.tokenizer.pad_id
            ids = torch.tensor([rows[i] + [pad] * (width - lengths[i]) for i in batch])
            mask = torch.tensor([[1] * lengths[i] + [0] * (width - lengths[i]) for i in batch])
            with torch.inference_mode():
                out = self._model(
                    input_ids=ids.to(self._model.device),
                    attention_mask=mask.to(self._model.device),
                )
            yield batch, out.logits.float().cpu().numpy()


def _words(text: str) -> list[str]:
    """Return a text's words, each with the space before it."""
    first, *others = text.split(" ")
    return [first, *(f" {word}" for word in others)]
