"""Loads models to train: a tokenizer for planning, and weights in float32."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from probing.lm.errors import WrongModelKindError
from probing.lm.sources import ModelFacts, inspect_model
from probing.lm.weights import (
    choose_device,
    quiet_transformers,
    read_tokenizer,
    read_weights,
    revision_of,
)

if TYPE_CHECKING:
    from probing.lm.text_tokenizer import PretrainedTextTokenizer

KINDS = ("causal", "seq2seq")


def load_trainable_tokenizer(source: str | Path, revision: str = "") -> PretrainedTextTokenizer:
    """Load the tokenizer of a model that writes.

    Raises WrongModelKindError for one that is neither causal nor sequence to sequence, and the
    errors of :func:`probing.lm.load_text_tokenizer`.
    """
    from probing.lm.loaders import load_text_tokenizer
    from probing.lm.text_tokenizer import PretrainedTextTokenizer

    _facts(source, revision)
    found = load_text_tokenizer(source, revision=revision or None)
    if not isinstance(found, PretrainedTextTokenizer):
        raise WrongModelKindError(f"'{source}' does not write.")
    return found


def load_weights(source: str | Path, revision: str, *, device: str) -> Any:
    """Load the weights in float32 onto `device`, ready to be trained.

    Raises ModelFilesError for damaged weights, WrongModelKindError where the checkpoint lacks
    some, and DeviceError.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

    facts = _facts(source, revision)
    place = choose_device(torch, device)
    loader: Any = AutoModelForCausalLM
    head = "a causal language model"
    if facts.kind == "seq2seq":
        loader, head = AutoModelForSeq2SeqLM, "a sequence-to-sequence model"
    return read_weights(facts, loader, torch.float32, head=head).to(place)


def save_weights(model: Any, tokenizer: Any, folder: Path) -> None:
    """Write configuration, weights and tokenizer into a folder."""
    with quiet_transformers():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def save_trained(model: Any, base: str | Path, revision: str, folder: Path) -> None:
    """Write a trained model into a folder, with the tokenizer of its base.

    It was trained on prompts as they stand, so that it keeps no chat template.
    """
    tokenizer = read_tokenizer(_facts(base, revision))
    tokenizer.chat_template = None
    save_weights(model, tokenizer, folder)


def parameter_count(model: Any) -> int:
    """Return the number of weights, each once where several layers share it."""
    return sum(weight.numel() for weight in model.parameters())


def base_revision(source: str | Path, revision: str) -> str:
    """Return the hub's commit, or a hash of the files in a local folder."""
    return revision_of(inspect_model(source, revision or None))


def device_name(device: str) -> str:
    """Return the device that ``auto`` stands for; DeviceError for one that is not there."""
    import torch

    return str(choose_device(torch, device))


def _facts(source: str | Path, revision: str) -> ModelFacts:
    facts = inspect_model(source, revision or None)
    if facts.kind not in KINDS:
        raise WrongModelKindError(
            f"'{source}' is of the kind '{facts.kind}'. Only causal and sequence-to-sequence "
            "models can be trained to rewrite."
        )
    return facts
