"""Model scores as a table of groups by scales, with what is known of their uncertainty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from annotation.common.lazy import pd, stats
from evaluation.metrics.few_units import LEAST_PROMPTS


@dataclass(frozen=True)
class ScoreTable:
    """Scores of one model, all frames with groups as rows and scales as columns.

    mean : score, positive toward the 100 pole, NaN = no score
    low, high : limits of a 95 % interval, NaN or None where there is none
    n : prompts that the score rests on, None where unknown
    reasons : (group, scale) → why there is no score
    """

    mean: pd.DataFrame
    low: pd.DataFrame | None = None
    high: pd.DataFrame | None = None
    n: pd.DataFrame | None = None
    reasons: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def from_long(
        cls,
        scores: pd.DataFrame,
        *,
        reasons: Mapping[tuple[str, str], str] | None = None,
        level: float = 0.95,
    ) -> ScoreTable:
        """Return the mean over prompts for every group and scale, with its interval.

        scores : columns group, scale, value; one row a prompt, NaN = no score with that prompt
        level : coverage of the interval, 0 to 1

        The interval is mean ± t · sd / √n with n − 1 degrees of freedom: it says how far the
        score depends on the wording of the prompts, for prompts like these. Fewer than six
        prompts give no interval. Raises ValueError for missing columns and infinite scores.
        """
        absent = {"group", "scale", "value"} - set(scores.columns)
        if absent:
            raise ValueError(f"the scores lack the columns {', '.join(sorted(absent))}")
        if np.isinf(scores["value"].to_numpy(dtype=float)).any():
            raise ValueError("infinite scores cannot be averaged; give NaN and a reason instead")
        cells = scores.groupby(["group", "scale"], sort=False)["value"]
        mean, n = cells.mean(), cells.count()
        error: pd.Series = (cells.std(ddof=1) / np.sqrt(n)).where(n >= LEAST_PROMPTS)
        half = stats.t.ppf((1 + level) / 2, (n - 1).clip(lower=1)) * error
        return cls(
            mean=mean.unstack("scale"),
            low=(mean - half).unstack("scale"),
            high=(mean + half).unstack("scale"),
            n=n.unstack("scale"),
            reasons=dict(reasons or {}),
        )
