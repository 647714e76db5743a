"""What the intersectional analysis returns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class IntersectionalOptions:
    """Options of the analysis.

    dominance_threshold : by how much one domain's mean tau must exceed the other's to dominate
    top : how many emergent associations are listed
    seed, n_resamples, level : of the bootstrap over component groups
    """

    dominance_threshold: float = 0.1
    top: int = 50
    seed: int = 0
    n_resamples: int = 2000
    level: float = 0.95


@dataclass(frozen=True)
class PairedGroup:
    """A paired group and its components, in the order in which its name has them."""

    slug: str
    first: str
    second: str


@dataclass(frozen=True)
class Mean:
    """A mean over paired groups with its bootstrap interval; NaN with a reason where undefined."""

    value: float
    low: float
    high: float
    n: int
    reason: str = ""
    interval_reason: str = ""


@dataclass(frozen=True)
class OrderRow:
    """Rank correlations of one paired group; NaN with a reason where undefined.

    tau_first, tau_second : with the component that the name has first or second
    tau_best : the larger of the two
    tau_reversed : with the same components in the other order
    """

    pair: str
    first: str
    second: str
    tau_first: float
    tau_second: float
    tau_best: float
    tau_reversed: float
    n_traits: int
    reason: str = ""
    reversed_reason: str = ""


@dataclass(frozen=True)
class OrderSummary:
    """Q1: means over all paired groups that exist in both orders."""

    first: Mean
    second: Mean
    best: Mean
    reversed: Mean


@dataclass(frozen=True)
class DomainPair:
    """Q2: how much the paired groups of two domains resemble either component.

    dominant : the domain whose mean tau is higher by the threshold or more; empty if neither is
    n : paired groups, both orders counted
    """

    first_domain: str
    second_domain: str
    tau_first: float
    tau_second: float
    difference: float
    low: float
    high: float
    n: int
    dominant: str
    reason: str = ""
    interval_reason: str = ""


@dataclass(frozen=True)
class DomainRelations:
    """Which domains a domain dominates, and which dominate it (Table A8)."""

    domain: str
    dominates: tuple[str, ...]
    dominated_by: tuple[str, ...]


@dataclass(frozen=True)
class Emergence:
    """Q3: a trait that a paired group has more (or less) than either component.

    pole : ``high`` where the score exceeds both components', ``low`` where it falls below both
    excess : how far beyond the nearer component, in the measure's unit, always positive
    """

    pair: str
    first: str
    second: str
    trait: str
    pole: str
    excess: float
    score: float
    first_score: float
    second_score: float


@dataclass(frozen=True)
class IntersectionalResult:
    """The whole analysis. `emergent` is ranked, the largest excess first."""

    options: IntersectionalOptions
    orders: tuple[OrderRow, ...]
    summary: OrderSummary
    domain_pairs: tuple[DomainPair, ...]
    relations: tuple[DomainRelations, ...]
    emergent: tuple[Emergence, ...]
    n_emergent: int
    n_associations: int
    left_out: tuple[str, ...]
