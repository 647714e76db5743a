"""Loads base models to be trained as classifiers: any whose family has a head for that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotation.common.lazy import np
from probing.lm.errors import WrongModelKindError
from probing.lm.sources import ModelFacts, inspect_model
from probing.lm.weights import choose_device, read_tokenizer, read_what_is_stored

if TYPE_CHECKING:
    from probing.lm.classifier import ClassifierTokenizer

KINDS = ("masked", "causal", "seq2seq", "classifier", "encoder")
#: Of BERT's family, between body and head; checkpoints of language models lack it.
_POOLER = "pooler"
# Tells the draws of one seed apart; see probing.training.schedule.
_HEAD = 3


@dataclass(frozen=True)
class BaseClassifier:
    """A model with a head for the classes.

    trained_whole : names of its modules outside of the body, and of others that are new
    new_head : whether the head was drawn at random, since the base has none for these classes
    """

    model: Any
    trained_whole: tuple[str, ...]
    new_head: bool


def load_base_tokenizer(source: str | Path, revision: str = "") -> ClassifierTokenizer:
    """Load the tokenizer of a model that can be trained to classify.

    Raises WrongModelKindError where the model's family has no head for that, and the errors of
    :func:`probing.lm.loaders.load_classifier_tokenizer`.
    """
    from probing.lm.classifier import ClassifierTokenizer

    facts = _facts(source, revision)
    return ClassifierTokenizer(read_tokenizer(facts), facts)


def load_base_classifier(
    source: str | Path,
    revision: str,
    *,
    classes: Sequence[str],
    pad_id: int,
    seed: int,
    device: str,
) -> BaseClassifier:
    """Load weights in float32 onto `device`, with a head for `classes`.

    The head of a base that classifies into the same classes in the same order is kept; every
    other one is drawn from `seed`. Raises ModelFilesError for damaged weights, WrongModelKindError
    where the body lacks some, and DeviceError.
    """
    import torch
    from transformers import AutoModelForSequenceClassification

    facts = _facts(source, revision)
    place = choose_device(torch, device)
    same = [label.casefold() for label in facts.labels] == [name.casefold() for name in classes]
    with torch.random.fork_rng():
        torch.manual_seed(int(np.random.default_rng([seed, _HEAD]).integers(2**62)))
        model, missing = read_what_is_stored(
            facts,
            AutoModelForSequenceClassification,
            torch.float32,
            num_labels=len(classes),
            id2label=dict(enumerate(classes)),
            label2id={name: number for number, name in enumerate(classes)},
            ignore_mismatched_sizes=True,
        )
        body = model.base_model_prefix
        lost = [n for n in missing if n.startswith(f"{body}.") and _POOLER not in n.split(".")]
        if lost:
            shown = ", ".join(lost[:3]) + (" …" if len(lost) > 3 else "")
            raise WrongModelKindError(
                f"'{source}' lacks {len(lost)} weights of its body ({shown}). Fetch or save the "
                "model again."
            )
        heads = [name for name, part in model.named_children() if name != body and _is_full(part)]
        if facts.labels and not same:
            # A head for other classes, even for as many of them, knows nothing of these.
            for name in heads:
                _draw_anew(model, model.get_submodule(name))
    model.config.pad_token_id = pad_id  # causal classifiers read the last token before it
    model.config.problem_type = "single_label_classification"
    if hasattr(model.config, "use_cache"):
        model.config.use_cache = False  # nothing is generated
    new = sorted({name.rpartition(f".{_POOLER}.")[0] for name in missing if f".{_POOLER}." in name})
    return BaseClassifier(
        model.to(place), (*heads, *(f"{name}.{_POOLER}" for name in new)), not same
    )


def _draw_anew(model: Any, head: Any) -> None:
    """Fill a head with random numbers as those of the family begin."""
    for part in (*head.modules(), *head.parameters()):
        part._is_hf_initialized = False  # else transformers leaves what was stored
    head.apply(model._init_weights)


def _is_full(module: Any) -> bool:
    return next(module.parameters(), None) is not None


def _facts(source: str | Path, revision: str) -> ModelFacts:
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES as WITH_HEAD,
    )

    facts = inspect_model(source, revision or None)
    if facts.kind not in KINDS or facts.family not in WITH_HEAD:
        raise WrongModelKindError(
            f"'{source}' is of the family '{facts.family or 'not stated'}', for which there is no "
            "head that classifies texts. Choose a model such as 'roberta-base', 'facebook/opt-125m'"
            " or one of the families Llama and Mistral."
        )
    return facts
