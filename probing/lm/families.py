"""Where each family of masked language models keeps the parts of its output head.

Adding a family is adding an entry. The parts are named by their attribute paths, so that this
table can be read without loading torch; a test compares every entry with the model's own output.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """How to get from token ids to the input of the output layer, and the layer itself.

    `body` is the encoder, `transform` the modules between its last hidden state and the output
    layer in order (the word ``gelu`` stands for the exact GELU where it is not a module), and
    `decoder` the output layer with its weight and bias. `offset_positions` is true where the
    first positions are reserved, as in RoBERTa, which shortens the longest readable text.
    """

    name: str
    body: str
    transform: tuple[str, ...]
    decoder: str
    offset_positions: bool = False


_BERT_HEAD = ("cls.predictions.transform",)
_ROBERTA_HEAD = ("lm_head.dense", "gelu", "lm_head.layer_norm")

#: model_type of the configuration -> family
MASKED_FAMILIES: dict[str, Family] = {
    "bert": Family("BERT", "bert", _BERT_HEAD, "cls.predictions.decoder"),
    "roberta": Family("RoBERTa", "roberta", _ROBERTA_HEAD, "lm_head.decoder", True),
    "xlm-roberta": Family("XLM-RoBERTa", "roberta", _ROBERTA_HEAD, "lm_head.decoder", True),
    "camembert": Family("CamemBERT", "roberta", _ROBERTA_HEAD, "lm_head.decoder", True),
    "distilbert": Family(
        "DistilBERT",
        "distilbert",
        ("vocab_transform", "activation", "vocab_layer_norm"),
        "vocab_projector",
    ),
    "albert": Family(
        "ALBERT",
        "albert",
        ("predictions.dense", "predictions.activation", "predictions.LayerNorm"),
        "predictions.decoder",
    ),
}


def supported_families() -> str:
    """Return the names of the families that can be loaded, for messages."""
    return ", ".join(family.name for family in MASKED_FAMILIES.values())
