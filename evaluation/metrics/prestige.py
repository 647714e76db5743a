"""Prestige of occupations out of survey titles, and its regression on association scores.

Hofmann et al. (2024), Methods, Employability analysis; methods.md §11.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotation.common.lazy import stats
from evaluation.metrics.shown import Shown
from evaluation.metrics.undefined import UndefinedReason

Rule = Literal["words", "released"]


def occupation_prestige(
    occupations: Iterable[str], titles: Mapping[str, float], *, rule: Rule = "words"
) -> dict[str, float]:
    """Return the mean prestige of all titles that start or end with each occupation.

    titles : title of a survey → prestige
    rule : ``words`` matches whole words (ours); ``released`` any string at either end, as the
        released code, so that *actor* takes *contractor*

    Titles are compared in lower case. Occupations without a title are left out.
    """
    lowered = [(title.lower(), value) for title, value in titles.items()]
    found = {}
    for occupation in occupations:
        word = occupation.lower()
        if rule == "released":
            values = [v for title, v in lowered if title.startswith(word) or title.endswith(word)]
        else:
            ends = re.compile(rf"{re.escape(word)}\b|.*\b{re.escape(word)}$", re.DOTALL)
            values = [value for title, value in lowered if ends.match(title)]
        if values:
            found[occupation] = float(np.mean(values))
    return found


@dataclass(frozen=True)
class LinearFit:
    """A line y = intercept + slope x by least squares.

    low, high : interval of the slope
    r_squared, statistic, df, p_value : share explained, F(1, df), two-sided p
    x, fitted, band_low, band_high : the line and the interval of its mean, for a drawing
    """

    intercept: Annotated[float, Shown("Intercept", 2)]
    slope: Annotated[float, Shown("Slope", 2, signed=True, style="strong")]
    low: Annotated[float, Shown(meaning="lower end of the paper’s {level} interval")]
    high: Annotated[float, Shown(meaning="upper end of the paper’s {level} interval")]
    r_squared: Annotated[float, Shown("R²", 3)]
    statistic: Annotated[float, Shown("F", 2, name="f")]
    df: Annotated[int, Shown("df", 0)]
    p_value: Annotated[float, Shown("p (paper)", name="p", is_p=True)]
    n: Annotated[int, Shown("Occupations", 0)]
    x: tuple[float, ...] = ()
    fitted: tuple[float, ...] = ()
    band_low: tuple[float, ...] = ()
    band_high: tuple[float, ...] = ()
    reason: str = UndefinedReason.NONE


def linear_fit(x: ArrayLike, y: ArrayLike, *, level: float = 0.95, points: int = 41) -> LinearFit:
    """Return the regression of y on x, with its F-test and the band of the line.

    Pairs with a missing value are left out. F(1, n − 2) = r² (n − 2) / (1 − r²). Fewer than three
    pairs, or x without spread, leave it undefined.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    there = ~(np.isnan(a) | np.isnan(b))
    a, b = a[there], b[there]
    n = int(a.size)
    if n < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        reason = UndefinedReason.FEW_FOR_FIT if n < 3 else UndefinedReason.NO_SPREAD
        return LinearFit(*(np.nan,) * 6, max(n - 2, 0), np.nan, n, reason=reason)
    fit = stats.linregress(a, b)
    df = n - 2
    t = float(stats.t.ppf((1 + level) / 2, df))
    r_squared = float(fit.rvalue**2)
    f = r_squared * df / (1 - r_squared) if r_squared < 1 else np.inf
    line = np.linspace(a.min(), a.max(), points)
    fitted = fit.intercept + fit.slope * line
    residual = float(np.sqrt(np.sum((b - fit.intercept - fit.slope * a) ** 2) / df))
    spread = np.sum((a - a.mean()) ** 2)
    half = t * residual * np.sqrt(1 / n + (line - a.mean()) ** 2 / spread)
    return LinearFit(
        intercept=float(fit.intercept),
        slope=float(fit.slope),
        low=float(fit.slope - t * fit.stderr),
        high=float(fit.slope + t * fit.stderr),
        r_squared=r_squared,
        statistic=float(f),
        df=df,
        p_value=float(fit.pvalue),
        n=n,
        x=_plain(line),
        fitted=_plain(fitted),
        band_low=_plain(fitted - half),
        band_high=_plain(fitted + half),
    )


def _plain(values: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(values.tolist())
