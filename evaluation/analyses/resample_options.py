"""Options that every analysis with intervals has: seed, number and coverage of its resamples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class ResamplingOptions:
    """seed : the same seed and data give the same intervals; level : coverage, 0 to 1."""

    seed: int = 0
    n_resamples: int = 2000
    level: float = 0.95

    @property
    def resampling(self) -> dict[str, Any]:
        return {"seed": self.seed, "n_resamples": self.n_resamples, "level": self.level}
