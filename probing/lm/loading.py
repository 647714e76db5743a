"""Loading masked language models and their tokenizers from a folder or the hub.

Torch and transformers take seconds to import, so they are imported when a model is loaded and
not before: a web process that only lists or checks models never pays for them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from probing.lm.errors import ModelFilesError, WrongModelKindError
from probing.lm.families import MASKED_FAMILIES, Family, supported_families
from probing.lm.sources import ModelFacts, fingerprint, inspect_model, local_folder
from probing.lm.weights import (
    choose_device,
    choose_numbers,
    choose_threads,
    read_tokenizer,
    read_weights,
)

if TYPE_CHECKING:
    from probing.lm.masked import MaskedLanguageModel
    from probing.lm.subwords import MaskedTokenizer

__all__ = ["load_masked", "load_tokenizer"]

DType = Literal["float64", "float32", "bfloat16", "float16"]

KIND_NAMES = {
    "masked": "a masked language model",
    "causal": "a causal language model",
    "seq2seq": "a sequence-to-sequence model",
    "classifier": "a classifier",
    "encoder": "an encoder without a language model's head",
    "unknown": "of a kind that its configuration does not tell",
}


def load_masked(
    source: str | Path,
    *,
    revision: str | None = None,
    device: str = "auto",
    dtype: DType = "float32",
    threads: int | None = None,
    batch_size: int = 64,
) -> MaskedLanguageModel:
    """Load a masked language model, in evaluation mode and without gradients.

    Parameters
    ----------
    source : a local folder or a hub id.
    revision : branch, tag or commit on the hub.
    device : ``auto`` (a CUDA GPU where there is one, else the CPU), ``cpu``, ``cuda``, ``mps``.
    dtype : number format of the encoder. Logits are always float32 or wider.
    threads : CPU threads of this process; None leaves torch's own choice.
    batch_size : sentences per forward pass; changes results in the last digits at most.

    Raises
    ------
    ModelNotFoundError
        No such folder, or the hub id cannot be reached.
    WrongModelKindError
        Not a masked language model, of a family that is not known, or without its head. All but
        the last are noticed from the configuration, before any weights are read.
    ModelFilesError
        Damaged or missing weights.
    TokenizerError
        No usable tokenizer, or one without a mask token.
    DeviceError
        The device or number format does not exist here.
    """
    facts, family = _masked_facts(source, revision)
    import torch
    from transformers import AutoModelForMaskedLM

    from probing.lm.masked import MaskedLanguageModel
    from probing.lm.packing import pack_linear_layers

    place = choose_device(torch, device)
    numbers = choose_numbers(torch, dtype)
    choose_threads(torch, threads)
    tokenizer = _tokenizer(facts)
    model = _read_masked(facts, family, AutoModelForMaskedLM, numbers)
    model = model.to(place).eval().requires_grad_(False)
    pack_linear_layers(model.get_submodule(family.body))
    folder = local_folder(source)
    return MaskedLanguageModel(
        model,
        tokenizer,
        family,
        facts,
        revision=facts.revision or (fingerprint(folder) if folder else ""),
        batch_size=batch_size,
    )


def _read_masked(facts: ModelFacts, family: Family, loader: Any, numbers: Any) -> Any:
    """Return the model, with the head that its stored weights fill."""
    head = "a masked language model"
    try:
        return read_weights(facts, loader, numbers, head=head)
    except WrongModelKindError:
        if not family.second_try:
            raise
        return read_weights(facts, loader, numbers, head=head, **dict(family.second_try))


def load_tokenizer(source: str | Path, *, revision: str | None = None) -> MaskedTokenizer:
    """Load the tokenizer of a masked language model alone: enough for a dry run.

    Raises the errors of :func:`load_masked`, except those that concern the weights.
    """
    facts, _ = _masked_facts(source, revision)
    return _tokenizer(facts)


def _masked_facts(source: str | Path, revision: str | None) -> tuple[ModelFacts, Family]:
    facts = inspect_model(source, revision)
    if facts.kind != "masked":
        raise WrongModelKindError(
            f"'{source}' is {KIND_NAMES[facts.kind]}, not a masked language model. "
            "Choose a model such as 'bert-base-cased' or 'roberta-base'."
        )
    if facts.family not in MASKED_FAMILIES:
        raise WrongModelKindError(
            f"'{source}' is a masked language model of the family '{facts.family}', which is not "
            f"supported. Supported families: {supported_families()}."
        )
    if facts.vocabulary_size is None or facts.max_length is None:
        raise ModelFilesError(
            f"The configuration of '{source}' states no vocabulary size or no number of "
            "positions. Save the model again with a current version of transformers."
        )
    return facts, MASKED_FAMILIES[facts.family]


def _tokenizer(facts: ModelFacts) -> MaskedTokenizer:
    from probing.lm.subwords import MaskedTokenizer

    found = read_tokenizer(facts)
    return MaskedTokenizer(
        found,
        vocabulary_size=facts.vocabulary_size or len(found),
        max_length=facts.max_length or found.model_max_length,
    )
