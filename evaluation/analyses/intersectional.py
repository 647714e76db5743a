"""Intersectional analysis of paired groups.

Cao et al. (2022), §5.2: whether the order of two identities matters (Q1), whose domain prevails
(Q2, Tables A8 and A9), and which traits emerge that neither identity has alone (Q3, Table A10).

Paired groups that share a component are not independent, and intervals leave out one component
group after the other (`ComponentMeans`).
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
from evaluation.analyses.tau_answers import Answer, student_answer
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.few_units import LEAST_OF_A_DOMAIN, LEAST_UNITS
from evaluation.metrics.rank_correlation import kendall_tau_b
from evaluation.metrics.undefined import UndefinedReason

NO_PAIRS = "no paired group has a value"
NO_REVERSE = "the other order is not among the groups"
# Differences of means carry rounding, and a difference of 0.1 counts as reaching 0.1.
ROUNDING = 1e-9
FEW_COMPONENTS = "an interval needs paired groups of at least five component groups"
FEW_ON_A_SIDE = "an interval needs paired groups of at least four groups of either domain"


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
    components = ComponentMeans([(pair.first, pair.second) for pair in pairs], chosen.level)
    domain_pairs = _compare_domains(orders, domains, chosen, components)
    emergent = _find_emergent(scores, pairs, chosen.least_excess)
    left_out = tuple(f"{row.pair}: {row.reason}" for row in orders if row.reason)
    values = scores.loc[[pair.slug for pair in pairs]].to_numpy(dtype=float)
    return IntersectionalResult(
        options=chosen,
        orders=tuple(orders),
        summary=_summarize(
            [row if row.reversed_reason != NO_REVERSE else None for row in orders], components
        ),
        domain_pairs=tuple(domain_pairs),
        relations=_relate(domain_pairs),
        emergent=tuple(emergent[: chosen.top]),
        n_emergent=len(emergent),
        n_associations=int(np.isfinite(values).sum()),
        left_out=left_out,
        summary_of_all=_summarize(orders, components),
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


def _summarize(orders: Sequence[OrderRow | None], components: ComponentMeans) -> OrderSummary:
    """Return means over the paired groups that are there; None = left out."""

    def mean(name: str) -> Estimate:
        values = [np.nan if row is None else getattr(row, name) for row in orders]
        return components.mean(np.array(values)).estimate

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
    components: ComponentMeans,
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
        difference = components.mean(np.where(usable, tau_a - tau_b, np.nan), domains)
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


class ComponentMeans:
    """Means over paired groups, for component groups like these.

    pairs : both components of every paired group

    The delete-one jackknife over components counts what is particular to one paired group with
    both of its components, so once too often; this is taken out again (Fafchamps and Gubert 2007;
    Aronow, Samii and Assenova 2015), as long as it is not most of the variance:

        v = (K − 1) / K · Σₖ (θ₋ₖ − θ)² − Σ u²,  u = Σ of both orders of (value − θ) / n

    Student's t with K − 1 degrees of freedom for K components.
    """

    def __init__(self, pairs: Sequence[tuple[str, str]], level: float) -> None:
        self.names = sorted({name for pair in pairs for name in pair})
        places = {name: place for place, name in enumerate(self.names)}
        self.ends = np.array([[places[name] for name in pair] for pair in pairs])
        self.level = level

    def mean(self, values: NDArray[np.float64], sides: Mapping[str, str] | None = None) -> Answer:
        """Return the mean of the values that are there; n of them.

        values : (n_pairs,), NaN = missing; sides : component → its side, where there are two
        """
        usable = np.isfinite(values)
        ends, kept = self.ends[usable], values[usable]
        n = kept.size
        if not n:
            return Answer(np.nan, reason=NO_PAIRS, interval_reason=NO_PAIRS)
        mean = float(kept.mean())
        if why := self._too_few(np.unique(ends), sides):
            return Answer(mean, n=n, interval_reason=why)
        size = len(self.names)
        total, count = (
            np.bincount(ends.ravel(), np.repeat(weights, 2), size) for weights in (kept, np.ones(n))
        )
        own = count > 0
        left = n - count[own]
        if not left.all():
            return Answer(mean, n=n, interval_reason=UndefinedReason.UNSTABLE)
        without = (kept.sum() - total[own]) / left
        k = without.size
        both = np.sort(ends, axis=1) @ [size, 1]
        apart = np.bincount(np.unique(both, return_inverse=True)[1], (kept - mean) / n)
        of_components = (k - 1) / k * float(np.sum((without - mean) ** 2))
        of_pairs = float(apart @ apart) * apart.size / max(apart.size - 1, 1)
        v = max(of_components - of_pairs, of_components / 2, of_pairs)
        few = UndefinedReason.FEW_GROUPS
        return student_answer(mean, float(np.sqrt(v)), n, self.level, few, df=k - 1.0)

    def _too_few(self, there: NDArray[np.intp], sides: Mapping[str, str] | None) -> str:
        if sides is None:
            return FEW_COMPONENTS if there.size < LEAST_UNITS else ""
        of = [sides[self.names[place]] for place in there]
        fewest = min(of.count(side) for side in set(of))
        return FEW_ON_A_SIDE if fewest < LEAST_OF_A_DOMAIN else ""
