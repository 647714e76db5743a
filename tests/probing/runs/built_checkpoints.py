"""Real checkpoints whose numbers are set by hand: a layer's logits, or a word's embeddings.

They have no attention layer, so that what comes out of them depends on the position alone: the
embedding of a position goes through a layer norm, which takes (s) to s and (−s) to −s for s = (1,
−1, 1, …), and (v, −v) to a multiple of it. All are exact but for float64 rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
#: The template and group for which :func:`layer_checkpoint` is built.
TEMPLATE = "That {singular} is {trait}."
GROUP = "tall one"
_WORDS = ("That", "is", ".", "tall", "one", "person")
# [CLS] That [MASK] is [MASK] . [SEP]: the trait's mask where the group is one token.
_PRIOR_POSITION = 4
_NEVER = -1e4


def layer_checkpoint(
    folder: Path, *, weights: Any, bias: Any, hidden: Any, prior_hidden: Any
) -> tuple[Path, list[str]]:
    """Save a masked model whose output layer is given; return it with the words of its classes.

    weights : (n, size), bias : (n,) of the classes; every other token has a logit of −10,000
    hidden : (size,) the layer's input in the sentence with `GROUP`, which has two tokens
    prior_hidden : (size,) in the same sentence with one token in the group's place
    """
    weights, bias = np.asarray(weights, float), np.asarray(bias, float)
    size = weights.shape[1] + weights.shape[1] % 2
    words = [f"class{number}" for number in range(len(bias))]
    model = _model(folder, [*_WORDS, *words], size=size, positions=16)
    signs = torch.ones(size, dtype=torch.float64)
    signs[1::2] = -1
    first, second = (_padded(vector, size) for vector in (hidden, prior_hidden))
    head = model.cls.predictions
    with torch.no_grad():
        positions = signs.repeat(16, 1)
        positions[_PRIOR_POSITION] *= -1
        model.bert.embeddings.position_embeddings.weight.copy_(positions)
        head.transform.dense.weight.copy_(torch.eye(size))
        head.transform.LayerNorm.weight.copy_(signs * (first - second) / 2)
        head.transform.LayerNorm.bias.copy_((first + second) / 2)
        head.decoder.weight.zero_()
        head.decoder.bias.fill_(_NEVER)
        start = len(SPECIAL) + len(_WORDS)
        head.decoder.weight[start:, : weights.shape[1]] = torch.from_numpy(weights)
        head.decoder.bias[start:] = torch.from_numpy(bias)
    model.save_pretrained(folder)
    return folder, words


def embedding_checkpoint(
    folder: Path, vectors: Mapping[str, Sequence[Sequence[float]]]
) -> tuple[Path, list[str]]:
    """Save a masked model that embeds words as given; return it with one sentence per vector.

    vectors : word → one vector for each of its contexts, in the order of the sentences
    """
    contexts = [(word, vector) for word, rows in vectors.items() for vector in rows]
    size = 2 * len(contexts[0][1])
    positions = len(contexts) + 3
    model = _model(folder, ["so", *vectors], size=size, positions=positions)
    with torch.no_grad():
        table = model.bert.embeddings.position_embeddings.weight
        for position, (_, vector) in enumerate(contexts, start=1):
            half = torch.tensor(vector, dtype=torch.float64)
            table[position] = torch.cat([half, -half])
    model.save_pretrained(folder)
    return folder, [f"{'so ' * before}{word}" for before, (word, _) in enumerate(contexts)]


def _model(folder: Path, words: Sequence[str], *, size: int, positions: int) -> Any:
    """Save a tokenizer of whole words and return a model for it, all of whose inputs are zero."""
    vocabulary = {token: index for index, token in enumerate([*SPECIAL, *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")],
    )
    names = ("pad", "unk", "cls", "sep", "mask")
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=positions,
        **{f"{name}_token": token for name, token in zip(names, SPECIAL, strict=True)},
    ).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=size,
        num_hidden_layers=0,
        num_attention_heads=1,
        intermediate_size=4,
        max_position_embeddings=positions,
        hidden_act="linear",
        layer_norm_eps=0.0,
        tie_word_embeddings=False,
    )
    model = BertForMaskedLM(config).double()
    with torch.no_grad():
        for parameter in model.bert.embeddings.parameters():
            parameter.zero_()
        model.bert.embeddings.LayerNorm.weight.fill_(1.0)
        # A layer norm of nothing but zeros has no value.
        model.bert.embeddings.position_embeddings.weight[:, 0::2] = 1.0
        model.bert.embeddings.position_embeddings.weight[:, 1::2] = -1.0
        model.cls.predictions.transform.dense.bias.zero_()
    return model


def _padded(vector: Any, size: int) -> torch.Tensor:
    found = torch.zeros(size, dtype=torch.float64)
    found[: len(vector)] = torch.tensor(np.asarray(vector, float))
    return found
