"""Low-rank adapters: Hu et al. (2022), with the peft library.

Every linear layer of the model's body gets adapters; embeddings stay as they are. Modules that the
base lacked, such as the head that classifies, are trained whole and saved with the adapters.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection
from pathlib import Path
from typing import Any


def add_adapters(
    model: Any, *, rank: int, alpha: int, trained_whole: Collection[str], base_name: str
) -> Any:
    """Return the model with adapters of W + (alpha / rank) · B A; only they can be trained.

    trained_whole : names of modules that are trained as a whole
    base_name : what the adapters' files say that they belong to

    At first B is 0, so that the model does what it did before.
    """
    import peft
    import torch
    from transformers.pytorch_utils import Conv1D

    inside = tuple(f"{name}." for name in trained_whole)
    layers = [
        name
        for name, layer in model.named_modules()
        if isinstance(layer, torch.nn.Linear | Conv1D)
        and name not in trained_whole
        and not name.startswith(inside)
    ]
    config = peft.LoraConfig(
        r=rank,
        lora_alpha=alpha,
        lora_dropout=0.0,
        bias="none",
        target_modules=layers,
        modules_to_save=sorted(trained_whole),
        # GPT-2 keeps its layers transposed.
        fan_in_fan_out=any(isinstance(model.get_submodule(name), Conv1D) for name in layers),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # the two libraries among themselves
        adapted = peft.get_peft_model(model, config)
    adapted.peft_config["default"].base_model_name_or_path = base_name
    return adapted


def save_adapters(model: Any, folder: Path) -> None:
    """Write the adapters and what was trained whole, as `peft.PeftModel.from_pretrained` reads."""
    # With “auto”, the hub would be asked for the base model's vocabulary.
    model.save_pretrained(folder, save_embedding_layers=False)
    (folder / "README.md").unlink(missing_ok=True)  # a card that says nothing yet


def merge_adapters(model: Any) -> Any:
    """Return the plain model, with the adapters added to its weights."""
    return model.merge_and_unload()
