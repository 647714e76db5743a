"""Families of masked language models whose output head is known part by part.

Their head reads the rows of open masks alone, which saves time. Any other family is read as a
whole and has to pass a trial first (:func:`probing.lm.examination.examine_masked`). The parts are
named by their attribute paths, so that this table can be read without loading torch; a test
compares every entry with the model's own output.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Head:
    """How to get from the last hidden state to the logits.

    `transform` are the modules between the last hidden state and the output layer in order (the
    word ``gelu`` stands for the exact GELU where it is not a module), `decoder` the module with
    the output layer's weight. `bias` is where its bias is kept, unless in the decoder itself.
    """

    transform: tuple[str, ...]
    decoder: str
    bias: str = ""


@dataclass(frozen=True)
class Family:
    """`body` is the encoder; a checkpoint has one of the `heads`, and is read whole without any.

    `second_try` are settings of the configuration for checkpoints whose weights do not fill the
    head that the configuration asks for. `offset_positions` is true where the first positions are
    reserved, as in RoBERTa, which shortens the longest readable text.
    """

    name: str
    body: str
    heads: tuple[Head, ...]
    second_try: tuple[tuple[str, Any], ...] = ()
    offset_positions: bool = False


_BERT_HEAD = Head(("cls.predictions.transform",), "cls.predictions.decoder")
_ROBERTA_HEAD = Head(("lm_head.dense", "gelu", "lm_head.layer_norm"), "lm_head.decoder")
_DISTILBERT_HEAD = Head(("vocab_transform", "activation", "vocab_layer_norm"), "vocab_projector")
_ALBERT_HEAD = Head(
    ("predictions.dense", "predictions.activation", "predictions.LayerNorm"), "predictions.decoder"
)
_ELECTRA_HEAD = Head(("generator_predictions",), "generator_lm_head")
_MODERNBERT_HEAD = Head(("head",), "decoder")
# The head of the published checkpoints, which transformers builds only when it is asked to.
_DEBERTA_HEAD = Head(
    tuple(f"lm_predictions.lm_head.{name}" for name in ("dense", "transform_act_fn", "LayerNorm")),
    "deberta.embeddings.word_embeddings",
    "lm_predictions.lm_head.bias",
)
_DEBERTA = ("deberta", (_DEBERTA_HEAD, _BERT_HEAD), (("legacy", False),))

#: model_type of the configuration -> family
MASKED_FAMILIES: dict[str, Family] = {
    "bert": Family("BERT", "bert", (_BERT_HEAD,)),
    "roberta": Family("RoBERTa", "roberta", (_ROBERTA_HEAD,), offset_positions=True),
    "xlm-roberta": Family("XLM-RoBERTa", "roberta", (_ROBERTA_HEAD,), offset_positions=True),
    "camembert": Family("CamemBERT", "roberta", (_ROBERTA_HEAD,), offset_positions=True),
    "distilbert": Family("DistilBERT", "distilbert", (_DISTILBERT_HEAD,)),
    "albert": Family("ALBERT", "albert", (_ALBERT_HEAD,)),
    "deberta": Family("DeBERTa", *_DEBERTA),
    "deberta-v2": Family("DeBERTa v2 and v3", *_DEBERTA),
    "modernbert": Family("ModernBERT", "model", (_MODERNBERT_HEAD,)),
    "electra": Family("ELECTRA (generator)", "electra", (_ELECTRA_HEAD,)),
    "mpnet": Family("MPNet", "mpnet", (_ROBERTA_HEAD,), offset_positions=True),
    "big_bird": Family("BigBird", "bert", (_BERT_HEAD,)),
    "longformer": Family("Longformer", "longformer", (_ROBERTA_HEAD,), offset_positions=True),
}


def find_masked_family(name: str) -> Family:
    """Return the entry of a ``model_type``, or one that says nothing about its parts."""
    return MASKED_FAMILIES.get(name) or Family(name, "", ())


def supported_families() -> str:
    """Return the names of the families that are known to be read right, for messages."""
    return ", ".join(family.name for family in MASKED_FAMILIES.values())
