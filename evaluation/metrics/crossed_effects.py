"""The mean of values that texts share in several prompts, with interval and test of one question.

    y_tp = mean + text_t + prompt_p + rest_tp

with one value for every text in every prompt, n texts and P prompts, and the mean squares M_T, M_P
and M_E of texts, prompts and the rest.

- *Prompts like these*, from six prompts on: v = M_P / (nP) + max(0, M_T − M_E) / (nP). The part of
  the prompts is never dropped, so that few prompts cannot make the interval short. Degrees of
  freedom after Satterthwaite (1946), at least P − 1.
- *These prompts*, with fewer: the means y_t of the texts over the prompts, v = sd(y)² / n, n − 1.

Interval and p-value are of the same Student's t. Clark (1973), The language-as-fixed-effect
fallacy; Baayen, Davidson and Bates (2008). What single values vary with is estimated by restricted
maximum likelihood, in a balanced table that of the analysis of variance (Searle, Casella and
McCulloch 1992, Variance Components, §4.4 and §4.7): an estimate below zero is zero, and its sum of
squares joins the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotation.common.lazy import stats
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.few_units import LEAST_PROMPTS, LEAST_UNITS
from evaluation.metrics.undefined import UndefinedReason

LIKE_THESE, THESE = "prompts like these", "these prompts"


@dataclass(frozen=True)
class CrossedEffects:
    """The mean over texts and prompts, and what single values vary with.

    estimate : the mean with its interval, n = texts
    n_prompts : prompts of each text
    question : what interval and p-value are about, empty without a value
    reach : half the width of the interval
    p_value : two-sided, of a mean of zero, from the same t as the interval
    texts, prompts, rest : variances, in the squared unit of the values
    """

    estimate: Estimate
    n_prompts: int = 0
    question: str = ""
    reach: float = np.nan
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

    def about(self, value: float) -> CrossedEffects:
        """Return interval and test round another mean, of sets of texts that weigh alike."""
        if np.isnan(self.error):
            return replace(self, estimate=replace(self.estimate, value=value))
        if np.isclose(value, self.estimate.value, rtol=1e-12, atol=1e-15):
            value = self.estimate.value
        estimate = replace(
            self.estimate, value=value, low=value - self.reach, high=value + self.reach
        )
        return replace(self, estimate=estimate, p_value=_p_value(value, self.error, self.df))


def crossed_effects(values: ArrayLike, *, level: float = 0.95) -> CrossedEffects:
    """Return the mean of a table with interval and test, both of one question.

    values : (n_prompts, n_texts); texts with a missing value (NaN) are left out
    level : coverage of the interval, 0 to 1

    No interval and no test with fewer than five texts, and where nothing varies. Raises ValueError
    for other shapes.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"a table of prompts and texts is needed, got the shape {table.shape}")
    table = table[:, ~np.isnan(table).any(axis=0)]
    n_prompts, n_texts = table.shape
    if not n_texts or not n_prompts:
        return CrossedEffects(no_estimate(UndefinedReason.NO_VALUES))
    mean = float(table.mean())
    question = LIKE_THESE if n_prompts >= LEAST_PROMPTS else THESE
    if n_texts < LEAST_UNITS:
        one = n_texts < 2
        why = UndefinedReason.ONE_TEXT if one else UndefinedReason.FEW_FOR_INTERVAL
        return CrossedEffects(Estimate(mean, n=n_texts, interval_reason=why), n_prompts, question)
    squares = _mean_squares(table)
    error, df = _like_these(table, *squares) if question == LIKE_THESE else _these(table)
    variances = _variances(table, *squares) if n_prompts > 1 else (np.nan,) * 3
    if error <= 1e-12 * max(1.0, abs(mean)):
        why = UndefinedReason.NO_SPREAD
        bare = Estimate(mean, n=n_texts, interval_reason=why)
        return CrossedEffects(bare, n_prompts, question)
    reach = float(stats.t.ppf((1 + level) / 2, df)) * error
    signature = f"{question}|level:{level:g}"
    return CrossedEffects(
        Estimate(mean, mean - reach, mean + reach, n_texts, signature=signature),
        n_prompts,
        question,
        reach,
        error,
        df,
        _p_value(mean, error, df),
        *variances,
    )


def crossed_difference(
    first: ArrayLike, second: ArrayLike, *, level: float = 0.95
) -> CrossedEffects:
    """Return the difference of the means of two tables of other texts in the same prompts.

    first, second : (n_prompts, n_texts) as in `crossed_effects`

    The prompts' part is that of the differences within each prompt, the texts' parts add up;
    *these prompts*: the test of Welch (1947).
    """
    tables = [np.asarray(side, dtype=np.float64) for side in (first, second)]
    tables = [side[:, ~np.isnan(side).any(axis=0)] for side in tables]
    n_prompts, n_texts = len(tables[0]), min(side.shape[1] for side in tables)
    if not n_texts or not n_prompts:
        return CrossedEffects(no_estimate(UndefinedReason.NO_VALUES))
    value = float(tables[0].mean() - tables[1].mean())
    question = LIKE_THESE if n_prompts >= LEAST_PROMPTS else THESE
    if n_texts < LEAST_UNITS:
        why = UndefinedReason.FEW_FOR_INTERVAL
        return CrossedEffects(Estimate(value, n=n_texts, interval_reason=why), n_prompts, question)
    if question == LIKE_THESE:
        apart = tables[0].mean(axis=1) - tables[1].mean(axis=1)
        v = v_prompts = float(apart.var(ddof=1)) / n_prompts
        spread = v_prompts**2 / (n_prompts - 1)
        for table in tables:
            of_texts, _, rest = _mean_squares(table)
            v_texts, part = _part_of_texts(table, of_texts, rest)
            v, spread = v + v_texts, spread + part
        error, df = float(np.sqrt(v)), max(v**2 / spread if spread > 0 else 0.0, n_prompts - 1.0)
    else:
        parts = [_these(table) for table in tables]
        v = sum(error**2 for error, _ in parts)
        spread = sum(error**4 / df for error, df in parts)
        error, df = float(np.sqrt(v)), v**2 / spread if spread > 0 else 0.0
    if error <= 1e-12 * max(1.0, abs(value)):
        bare = Estimate(value, n=n_texts, interval_reason=UndefinedReason.NO_SPREAD)
        return CrossedEffects(bare, n_prompts, question)
    reach = float(stats.t.ppf((1 + level) / 2, df)) * error
    estimate = Estimate(value, value - reach, value + reach, n_texts)
    p_value = _p_value(value, error, df)
    return CrossedEffects(estimate, n_prompts, question, reach, error, df, p_value)


def _p_value(mean: float, error: float, df: float) -> float:
    return float(2 * stats.t.sf(abs(mean) / error, df))


def _mean_squares(table: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return those of texts, prompts and the rest; NaN for prompts and rest with one prompt."""
    n_prompts, n_texts = table.shape
    mean = table.mean()
    by_text, by_prompt = table.mean(axis=0) - mean, table.mean(axis=1) - mean
    of_texts = n_prompts * float(by_text @ by_text) / (n_texts - 1)
    if n_prompts < 2:
        return of_texts, np.nan, np.nan
    rest = table - mean - by_text - by_prompt[:, None]
    of_prompts = n_texts * float(by_prompt @ by_prompt) / (n_prompts - 1)
    return of_texts, of_prompts, float((rest**2).sum()) / ((n_texts - 1) * (n_prompts - 1))


def _like_these(
    table: NDArray[np.float64], of_texts: float, of_prompts: float, rest: float
) -> tuple[float, float]:
    """Return standard error and degrees of freedom for texts and prompts like these."""
    v_prompts = of_prompts / table.size
    v_texts, spread = _part_of_texts(table, of_texts, rest)
    v = v_prompts + v_texts
    spread += v_prompts**2 / (len(table) - 1)
    df = v**2 / spread if spread > 0 else 0.0
    return float(np.sqrt(v)), max(df, len(table) - 1.0)


def _part_of_texts(table: NDArray[np.float64], of_texts: float, rest: float) -> tuple[float, float]:
    """Return the texts' part of the variance of the mean, and its part of the spread of that."""
    n_prompts, n_texts = table.shape
    part = max(0.0, of_texts - rest) / table.size
    if not part:
        return 0.0, 0.0
    spread = (of_texts / table.size) ** 2 / (n_texts - 1)
    return part, spread + (rest / table.size) ** 2 / ((n_texts - 1) * (n_prompts - 1))


def _these(table: NDArray[np.float64]) -> tuple[float, float]:
    """Return standard error and degrees of freedom for texts like these, in these prompts."""
    by_text = table.mean(axis=0)
    return float(by_text.std(ddof=1) / np.sqrt(len(by_text))), len(by_text) - 1.0


def _variances(
    table: NDArray[np.float64], of_texts: float, of_prompts: float, rest: float
) -> tuple[float, float, float]:
    """Return the variances of texts, prompts and the rest; none is below zero."""
    n_prompts, n_texts = table.shape
    left_df = (n_texts - 1) * (n_prompts - 1)
    left = rest * left_df
    squares = {"texts": (of_texts, n_texts - 1), "prompts": (of_prompts, n_prompts - 1)}
    for name in sorted(squares, key=lambda name: squares[name][0]):
        square, df = squares[name]
        if square <= left / left_df:  # a variance below zero: none, and all of it is rest
            left, left_df = left + square * df, left_df + df
            del squares[name]
    noise = left / left_df
    texts = (squares["texts"][0] - noise) / n_prompts if "texts" in squares else 0.0
    prompts = (squares["prompts"][0] - noise) / n_texts if "prompts" in squares else 0.0
    return texts, prompts, noise
