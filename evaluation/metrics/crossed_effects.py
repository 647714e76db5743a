"""The mean of values that texts and prompts share, both taken as samples: crossed random effects.

    y_tp = mean + text_t + prompt_p + rest_tp

with one value for every text in every prompt. In such a balanced table restricted maximum
likelihood has a closed form, that of the analysis of variance (Searle, Casella and McCulloch 1992,
Variance Components, §4.4 and §4.7): an estimate below zero is zero, and its sum of squares joins
the rest. Clark (1973), The language-as-fixed-effect fallacy; Baayen, Davidson and Bates (2008).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from annotation.common.lazy import stats
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.undefined import UndefinedReason


@dataclass(frozen=True)
class CrossedEffects:
    """The mean over texts and prompts, and what single values vary with.

    estimate : the mean with its interval, n = texts
    n_prompts : prompts of each text
    p_value : two-sided, of a mean of zero; df by Satterthwaite (1946)
    texts, prompts, rest : variances, in the squared unit of the values
    """

    estimate: Estimate
    n_prompts: int = 0
    error: float = np.nan
    df: float = np.nan
    p_value: float = np.nan
    texts: float = np.nan
    prompts: float = np.nan
    rest: float = np.nan

    def share(self, part: str) -> float:
        """Return the share of the variance of single values that is of `texts`, `prompts`, `rest`.

        NaN where nothing varies.
        """
        total = self.texts + self.prompts + self.rest
        return float(getattr(self, part) / total) if total > 0 else float("nan")


def crossed_effects(values: ArrayLike, *, level: float = 0.95) -> CrossedEffects:
    """Return the mean of a table with interval and test.

    values : (n_prompts, n_texts); texts with a missing value (NaN) are left out
    level : coverage of the interval, 0 to 1

    Undefined with fewer than two texts or prompts, and where all values are equal. Raises
    ValueError for other shapes.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"a table of prompts and texts is needed, got the shape {table.shape}")
    table = table[:, ~np.isnan(table).any(axis=0)]
    n_prompts, n_texts = table.shape
    if not n_texts or not n_prompts:
        return CrossedEffects(no_estimate(UndefinedReason.NO_VALUES))
    mean = float(table.mean())
    if n_texts < 2 or n_prompts < 2:
        few = UndefinedReason.ONE_PROMPT if n_prompts < 2 else UndefinedReason.ONE_TEXT
        return CrossedEffects(Estimate(mean, n=n_texts, interval_reason=few), n_prompts)
    if np.ptp(table) <= 1e-12 * max(1.0, abs(mean)):
        why = UndefinedReason.NO_SPREAD
        return CrossedEffects(Estimate(mean, n=n_texts, interval_reason=why), n_prompts)
    by_text, by_prompt = table.mean(axis=0) - mean, table.mean(axis=1) - mean
    rest = table - mean - by_text - by_prompt[:, None]
    squares = {
        "texts": (n_prompts * float(by_text @ by_text), n_texts - 1),
        "prompts": (n_texts * float(by_prompt @ by_prompt), n_prompts - 1),
    }
    left, left_df = float((rest**2).sum()), (n_texts - 1) * (n_prompts - 1)
    for name in sorted(squares, key=lambda name: squares[name][0] / squares[name][1]):
        total, df = squares[name]
        if total / df <= left / left_df:  # a variance below zero: none, and all of it is rest
            left, left_df = left + total, left_df + df
            del squares[name]
    noise = left / left_df
    parts = [(total / df, df) for total, df in squares.values()] or [(noise, left_df)]
    spread = sum(square for square, _ in parts)
    if len(parts) == 2:  # either holds the variance of the rest, which counts once
        spread, parts = spread - noise, [*parts, (noise, left_df)]
    error = float(np.sqrt(spread / table.size))
    df = spread**2 / sum(square**2 / each for square, each in parts)  # Satterthwaite (1946)
    reach = float(stats.t.ppf((1 + level) / 2, df)) * error
    sizes = {"texts": n_prompts, "prompts": n_texts}
    variances = {
        name: (total / each - noise) / sizes[name] for name, (total, each) in squares.items()
    }
    return CrossedEffects(
        Estimate(mean, mean - reach, mean + reach, n_texts, signature=f"crossed|level:{level:g}"),
        n_prompts,
        error,
        float(df),
        float(2 * stats.t.sf(abs(mean) / error, df)),
        variances.get("texts", 0.0),
        variances.get("prompts", 0.0),
        noise,
    )
