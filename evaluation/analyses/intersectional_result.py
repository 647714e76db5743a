"""What the intersectional analysis returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from evaluation.analyses.resample_options import ResamplingOptions
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.shown import Shown


@dataclass(frozen=True)
class IntersectionalOptions(ResamplingOptions):
    """Options of the analysis.

    dominance_threshold : by how much one domain's mean tau must exceed the other's to dominate
    top : how many emergent associations are listed
    least_excess : by how much an association must exceed both components to emerge, in the
        measure's unit; 0 or more
    level : of intervals; seed, n_resamples : of what a list of norms would give by chance
    """

    dominance_threshold: float = 0.1
    top: int = 50
    least_excess: float = 0.0


@dataclass(frozen=True)
class PairedGroup:
    """A paired group and its components, in the order in which its name has them."""

    slug: str
    first: str
    second: str


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
    tau_first: Annotated[float, Shown("First", 2, group="Kendall’s τ with")]
    tau_second: Annotated[float, Shown("Second", 2, group="Kendall’s τ with")]
    tau_best: Annotated[float, Shown("More similar", 2, style="strong", group="Kendall’s τ with")]
    tau_reversed: Annotated[float, Shown("Other order", 2, group="Kendall’s τ with")]
    n_traits: int
    reason: str = ""
    reversed_reason: str = ""


@dataclass(frozen=True)
class OrderSummary:
    """Q1: means over paired groups, n of them; `reversed` over those with the other order."""

    first: Estimate
    second: Estimate
    best: Estimate
    reversed: Estimate


@dataclass(frozen=True)
class DomainPair:
    """Q2: how much the paired groups of two domains resemble either component.

    dominant : the domain whose mean tau is higher by the threshold or more; empty if neither is
    n : paired groups, both orders counted
    """

    first_domain: str
    second_domain: str
    tau_first: Annotated[float, Shown("τ with A", 2)]
    tau_second: Annotated[float, Shown("τ with B", 2)]
    difference: float
    low: float
    high: float
    n: Annotated[int, Shown("Paired groups", 0)]
    dominant: str
    reason: str = ""
    interval_reason: str = ""

    @property
    def estimate(
        self,
    ) -> Annotated[Estimate, Shown("Difference", 2, name="difference", effect=True)]:
        """The difference of the two means."""
        return Estimate(
            self.difference, self.low, self.high, self.n, self.reason, self.interval_reason
        )


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
    excess: Annotated[float, Shown("Excess", 3, style="strong")]
    score: float
    first_score: float
    second_score: float


@dataclass(frozen=True)
class IntersectionalResult:
    """The whole analysis. `emergent` is ranked, the largest excess first.

    summary : Q1 over the paired groups that exist in both orders
    summary_of_all : Q1 over all paired groups, as in Cao et al. (2022)
    n_emergent : associations whose excess is above the least, of which `emergent` are the first
    """

    options: IntersectionalOptions
    orders: tuple[OrderRow, ...]
    summary: OrderSummary
    domain_pairs: tuple[DomainPair, ...]
    relations: tuple[DomainRelations, ...]
    emergent: tuple[Emergence, ...]
    n_emergent: int
    n_associations: int
    left_out: tuple[str, ...]
    summary_of_all: OrderSummary
