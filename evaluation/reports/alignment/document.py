"""The alignment report as a document: question, key numbers, figures, tables, words, provenance.

Everything is derived from the stored record, so that the page, the file and a later rendering
show the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from annotation.models import Origin
from evaluation.analyses import (
    AlignmentResult,
    Cell,
    GroupAlignment,
    LeftOut,
    from_plain,
    to_tables,
)
from evaluation.models import Report
from evaluation.reports.alignment import words
from evaluation.reports.alignment.figures import AlignmentFigures
from evaluation.reports.document import (
    Choice,
    Choices,
    Column,
    DataTable,
    Document,
    Figure,
    HeadGroup,
    KeyNumber,
    Row,
    Section,
    Table,
)
from evaluation.reports.formatting import count, interval, number, p_value
from evaluation.reports.mention import MENTION, mention_caveat
from evaluation.reports.participants import NAME as PARTICIPANTS
from evaluation.reports.participants import participants_section, participants_table
from evaluation.reports.score_words import measure_short


@dataclass(frozen=True)
class GroupRow:
    """One line of the table of agreement by group, ready to print."""

    slug: str
    name: str
    tau: str
    interval: str
    p: str
    p_holm: str
    precision: str
    precision_top: str
    precision_bottom: str
    ceiling: str
    ceiling_band: str
    raters: int
    note: str


@dataclass(frozen=True)
class ScaleRow:
    """One line of the table of one group's scales, ready to print."""

    low: str
    high: str
    human_mean: str
    human_interval: str
    raters: int
    model_mean: str
    model_interval: str
    prompts: str
    human_rank: str
    model_rank: str
    note: str


class AlignmentDocument:
    """Lays out an alignment report; ``group`` chooses the group shown in detail."""

    def __init__(self, report: Report, *, group: str = "") -> None:
        self.report = report
        self.record: dict[str, Any] = report.inputs
        stored = dict(report.result or {})
        self.mention: dict[str, Any] | None = stored.pop(MENTION, None)
        self.result: AlignmentResult = from_plain(AlignmentResult, stored)
        self.group_names = {entry["slug"]: entry["plural"] for entry in self.record["groups"]}
        self.scales = {entry["slug"]: entry for entry in self.record["scales"]}
        self._rows = {row.group: row for row in self.result.by_group}
        self.group = group if group in self._rows else self._default_group()
        self.group_name = self.group_names[self.group]

    def _default_group(self) -> str:
        """Return the group with the highest tau: the picture that shows the most."""
        return max(
            self.result.by_group,
            key=lambda row: -2.0 if row.tau.reason else row.tau.value,
        ).group

    # -- words ---------------------------------------------------------------------------------

    @cached_property
    def banners(self) -> list[str]:
        """Return what a reader must know before the first number."""
        found = []
        if self.record["study"]["origin"] == Origin.SIMULATED:
            found.append(
                "Simulated ratings: no person gave them. They show how a report looks and are "
                "not a finding."
            )
        if self.record["run"]["is_demo"]:
            found.append(
                "Demo model: a fixture without knowledge of the world. Its scores mean nothing."
            )
        return found

    @cached_property
    def question(self) -> str:
        return words.question(self.record, self.result)

    @cached_property
    def method(self) -> list[str]:
        return words.method(self.record, self.result)

    @cached_property
    def caveats(self) -> list[str]:
        found = words.caveats(self.record, self.result)
        return [*found, mention_caveat(self.mention)] if self.mention else found

    @cached_property
    def left_out(self) -> list[str]:
        return [self._describe_left_out(item) for item in self.result.left_out]

    def _describe_left_out(self, item: LeftOut) -> str:
        names = self.record["other_groups"] | self.group_names
        group = names.get(item.group, item.group)
        scale = self.scales.get(item.scale)
        where = " × ".join(
            part
            for part in (group, f"{scale['low']} – {scale['high']}" if scale else item.scale)
            if part
        )
        what = "" if item.what in {"group", "cell"} else f", {count(item.n, item.what[:-1])}"
        return f"{where}{what}: {item.reason}."

    @cached_property
    def provenance(self) -> list[list[tuple[str, str, str]]]:
        """Return two columns of (name, text, code)."""
        return words.provenance(self.report, self.record, self.result)

    # -- numbers -------------------------------------------------------------------------------

    @cached_property
    def keys(self) -> list[KeyNumber]:
        pooled, level = self.result.pooled, self.result.options.level
        share = f"{level * 100:g} %"
        ceiling = pooled.ceiling
        return [
            KeyNumber(
                "Agreement in order, Kendall’s τ",
                number(pooled.tau.value),
                "",
                (
                    self._interval_line(share, pooled.tau.interval.low, pooled.tau.interval.high)
                    or str(pooled.tau.interval.reason).capitalize() + ".",
                    f"{p_value(pooled.p_value)}, {count(pooled.n_cells, 'cell')}, "
                    f"{count(pooled.n_annotations, 'rating')} of a group",
                ),
            ),
            KeyNumber(
                "Noise ceiling for τ",
                number(ceiling.mean),
                "",
                (
                    f"Middle {self.result.options.ceiling_share * 100:g} % of split halves: "
                    f"{interval(ceiling.low, ceiling.high)}",
                    f"Raters against raters, {ceiling.n_first} and {ceiling.n_second}",
                )
                if not ceiling.reason
                else (f"{ceiling.reason.capitalize()}.",),
            ),
            KeyNumber(
                f"Precision at {self.result.options.k}",
                number(pooled.precision.value),
                "",
                (
                    self._interval_line(
                        share, pooled.precision.interval.low, pooled.precision.interval.high
                    )
                    or str(pooled.precision.interval.reason).capitalize() + ".",
                    f"Top {number(pooled.precision_top.value)}, "
                    f"bottom {number(pooled.precision_bottom.value)}",
                ),
            ),
            KeyNumber(
                "Groups with τ above zero",
                str(pooled.n_above_zero),
                f"of {pooled.n_tested}",
                (
                    f"p < {1 - level:.2g} after Holm’s correction",
                    f"for {count(pooled.n_tested, 'test')}",
                ),
            ),
        ]

    @staticmethod
    def _interval_line(share: str, low: float, high: float) -> str:
        text = interval(low, high)
        return f"{share} interval {text}" if " to " in text else ""

    @cached_property
    def group_rows(self) -> list[GroupRow]:
        """Return all groups, highest tau first, undefined ones last."""
        ordered = sorted(
            self.result.by_group,
            key=lambda row: (bool(row.tau.reason), -row.tau.value if not row.tau.reason else 0),
        )
        return [self._group_row(row) for row in ordered]

    def _group_row(self, row: GroupAlignment) -> GroupRow:
        return GroupRow(
            slug=row.group,
            name=self.group_names[row.group],
            tau=number(row.tau.value),
            interval=interval(row.tau.interval.low, row.tau.interval.high),
            p=number(row.p_value, 3),
            p_holm=number(row.p_holm, 3),
            precision=number(row.precision.value),
            precision_top=number(row.precision_top.value),
            precision_bottom=number(row.precision_bottom.value),
            ceiling=number(row.ceiling.mean),
            ceiling_band=interval(row.ceiling.low, row.ceiling.high),
            raters=row.n_raters,
            note=row.tau.reason or row.tau.interval.reason,
        )

    @property
    def detail(self) -> GroupRow:
        return self._group_row(self._rows[self.group])

    @property
    def scale_rows(self) -> list[ScaleRow]:
        return [self._scale_row(cell) for cell in self.result.cells if cell.group == self.group]

    def _scale_row(self, cell: Cell) -> ScaleRow:
        scale = self.scales[cell.scale]
        return ScaleRow(
            low=scale["low"],
            high=scale["high"],
            human_mean=number(cell.human.mean, 1),
            human_interval=interval(cell.human.interval.low, cell.human.interval.high, 1),
            raters=cell.human.n,
            model_mean=number(cell.model.mean, 2, signed=True),
            model_interval=interval(cell.model.low, cell.model.high, 2, signed=True),
            prompts="" if cell.model.n is None else str(cell.model.n),
            human_rank="" if cell.human.rank is None else str(cell.human.rank),
            model_rank="" if cell.model.rank is None else str(cell.model.rank),
            note=cell.human.reason or cell.model.reason,
        )

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table of the report with the names that its slugs stand for."""
        tables = to_tables(self.result)
        for table in tables.values():
            if "scale" in table.columns:
                place = list(table.columns).index("scale") + 1
                for part in ("dimension", "high", "low"):
                    texts = [self.scales.get(slug, {}).get(part) for slug in table["scale"]]
                    table.insert(place, part, texts)
            if "group" in table.columns:
                place = list(table.columns).index("group") + 1
                known = self.record["other_groups"] | self.group_names
                names = [known.get(slug) for slug in table["group"]]
                table.insert(place, "group_name", names)
        return tables

    # -- figures -------------------------------------------------------------------------------

    @cached_property
    def figures(self) -> AlignmentFigures:
        return AlignmentFigures(self.result, self.record, measure=self.measure_short)

    @cached_property
    def profile(self) -> Figure:
        return self.figures.profile(self.group)

    @property
    def measure_short(self) -> str:
        return measure_short(self.record)

    @property
    def level(self) -> str:
        return f"{self.result.options.level * 100:g} %"

    # -- layout --------------------------------------------------------------------------------

    def build(self) -> Document:
        run = self.record["run"]
        return Document(
            title=self.report.title,
            question=self.question,
            banners=tuple(self.banners),
            facts=(
                f"Study: {self.record['study']['title']}",
                f"Run {run['number']}: {run['model']}",
            ),
            keys=tuple(self.keys),
            sections=(
                self._pictures(),
                self._detail(),
                self._agreement(),
                *self._participants(),
            ),
            tables=(
                *(
                    DataTable(name, words.TABLE_TITLES[name], frame)
                    for name, frame in self.tables.items()
                ),
                *([participants_table(self.record[PARTICIPANTS])] if self._participants() else []),
            ),
            method=tuple(self.method),
            caveats=tuple(self.caveats),
            left_out=tuple(self.left_out),
            provenance=tuple(tuple(column) for column in self.provenance),
        )

    def _pictures(self) -> Section:
        return Section("The two pictures", (self.figures.heat_maps,), why=words.PICTURES)

    def _detail(self) -> Section:
        choices = Choices(
            label="Another group",
            anchor="detail",
            options=tuple(
                Choice(row.name, f"?group={row.slug}", row.slug == self.group)
                for row in self.group_rows
            ),
            figures=tuple(
                (name, self.figures.profile(slug))
                for slug, name in self.group_names.items()
                if slug != self.group
            ),
        )
        return Section(
            f"One group in detail: {self.group_name}",
            (self.profile, choices, self._scale_table()),
            why=words.DETAIL,
            anchor="detail",
        )

    def _agreement(self) -> Section:
        return Section(
            "Agreement by group",
            (self.figures.forest, self._group_table()),
            why=words.agreement(len(self.scales)),
        )

    def _participants(self) -> list[Section]:
        """Return who took part; reports that were built before it was kept have no such section."""
        if PARTICIPANTS not in self.record:
            return []
        section = participants_section(
            self.record[PARTICIPANTS], origin=self.record["study"]["origin"]
        )
        return [section] if section else []

    def _scale_table(self) -> Table:
        return Table(
            caption=f"Ratings and scores of {self.group_name}; rank 1 is nearest the right "
            "adjective.",
            heads=(
                HeadGroup("", 1),
                HeadGroup("People, rating 0–100", 3, "people"),
                HeadGroup(f"{self.measure_short} score of the model", 3, "model"),
                HeadGroup("Rank", 2),
            ),
            columns=(
                Column("Scale"),
                Column("Mean", number=True),
                Column(f"{self.level} interval", number=True, style="quiet"),
                Column("Raters", number=True),
                Column("Mean", number=True),
                Column(f"{self.level} interval", number=True, style="quiet"),
                Column("Prompts", number=True),
                Column("People", number=True),
                Column("Model", number=True),
            ),
            rows=tuple(
                Row(
                    (
                        f"{row.low} – {row.high}",
                        row.human_mean,
                        row.human_interval,
                        str(row.raters),
                        row.model_mean,
                        row.model_interval,
                        row.prompts,
                        row.human_rank,
                        row.model_rank,
                    ),
                    row.note,
                )
                for row in self.scale_rows
            ),
            data="cells",
        )

    def _group_table(self) -> Table:
        return Table(
            caption="Kendall’s τ and precision at 3 for every group, highest τ first; p by Holm "
            "over all groups.",
            columns=(
                Column("Group"),
                Column("τ", number=True, style="strong"),
                Column(f"{self.level} interval", number=True, style="quiet"),
                *(
                    Column(head, number=True)
                    for head in ("p", "p (Holm)", "Top", "Bottom", "P@3", "Ceiling", "Raters")
                ),
            ),
            rows=tuple(
                Row(
                    (
                        row.name,
                        row.tau,
                        row.interval,
                        row.p,
                        row.p_holm,
                        row.precision_top,
                        row.precision_bottom,
                        row.precision,
                        row.ceiling,
                        str(row.raters),
                    ),
                    row.note,
                )
                for row in self.group_rows
            ),
            data="groups",
        )
