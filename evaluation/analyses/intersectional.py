"""Intersectional analysis of paired groups.

Cao et al. (2022), §5.2: whether the order of two identities matters (Q1), whose domain prevails
(Q2, Tables A8 and A9), and which traits emerge that neither identity has alone (Q3, Table A10).

Intervals resample component groups and weigh a paired group by the product of its components'
weights (Owen 2007; Owen and Eckles 2012): paired groups that share a component are not independent,
and resampling them one by one would pretend that they were. A component's weights are Poisson draws
of a stream of its own, so that leaving out a group moves no number that does not rest on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from annotation.common.lazy import pd
from evaluation.analyses.intersectional_result import (
    DomainPair,
    DomainRelations,
    Emergence,
    IntersectionalOptions,
    IntersectionalResult,
    OrderRow,
    OrderSummary,
    PairedGroup,
)
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.rank_correlation import kendall_tau_b
from evaluation.metrics.undefined import UndefinedReason
from probing.measures.streams import named_stream

NO_PAIRS = "no paired group has a value"
NO_REVERSE = "the other order is not among the groups"
# Differences of means carry rounding, and a difference of 0.1 counts as reaching 0.1.
ROUNDING = 1e-9
FEWEST_RESAMPLES = 0.5


def analyze_intersections(
    scores: pd.DataFrame,
    pairs: Sequence[PairedGroup],
    domains: Mapping[str, str],
    options: IntersectionalOptions | None = None,
) -> IntersectionalResult:
    """Return the analysis of Q1 to Q3.

    scores : (n_groups, n_traits), index = slug of single and paired groups, columns = trait;
        positive leans to the high pole, NaN = missing
    pairs : paired groups with their components, all of them in the index of `scores`
    domains : component → its domain, such as age

    Raises ValueError for a negative least excess, for pairs or components without a row of scores,
    for a component without a domain, and for a paired group that is listed twice.
    """
    chosen = options or IntersectionalOptions()
    if not chosen.least_excess >= 0:
        raise ValueError(f"least_excess is {chosen.least_excess}, expected 0 or more")
    _validate(scores, pairs, domains)
    orders = _compare_orders(scores, pairs)
    resamples = _Resamples(pairs, chosen)
    domain_pairs = _compare_domains(orders, domains, chosen, resamples)
    emergent = _find_emergent(scores, pairs, chosen.least_excess)
    left_out = tuple(f"{row.pair}: {row.reason}" for row in orders if row.reason)
    values = scores.loc[[pair.slug for pair in pairs]].to_numpy(dtype=float)
    return IntersectionalResult(
        options=chosen,
        orders=tuple(orders),
        summary=_summarize(
            [row if row.reversed_reason != NO_REVERSE else None for row in orders], resamples
        ),
        domain_pairs=tuple(domain_pairs),
        relations=_relate(domain_pairs),
        emergent=tuple(emergent[: chosen.top]),
        n_emergent=len(emergent),
        n_associations=int(np.isfinite(values).sum()),
        left_out=left_out,
        summary_of_all=_summarize(orders, resamples),
    )


def _validate(
    scores: pd.DataFrame, pairs: Sequence[PairedGroup], domains: Mapping[str, str]
) -> None:
    if not pairs:
        raise ValueError("there are no paired groups to analyze")
    slugs = [pair.slug for pair in pairs]
    if len(set(slugs)) != len(slugs):
        twice = next(slug for slug in slugs if slugs.count(slug) > 1)
        raise ValueError(f"the paired group '{twice}' is listed twice")
    if not scores.index.is_unique:
        raise ValueError("the scores hold a group twice")
    for pair in pairs:
        for slug in (pair.slug, pair.first, pair.second):
            if slug not in scores.index:
                raise ValueError(f"'{slug}' has no scores, but '{pair.slug}' needs them")
        for slug in (pair.first, pair.second):
            if slug not in domains:
                raise ValueError(f"the component '{slug}' has no domain")


# -- Q1: order ---------------------------------------------------------------------------------


def _compare_orders(scores: pd.DataFrame, pairs: Sequence[PairedGroup]) -> list[OrderRow]:
    rows = {slug: scores.loc[slug].to_numpy(dtype=float) for slug in scores.index}
    by_components = {(pair.first, pair.second): pair.slug for pair in pairs}
    compared = []
    for pair in pairs:
        first = kendall_tau_b(rows[pair.slug], rows[pair.first])
        second = kendall_tau_b(rows[pair.slug], rows[pair.second])
        twin = by_components.get((pair.second, pair.first))
        reverse = None if twin is None else kendall_tau_b(rows[pair.slug], rows[twin])
        reason = first.reason or second.reason
        compared.append(
            OrderRow(
                pair=pair.slug,
                first=pair.first,
                second=pair.second,
                tau_first=first.value,
                tau_second=second.value,
                tau_best=np.nan if reason else max(first.value, second.value),
                tau_reversed=np.nan if reverse is None else reverse.value,
                n_traits=min(first.n, second.n),
                reason=_of_two_groups(reason),
                reversed_reason=NO_REVERSE if reverse is None else _of_two_groups(reverse.reason),
            )
        )
    return compared


def _of_two_groups(reason: str) -> str:
    """Return why there is no correlation in words on two groups, neither of them rated."""
    return str(UndefinedReason.FEW_SCORES) if reason == UndefinedReason.TOO_FEW else str(reason)


def _summarize(orders: Sequence[OrderRow | None], resamples: _Resamples) -> OrderSummary:
    """Return means over the paired groups that are there; None = left out."""

    def mean(name: str) -> Estimate:
        return resamples.mean(
            np.array([np.nan if row is None else getattr(row, name) for row in orders])
        )

    return OrderSummary(
        first=mean("tau_first"),
        second=mean("tau_second"),
        best=mean("tau_best"),
        reversed=mean("tau_reversed"),
    )


# -- Q2: dominance -----------------------------------------------------------------------------


def _compare_domains(
    orders: Sequence[OrderRow],
    domains: Mapping[str, str],
    options: IntersectionalOptions,
    resamples: _Resamples,
) -> list[DomainPair]:
    """Return one row for each two domains that have a paired group, in alphabetical order."""
    names = sorted({domains[slug] for row in orders for slug in (row.first, row.second)})
    found = []
    for a, b in combinations(names, 2):
        tau_a, tau_b = (np.full(len(orders), np.nan) for _ in range(2))
        for i, row in enumerate(orders):
            if (domains[row.first], domains[row.second]) == (a, b):
                tau_a[i], tau_b[i] = row.tau_first, row.tau_second
            elif (domains[row.first], domains[row.second]) == (b, a):
                tau_a[i], tau_b[i] = row.tau_second, row.tau_first
        usable = np.isfinite(tau_a) & np.isfinite(tau_b)
        if not any({domains[row.first], domains[row.second]} == {a, b} for row in orders):
            continue
        difference = resamples.mean(np.where(usable, tau_a - tau_b, np.nan))
        gap = difference.value
        dominant = ""
        if not difference.reason and abs(gap) >= options.dominance_threshold - ROUNDING:
            dominant = a if gap > 0 else b
        found.append(
            DomainPair(
                first_domain=a,
                second_domain=b,
                tau_first=float(tau_a[usable].mean()) if usable.any() else np.nan,
                tau_second=float(tau_b[usable].mean()) if usable.any() else np.nan,
                difference=gap,
                low=difference.low,
                high=difference.high,
                n=difference.n,
                dominant=dominant,
                reason=difference.reason,
                interval_reason=difference.interval_reason,
            )
        )
    return found


def _relate(domain_pairs: Sequence[DomainPair]) -> tuple[DomainRelations, ...]:
    """Return a row for each domain, those that dominate most first."""
    names = sorted({name for row in domain_pairs for name in (row.first_domain, row.second_domain)})
    rows = []
    for name in names:
        mine = [row for row in domain_pairs if name in (row.first_domain, row.second_domain)]
        others = {
            row: row.second_domain if row.first_domain == name else row.first_domain
            for row in mine
            if row.dominant
        }
        rows.append(
            DomainRelations(
                domain=name,
                dominates=tuple(other for row, other in others.items() if row.dominant == name),
                dominated_by=tuple(other for row, other in others.items() if row.dominant != name),
            )
        )
    return tuple(sorted(rows, key=lambda row: len(row.dominated_by) - len(row.dominates)))


# -- Q3: emergence -----------------------------------------------------------------------------


def emergence_above(
    pair: NDArray[np.float64], first: NDArray[np.float64], second: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return S(g1 g2, t) − max(S(g1, t), S(g2, t)), (n_traits,); above zero the trait emerges."""
    return pair - np.maximum(first, second)


def emergence_below(
    pair: NDArray[np.float64], first: NDArray[np.float64], second: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return S(g1 g2, t) − min(S(g1, t), S(g2, t)), (n_traits,); below zero the trait vanishes."""
    return pair - np.minimum(first, second)


def _find_emergent(
    scores: pd.DataFrame, pairs: Sequence[PairedGroup], least: float
) -> list[Emergence]:
    """Return every association beyond both components by more than that, the largest first."""
    found = []
    traits = [str(name) for name in scores.columns]
    for pair in pairs:
        whole, first, second = (
            scores.loc[slug].to_numpy(dtype=float) for slug in (pair.slug, pair.first, pair.second)
        )
        for pole, excess in (
            ("high", emergence_above(whole, first, second)),
            ("low", -emergence_below(whole, first, second)),
        ):
            found += [
                Emergence(
                    pair=pair.slug,
                    first=pair.first,
                    second=pair.second,
                    trait=traits[t],
                    pole=pole,
                    excess=float(excess[t]),
                    score=float(whole[t]),
                    first_score=float(first[t]),
                    second_score=float(second[t]),
                )
                for t in np.flatnonzero(excess > least).tolist()
            ]
    return sorted(found, key=lambda entry: (-entry.excess, entry.pair, entry.trait))


# -- uncertainty -------------------------------------------------------------------------------


class _Resamples:
    """Weights of all paired groups in every resample of the component groups."""

    def __init__(self, pairs: Sequence[PairedGroup], options: IntersectionalOptions) -> None:
        drawn = {
            slug: named_stream(options.seed, "component", slug).poisson(1, options.n_resamples)
            for slug in {slug for pair in pairs for slug in (pair.first, pair.second)}
        }
        self._weights = np.stack(
            [drawn[pair.first] * drawn[pair.second] for pair in pairs], axis=1
        ).astype(float)
        self._level = options.level

    def mean(self, values: NDArray[np.float64]) -> Estimate:
        """Return the mean of the values that are there, with a percentile interval."""
        usable = np.isfinite(values)
        n = int(usable.sum())
        if not n:
            return Estimate(np.nan, np.nan, np.nan, 0, NO_PAIRS, NO_PAIRS)
        kept = values[usable]
        weights = self._weights[:, usable]
        totals = weights.sum(axis=1)
        drawn = totals > 0
        estimate = float(kept.mean())
        if drawn.mean() < FEWEST_RESAMPLES:
            reason = "too few component groups to resample"
            return Estimate(estimate, np.nan, np.nan, n, "", reason)
        means = weights[drawn] @ kept / totals[drawn]
        low, high = np.quantile(means, [(1 - self._level) / 2, (1 + self._level) / 2])
        return Estimate(estimate, float(low), float(high), n)
