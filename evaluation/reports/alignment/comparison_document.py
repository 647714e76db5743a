"""A comparison of several runs as a document: overall, pair by pair, group by group."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

from evaluation.analyses import from_plain
from evaluation.analyses.alignment_comparison_result import (
    ALL,
    PRECISION,
    TAU,
    TEST,
    ComparisonResult,
    Difference,
    RunOverall,
)
from evaluation.models import Report
from evaluation.reports.alignment import comparison_words as words
from evaluation.reports.alignment.comparison_figures import ComparisonFigures, cells_of
from evaluation.reports.alignment.comparison_tables import TITLES, comparison_tables
from evaluation.reports.document import (
    Column,
    DataTable,
    Document,
    HeadGroup,
    KeyNumber,
    Section,
    Table,
    TableBuilder,
)
from evaluation.reports.formatting import MISSING, count, interval, number, p_cell
from evaluation.reports.mention import MENTION
from evaluation.reports.provenance import banners, closing_lines, rated_run_lines

# With more differences than this the page shows those in τ of the last part alone.
SHOWN_PAIRS = 60


def lay_out_comparison(report: Report) -> Document:
    """Return the document of a built report from its record."""
    if report.result is None:
        raise ValueError("the report is not built")
    return _Layout(report, report.result).build()


class _Layout:
    def __init__(self, report: Report, result: dict[str, Any]) -> None:
        self.report = report
        self.record: dict[str, Any] = report.inputs
        stored = dict(result)
        #: The run's public id → what the mere mention of a group explains of its scores.
        self.mention: dict[str, dict[str, Any]] = stored.pop(MENTION, {})
        self.result = from_plain(ComparisonResult, stored)
        self.labels = {run["public_id"]: run["label"] for run in self.record["runs"]}
        self.groups = {entry["slug"]: entry for entry in self.record["groups"]}
        self.level = f"{self.result.options.level * 100:g} %"
        self.parts = [ALL, TEST] if self.result.pilot_groups else [ALL]
        self.figures = ComparisonFigures(self.result, self.record, self._by_part)

    def build(self) -> Document:
        study = self.record["study"]
        return Document(
            title=self.report.title,
            question=words.question(self.record, self.result),
            banners=banners(self.record["runs"], study["origin"]),
            facts=(f"Study: {study['title']}", count(len(self.result.runs), "run")),
            keys=self._keys(),
            sections=(
                Section(
                    "All runs",
                    (self.figures.overall(), *(self._overall(part) for part in self.parts)),
                    words.WHY_OVERALL,
                ),
                Section(
                    "Every two runs",
                    (self.figures.differences(), self._pair_table()),
                    words.WHY_PAIRS,
                ),
                Section(
                    "Group by group",
                    (
                        self.figures.groups(),
                        self._group_table("tau"),
                        self._group_table("precision_top"),
                        self._group_table("precision_bottom"),
                    ),
                    words.WHY_GROUPS,
                ),
                *(
                    [Section("Mere mention", (self._mention_table(),), words.WHY_MENTION)]
                    if self.mention
                    else []
                ),
            ),
            tables=tuple(
                DataTable(name, TITLES[name], frame)
                for name, frame in comparison_tables(
                    self.record, self.result, self.mention
                ).items()
            ),
            method=words.method(self.record, self.result),
            caveats=words.caveats(self.record, self.result),
            left_out=words.left_out(self.record, self.result),
            provenance=(
                tuple(rated_run_lines(study, self.record["runs"])),
                (("Analysis", "", self.result.signature), *closing_lines(self.report)),
            ),
        )  # fmt: skip

    @cached_property
    def _by_part(self) -> dict[str, list[RunOverall]]:
        """Return the runs of every part, highest τ first."""
        return {
            part: sorted(
                (row for row in self.result.overall if row.part == part),
                key=lambda row: (
                    math.inf if math.isnan(row.pooled.tau.value) else -row.pooled.tau.value
                ),
            )
            for part in self.parts
        }

    # -- keys ----------------------------------------------------------------------------------

    def _keys(self) -> tuple[KeyNumber, ...]:
        keys = [self._range(part) for part in self.parts]
        ceiling = max(
            (row.pooled.ceiling for row in self._by_part[ALL]),
            key=lambda found: -math.inf if math.isnan(found.mean) else found.n_first,
        )
        keys.append(
            KeyNumber(
                "Noise ceiling for τ",
                number(ceiling.mean),
                "",
                (
                    f"Middle {self.result.options.ceiling_share * 100:g} % of split halves: "
                    f"{interval(ceiling.low, ceiling.high)}",
                )
                if not ceiling.reason
                else (f"{str(ceiling.reason).capitalize()}.",),
            )
        )
        pairs = self._differences(self.parts[-1], TAU)
        clear = [row for row in pairs if row.p_holm < 1 - self.result.options.level]
        keys.append(
            KeyNumber(
                "Pairs that differ in τ",
                str(len(clear)),
                f"of {len(pairs)}",
                (
                    words.PARTS[self.parts[-1]],
                    f"p < {1 - self.result.options.level:.2g} after Holm’s correction for "
                    f"{count(len(pairs), 'test')}",
                ),
            )
        )
        return tuple(keys)

    def _range(self, part: str) -> KeyNumber:
        rows = [row for row in self._by_part[part] if not math.isnan(row.pooled.tau.value)]
        if not rows:
            return KeyNumber(f"τ, {words.PARTS[part].lower()}", number(None))
        highest, lowest = rows[0], rows[-1]
        return KeyNumber(
            f"Highest τ, {words.PARTS[part].lower()}",
            number(highest.pooled.tau.value),
            "",
            (
                f"{self.labels[highest.run]}, {self.level} interval over people and groups "
                f"{interval(highest.tau_wide.low, highest.tau_wide.high)}",
                f"Lowest {number(lowest.pooled.tau.value)}: {self.labels[lowest.run]}",
            ),
        )

    # -- overall -------------------------------------------------------------------------------

    def _overall(self, part: str) -> Table:
        table = TableBuilder(
            caption=f"{words.PARTS[part]}: alignment of every run, highest τ first; p by Holm over "
            "the runs.",
            data="overall",
            heads=(
                HeadGroup("", 2),
                HeadGroup(f"Kendall’s τ, {self.level} intervals over", 5),
                HeadGroup(f"P@{self.result.options.k}, {self.level} interval over", 4),
            ),
            columns=(
                Column("Run"),
                Column("Groups", number=True),
                Column("τ", number=True, style="strong"),
                Column("people", number=True, style="quiet"),
                Column("people and groups", number=True, style="quiet"),
                Column("p", number=True),
                Column("p (Holm)", number=True),
                Column("Top", number=True),
                Column("Bottom", number=True),
                Column("Mean", number=True, style="strong"),
                Column("people and groups", number=True, style="quiet"),
            ),
        )
        for row in self._by_part[part]:
            pooled = row.pooled
            table.add(
                self.labels[row.run],
                str(pooled.n_groups),
                number(pooled.tau.value),
                interval(pooled.tau.interval.low, pooled.tau.interval.high),
                interval(row.tau_wide.low, row.tau_wide.high),
                p_cell(pooled.p_value),
                p_cell(row.p_holm),
                number(pooled.precision_top.value),
                number(pooled.precision_bottom.value),
                number(pooled.precision.value),
                interval(row.precision_wide.low, row.precision_wide.high),
                note=str(pooled.tau.reason or pooled.tau.interval.reason),
            )
        return table.build()

    # -- pairs ---------------------------------------------------------------------------------

    def _differences(self, part: str, quantity: str) -> list[Difference]:
        return [
            row
            for row in self.result.differences
            if row.part == part and row.quantity == quantity
        ]  # fmt: skip

    def _pair_table(self) -> Table:
        shown = [
            row
            for part in self.parts
            for quantity in (TAU, PRECISION)
            for row in self._differences(part, quantity)
        ]
        if len(shown) > SHOWN_PAIRS:
            shown = self._differences(self.parts[-1], TAU)
        n = len(self.result.differences)
        table = TableBuilder(
            caption="First run minus second on common cells; p from the resamples of people and "
            "groups, by Holm over all pairs."
            + ("" if len(shown) == n else f" All {n} differences are in the download."),
            data="differences",
            columns=(
                Column("First − second"),
                Column("Groups"),
                Column("Value"),
                Column("Difference", number=True, style="strong"),
                Column("people", number=True, style="quiet"),
                Column("people and groups", number=True, style="quiet"),
                Column("p", number=True),
                Column("p (Holm)", number=True),
            ),
            heads=(
                HeadGroup("", 4),
                HeadGroup(f"{self.level} interval over", 2),
                HeadGroup("", 2),
            ),
        )
        for row in shown:
            table.add(
                f"{self.labels[row.first]} − {self.labels[row.second]}",
                f"{words.PARTS[row.part].split()[0].lower()}, {row.n_groups}",
                words.QUANTITIES[row.quantity],
                number(row.value, signed=True),
                interval(row.people.low, row.people.high, signed=True),
                interval(row.wide.low, row.wide.high, signed=True),
                p_cell(row.p_value),
                p_cell(row.p_holm),
                note=row.reason or str(row.wide.reason),
            )
        return table.build()

    # -- groups --------------------------------------------------------------------------------

    def _group_table(self, quantity: str) -> Table:
        k = self.result.options.k
        captions = {
            "tau": f"Kendall’s τ of every group with every run. {words.SIGNS}",
            "precision_top": f"Precision at {k} with the {k} highest scored scales.",
            "precision_bottom": f"Precision at {k} with the {k} lowest scored scales.",
        }
        found = cells_of(self.result)
        table = TableBuilder(
            caption=captions[quantity],
            data="groups",
            columns=(
                Column("Group"),
                Column("Raters", number=True, style="quiet"),
                *(Column(self.labels[run], number=True) for run in self.result.runs),
            ),
        )
        for slug, entry in self.groups.items():
            rows = [found[slug, run] for run in self.result.runs]
            cells = []
            for row in rows:
                value = number(getattr(row.alignment, quantity).value)
                cells.append(value + (words.sign(row) if quantity == "tau" else ""))
            raters = str(max(row.alignment.n_raters for row in rows))
            pilot = " (pilot)" if slug in self.result.pilot_groups else ""
            table.add(f"{entry['plural']}{pilot}", raters, *cells)
        return table.build()

    # -- mention -------------------------------------------------------------------------------

    def _mention_table(self) -> Table:
        table = TableBuilder(
            caption="Share of the groups’ squared deviations from the unmarked sentence that the "
            f"mere mention of any group explains, in %; the {self.level} interval resamples "
            "traits.",
            data="mention",
            columns=(
                Column("Run"),
                Column("Explained, %", number=True, style="strong"),
                Column(f"{self.level} interval", number=True, style="quiet"),
                Column("Groups", number=True),
                Column("Cells", number=True),
            ),
        )
        for run in self.result.runs:
            found = self.mention.get(run)
            if found is None:
                table.add(
                    self.labels[run], *(MISSING,) * 4, note="the run has no unmarked sentence"
                )
                continue
            explained, low, high = (
                math.nan if found[name] is None else 100 * found[name]
                for name in ("explained", "low", "high")
            )
            table.add(
                self.labels[run],
                number(explained, 0),
                interval(low, high, 0),
                str(found["n_groups"]),
                str(found["n_cells"]),
                note=found["reason"],
            )
        return table.build()
