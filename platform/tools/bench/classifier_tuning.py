"""Fine-tuning of a classifier, beside a bare loop of torch on the same batches.

Both take turns, step by step, so that whatever else the machine does slows them alike. The bare
loop has its texts encoded and padded before its time begins; clipping gradients is part of both.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from probing.measures.probe_stimuli import SENTIMENT, ProbeStimuli
from probing.training.base_model import padded
from probing.training.checkpoints import save_checkpoint
from probing.training.classifier_weights import load_base_classifier, load_base_tokenizer
from probing.training.errors import TrainingStoppedError
from probing.training.schedule import TrainingSettings, epoch_batches
from probing.training.trainable_classifier import ClassifyingTask
from probing.training.trainer import Wish, run_training
from tools.bench.measuring import Meter, Row, peak_mb

BATCH = 16
#: Steps that are measured, after one that counts for neither.
STEPS = 12


def measure_tuning(
    folder: Path, stimuli: ProbeStimuli, units: str, *, steps: int = STEPS
) -> list[Row]:
    """Return times of our steps, of bare ones, and of a checkpoint."""
    tokenizer = load_base_tokenizer(folder)
    sentences = stimuli.sentences[:: max(1, len(stimuli.sentences) // (BATCH * (steps + 2)))]
    sentences = sentences[: BATCH * (steps + 2)]
    ids = tokenizer.encode([sentence.text for sentence in sentences])
    labels = [sentence.label for sentence in sentences]
    given: dict[str, Any] = {"classes": SENTIMENT, "pad_id": tokenizer.pad_id, "seed": 0}
    model = load_base_classifier(folder, "", device="cpu", **given).model
    settings = TrainingSettings(
        learning_rate=1e-5, weight_decay=1e-5, epochs=1, batch_size=BATCH, schedule="constant"
    )
    task = ClassifyingTask(model, ids, labels, padding=tokenizer.pad_id)
    bare = _BareLoop(copy.deepcopy(model), settings)
    batches = [
        _tensors(batch, ids, labels, tokenizer.pad_id)
        for batch in epoch_batches(range(len(ids)), BATCH, seed=settings.seed, epoch=0)
    ]
    ours, plain, saving = Meter(), Meter(), Meter()
    turns = iter(range(steps + 2))

    def take_turns() -> Wish:
        """Our step is over: the bare loop takes its own, and ours goes on."""
        turn = next(turns)
        if turn > 1:
            ours.__exit__(None, None, None)
        if turn > steps:
            return Wish.STOP
        if turn == 0:
            bare.step(batches[turn])
            return Wish.GO_ON
        with plain:
            bare.step(batches[turn])
        ours.__enter__()
        return Wish.GO_ON

    with tempfile.TemporaryDirectory() as workspace:
        with suppress(TrainingStoppedError):
            run_training(
                task,
                train=range(len(ids)),
                held_out=(),
                settings=settings,
                workspace=Path(workspace),
                recipe="bench",
                report=lambda point: None,
                wish=take_turns,
            )
        with saving:
            save_checkpoint(Path(workspace), 1, {"model": model.state_dict()} | bare.state())
    what = f"{steps} steps of {BATCH} texts, {units}"
    row = ours.row("fine-tuning", what)
    figures = {
        "share of the bare loop": plain.seconds / ours.seconds,
        "share of its CPU time": plain.cpu_seconds / ours.cpu_seconds,
        "steps a second": steps / ours.seconds,
        "peak MB": peak_mb(),
    }
    return [
        Row(**{**vars(row), "figures": figures}),
        plain.row("bare loop on the same batches", what),
        saving.row("saving a checkpoint, once an epoch", units),
    ]


class _BareLoop:
    def __init__(self, model: Any, settings: TrainingSettings) -> None:
        import torch

        self._torch, self._model = torch, model.train()
        self._clip = settings.clip_norm
        self._optimizer = torch.optim.AdamW(
            model.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )

    def step(self, batch: dict[str, Any]) -> None:
        self._optimizer.zero_grad()
        self._model(**batch).loss.backward()
        self._torch.nn.utils.clip_grad_norm_(self._model.parameters(), self._clip)
        self._optimizer.step()

    def state(self) -> dict[str, Any]:
        return {"optimizer": self._optimizer.state_dict()}


def _tensors(
    batch: Sequence[int], ids: Sequence[Sequence[int]], labels: Sequence[int], padding: int
) -> dict[str, Any]:
    rows = [ids[place] for place in batch]
    return {
        "input_ids": padded(rows, padding),
        "attention_mask": padded([[1] * len(row) for row in rows], 0),
        "labels": padded([[labels[place]] for place in batch], 0)[:, 0],
    }
