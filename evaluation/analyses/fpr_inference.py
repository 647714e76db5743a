"""What holds of all gaps in false positive rates at once: intervals, tests, span, and spread.

*Ours*. With X[g, t, r] the share of false positives of group g, template t, run r, and

    D = X − mean over groups of X,   gap_g = mean over t and r of D[g],

a gap's squared error is that of two-way clusters (Cameron, Gelbach and Miller 2011, eq. 2.12): the
templates' part is the group's own, at least half-way to the mean of all groups, since with rare
errors it comes out far too small now and then; the runs' part is pooled over groups, since a few
runs say nothing about one of them. Degrees of freedom are Satterthwaite's (1946).

Joint draws of the errors of all gaps give one critical value, the adjusted p-values, and the
p-value of any gap at all, so that an interval leaves out 0 exactly if its p-value is below 5 %.

Where sentences are missing, X is the linear form of the ratio of sums, FPR + (errors − FPR · tried)
T / tried in all, whose mean over templates is the rate itself; with none missing it is the share.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from annotation.common.lazy import stats
from evaluation.analyses.fpr_counts import CountTable, Floats
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.few_units import LEAST_TEMPLATES, LEAST_TEMPLATES_OF_WORDS
from evaluation.metrics.shown import Shown
from evaluation.metrics.undefined import UndefinedReason

FEW_TEMPLATES = f"an interval needs at least {LEAST_TEMPLATES} templates with another label"
FEW_FOR_WORDS = (
    f"intervals of words need at least {LEAST_TEMPLATES_OF_WORDS} templates with another label"
)
FEW_ERRORS = "an interval needs a false positive in each of these groups or words, on average"
NO_DIFFERENCE = "no group differs from another in any template, so that nothing says how much could"
NOISE_INCLUDED = (
    "the span is that of the estimates, noise included, and above 0 even where no group differs"
)
#: The two questions; with one run there is only the second.
LIKE_THESE, THESE_RUNS, THIS_RUN = "runs like these", "these runs", "this run"


@dataclass(frozen=True)
class GapErrors:
    """Gaps of a family of groups or words with their errors.

    gap, v, df : (n,) mean gap, its squared error and degrees of freedom
    critical : of the largest |error| / √v; p : (n,) adjusted
    reason : why there are no errors; all others are then empty
    """

    gap: Floats
    v: Floats
    own: Floats
    part_r: float
    pooled_df: float
    covariance: Floats
    critical: float
    largest: Floats
    n_templates: int
    reason: str = ""

    def p_of(self, distance: Floats) -> Floats:
        """Return the adjusted p-values of errors as large as these."""
        reached = np.searchsorted(self.largest, distance / np.sqrt(self.v))
        return np.asarray((1 + len(self.largest) - reached) / (1 + len(self.largest)))


@dataclass(frozen=True)
class GapTest:
    """What is said of all groups of one side together.

    question : whether it is of runs like these, of these runs, or of this run
    p_value : of any gap at all, the smallest adjusted p-value of a group
    spread : standard deviation of true gaps over these groups, ddof 1
    span : of the estimates, noise included; an interval of the true span would hold it in 99 to 100
        of 100 studies, and has been left out since December 2026
    critical : factor of the standard errors in intervals of all gaps at once
    """

    side: Annotated[str, Shown("Side")]
    question: Annotated[str, Shown("Question")]
    p_value: Annotated[
        float,
        Shown(
            "p of any gap",
            is_p=True,
            meaning="of no gap of any group: the smallest adjusted p-value of a group",
        ),
    ]
    spread: Annotated[
        Estimate,
        Shown(
            "SD of true gaps",
            3,
            prefix="spread_",
            meaning="over these groups, noise taken out",
        ),
    ]
    span: Estimate
    critical: float
    n_templates: Annotated[int, Shown("Templates", 0)]
    reason: str = ""


def linear_shares(table: CountTable, c: int) -> Floats:
    """Return X of one class, (n_units, n_templates, n_runs).

    Templates in which every sentence has the class are left out.
    """
    tried = np.broadcast_to(table.negatives[c], table.fp[c].shape)
    wrong = table.fp[c]
    used = tried.sum(axis=(0, 1)) > 0
    wrong, tried = wrong[..., used], tried[..., used]
    total = tried.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = wrong.sum(axis=-1, keepdims=True) / total
        found = rate + (wrong - rate * tried) * tried.shape[-1] / total
    return np.asarray(found.transpose(1, 2, 0))


def question_of(n_runs: int, *, these: bool) -> str:
    """Return what is asked: one run is always “this run”."""
    return THIS_RUN if n_runs == 1 else THESE_RUNS if these else LIKE_THESE


def gap_errors(
    shares: Floats,
    reference: Floats,
    rng: np.random.Generator,
    *,
    level: float,
    n_draws: int,
    these: bool = False,
    words: bool = False,
) -> GapErrors:
    """Return the errors of the gaps of a family that is set against the mean of the reference.

    shares : (n, n_templates, n_runs) X of the family; reference : the same of the compared groups
    these : whether the runs are taken as they are; words : whether the family are single words
    """
    n, templates, runs = shares.shape
    d = shares - reference.mean(axis=0)
    gap = d.mean(axis=(1, 2)) if templates else np.full(n, np.nan)
    reason = ""
    if not templates or np.isnan(d).any():
        reason = UndefinedReason.NO_VALUES
    elif templates < LEAST_TEMPLATES:
        reason = FEW_TEMPLATES
    elif not n_draws:
        reason = UndefinedReason.NOT_REQUESTED
    elif words and templates < LEAST_TEMPLATES_OF_WORDS:
        reason = FEW_FOR_WORDS
    elif 0 < shares.sum() < n:
        reason = FEW_ERRORS
    if reason:
        return _without(gap, templates, reason)
    a = d.mean(axis=2) - gap[:, None]
    scale = templates * (templates - 1)
    own = (a**2).sum(axis=1) / scale
    part_t, part_r, size = np.maximum(own, (own + own.mean()) / 2), 0.0, templates * runs
    alike = max(n - 1, 1)
    parts: list[tuple[Floats | float, int]] = [(part_t, templates - 1)]
    if runs > 1 and not these:
        b = d.mean(axis=1) - gap[:, None]
        rest = d - gap[:, None, None] - a[:, :, None] - b[:, None, :]
        m_r = templates * float((b**2).sum()) / (n * (runs - 1))
        m_e = float((rest**2).sum()) / (n * (templates - 1) * (runs - 1))
        part_r = max(0.0, m_r - m_e) / size
        if part_r:
            parts.append((m_r / size, alike * (runs - 1)))
            parts.append((m_e / size, alike * (templates - 1) * (runs - 1)))
    v = part_t + part_r
    if not v.max() > 1e-24:
        return _without(gap, templates, NO_DIFFERENCE)

    def satterthwaite(of: Floats | float, shares_of: list[tuple[Floats | float, int]]) -> Floats:
        return np.asarray(of**2 / sum(part**2 / df for part, df in shares_of))

    df = float(np.median(satterthwaite(v, parts)))
    pooled = [(float(own.mean()), alike * (templates - 1)), *parts[1:]]
    pooled_df = float(satterthwaite(float(own.mean()) + part_r, pooled))
    centered = n == len(reference) and n > 1
    spread = np.sqrt(part_r / (1 - 1 / n if centered else 1))
    draws = rng.standard_normal((n_draws, templates)) @ a.T / np.sqrt(scale)
    if part_r:
        y = rng.standard_normal((n_draws, n))
        draws += (y - y.mean(axis=1, keepdims=True) if centered else y) * spread
    draws /= np.sqrt(rng.chisquare(df, n_draws) / df)[:, None]
    largest = np.sort((np.abs(draws) / np.sqrt(v)).max(axis=1))
    # The draw at which the p-value is no longer below 1 − level.
    place = math.ceil(round((1 - level) * (1 + n_draws), 6)) - 1
    critical = float(largest[-place]) if place >= 1 else math.inf
    covariance = a @ a.T / scale + spread**2 * (np.eye(n) - (1 / n if centered else 0))
    return GapErrors(gap, v, own, part_r, pooled_df, covariance, critical, largest, templates)


def _without(gap: Floats, n_templates: int, reason: str) -> GapErrors:
    none = np.full(len(gap), np.nan)
    return GapErrors(gap, none, none, 0.0, math.nan, none, math.nan, none, n_templates, reason)


def joint_test(side: str, question: str, errors: GapErrors, level: float) -> GapTest:
    """Return p-value, spread, and span of the groups that are compared."""
    gap, n = errors.gap, len(errors.gap)
    why = errors.reason or NOISE_INCLUDED
    span = Estimate(float(np.ptp(gap)), n=n, interval_reason=why)
    if not span.is_defined:
        span = no_estimate(errors.reason)
    if errors.reason:
        none = no_estimate(errors.reason)
        return GapTest(
            side, question, math.nan, none, span, math.nan, errors.n_templates, errors.reason
        )
    p = float(errors.p_of(np.abs(gap)).min())
    half = errors.critical * np.sqrt(errors.v)
    # True gaps add up to 0: beside one of δ or more, the SD is at least δ √n / (n − 1).
    least = max(0.0, float((np.abs(gap) - half).max()))
    spread = _spread(errors, level, least * math.sqrt(n) / (n - 1))
    return GapTest(side, question, p, spread, span, errors.critical, errors.n_templates)


def _spread(errors: GapErrors, level: float, least: float) -> Estimate:
    """Return the SD of true gaps; interval by the noncentral F of their squares (Box 1954).

    least : what the intervals of all gaps at once leave; the limit is 0 exactly where that is 0
    """
    gap, n = errors.gap, len(errors.gap)
    noise = float(errors.own.mean() + errors.part_r) * n / (n - 1)
    total, covariance = float((gap**2).sum()), errors.covariance
    trace = float(np.trace(covariance))
    # The squares of an estimated covariance are too large by about the last term.
    square = float((covariance**2).sum()) - errors.own.sum() ** 2 / (errors.n_templates - 1)
    df1 = trace**2 / max(square, trace**2 / (n - 1))
    f = total / ((n - 1) * noise)
    sd = math.sqrt(max(0.0, total / (n - 1) - noise))

    def limit(tail: float) -> float:
        if stats.f.cdf(f, df1, errors.pooled_df) <= tail:
            return 0.0

        def off(root: float) -> float:
            return float(stats.ncf.cdf(f, df1, errors.pooled_df, root**2)) - tail

        return math.sqrt(_root(off) ** 2 * noise / df1)

    low = max(limit((1 + level) / 2), min(least, sd)) if least else 0.0
    return Estimate(sd, min(low, sd), max(limit((1 - level) / 2), sd), n)


def _root(off: Callable[[float], float]) -> float:
    """Return where a falling function that begins above 0 is 0, by halves."""
    low, high = 0.0, 2.0
    while off(high) > 0 and high < 1e3:
        low, high = high, 2 * high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if off(middle) > 0 else (low, middle)
    return (low + high) / 2
