"""The intersectional report as a document."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from evaluation.analyses import from_plain
from evaluation.analyses.emergence_norms import NormAgreement
from evaluation.analyses.intersectional_result import (
    Emergence,
    IntersectionalResult,
    Mean,
    OrderRow,
)
from evaluation.models import Report
from evaluation.reports.cells import estimate_cells
from evaluation.reports.document import (
    Column,
    Document,
    Figure,
    HeadGroup,
    KeyNumber,
    Section,
    Table,
    TableBuilder,
)
from evaluation.reports.formatting import MISSING, count, interval, number, p_value
from evaluation.reports.intersectional import words
from evaluation.reports.intersectional.figures import domain_figure, order_figure
from evaluation.reports.intersectional.tables import data_tables
from evaluation.reports.mention import mention_caveat
from evaluation.reports.provenance import banners, closing_lines, run_lines
from evaluation.reports.score_inputs import TraitName
from evaluation.reports.score_words import remarks

# Rows that a page shows of what there may be thousands of; the table of data has them all.
SHOWN_PAIRS = 20


def lay_out_intersectional(report: Report) -> Document:
    """Return the document of a built report from its record."""
    return _Layout(report).build()


class _Layout:
    def __init__(self, report: Report) -> None:
        if report.result is None:
            raise ValueError("the report is not built")
        self.report = report
        self.record: dict[str, Any] = report.inputs
        self.result: IntersectionalResult = from_plain(
            IntersectionalResult, report.result["analysis"]
        )
        norms = report.result["norms"]
        self.norms: NormAgreement | None = from_plain(NormAgreement, norms) if norms else None
        self.names: dict[str, str] = self.record["groups"]
        self.traits = {entry["slug"]: TraitName(**entry) for entry in self.record["traits"]}
        self.by_poles: bool = self.record.get("by_poles", False)
        vanishing = report.result.get("vanishing") or {"n": 0, "entries": []}
        self.n_vanishing: int = vanishing["n"]
        self.vanishing = [from_plain(Emergence, entry) for entry in vanishing["entries"]]
        self.level = f"{self.result.options.level * 100:g} %"

    def build(self) -> Document:
        run, result = self.record["run"], self.result
        sections = [
            Section("Does the order matter?", self._order(), words.WHY_ORDER),
            Section("Which domain prevails?", self._domains(), words.WHY_DOMAINS),
            Section("What emerges?", self._emergence(), words.WHY_EMERGENCE),
        ]
        if self.norms is not None:
            sections.append(
                Section("Against a published list", (self._norm_table(),), words.WHY_NORMS)
            )
        mention = self.report.result.get("mention") if self.report.result else None
        return Document(
            title=self.report.title,
            question=words.question(self.record, result),
            banners=banners([run]),
            facts=(f"Run {run['number']}: {run['model']}",),
            keys=self._keys(),
            sections=tuple(sections),
            tables=data_tables(
                self.result,
                self.norms,
                self.names,
                self.traits,
                vanishing=self.vanishing if self.by_poles else None,
            ),
            method=words.method(self.record, result, has_norms=self.norms is not None),
            caveats=(
                *words.CAVEATS,
                *remarks([run]),
                *([mention_caveat(mention)] if mention else []),
            ),
            left_out=words.left_out(self.record, result, self.names),
            provenance=(
                tuple(run_lines([run], self.record["hashes"])),
                closing_lines(self.report),
            ),
        )

    # -- key numbers ---------------------------------------------------------------------------

    def _keys(self) -> tuple[KeyNumber, ...]:
        summary, result = self.result.summary, self.result
        prevailing = sum(bool(row.dominant) for row in result.domain_pairs)
        keys = [
            KeyNumber(
                "τ with the more similar component",
                number(summary.best.value),
                "",
                self._mean_lines(summary.best),
            ),
            KeyNumber(
                "τ between the two orders",
                number(summary.reversed.value),
                "",
                self._mean_lines(summary.reversed),
            ),
            KeyNumber(
                "Domain pairs in which one dominates",
                str(prevailing),
                f"of {len(result.domain_pairs)}",
                (f"Mean τ higher by {result.options.dominance_threshold:g} or more",),
            ),
        ]
        norms = self.norms
        if norms is None:
            share = result.n_emergent / result.n_associations if result.n_associations else math.nan
            keys.append(
                KeyNumber(
                    "Scores above both components"
                    if self.by_poles
                    else "Scores beyond both components",
                    number(100 * share, 1),
                    "%",
                    (f"{result.n_emergent} of {count(result.n_associations, 'score')}",),
                )
            )
        else:
            keys.append(
                KeyNumber(
                    "Precision against the list",
                    number(norms.precision),
                    "",
                    (norms.reason.capitalize() + ".",)
                    if norms.reason
                    else (
                        f"By chance {number(norms.chance_precision)}, {p_value(norms.p_value)}",
                        f"Recall {number(norms.recall)}, by chance {number(norms.chance_recall)}",
                    ),
                )
            )
        return tuple(keys)

    def _mean_lines(self, mean: Mean) -> tuple[str, ...]:
        if mean.reason:
            return (f"{mean.reason.capitalize()}.",)
        lines = f"Mean over {count(mean.n, 'paired group')}"
        if mean.interval_reason:
            return (f"No interval: {mean.interval_reason}.", lines)
        return (f"{self.level} interval {interval(mean.low, mean.high)}", lines)

    # -- order ---------------------------------------------------------------------------------

    def _order(self) -> tuple[Figure | Table, ...]:
        return (order_figure(self.result), self._summary_table(), self._pair_table())

    def _summary_table(self) -> Table:
        table = TableBuilder(
            caption="Mean τ over the paired groups that exist in both orders.",
            data="order_summary",
            columns=(
                Column("Paired group with"),
                Column("Mean τ", number=True, style="strong"),
                Column(f"{self.level} interval", number=True, style="quiet"),
                Column("Paired groups", number=True),
            ),
        )
        for name, label in words.SUMMARY.items():
            mean: Mean = getattr(self.result.summary, name)
            note = mean.reason or mean.interval_reason
            table.add(label, *estimate_cells(mean), str(mean.n), note=note)
        return table.build()

    def _pair_table(self) -> Table:
        known = [row for row in self.result.orders if not row.reason]
        table = TableBuilder(
            caption=f"The {min(SHOWN_PAIRS, len(known))} paired groups that are least like either "
            "component. The table of data has all.",
            data="orders",
            columns=(
                Column("Paired group"),
                Column("First", number=True),
                Column("Second", number=True),
                Column("More similar", number=True, style="strong"),
                Column("Other order", number=True),
            ),
            heads=(HeadGroup("", 1), HeadGroup("Kendall’s τ with", 4)),
        )
        for row in sorted(known, key=_least_alike)[:SHOWN_PAIRS]:
            table.add(
                self._name(row.pair),
                *(
                    number(value)
                    for value in (row.tau_first, row.tau_second, row.tau_best, row.tau_reversed)
                ),
            )
        return table.build()

    # -- domains -------------------------------------------------------------------------------

    def _domains(self) -> tuple[Figure | Table, ...]:
        if not self.result.domain_pairs:
            return ()
        return (domain_figure(self.result), self._relation_table(), self._domain_table())

    def _relation_table(self) -> Table:
        table = TableBuilder(
            caption="Which domains each domain dominates, and which dominate it.",
            data="domain_relations",
            columns=(
                Column("Domain"),
                Column("Dominates", wide=True),
                Column("Dominated by", wide=True),
            ),
        )
        for row in self.result.relations:
            table.add(
                self._domain(row.domain),
                ", ".join(map(self._domain, row.dominates)) or MISSING,
                ", ".join(map(self._domain, row.dominated_by)) or MISSING,
            )
        return table.build()

    def _domain_table(self) -> Table:
        table = TableBuilder(
            caption="Mean τ of the paired groups of two domains with either component.",
            data="domain_pairs",
            columns=(
                Column("Domain A"),
                Column("Domain B"),
                Column("τ with A", number=True),
                Column("τ with B", number=True),
                Column("Difference", number=True, style="strong"),
                Column(f"{self.level} interval", number=True, style="quiet"),
                Column("Paired groups", number=True),
            ),
        )
        for row in self.result.domain_pairs:
            table.add(
                self._domain(row.first_domain),
                self._domain(row.second_domain),
                number(row.tau_first),
                number(row.tau_second),
                number(row.difference, signed=True),
                interval(row.low, row.high, signed=True),
                str(row.n),
                note=row.reason or row.interval_reason,
            )
        return table.build()

    # -- emergence -----------------------------------------------------------------------------

    def _emergence(self) -> tuple[Table, ...]:
        result = self.result
        listed = count(len(result.emergent), "association")
        if not self.by_poles:
            caption = (
                f"The {listed} furthest beyond both components, of {result.n_emergent}. Scores "
                "are positive towards the trait."
            )
            return (self._emergent_table(result.emergent, caption, "emergent"),)
        caption = f"The {listed} furthest above both components, of {result.n_emergent}."
        fewer = (
            f"The {count(len(self.vanishing), 'association')} furthest below both components, of "
            f"{self.n_vanishing}: what the paired group has less of than either."
        )
        return (
            self._emergent_table(result.emergent, caption, "emergent"),
            self._emergent_table(self.vanishing, fewer, "vanishing"),
        )

    def _emergent_table(self, entries: Sequence[Emergence], caption: str, data: str) -> Table:
        table = TableBuilder(
            caption=caption,
            data=data,
            columns=(
                Column("Group"),
                Column("Trait"),
                Column("Excess", number=True, style="strong"),
                Column("Group", number=True),
                Column("First component", number=True),
                Column("Second component", number=True),
            ),
            heads=(HeadGroup("", 3), HeadGroup("Score towards the trait", 3, "model")),
        )
        for entry in entries:
            # The score of an adjective is its own; that of a pair is positive to the right one.
            sign = 1 if self.by_poles or entry.pole == "high" else -1
            table.add(
                self._name(entry.pair),
                self._adjective(entry),
                number(entry.excess, 3),
                *(
                    number(sign * value, 3, signed=True)
                    for value in (entry.score, entry.first_score, entry.second_score)
                ),
            )
        return table.build()

    def _norm_table(self) -> Table:
        norms = self.norms
        if norms is None:
            raise ValueError("there are no norms")
        table = TableBuilder(
            caption=f"{norms.n_predicted} emergent associations of the listed groups against "
            f"{norms.n_expected} expected ones; {norms.n_hits} in common of {norms.n_possible} "
            "that are possible.",
            data="norms",
            columns=(
                Column("Against the list"),
                Column("Model", number=True, style="strong"),
                Column("By chance", number=True),
                Column(f"Middle {self.level} by chance", number=True, style="quiet"),
            ),
        )
        for label, value, chance, low, high in (
            (
                "Precision",
                norms.precision,
                norms.chance_precision,
                norms.chance_precision_low,
                norms.chance_precision_high,
            ),
            (
                "Recall",
                norms.recall,
                norms.chance_recall,
                norms.chance_recall_low,
                norms.chance_recall_high,
            ),
        ):
            table.add(label, number(value), number(chance), interval(low, high), note=norms.reason)
        return table.build()

    # -- names ---------------------------------------------------------------------------------

    def _name(self, slug: str) -> str:
        return self.names.get(slug, slug)

    def _domain(self, slug: str) -> str:
        return str(self.record["domains"].get(slug, slug))

    def _adjective(self, entry: Emergence) -> str:
        trait = self.traits[entry.trait]
        return trait.high if entry.pole == "high" else trait.low


def _least_alike(row: OrderRow) -> tuple[float, str]:
    return row.tau_best, row.pair
