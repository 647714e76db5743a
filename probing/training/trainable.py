"""A model to train further: what measures are given instead of a model in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probing.training.base_model import TrainingBase, hash_recipe, padded, write_record
from probing.training.checkpoints import no_room_as_error
from probing.training.errors import TrainingError
from probing.training.folders import build_folder
from probing.training.rewriting_examples import (
    IGNORED,
    EncodedExample,
    EncodedExamples,
    ExampleEncoder,
    LeftOut,
    RewritingExample,
    TrainedKind,
    encode_examples,
)
from probing.training.schedule import TrainingSettings, split_held_out
from probing.training.trainer import BatchLoss, TrainingEnd, run_training
from probing.training.weights import (
    load_trainable_tokenizer,
    load_weights,
    parameter_count,
    save_trained,
)

if TYPE_CHECKING:
    import torch


class WritingTask:
    """Learns answers to prompts; a :class:`probing.training.trainer.TrainingTask`.

    The loss is −ln P of the answers' tokens, end token included, given the prompt and the tokens
    before (teacher forcing).
    """

    def __init__(
        self, model: Any, kind: TrainedKind, examples: Sequence[EncodedExample], *, padding: int
    ) -> None:
        self.model: torch.nn.Module = model
        self._kind, self._examples, self._padding = kind, examples, padding

    def loss(self, places: Sequence[int]) -> BatchLoss:
        import torch

        batch = [self._examples[place] for place in places]
        device = next(self.model.parameters()).device
        inputs = padded([one.inputs for one in batch], self._padding).to(device)
        read = padded([(1,) * len(one.inputs) for one in batch], 0).to(device)
        labels = padded([one.labels for one in batch], IGNORED).to(device)
        if self._kind == "seq2seq":
            # Given labels, the model builds the decoder's input itself, in its family's own way.
            logits = self.model(input_ids=inputs, attention_mask=read, labels=labels).logits
        else:
            logits = self.model(input_ids=inputs, attention_mask=read, use_cache=False).logits
            logits, labels = logits[:, :-1], labels[:, 1:]  # each position foretells the next
        total = torch.nn.functional.cross_entropy(
            logits.reshape(-1, logits.shape[-1]).float(),
            labels.reshape(-1),
            ignore_index=IGNORED,
            reduction="sum",
        )
        return BatchLoss(total=total, count=int((labels != IGNORED).sum()))


# Weights and the two moments of AdamW, all of four bytes.
_BYTES_PER_WEIGHT_SAVED = 12

_CARD = """---
library_name: transformers
base_model: {base}
tags: [fine-tuned]
---

# {name}

Trained by Stereoscope from {base} ({base_revision}) on {n_train} examples of rewriting, \
{steps} steps of {batch_size} at a learning rate of {learning_rate:g}, seed {seed}. \
Last training loss {loss:.3f} nats per token.

`{record}` holds the settings, and names what was held out or left out.
"""


@dataclass(frozen=True)
class TrainedModel:
    """A model that was trained, in its folder.

    Attributes
    ----------
    folder : configuration, weights and tokenizer, complete.
    steps, loss, held_out_loss : of the last point of the loss curve.
    n_train, n_held_out : numbers of examples.
    left_out : examples that do not fit the model.
    resumed_at : steps that an earlier worker had done.
    damaged : checkpoints that were damaged and not used.
    """

    folder: Path
    steps: int
    loss: float
    held_out_loss: float | None
    n_train: int
    n_held_out: int
    left_out: tuple[LeftOut, ...]
    resumed_at: int = 0
    damaged: int = 0


@dataclass(frozen=True)
class Trainable(TrainingBase):
    """A base model that can be trained to give answers to prompts."""

    def train(
        self,
        examples: Sequence[RewritingExample],
        *,
        held_out_share: float,
        settings: TrainingSettings,
    ) -> TrainedModel:
        """Train on `examples`, from the newest checkpoint where there is one.

        The folder appears complete or not at all; where it is there already, from an attempt
        that died right after, it is taken.

        Raises the errors of :func:`probing.training.trainer.run_training` and of loading the
        model, and :class:`TrainingError` where no example is left to train on.
        """
        recipe = self._recipe(examples, held_out_share, settings)
        if record := self.finished_record(recipe):
            return _trained(self.target, record)
        read = load_trainable_tokenizer(self.location, self.revision)
        fitting = encode_examples(ExampleEncoder(read), examples)
        groups = [example.group for example in fitting.examples]
        train, held_out = split_held_out(groups, held_out_share, settings.seed)
        if not train:
            raise TrainingError("No example fits the model, so there is nothing to train on.")
        with self.chosen_threads():
            model = load_weights(self.location, self.revision, device=self.device)
            weights = parameter_count(model)
            self.require_room(saved=weights * _BYTES_PER_WEIGHT_SAVED, kept=weights * 4)
            task = WritingTask(model, read.kind, fitting.encoded, padding=read.pad_id)
            end = run_training(
                task,
                train=train,
                held_out=held_out,
                settings=settings,
                workspace=self.workspace,
                recipe=recipe,
                report=self.report,
                wish=self.wish,
            )
            record = _record(self, recipe, settings, fitting, train, held_out, end)
            with no_room_as_error(self.target.parent), build_folder(self.target) as building:
                save_trained(model, self.location, self.revision, building)
                write_record(building, record, _CARD)
        return _trained(self.target, record, end)

    def _recipe(
        self,
        examples: Sequence[RewritingExample],
        held_out_share: float,
        settings: TrainingSettings,
    ) -> str:
        """Return a hash of all that decides the weights."""
        parts = {
            "base_revision": self.base_revision,
            "examples": [asdict(example) for example in examples],
            "held_out_share": held_out_share,
            "settings": settings.decisive(),
        }
        return hash_recipe(parts)


def _record(
    base: Trainable,
    recipe: str,
    settings: TrainingSettings,
    fitting: EncodedExamples,
    train: Sequence[int],
    held_out: Sequence[int],
    end: TrainingEnd,
) -> dict[str, Any]:
    return {
        "recipe": recipe,
        "name": base.name,
        "base": base.base_name,
        "base_revision": base.base_revision,
        "settings": asdict(settings),
        "n_train": len(train),
        "n_held_out": len(held_out),
        "held_out": [fitting.examples[place].slug for place in held_out],
        "left_out": [asdict(left) for left in fitting.left_out],
        "steps": end.steps,
        "loss": end.loss,
        "held_out_loss": end.held_out_loss,
    }


def _trained(folder: Path, record: dict[str, Any], end: TrainingEnd | None = None) -> TrainedModel:
    return TrainedModel(
        folder=folder,
        steps=record["steps"],
        loss=record["loss"],
        held_out_loss=record["held_out_loss"],
        n_train=record["n_train"],
        n_held_out=record["n_held_out"],
        left_out=tuple(LeftOut(**left) for left in record["left_out"]),
        resumed_at=end.resumed_at if end else 0,
        damaged=end.damaged if end else 0,
    )
