"""Training tasks of models that write: sequence to sequence, and causal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from probing.training.rewriting import IGNORED, EncodedExample, TrainedKind
from probing.training.trainer import BatchLoss

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
        inputs = _padded([one.inputs for one in batch], self._padding).to(device)
        read = _padded([(1,) * len(one.inputs) for one in batch], 0).to(device)
        labels = _padded([one.labels for one in batch], IGNORED).to(device)
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


def _padded(rows: Sequence[Sequence[int]], filling: int) -> torch.Tensor:
    import torch

    width = max(len(row) for row in rows)
    return torch.tensor([[*row, *(filling for _ in range(width - len(row)))] for row in rows])
