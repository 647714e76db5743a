"""Embeddings of every token of a text after a chosen layer, as BERTScore compares them.

Any encoder of the hub or a folder serves, and the encoder half of sequence-to-sequence models.
Layers above the chosen one are dropped, as the package bert-score does, so that a final layer
norm, where a family has one, comes after the chosen layer. A text that is longer than the model
reads is never cut: it is returned without vectors, with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from probing.lm.batching import batches_by_length
from probing.lm.errors import LanguageModelError, WrongModelKindError
from probing.lm.sources import inspect_model
from probing.lm.weights import BodyLoader, load_frozen, read_tokenizer, revision_of

BATCH_TOKENS = 8192

#: Where families keep their layers, the first that exists.
_LAYERS = (
    "encoder.layer",  # BERT, RoBERTa, ELECTRA, DeBERTa, MPNet
    "encoder.block",  # T5
    "transformer.layer",  # DistilBERT
    "layers",  # BART
    "encoder.layers",
)
#: Tokenizers without a limit of their own state an astronomically large one.
_NO_LIMIT = 10**9
#: Tokenizers for which the first word needs a space before it to be the usual token.
_SPACE_FIRST = ("roberta", "gpt2", "bart", "longformer")


class LayerError(LanguageModelError):
    """A layer that the model does not have, or that nobody has chosen."""


@dataclass(frozen=True)
class TokenEmbeddings:
    """The tokens of one text.

    Attributes
    ----------
    ids : (n_tokens,) including the special tokens at either end.
    vectors : (n_tokens, hidden_size), empty where `reason` is not.
    special : (n_tokens,) True for the tokens that open and close a text, as [CLS] and [SEP].
    reason : why there are no vectors.
    """

    ids: npt.NDArray[np.int64]
    vectors: npt.NDArray[np.float32]
    special: npt.NDArray[np.bool_]
    reason: str = ""


def default_layer(name: str) -> int:
    """Return the layer that bert-score recommends for a model of the hub.

    Its table (`bert_score.utils.model2layers`) holds the layer that agrees best with human
    judgments of translations. Raises :class:`LayerError` for models that are not in it.
    """
    from bert_score.utils import model2layers

    if name not in model2layers:
        raise LayerError(
            f"No layer is recommended for '{name}'. Say which layer's embeddings to compare, "
            "counted from 1 at the input."
        )
    return int(model2layers[name])


def load_token_encoder(
    source: str | Path,
    *,
    layer: int | None = None,
    revision: str | None = None,
    device: str = "auto",
    leading_space: bool = True,
    batch_tokens: int = BATCH_TOKENS,
) -> TokenEncoder:
    """Load an encoder from a folder or the hub, in evaluation mode and without gradients.

    layer : after which layer the embeddings are taken, 0 = before the first; None takes
        bert-score's recommendation
    leading_space : for RoBERTa and its kin, read the first word as one inside a sentence. The
        package bert-score asks for it, which transformers 5 does not hear; False equals that
    batch_tokens : the most tokens of one forward pass, padding included

    Other parameters and errors are those of :func:`probing.lm.load_masked`, and
    :class:`LayerError` for a layer that the model does not have.
    """
    wanted = default_layer(str(source)) if layer is None else layer
    facts = inspect_model(source, revision)
    if facts.kind == "causal":
        raise WrongModelKindError(
            f"'{source}' is a causal language model, whose tokens know nothing of what follows. "
            "Choose an encoder such as 'microsoft/deberta-large-mnli'."
        )
    from probing.lm.packed_layers import pack_encoder

    tokenizer = read_tokenizer(facts)
    model = load_frozen(
        facts,
        BodyLoader(facts.family),
        head="an encoder",
        device=device,
        dtype="float32",
        threads=None,
    )
    if hasattr(model, "decoder") and hasattr(model, "encoder"):
        model = model.encoder
    _keep_layers(model, wanted, str(source))
    pack_encoder(model)
    limits = [facts.max_length, getattr(tokenizer, "model_max_length", None)]
    known = [limit for limit in limits if limit is not None and limit < _NO_LIMIT]
    return TokenEncoder(
        model,
        tokenizer,
        name=str(source),
        revision=revision_of(facts),
        layer=wanted,
        max_length=min(known, default=None),
        space_first=leading_space and facts.family in _SPACE_FIRST,
        batch_tokens=batch_tokens,
    )


class TokenEncoder:
    """An encoder cut after one layer.

    Attributes
    ----------
    name, revision : which model, and its commit or the hash of its files.
    layer : after which its embeddings are taken.
    max_length : the most tokens of a text, special tokens included; None = not bounded.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        name: str,
        revision: str,
        layer: int,
        max_length: int | None,
        space_first: bool,
        batch_tokens: int = BATCH_TOKENS,
    ) -> None:
        self.name, self.revision, self.layer, self.max_length = name, revision, layer, max_length
        self._model, self._tokenizer = model, tokenizer
        self._space_first, self._batch_tokens = space_first, batch_tokens
        ends = (tokenizer.cls_token_id, tokenizer.sep_token_id)
        self._special = np.array([i for i in ends if i is not None], dtype=np.int64)

    def token_ids(self, texts: Sequence[str]) -> list[npt.NDArray[np.int64]]:
        """Return the token ids of every text, special tokens included, whatever their number.

        White space at either end does not count.
        """
        if not len(texts):
            return []
        clean = [text.strip() for text in texts]
        if self._space_first:
            clean = [f" {text}" if text else "" for text in clean]
        found = self._tokenizer(clean, add_special_tokens=True, truncation=False, verbose=False)
        return [np.array(ids, dtype=np.int64) for ids in found["input_ids"]]

    def embed(self, texts: Sequence[str]) -> list[TokenEmbeddings]:
        """Return the tokens of every text, in order; texts of like length share a forward pass.

        Neighbors in a batch change the last digits at most.
        """
        ids = self.token_ids(texts)
        found = [self._without_vectors(one) for one in ids]
        fits = [i for i, one in enumerate(found) if not one.reason]
        for batch in batches_by_length([len(ids[i]) for i in fits], self._batch_tokens):
            chosen = [fits[place] for place in batch]
            for i, vectors in zip(chosen, self._forward([ids[i] for i in chosen]), strict=True):
                found[i] = TokenEmbeddings(ids[i], vectors, found[i].special)
        return found

    def _without_vectors(self, ids: npt.NDArray[np.int64]) -> TokenEmbeddings:
        reason = ""
        if self.max_length is not None and len(ids) > self.max_length:
            reason = f"longer than the {self.max_length} tokens that the encoder reads"
        nothing = np.zeros((0, 0), dtype=np.float32)
        return TokenEmbeddings(ids, nothing, np.isin(ids, self._special), reason)

    def _forward(self, batch: Sequence[npt.NDArray[np.int64]]) -> list[npt.NDArray[np.float32]]:
        import torch

        from probing.lm.decoding import pad

        if not any(len(ids) for ids in batch):
            return [np.zeros((0, 0), dtype=np.float32) for _ in batch]
        device = next(self._model.parameters()).device
        rows = [ids.tolist() for ids in batch]
        padded, attended = pad(rows, self._tokenizer.pad_token_id or 0, device)
        with torch.inference_mode():
            hidden = self._model(padded, attention_mask=attended)[0]
        states = hidden.float().cpu().numpy()
        return [states[row, : len(ids)].copy() for row, ids in enumerate(batch)]


def _keep_layers(model: Any, layer: int, source: str) -> None:
    import torch

    for path in _LAYERS:
        owner: Any = model
        *parents, name = path.split(".")
        for parent in parents:
            owner = getattr(owner, parent, None)
        layers = getattr(owner, name, None)
        if not isinstance(layers, torch.nn.ModuleList):
            continue
        if not 0 <= layer <= len(layers):
            raise LayerError(
                f"'{source}' has {len(layers)} layers; layer {layer} is not among them. Choose "
                f"one from 0 to {len(layers)}."
            )
        setattr(owner, name, layers[:layer])
        return
    raise WrongModelKindError(
        f"'{source}' keeps its layers in a place that is not known here. Choose an encoder of the "
        "families BERT, RoBERTa, DeBERTa, ELECTRA, MPNet, DistilBERT, BART or T5."
    )
