"""How Kohankhaki et al. (2024) fine-tuned their classifiers: §3.3 and Table 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Method = Literal["full", "lora"]
#: Larger models were trained by adapters; above 355 million, since checkpoints count heads too.
LARGEST_IN_FULL = 400_000_000
LORA_RANK = 8


@dataclass(frozen=True)
class TuningPreset:
    """One row of Table 1.

    family : as configurations call it
    size : number of weights
    patience : evaluations without a lower validation loss that end a training
    """

    name: str
    family: str
    size: float
    patience: int
    learning_rate: float
    weight_decay: float

    @property
    def method(self) -> Method:
        return "full" if self.size <= LARGEST_IN_FULL else "lora"

    @property
    def trainings(self) -> int:
        """Runs for every model; of 15 the best five were taken."""
        return 15 if self.method == "full" else KEPT


KEPT = 5
TABLE_1 = (
    TuningPreset("RoBERTa-125M", "roberta", 125e6, 7, 1e-5, 1e-5),
    TuningPreset("RoBERTa-355M", "roberta", 355e6, 7, 1e-5, 1e-5),
    TuningPreset("OPT-125M", "opt", 125e6, 7, 1e-5, 1e-5),
    TuningPreset("OPT-350M", "opt", 350e6, 7, 1e-5, 1e-3),
    TuningPreset("OPT-1.3B", "opt", 1.3e9, 5, 1e-4, 1e-4),
    TuningPreset("OPT-6.7B", "opt", 6.7e9, 5, 1e-4, 1e-4),
    TuningPreset("OPT-13B", "opt", 13e9, 5, 1e-4, 1e-4),
    TuningPreset("Llama-2-7B", "llama", 6.7e9, 5, 1e-4, 1e-4),
    TuningPreset("Llama-2-13B", "llama", 13e9, 5, 1e-4, 1e-4),
    TuningPreset("Llama-3-8B", "llama", 8e9, 5, 1e-4, 1e-3),
    TuningPreset("Mistral-7B", "mistral", 7.2e9, 5, 3e-5, 1e-3),
)


def find_preset(family: str, size: int | None, method: Method | None = None) -> TuningPreset:
    """Return the row nearest in size among those of the family and the method.

    method : None takes that of the paper for the size

    A family that the table lacks takes the rows of all; a size that is not known, the smallest.
    """
    known = size or TABLE_1[0].size
    wanted = method or ("full" if known <= LARGEST_IN_FULL else "lora")
    fitting = [row for row in TABLE_1 if row.method == wanted]
    own = [row for row in fitting if row.family == family]
    return min(own or fitting, key=lambda row: abs(math.log(row.size / known)))
