"""A model to train as a classifier of texts, in full or by adapters."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotation.common.lazy import np
from probing.lm.weights import read_tokenizer
from probing.training.base_model import TrainingBase, hash_recipe, padded, write_record
from probing.training.checkpoints import no_room_as_error
from probing.training.classifier_weights import load_base_classifier, load_base_tokenizer
from probing.training.errors import TrainingError
from probing.training.folders import build_folder
from probing.training.schedule import TrainingSettings
from probing.training.trainer import BatchLoss, measure, run_training
from probing.training.weights import parameter_count, save_weights

if TYPE_CHECKING:
    import torch

    from probing.lm.classifier import ClassifierTokenizer
    from probing.training.classifier_weights import BaseClassifier

# --- Low-rank adapters: Hu et al. (2022), with the peft library -----------------------------------


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


# --- A model to train as a classifier of texts, in full or by adapters ----------------------------

# Tells the draws of one seed apart; see probing.training.schedule.
_ADAPTERS = 4
#: Where the adapters lie in the folder of a merged model, out of sight of its loader.
ADAPTERS = "adapter"
# Weights, the two moments of AdamW, and the best weights so far, all of four bytes.
_BYTES_PER_TRAINED_WEIGHT = 16
_CARD = """---
library_name: transformers
pipeline_tag: text-classification
base_model: {base}
tags: [fine-tuned]
---

# {name}

Trained by Stereoscope from {base} ({base_revision}) to classify texts as {class_names}: {method}, \
{n_train} texts, {steps} steps of {batch_size} at a learning rate of {learning_rate:g} and a \
weight decay of {weight_decay:g}, seed {seed}. The weights are those after step {best_step}, with \
the lowest validation loss.

`{record}` holds the settings and what was measured.
"""


@dataclass(frozen=True)
class Example:
    """A text with the number of its class."""

    text: str
    label: int


@dataclass(frozen=True)
class Lora:
    """Adapters of rank `rank`, scaled by alpha / rank."""

    rank: int
    alpha: int


@dataclass(frozen=True)
class TrainedClassifier:
    """A classifier that was trained, in its folder, and how it did.

    Attributes
    ----------
    folder : name of the folder with configuration, weights and tokenizer, complete.
    steps, best_step : that were done, and after which the weights were taken.
    loss : training loss at the end, in nats.
    validation_loss, validation_accuracy, test_accuracy : of the weights that were taken.
    n_train, n_validation, n_test : numbers of texts.
    n_left_out : texts that are too long for the model.
    new_head : whether the head began with random numbers.
    resumed_at : steps that an earlier worker had done.
    damaged : checkpoints that were damaged and not used.
    """

    folder: str
    steps: int
    best_step: int
    stopped_early: bool
    loss: float
    validation_loss: float | None
    validation_accuracy: float | None
    test_accuracy: float
    n_train: int
    n_validation: int
    n_test: int
    n_left_out: int
    new_head: bool
    resumed_at: int = 0
    damaged: int = 0


class ClassifyingTask:
    """Learns classes of texts; a :class:`probing.training.trainer.TrainingTask`."""

    def __init__(
        self,
        model: Any,
        ids: Sequence[Sequence[int]],
        labels: Sequence[int],
        *,
        padding: int,
    ) -> None:
        self.model: torch.nn.Module = model
        self._ids, self._labels, self._padding = ids, labels, padding

    def loss(self, places: Sequence[int]) -> BatchLoss:
        import torch

        device = next(self.model.parameters()).device
        rows = [self._ids[place] for place in places]
        inputs = padded(rows, self._padding).to(device)
        read = padded([[1] * len(row) for row in rows], 0).to(device)
        labels = torch.tensor([self._labels[place] for place in places], device=device)
        logits = self.model(input_ids=inputs, attention_mask=read).logits.float()
        total = torch.nn.functional.cross_entropy(logits, labels, reduction="sum")
        correct = int((logits.argmax(dim=1) == labels).sum())
        return BatchLoss(total=total, count=len(places), correct=correct)


@dataclass(frozen=True)
class TrainableClassifier(TrainingBase):
    """A base model that can be trained to classify texts."""

    def train(
        self,
        *,
        train: Sequence[Example],
        validation: Sequence[Example],
        test: Sequence[Example],
        classes: Sequence[str],
        lora: Lora | None,
        settings: TrainingSettings,
    ) -> TrainedClassifier:
        """Train on `train`, from the newest checkpoint where there is one, and measure on `test`.

        The weights with the lowest loss on `validation` are kept. Adapters are saved and merged
        into the weights, so that the folder is a plain classifier. It appears complete or not at
        all; where it is there already, from an attempt that died right after, it is taken.

        Raises the errors of :func:`probing.training.trainer.run_training` and of loading the
        model, and :class:`TrainingError` where no text is left to train on or to test with.
        """
        parts = {"train": train, "validation": validation, "test": test}
        recipe = hash_recipe(
            {
                "base_revision": self.base_revision,
                "texts": {name: [asdict(one) for one in some] for name, some in parts.items()},
                "classes": list(classes),
                "lora": lora and asdict(lora),
                "settings": settings.decisive(),
            }
        )
        if record := self.finished_record(recipe):
            return TrainedClassifier(str(self.target), **record["result"])
        tokenizer = load_base_tokenizer(self.location, self.revision)
        fitting = _encode(tokenizer, parts)
        if not (fitting.places["train"] and fitting.places["test"]):
            raise TrainingError("No text fits the model, so there is nothing to train on.")
        with self.chosen_threads():
            base = load_base_classifier(
                self.location,
                self.revision,
                classes=classes,
                pad_id=tokenizer.pad_id,
                seed=settings.seed,
                device=self.device,
            )
            model = (
                base.model if lora is None else _adapt(base, lora, self.base_name, settings.seed)
            )
            trained = sum(w.numel() for w in model.parameters() if w.requires_grad)
            self.require_room(
                saved=trained * _BYTES_PER_TRAINED_WEIGHT, kept=parameter_count(base.model) * 4
            )
            task = ClassifyingTask(model, fitting.ids, fitting.labels, padding=tokenizer.pad_id)
            end = run_training(
                task,
                train=fitting.places["train"],
                held_out=fitting.places["validation"],
                settings=settings,
                workspace=self.workspace,
                recipe=recipe,
                report=self.report,
                wish=self.wish,
            )
            with no_room_as_error(self.target.parent), build_folder(self.target) as building:
                if lora is not None:
                    save_adapters(model, building / ADAPTERS)
                    task.model = model = merge_adapters(model)
                # Of the weights as they are used later, adapters merged.
                tested = measure(task, fitting.places["test"], settings.batch_size)
                save_weights(model, read_tokenizer(tokenizer.facts), building)
                result = TrainedClassifier(
                    folder=str(self.target),
                    steps=end.steps,
                    best_step=end.best_step,
                    stopped_early=end.stopped_early,
                    loss=end.loss,
                    validation_loss=end.held_out_loss,
                    validation_accuracy=end.held_out_accuracy,
                    test_accuracy=math.nan if tested.accuracy is None else tested.accuracy,
                    n_train=len(fitting.places["train"]),
                    n_validation=len(fitting.places["validation"]),
                    n_test=len(fitting.places["test"]),
                    n_left_out=fitting.n_left_out,
                    new_head=base.new_head,
                    resumed_at=end.resumed_at,
                    damaged=end.damaged,
                )
                write_record(building, self._record(recipe, settings, lora, classes, result), _CARD)
        return result

    def _record(
        self,
        recipe: str,
        settings: TrainingSettings,
        lora: Lora | None,
        classes: Sequence[str],
        result: TrainedClassifier,
    ) -> dict[str, Any]:
        found = asdict(result)
        del found["folder"]  # no path of this machine
        method = "in full" if lora is None else f"adapters of rank {lora.rank}, merged"
        return {
            "recipe": recipe,
            "name": self.name,
            "base": self.base_name,
            "base_revision": self.base_revision,
            "classes": list(classes),
            "class_names": ", ".join(classes),
            "method": method,
            "lora": lora and asdict(lora),
            "settings": asdict(settings),
            "result": found,
            "n_train": result.n_train,
            "steps": result.steps,
            "best_step": result.best_step,
        }


@dataclass(frozen=True)
class _Encoded:
    """ids, labels : of all texts that fit; places : of the texts of each part among them."""

    ids: list[list[int]]
    labels: list[int]
    places: dict[str, list[int]]
    n_left_out: int


def _encode(tokenizer: ClassifierTokenizer, parts: Mapping[str, Sequence[Example]]) -> _Encoded:
    """Encode all texts; nothing is cut, and what is too long for the model is left out."""
    found = _Encoded([], [], {name: [] for name in parts}, 0)
    left_out = 0
    for name, examples in parts.items():
        encoded = tokenizer.encode([one.text for one in examples])
        for one, ids in zip(examples, encoded, strict=True):
            if tokenizer.max_length is not None and len(ids) > tokenizer.max_length:
                left_out += 1
                continue
            found.places[name].append(len(found.ids))
            found.ids.append(ids)
            found.labels.append(one.label)
    return replace(found, n_left_out=left_out)


def _adapt(base: BaseClassifier, lora: Lora, base_name: str, seed: int) -> Any:
    """Return the model with adapters that are drawn from the seed."""
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(int(np.random.default_rng([seed, _ADAPTERS]).integers(2**62)))
        return add_adapters(
            base.model,
            rank=lora.rank,
            alpha=lora.alpha,
            trained_whole=base.trained_whole,
            base_name=base_name,
        )
