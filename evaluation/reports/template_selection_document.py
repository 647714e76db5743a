"""The report on a template selection as a document."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from evaluation.analyses import AlignmentResult, GroupAlignment, from_plain
from evaluation.analyses.markedness import UNMARKED
from evaluation.analyses.template_selection import TemplateSelection
from evaluation.charts import (
    IntervalLine,
    IntervalMark,
    IntervalPanel,
    IntervalWords,
)
from evaluation.models import Report
from evaluation.reports.cells import to_frame
from evaluation.reports.document import (
    Column,
    DataTable,
    Document,
    Figure,
    KeyNumber,
    Section,
    Table,
    TableBuilder,
)
from evaluation.reports.formatting import count, interval, listing, number, p_cell, p_value
from evaluation.reports.interval_figure import interval_figure
from evaluation.reports.mention import MENTION, mention_caveat
from evaluation.reports.provenance import banners, closing_lines, rated_run_lines
from evaluation.reports.score_words import measure_title, options_in_words, remarks, show_slots

SHOWN_CANDIDATES = 20
PARTS = {"pilot": "Pilot groups", "test": "Test groups", "overall": "All groups"}
CANDIDATES = ("rank", "templates", "texts", "tau", "p_value", "n_cells", "chosen", "reason")
ALIGNMENTS = (
    "part", "n_groups", "n_cells", "tau", "low", "high", "p_value", "mean_group_tau",
    "precision", "precision_low", "precision_high", "reason",
)  # fmt: skip
GROUPS = (
    "part", "group", "group_name", "tau", "low", "high", "p_value", "p_holm", "precision",
    "n_raters", "n_scales", "reason",
)  # fmt: skip
PILOT = ("group", "group_name", "n_raters", "n_used")
WHY_CHOICE = (
    "A candidate’s τ is over all cells of the pilot groups, with the means of the drawn raters "
    "alone. The best of many is high by chance too: read it as a choice, not as a result."
)
WHY_PARTS = (
    "The templates were chosen on the pilot groups, so only the test groups say how well they do."
)
CAVEATS = (
    "They describe one model under stated prompts. They say nothing about the people in a group.",
    "τ on the pilot groups is biased upwards, since the templates were chosen by it; so is the one "
    "over all groups, which contain the pilot groups. Cite the test groups.",
    "The interval of a pooled τ resamples people only: it says what other people would give for "
    "these groups and templates, not what other groups would give. Its p treats the cells as "
    "independent, which those of one group are not.",
    "Choosing again with other pilot groups or another seed until the test groups look well makes "
    "pilot groups of them.",
)


def lay_out_selection(report: Report) -> Document:
    """Return the document of a built report from its record."""
    if report.result is None:
        raise ValueError("the report is not built")
    return _Layout(report, report.result).build()


class _Layout:
    def __init__(self, report: Report, result: dict[str, Any]) -> None:
        self.report = report
        self.record: dict[str, Any] = report.inputs
        self.selection = from_plain(TemplateSelection, result["selection"])
        self.parts = {
            name: from_plain(AlignmentResult, result["alignments"][name]) for name in PARTS
        }
        self.mention: dict[str, Any] | None = result.get(MENTION)
        self.names = {entry["slug"]: entry["plural"] for entry in self.record["groups"]}
        self.level = f"{self.parts['test'].options.level * 100:g} %"

    def build(self) -> Document:
        study, run = self.record["study"], self.record["run"]
        return Document(
            title=self.report.title,
            question=(
                f"Of {count(len(self.record['template_texts']), 'template')}, which follow people "
                f"best on {count(len(self.selection.pilot), 'pilot group')}, and how well do they "
                f"do on the {count(len(self.selection.test_groups), 'group')} that the choice has "
                "not seen?"
            ),
            banners=banners([run], study["origin"]),
            facts=(f"Study: {study['title']}", f"Run {run['number']}: {run['model']}"),
            keys=self._keys(),
            sections=(
                Section("The choice", (self._candidates(), self._pilot()), WHY_CHOICE),
                Section(
                    "Pilot, test and all groups", (self._figure(), self._part_table()), WHY_PARTS
                ),
                Section("Group by group", (self._group_table(),)),
            ),
            tables=self._data_tables(),
            method=self._method(),
            caveats=(
                *CAVEATS,
                *remarks([run]),
                *([mention_caveat(self.mention)] if self.mention else []),
            ),
            left_out=self._left_out(),
            provenance=(
                tuple(rated_run_lines(study, [run])),
                closing_lines(self.report),
            ),
        )

    def _keys(self) -> tuple[KeyNumber, ...]:
        chosen = self.selection.chosen
        keys = [
            KeyNumber(
                "Templates chosen",
                str(len(chosen)),
                f"of {len(self.record['template_texts'])}",
                tuple(self._text(slug) for slug in chosen),
            )
        ]
        # The number to cite stands first.
        for name in ("test", "pilot", "overall"):
            tau, pooled = self.parts[name].pooled.tau, self.parts[name].pooled
            lines = (
                (f"{str(tau.reason).capitalize()}.",)
                if tau.reason
                else (
                    f"{self.level} interval {interval(tau.interval.low, tau.interval.high)}",
                    f"{p_value(pooled.p_value)}, {count(pooled.n_cells, 'cell')}",
                )
            )
            keys.append(KeyNumber(f"τ, {PARTS[name].lower()}", number(tau.value), "", lines))
        return tuple(keys)

    def _text(self, slug: str) -> str:
        return show_slots(self.record["template_texts"].get(slug, slug))

    def _candidates(self) -> Table:
        found = self.selection.candidates
        shown = found[:SHOWN_CANDIDATES]
        table = TableBuilder(
            caption=f"The {len(shown)} best of {count(len(found), 'candidate')} on the pilot "
            "groups; the first is chosen. p is not corrected for their number.",
            data="candidates",
            columns=(
                Column("Templates", wide=True),
                Column("τ", number=True, style="strong"),
                Column("p", number=True),
                Column("Cells", number=True),
            ),
        )
        for row in shown:
            table.add(
                " + ".join(map(self._text, row.templates)),
                number(row.tau, 3),
                p_cell(row.p_value),
                str(row.n_cells),
                note=row.reason,
            )
        return table.build()

    def _pilot(self) -> Table:
        table = TableBuilder(
            caption="Pilot groups and how many of their raters the choice looked at.",
            data="pilot",
            columns=(
                Column("Group"),
                Column("Raters", number=True),
                Column("Looked at", number=True),
            ),
        )
        for row in self.selection.pilot:
            table.add(self.names[row.group], str(row.n_raters), str(row.n_used))
        return table.build()

    def _figure(self) -> Figure:
        parts = tuple(
            IntervalLine(PARTS[name], (_mark(part.pooled.tau, part.pooled.n_cells),), bold=True)
            for name, part in self.parts.items()
        )
        return interval_figure(
            name="parts",
            caption="Kendall’s τ over all cells of the pilot groups, the test groups and all "
            f"groups, with the chosen templates; {self.level} intervals over people.",
            panels=(IntervalPanel("", parts),),
            words=IntervalWords(
                title="Alignment on pilot, test and all groups",
                axis="Kendall’s τ",
                level=self.level,
                value="τ",
                n="cells",
            ),
            decimals=2,
            data="alignments",
        )

    def _part_table(self) -> Table:
        table = TableBuilder(
            caption="Alignment with the chosen templates, with the ratings of all raters.",
            data="alignments",
            columns=(
                Column("Groups"),
                Column("Number", number=True),
                Column("τ", number=True, style="strong"),
                Column(f"{self.level} interval", number=True, style="quiet"),
                Column("p", number=True),
                Column("Mean τ of groups", number=True),
                Column("P@3", number=True),
                Column(f"{self.level} interval", number=True, style="quiet"),
            ),
        )
        for name, part in self.parts.items():
            pooled = part.pooled
            table.add(
                PARTS[name],
                str(pooled.n_groups),
                number(pooled.tau.value),
                interval(pooled.tau.interval.low, pooled.tau.interval.high),
                p_cell(pooled.p_value),
                number(pooled.group_tau.value),
                number(pooled.precision.value),
                interval(pooled.precision.interval.low, pooled.precision.interval.high),
                note=str(pooled.tau.reason),
            )
        return table.build()

    def _group_rows(self) -> list[tuple[str, GroupAlignment]]:
        """Return (part, group), test groups first, highest τ first."""
        return [
            (name, row)
            for name in ("test", "pilot")
            for row in sorted(
                self.parts[name].by_group,
                key=lambda row: math.inf if math.isnan(row.tau.value) else -row.tau.value,
            )
        ]

    def _group_table(self) -> Table:
        table = TableBuilder(
            caption="τ of every group with the chosen templates; p by Holm within the pilot groups "
            "and within the test groups.",
            data="groups",
            columns=(
                Column("Group"),
                Column("Part"),
                Column("τ", number=True, style="strong"),
                Column(f"{self.level} interval", number=True, style="quiet"),
                Column("p", number=True),
                Column("p (Holm)", number=True),
                Column("P@3", number=True),
                Column("Raters", number=True),
            ),
        )
        for name, row in self._group_rows():
            table.add(
                self.names[row.group],
                name,
                number(row.tau.value),
                interval(row.tau.interval.low, row.tau.interval.high),
                p_cell(row.p_value),
                p_cell(row.p_holm),
                number(row.precision.value),
                str(row.n_raters),
                note=str(row.tau.reason or row.tau.interval.reason),
            )
        return table.build()

    def _data_tables(self) -> tuple[DataTable, ...]:
        candidates = (
            {
                "rank": rank,
                "templates": " ".join(row.templates),
                "texts": " + ".join(map(self._text, row.templates)),
                "tau": row.tau,
                "p_value": row.p_value,
                "n_cells": row.n_cells,
                "chosen": row.templates == self.selection.chosen,
                "reason": row.reason,
            }
            for rank, row in enumerate(self.selection.candidates, start=1)
        )
        alignments = (
            {
                "part": name,
                "n_groups": part.pooled.n_groups,
                "n_cells": part.pooled.n_cells,
                "tau": part.pooled.tau.value,
                "low": part.pooled.tau.interval.low,
                "high": part.pooled.tau.interval.high,
                "p_value": part.pooled.p_value,
                "mean_group_tau": part.pooled.group_tau.value,
                "precision": part.pooled.precision.value,
                "precision_low": part.pooled.precision.interval.low,
                "precision_high": part.pooled.precision.interval.high,
                "reason": str(part.pooled.tau.reason),
            }
            for name, part in self.parts.items()
        )
        groups = (
            {
                "part": name,
                "group": row.group,
                "group_name": self.names[row.group],
                "tau": row.tau.value,
                "low": row.tau.interval.low,
                "high": row.tau.interval.high,
                "p_value": row.p_value,
                "p_holm": row.p_holm,
                "precision": row.precision.value,
                "n_raters": row.n_raters,
                "n_scales": row.n_scales,
                "reason": str(row.tau.reason),
            }
            for name, row in self._group_rows()
        )
        pilot = (
            asdict(row) | {"group_name": self.names[row.group]} for row in self.selection.pilot
        )
        return (
            DataTable("candidates", "Candidates", to_frame(candidates, CANDIDATES)),
            DataTable("pilot", "Pilot groups", to_frame(pilot, PILOT)),
            DataTable("alignments", "Pilot, test and all groups", to_frame(alignments, ALIGNMENTS)),
            DataTable("groups", "Group by group", to_frame(groups, GROUPS)),
        )

    def _method(self) -> tuple[str, ...]:
        options, test = self.selection.options, self.parts["test"].options
        pilot = listing([self.names[slug] for slug in options.pilot_groups])
        return (
            "After Cao et al. (2022), section 5.1 and Table 5. The choice looks at "
            f"{options.annotations} raters of each of {pilot}, or at all where there are fewer, "
            f"drawn with seed {options.seed}. Every template, and every set of up to "
            f"{count(options.most, 'template')} with its scores averaged, is a candidate; the one "
            "with the highest Kendall’s tau-b over the pilot cells is chosen, the smaller one "
            "among equals.",
            f"The measure is {measure_title(self.record)}, "
            f"{options_in_words(self.record['run'])}. With the chosen templates the alignment "
            "is computed as in an alignment report, apart for pilot groups, test groups and all "
            f"groups: tau-b over pooled cells, {test.n_resamples} resamples of whole submissions, "
            "and p-values of groups Holm-corrected within each part.",
        )

    def _left_out(self) -> tuple[str, ...]:
        candidates = {slug for row in self.selection.candidates for slug in row.templates}
        found = [
            f"Template “{self._text(slug)}”: it lacks a score in a pilot cell."
            for slug in self.record["template_texts"]
            if slug not in candidates
        ]
        found += [
            f"{name}: only people or only the model has it."
            for slug, name in self.record["other_groups"].items()
            if slug != UNMARKED
        ]
        return tuple(found)


def _mark(tau: Any, n: int) -> IntervalMark:
    return IntervalMark(
        tau.value, tau.interval.low, tau.interval.high, n, "model", reason=str(tau.reason)
    )
