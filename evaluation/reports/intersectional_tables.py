"""The tables of the intersectional report: Q1 to Q3 and Tables A8 to A10 of Cao et al. (2022)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

from evaluation.analyses.emergence_norms import NormAgreement
from evaluation.analyses.intersectional_result import (
    DomainPair,
    Emergence,
    IntersectionalResult,
    OrderRow,
    OrderSummary,
)
from evaluation.analyses.norm_curve import CurvePoint, NormCurve
from evaluation.charts import Distribution, distributions_spec
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.shown import Shown
from evaluation.reports.parts.document import Figure, KeyNumber, Table
from evaluation.reports.parts.formatting import MISSING, count, number, p_value, sentence
from evaluation.reports.parts.score_inputs import TraitName
from evaluation.reports.parts.table import Column, ReportTable

#: Rows that a page shows of what there may be thousands of; the download has them all.
SHOWN_PAIRS = 20
SHOWN_THRESHOLDS = 10
SUMMARY = {
    "first": "First component",
    "second": "Second component",
    "best": "The more similar of the two",
    "reversed": "The same components in the other order",
}
SHORT_DOMAINS = {"socioeconomic": "socio-economic"}
Names = Mapping[str, str]


def summary_table(result: IntersectionalResult, level: str) -> ReportTable:
    return _summary("order_summary", "Order: means", result.summary, tuple(SUMMARY), level)


def summary_of_all_table(result: IntersectionalResult, level: str) -> ReportTable:
    """Return the paper's means, over all paired groups."""
    title = "Order: means over all paired groups"
    # The other order exists only where both do, as in the table beside this one.
    components = tuple(name for name in SUMMARY if name != "reversed")
    return _summary("order_summary_of_all", title, result.summary_of_all, components, level)


@dataclass(frozen=True)
class SummaryRow:
    """The mean over paired groups of τ with one of their components."""

    component: str
    mean: Annotated[
        Estimate,
        Shown("Mean τ", 2, name="mean_tau", style="strong", n=Shown("Paired groups")),
    ]


def _summary(
    name: str, title: str, summary: OrderSummary, components: Sequence[str], level: str
) -> ReportTable:
    return ReportTable.of_rows(
        name,
        title,
        [SummaryRow(component, getattr(summary, component)) for component in components],
        SummaryRow,
        "component",
        Column("Paired group with", value=lambda row: SUMMARY[row.component]),
        *("mean", "mean.reason", "mean.interval_reason"),
        level=level,
        note="mean.note",
    )


def order_table(result: IntersectionalResult, names: Names) -> ReportTable:
    return ReportTable.of_rows(
        "orders",
        "Order: every paired group",
        result.orders,
        OrderRow,
        "pair",
        Column("Paired group", "pair_name", lambda row: names.get(row.pair, row.pair)),
        *("first", "second", "tau_first", "tau_second", "tau_best", "tau_reversed"),
        *("n_traits", "reason", "reversed_reason"),
    )


def relation_table(result: IntersectionalResult, domains: Names) -> ReportTable:
    def listed(slugs: Sequence[str]) -> str:
        return ", ".join(domains.get(slug, slug) for slug in slugs) or MISSING

    return ReportTable.of(
        "domain_relations",
        "Domains: which dominate which",
        result.relations,
        Column("", "domain"),
        Column("Domain", value=lambda row: domains.get(row.domain, row.domain)),
        Column("Dominates", value=lambda row: listed(row.dominates), wide=True),
        Column("Dominated by", value=lambda row: listed(row.dominated_by), wide=True),
        Column("", "dominates", lambda row: " ".join(row.dominates)),
        Column("", "dominated_by", lambda row: " ".join(row.dominated_by)),
    )


def domain_table(result: IntersectionalResult, domains: Names, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "domain_pairs",
        "Domains: every two",
        result.domain_pairs,
        DomainPair,
        *("first_domain", "second_domain"),
        Column("Domain A", value=lambda row: domains.get(row.first_domain, row.first_domain)),
        Column("Domain B", value=lambda row: domains.get(row.second_domain, row.second_domain)),
        *("tau_first", "tau_second", "estimate", "n", "dominant", "reason", "interval_reason"),
        level=level,
        note="estimate.note",
    )


def emergence_table(
    name: str,
    entries: Sequence[Emergence],
    names: Names,
    traits: Mapping[str, TraitName],
    *,
    by_poles: bool,
) -> ReportTable:
    """Return associations that emerge or vanish.

    by_poles : scores are those of single adjectives; otherwise of trait pairs, positive to the
        right, which are printed toward the adjective that emerges
    """

    def toward(part: str) -> Any:
        return lambda row: getattr(row, part) * (1 if by_poles or row.pole == "high" else -1)

    def printed(head: str, part: str) -> Column:
        return Column(
            head,
            value=toward(part),
            decimals=3,
            signed=True,
            group="Score toward the trait",
            source="model",
        )

    return ReportTable.of_rows(
        name,
        f"{name.capitalize()} associations",
        entries,
        Emergence,
        "pair",
        Column("Group", "pair_name", lambda row: names.get(row.pair, row.pair)),
        *("first", "second", "trait"),
        Column("", "dimension", lambda row: traits[row.trait].dimension),
        "pole",
        Column(
            "Trait",
            "adjective",
            lambda row: traits[row.trait].high if row.pole == "high" else traits[row.trait].low,
        ),
        *("excess", "score", "first_score", "second_score"),
        printed("Group", "score"),
        printed("First component", "first_score"),
        printed("Second component", "second_score"),
    )


def norm_table(norms: NormAgreement, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "norms",
        "Emergent traits against a list",
        (norms,),
        NormAgreement,
        *(field.name for field in fields(NormAgreement)),
        level=level,
        note="reason",
    )


def curve_table(curve: NormCurve, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "norm_curve",
        "Average precision against the list",
        (curve,),
        NormCurve,
        *("estimate", "chance", "p_value", "n_shuffles", "n_groups", "n_expected", "n_possible"),
        *("reason", "interval_reason"),
        level=level,
        note="estimate.note",
    )


def curve_points_table(curve: NormCurve) -> ReportTable:
    title = "Precision and recall at every threshold"
    return ReportTable.of_rows("norm_curve_points", title, curve.points, CurvePoint)


def curve_blocks(
    precision: ReportTable, points: ReportTable, curve: NormCurve
) -> tuple[Table, ...]:
    """Return average precision, and the curve at every tenth of its thresholds or closer."""
    whole = precision.printed(
        "Average precision: the mean of the precision at every rise of recall, when associations "
        "are taken in the order of their excess. Those that do not emerge come last, all at once."
    )
    if not curve.points:
        return (whole,)
    last = len(curve.points) - 1
    places = sorted({round(i * last / SHOWN_THRESHOLDS) for i in range(SHOWN_THRESHOLDS + 1)})
    shown = points.printed(
        "Precision and recall when only associations with at least such an excess count, from the "
        "strictest threshold to the loosest. The table of data has every threshold.",
        rows=[curve.points[place] for place in places],
    )
    return whole, shown


def key_numbers(
    result: IntersectionalResult,
    summary: ReportTable,
    of_all: ReportTable,
    norms: NormAgreement | None,
    *,
    by_poles: bool,
) -> tuple[KeyNumber, ...]:
    means = {row.component: row for table in (summary, of_all) for row in table.rows}
    prevailing = sum(bool(row.dominant) for row in result.domain_pairs)
    share = result.n_emergent / result.n_associations if result.n_associations else math.nan
    return (
        *(
            summary.key(
                "mean_tau",
                means[name],
                f"Mean over {count(means[name].mean.n, 'paired group')}",
                label=label,
            )
            for name, label in (
                ("best", "τ with the more similar component"),
                ("reversed", "τ between the two orders"),
            )
        ),
        KeyNumber(
            "Domain pairs in which one dominates",
            str(prevailing),
            f"of {len(result.domain_pairs)}",
            (f"Mean τ higher by {result.options.dominance_threshold:g} or more",),
        ),
        KeyNumber(
            f"Scores {'above' if by_poles else 'beyond'} both components",
            number(100 * share, 1),
            "%",
            (f"{result.n_emergent} of {count(result.n_associations, 'score')}",),
        )
        if norms is None
        else KeyNumber(
            "Precision against the list",
            number(norms.precision),
            lines=(sentence(norms.reason),)
            if norms.reason
            else (
                f"By chance {number(norms.chance_precision)}, {p_value(norms.p_value)}",
                f"Recall {number(norms.recall)}, by chance {number(norms.chance_recall)}",
            ),
        ),
    )


def order_blocks(
    result: IntersectionalResult,
    summary: ReportTable,
    of_all: ReportTable,
    orders: ReportTable,
) -> tuple[Figure | Table, ...]:
    both = [row for row in result.orders if not math.isnan(row.tau_reversed)]
    figure = Figure(
        "orders",
        "Kendall’s τ of every paired group that exists in both orders with its first and second "
        "component, the more similar of the two, and itself in the other order. Diamonds are "
        "means.",
        distributions_spec(
            [
                Distribution(label, tuple(getattr(row, name) for row in both))
                for label, name in (
                    ("First component", "tau_first"),
                    ("Second component", "tau_second"),
                    ("More similar one", "tau_best"),
                    ("Other order", "tau_reversed"),
                )
            ],
            title="Rank correlations of paired groups",
            axis_title="Kendall’s τ with the paired group",
        ),
        data="orders",
    )

    def least_alike(row: OrderRow) -> tuple[float, str]:
        return row.tau_best, row.pair

    known = sorted((row for row in result.orders if not row.reason), key=least_alike)
    shown = known[:SHOWN_PAIRS]
    whole = () if of_all is None else (of_all.printed("Mean τ over all paired groups."),)
    return (
        figure,
        *whole,
        summary.printed("Mean τ over the paired groups that exist in both orders."),
        orders.printed(
            f"The {len(shown)} paired groups that are least like either component. The table of "
            "data has all.",
            rows=shown,
        ),
    )


def domain_blocks(
    result: IntersectionalResult, relations: ReportTable, pairs: ReportTable
) -> tuple[Figure | Table, ...]:
    if not result.domain_pairs:
        return ()
    threshold = result.options.dominance_threshold
    figure = pairs.figure(
        "domains",
        "By how much the mean τ of paired groups with the component of the domain that is named "
        f"first exceeds that with the other; both orders, {pairs.level} intervals over component "
        "groups.",
        Column("Difference", value=lambda row: _nearer_first(row)[1], signed=True),
        rows=sorted(result.domain_pairs, key=_prevailing),
        panel=lambda row: (
            f"One domain prevails by {threshold:g} or more" if row.dominant else "Neither does"
        ),
        label=lambda row: _nearer_first(row)[0],
        decimals=2,
        title="Domains of paired groups against each other",
        axis="difference of the mean τ, first minus second domain",
        left="second domain nearer",
        right="first domain nearer",
    )
    return (
        figure,
        relations.printed("Which domains each domain dominates, and which dominate it."),
        pairs.printed("Mean τ of the paired groups of two domains with either component."),
    )


def _prevailing(row: DomainPair) -> tuple[bool, float]:
    """Return the place of two domains in the figure: the largest differences first."""
    size = math.inf if math.isnan(row.difference) else -abs(row.difference)
    return not row.dominant, size


def _nearer_first(row: DomainPair) -> tuple[str, Estimate]:
    """Return two domains, the nearer one first, and by how much it is nearer."""
    names = [SHORT_DOMAINS.get(slug, slug) for slug in (row.first_domain, row.second_domain)]
    found = row.estimate
    if row.difference < 0:
        names.reverse()
        found = replace(found, value=-found.value, low=-found.high, high=-found.low)
    return " – ".join(names), found


def emergence_blocks(
    found: Sequence[ReportTable], n_emergent: int, n_vanishing: int
) -> tuple[Table, ...]:
    """Return what emerges, and of single adjectives what vanishes: the first of so many."""

    def printed(table: ReportTable, beyond: str, of: str) -> Table:
        listed = count(len(table.rows), "association")
        return table.printed(
            f"The {listed} furthest {beyond} both components, of {of}",
            columns=("pair_name", "adjective", "excess", *table.columns[-3:]),
        )

    if len(found) == 1:
        of = f"{n_emergent}. Scores are positive toward the trait."
        return (printed(found[0], "beyond", of),)
    emergent, vanishing = found
    less = f"{n_vanishing}: what the paired group has less of than either."
    return printed(emergent, "above", f"{n_emergent}."), printed(vanishing, "below", less)


def norms_printed(table: ReportTable, norms: NormAgreement) -> Table:
    def line(part: str) -> dict[str, Any]:
        chance, low, high = (getattr(norms, f"chance_{part}{end}") for end in ("", "_low", "_high"))
        return {
            "label": part.capitalize(),
            "found": getattr(norms, part),
            "chance": Estimate(chance, low, high),
            "reason": norms.reason,
        }

    return table.printed(
        f"{norms.n_predicted} emergent associations of the listed groups against "
        f"{norms.n_expected} expected ones; {norms.n_hits} in common of {norms.n_possible} that "
        "are possible.",
        rows=[line("precision"), line("recall")],
        columns=(
            Column("Against the list", value="label"),
            Column("Model", value="found", decimals=2, style="strong"),
            Column.estimate(
                "By chance",
                value="chance",
                decimals=2,
                interval_head=f"Middle {table.level} by chance",
            ),
        ),
    )
