"""The figures of an intersectional report."""

from __future__ import annotations

import math

from evaluation.analyses.intersectional_result import DomainPair, IntersectionalResult
from evaluation.charts import (
    Distribution,
    DistributionWords,
    IntervalLine,
    IntervalMark,
    IntervalPanel,
    IntervalWords,
    distributions_spec,
)
from evaluation.reports.document import Figure
from evaluation.reports.intersectional import words
from evaluation.reports.interval_figure import interval_figure


def order_figure(result: IntersectionalResult) -> Figure:
    both = [row for row in result.orders if not math.isnan(row.tau_reversed)]
    lines = [
        Distribution(label, tuple(getattr(row, name) for row in both))
        for label, name in (
            ("First component", "tau_first"),
            ("Second component", "tau_second"),
            ("More similar one", "tau_best"),
            ("Other order", "tau_reversed"),
        )
    ]
    return Figure(
        name="orders",
        caption="Kendall’s τ of every paired group that exists in both orders with its first "
        "and second component, the more similar of the two, and itself in the other order. "
        "Diamonds are means.",
        spec=distributions_spec(
            lines,
            words=DistributionWords(
                title="Rank correlations of paired groups",
                axis="Kendall’s τ with the paired group",
            ),
        ),
        data="orders",
    )


def domain_figure(result: IntersectionalResult) -> Figure:
    level = f"{result.options.level * 100:g} %"
    threshold = result.options.dominance_threshold
    rows = sorted(result.domain_pairs, key=_by_size)
    panels = (
        IntervalPanel(
            f"One domain prevails by {threshold:g} or more",
            tuple(_domain_line(row) for row in rows if row.dominant),
        ),
        IntervalPanel(
            "Neither does",
            tuple(_domain_line(row) for row in rows if not row.dominant),
        ),
    )
    return interval_figure(
        name="domains",
        caption="By how much the mean τ of paired groups with the component of the domain that "
        "is named first exceeds that with the other; both orders, "
        f"{level} intervals over component groups.",
        panels=panels,
        words=IntervalWords(
            title="Domains of paired groups against each other",
            axis="difference of the mean τ, first minus second domain",
            level=level,
            value="Difference",
            left="second domain nearer",
            right="first domain nearer",
        ),
        decimals=2,
        signed=True,
        data="domain_pairs",
    )


def _by_size(row: DomainPair) -> float:
    return math.inf if math.isnan(row.difference) else -abs(row.difference)


def _domain_line(row: DomainPair) -> IntervalLine:
    """Return two domains, the nearer one first."""
    turned = row.difference < 0
    first, second = (row.first_domain, row.second_domain)[:: -1 if turned else 1]
    sign = -1 if turned else 1
    low, high = (sign * row.low, sign * row.high)[::sign]
    mark = IntervalMark(sign * row.difference, low, high, row.n, "model", reason=row.reason)
    return IntervalLine(f"{words.short_domain(first)} – {words.short_domain(second)}", (mark,))
