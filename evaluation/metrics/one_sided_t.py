"""t-tests of one sample against a constant, and of two against each other, with one-sided p."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from annotation.common.lazy import stats
from evaluation.metrics.shown import Shown
from evaluation.metrics.undefined import UndefinedReason

Alternative = Literal["greater", "less"]


@dataclass(frozen=True)
class OneSidedT:
    """A test that a mean lies above (``greater``) or below (``less``) what it is compared with.

    mean, sd : of the sample; sd with ddof 1
    statistic, df, p_value : t, degrees of freedom, one-sided p; p_two_sided alongside
    n : values of the sample
    """

    mean: Annotated[float, Shown("Mean {quantity}", 4, signed=True, style="strong")]
    sd: Annotated[float, Shown("sd", 4, meaning="over {units}, ddof 1")]
    statistic: Annotated[float, Shown("t", 2, name="t")]
    df: float
    p_value: Annotated[float, Shown("p (below 0)", name="p_one_sided", is_p=True)]
    p_two_sided: Annotated[
        float, Shown("p (two-sided)", is_p=True, meaning="as the released code calls it")
    ]
    n: Annotated[int, Shown("{Units}", 0)]
    reason: str = UndefinedReason.NONE


def one_sample_t(sample: ArrayLike, *, alternative: Alternative) -> OneSidedT:
    """Return the test of the sample's mean against zero; NaN = missing.

    As `scipy.stats.ttest_1samp`. Fewer than two values, or equal ones, leave t undefined.
    """
    x = _numbers(sample)
    if undefined := _undefined(x, [x]):
        return undefined
    return _result(x, stats.ttest_1samp(x, 0.0, alternative=alternative))


def pooled_t(sample: ArrayLike, reference: ArrayLike, *, alternative: Alternative) -> OneSidedT:
    """Return the test of two means with equal variances assumed; NaN = missing.

    As `scipy.stats.ttest_ind`, and the call of Hofmann et al. (2024) for their agreement with
    chance, where `reference` are 10,000 random rankings.
    """
    x, y = _numbers(sample), _numbers(reference)
    if undefined := _undefined(x, [x, y]):
        return undefined
    with warnings.catch_warnings():
        # scipy fears for the precision where one of two samples is constant; zero is exact.
        warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)
        return _result(x, stats.ttest_ind(x, y, alternative=alternative))


def _result(x: np.ndarray, test: object) -> OneSidedT:
    t, df, p = (float(getattr(test, name)) for name in ("statistic", "df", "pvalue"))
    return OneSidedT(
        float(x.mean()), float(x.std(ddof=1)), t, df, p, min(1.0, 2 * min(p, 1 - p)), x.size
    )


def _undefined(x: np.ndarray, samples: list[np.ndarray]) -> OneSidedT | None:
    few = min(some.size for some in samples) < 2
    if not few and any(np.ptp(some) > 0 for some in samples):
        return None
    mean = float(x.mean()) if x.size else np.nan
    sd = float(x.std(ddof=1)) if x.size > 1 else np.nan
    reason = UndefinedReason.FEW_FOR_TEST if few else UndefinedReason.NO_SPREAD
    return OneSidedT(mean, sd, *(np.nan,) * 4, int(x.size), reason)


def _numbers(values: ArrayLike) -> np.ndarray:
    x = np.asarray(values, dtype=np.float64)
    return x[~np.isnan(x)]
