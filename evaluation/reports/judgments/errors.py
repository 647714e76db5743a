"""Errors that judges marked in counterparts, counted: what Table 4 of Deas et al. (2023) shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evaluation.analyses.error_analysis import ANY, ErrorResult
from evaluation.reports.parts.directions import PRODUCER, Directions, producer_of, tone_of
from evaluation.reports.parts.document import Figure, Section, Table
from evaluation.reports.parts.formatting import count
from evaluation.reports.parts.table import Column, ReportTable, estimate_columns, pivot

UNIT_WORDS = {"word": "words", "character": "characters"}
CAVEAT = (
    "Errors are those that these judges saw. A counterpart without a mark may hold errors that "
    "nobody noticed, and judges who know the variety less well notice fewer."
)


@dataclass(frozen=True)
class Errors:
    """Tables and figures of coded errors; ``names`` are those of the scheme, by slug."""

    view: Directions
    result: ErrorResult
    names: Mapping[str, str]

    @property
    def tables(self) -> tuple[ReportTable, ...]:
        return self.shares, self.gaps, self.contrasts, self.agreement

    @property
    def section(self) -> Section:
        codings = count(self.result.n_codings, "judgment")
        return Section(
            "Errors that judges marked",
            tuple(self._blocks()),
            why=f"{codings} of {count(self.result.n_items, 'counterpart')} marked words as errors, "
            "or said that there are none.",
        )

    @property
    def method(self) -> str:
        return (
            "Judges marked the words of a counterpart that are errors: "
            f"{', '.join(self.names.values())}. A counterpart counts once, with the share of its "
            "judges who marked an error of the kind; differences rest on pairs, as those of "
            "ratings do. Where all counterparts are alike, the interval of a share is Wilson’s, "
            "and a difference has none. Agreement is Krippendorff’s nominal alpha of “marked” and "
            "“not marked” "
            f"over the {UNIT_WORDS[self.result.unit]} of counterparts with two judges or more; "
            "its intervals resample counterparts."
        )

    def name_of(self, slug: str) -> str:
        return "Any error" if slug == ANY else self.names.get(slug, slug)

    @cached_property
    def shares(self) -> ReportTable:
        counts = {(row.producer, row.variety, row.category): row.n for row in self.result.counts}
        return ReportTable.of(
            "errors",
            "Counterparts with an error, in percent, by producer and kind of error",
            self.result.cells,
            PRODUCER,
            Column("", "producer"),
            Column("Generating", "variety"),
            Column("Error", value=lambda row: self.name_of(row.metric)),
            Column("", "category", "metric"),
            *estimate_columns("%", 0, units="Counterparts", style="strong"),
            Column(
                "Passages",
                "n_passages",
                lambda row: counts[row.producer, row.variety, row.metric],
                0,
                meaning="passages that all judges marked",
            ),
            level=self.view.level,
            note="estimate.reason",
        )

    @cached_property
    def gaps(self) -> ReportTable:
        return self._tested(
            "error_gaps",
            f"Counterparts with an error, in percentage points, {self.view.difference}",
            self.result.gaps,
            Column("", "category", "metric"),
        )

    @cached_property
    def contrasts(self) -> ReportTable:
        return self._tested(
            "error_contrasts",
            "Counterparts with an error, in percentage points, models less people",
            self.result.contrasts,
            Column("Generating", "variety"),
            Column("", "category", "metric"),
        )

    def _tested(self, name: str, title: str, rows: Any, *columns: Column) -> ReportTable:
        return ReportTable.of(
            name,
            title,
            rows,
            PRODUCER,
            Column("", "producer"),
            *columns,
            Column("Error", value=lambda row: self.name_of(row.metric)),
            *estimate_columns("Difference", 0, units="Pairs", signed=True, style="strong"),
            Column.p("p", "p_value", "test.p_value"),
            Column.p("p (Holm)", "p_corrected"),
            Column("", "test", "test.kind"),
            Column("", "test_reason", "test.reason"),
            level=self.view.level,
            note=lambda row: row.estimate.reason or row.test.reason,
        )

    @cached_property
    def agreement(self) -> ReportTable:
        unit = UNIT_WORDS[self.result.unit]
        return ReportTable.of(
            "error_agreement",
            f"Agreement of judges on the {unit} that are errors",
            self.result.agreement,
            Column("Error", value=lambda row: self.name_of(row.category)),
            Column("", "category"),
            *estimate_columns("α", 2, units="Counterparts", value="alpha.estimate", style="strong"),
            Column(unit.capitalize(), "n_units", "alpha.n_units", 0),
            Column("Marks", "n_marked", "alpha.n_marked", 0),
            level=self.view.level,
            note="alpha.estimate.note",
        )

    def _blocks(self) -> Iterator[Figure | Table]:
        view, target = self.view, self.view.varieties[1]
        order = [ANY, *self.result.categories]

        def key(row: Any) -> tuple[int, int]:
            return order.index(row.metric), view.producers.index(row.producer)

        yield self.shares.figure(
            "errors",
            f"Counterparts in {view.varieties[0]} (filled) and {target} (outlined) with an error. "
            f"Intervals: {view.resampled}.",
            "value",
            rows=sorted(self.shares.rows, key=lambda row: (*key(row), row.variety == target)),
            panel=lambda row: self.name_of(row.metric),
            label=producer_of,
            tone=tone_of,
            outlined=lambda row: row.variety == target,
            legend=view.legend(*(f"generating {variety}" for variety in view.varieties)),
            decimals=0,
            reference=None,
            title="Counterparts with an error",
            axis="Counterparts with it, %",
        )
        yield self._shares_printed(
            sorted(self.shares.rows, key=lambda row: (key(row)[1], row.variety == target)), order
        )
        yield from self.gaps.printed_if_any(
            f"Counterparts with an error, in percentage points: {view.difference}; p as above, "
            "Holm over all kinds and producers.",
            rows=sorted(self.gaps.rows, key=key),
        )
        yield from self.contrasts.printed_if_any(
            "Every model less people, in percentage points; p as above, Holm over all.",
            rows=sorted(self.contrasts.rows, key=key),
        )
        yield self.agreement.printed(
            f"Agreement of judges on which {UNIT_WORDS[self.result.unit]} are errors."
        )

    def _shares_printed(self, rows: Sequence[Any], order: Sequence[str]) -> Table:
        """Return one line for each producer and direction, kinds of error side by side."""
        return self.shares.printed(
            "Counterparts with an error, in percent, each with the share of its judges who marked "
            f"one; {self.view.level} intervals beside it.",
            rows=pivot(rows, lambda row: (row.producer, row.variety), "metric"),
            columns=(
                Column("Producer", value=lambda line: producer_of(line.first)),
                Column("Generating", value=lambda line: line.first.variety),
                *(
                    column
                    for slug in order
                    for column in self.shares.side_by_side(
                        slug, ("value",), group=self.name_of(slug), interval_head="interval"
                    )
                ),
                Column("Counterparts", value=lambda line: line.first.estimate.n, decimals=0),
            ),
            note=lambda line: line.first.estimate.reason,
        )
