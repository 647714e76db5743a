"""Loading models that fill slots: masked ones, and causal ones that go on from the left."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from probing.lm.errors import ModelFilesError, WrongModelKindError
from probing.lm.loading import KIND_NAMES, DType, load_masked, load_tokenizer
from probing.lm.sources import ModelFacts, fingerprint, inspect_model, local_folder
from probing.lm.text_loading import BATCH_TOKENS
from probing.lm.weights import (
    choose_device,
    choose_numbers,
    choose_threads,
    read_tokenizer,
    read_weights,
)

if TYPE_CHECKING:
    from probing.lm.causal_slot_tokenizer import CausalSlotTokenizer
    from probing.lm.causal_slots import CausalSlotModel
    from probing.lm.masked import MaskedLanguageModel
    from probing.lm.subwords import MaskedTokenizer

__all__ = ["load_slot_model", "load_slot_tokenizer"]


def load_slot_model(
    source: str | Path,
    *,
    revision: str | None = None,
    device: str = "auto",
    dtype: DType = "float32",
    threads: int | None = None,
) -> MaskedLanguageModel | CausalSlotModel:
    """Load a model that says which word belongs in a slot, masked or causal.

    Its configuration decides which of the two it is. Parameters and errors are those of
    :func:`probing.lm.load_masked`.
    """
    facts = _slot_facts(source, revision)
    if facts.kind == "masked":
        return load_masked(source, revision=revision, device=device, dtype=dtype, threads=threads)
    import torch
    import transformers

    from probing.lm.causal_slots import CausalSlotModel

    place = choose_device(torch, device)
    numbers = choose_numbers(torch, dtype)
    choose_threads(torch, threads)
    tokenizer = _causal_tokenizer(facts)
    head = "a causal language model"
    model = read_weights(facts, transformers.AutoModelForCausalLM, numbers, head=head)
    folder = local_folder(source)
    return CausalSlotModel(
        model.to(place).eval().requires_grad_(False),
        tokenizer,
        revision=facts.revision or (fingerprint(folder) if folder else ""),
        batch_tokens=BATCH_TOKENS,
    )


def load_slot_tokenizer(
    source: str | Path, *, revision: str | None = None
) -> MaskedTokenizer | CausalSlotTokenizer:
    """Load what a dry run needs: the tokenizer alone.

    Raises the errors of :func:`load_slot_model`, except those that concern the weights.
    """
    facts = _slot_facts(source, revision)
    if facts.kind == "masked":
        return load_tokenizer(source, revision=revision)
    return _causal_tokenizer(facts)


def _slot_facts(source: str | Path, revision: str | None) -> ModelFacts:
    facts = inspect_model(source, revision)
    if facts.kind not in ("masked", "causal"):
        raise WrongModelKindError(
            f"'{source}' is {KIND_NAMES[facts.kind]}, which has no slot to fill. Choose a masked "
            "model such as 'roberta-base', or a causal one such as 'gpt2'."
        )
    return facts


def _causal_tokenizer(facts: ModelFacts) -> CausalSlotTokenizer:
    from probing.lm.causal_slot_tokenizer import CausalSlotTokenizer

    if facts.vocabulary_size is None:
        raise ModelFilesError(
            f"The configuration of '{facts.source}' states no vocabulary size. Save the model "
            "again with a current version of transformers."
        )
    return CausalSlotTokenizer(read_tokenizer(facts), facts)
