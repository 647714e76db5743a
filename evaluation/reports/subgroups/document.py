"""A report on subgroups as a document: who took part, each subgroup, each pair, each group."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.utils.http import urlencode

from evaluation.analyses import from_plain
from evaluation.analyses.subgroup_result import (
    PRECISION,
    TAU,
    Subgroup,
    SubgroupCell,
    SubgroupGroup,
    SubgroupResult,
)
from evaluation.models import Report
from evaluation.reports.document import (
    Choice,
    Choices,
    Column,
    DataTable,
    Document,
    HeadGroup,
    KeyNumber,
    Section,
    Table,
    TableBuilder,
)
from evaluation.reports.formatting import MISSING, count, interval, number, p_cell, p_value
from evaluation.reports.mention import MENTION, mention_caveat
from evaluation.reports.participants import NAME as PARTICIPANTS
from evaluation.reports.participants import participants_section, participants_table
from evaluation.reports.provenance import banners, closing_lines, rated_run_lines
from evaluation.reports.subgroups import words
from evaluation.reports.subgroups.figures import SubgroupFigures
from evaluation.reports.subgroups.tables import subgroup_tables

QUANTITIES = {TAU: "τ", PRECISION: "P@3"}
# More pairs than this are in the download alone.
SHOWN_PAIRS = 40


class SubgroupDocument:
    """Lays out the report; ``question`` and ``group`` choose what is shown in detail."""

    def __init__(self, report: Report, *, question: str = "", group: str = "") -> None:
        self.report = report
        self.record: dict[str, Any] = report.inputs
        stored = dict(report.result or {})
        self.mention: dict[str, Any] | None = stored.pop(MENTION, None)
        self.result = from_plain(SubgroupResult, stored)
        self.labels: dict[str, str] = self.record["questions"]
        self.groups = {entry["slug"]: entry for entry in self.record["groups"]}
        self.by_question: dict[str, list[Subgroup]] = {}
        for row in self.result.subgroups:
            self.by_question.setdefault(row.question, []).append(row)
        self.shown = [slug for slug in self.result.questions if slug in self.by_question]
        self.question = question if question in self.shown else next(iter(self.shown), "")
        self.group = group if group in self.groups else self._fullest_group()
        self.level = f"{self.result.options.level * 100:g} %"
        self.figures = SubgroupFigures(self.result, self.record, self.by_question)

    def _fullest_group(self) -> str:
        """Return the group that the most subgroups of the question rate: it shows the most."""
        rated = [row.group for row in self.result.by_group if row.question == self.question]
        return max(self.groups, key=rated.count)

    def build(self) -> Document:
        study, run = self.record["study"], self.record["run"]
        who = participants_section(self.record[PARTICIPANTS], origin=study["origin"])
        return Document(
            title=self.report.title,
            question=words.question(self.record, self.result),
            banners=banners([run], study["origin"]),
            facts=(f"Study: {study['title']}", f"Run {run['number']}: {run['model']}"),
            keys=self._keys(),
            sections=(
                *([who] if who else []),
                Section(
                    "Alignment with every subgroup",
                    (self.figures.overall(), self._overall()),
                    words.WHY_OVERALL,
                ),
                Section("Every two subgroups", (self._pairs(),), words.WHY_PAIRS),
                *self._detail(),
            ),
            tables=(
                *(
                    DataTable(name, words.TITLES[name], frame)
                    for name, frame in subgroup_tables(self.record, self.result).items()
                ),
                participants_table(self.record[PARTICIPANTS]),
            ),
            method=words.method(self.record, self.result),
            caveats=(
                *words.caveats(self.record, self.result),
                *([mention_caveat(self.mention)] if self.mention else []),
            ),
            left_out=words.left_out(self.record, self.result),
            provenance=self._provenance(),
        )

    # -- overall -------------------------------------------------------------------------------

    @property
    def _everybody(self) -> Subgroup | None:
        return next(iter(self.by_question.get("", [])), None)

    def _keys(self) -> tuple[KeyNumber, ...]:
        smallest = self.result.minimum
        everybody = self._everybody
        if everybody is None:
            return (KeyNumber("Participants", f"fewer than {smallest}"),)
        tau = everybody.tau
        tested = [row for row in self.result.differences if row.quantity == TAU]
        clear = [row for row in tested if row.p_holm < 1 - self.result.options.level]
        n = sum(len(rows) for slug, rows in self.by_question.items() if slug)
        return (
            KeyNumber(
                "τ, all participants",
                number(tau.value),
                "",
                (
                    f"{self.level} interval {interval(tau.interval.low, tau.interval.high)}",
                    f"{p_value(everybody.p_value)}, "
                    f"{count(everybody.n_people, 'person', 'people')}",
                ),
            ),
            KeyNumber(
                "Subgroups shown",
                str(n),
                "",
                (f"of {smallest} people or more, in {count(len(self.shown), 'question')}",),
            ),
            KeyNumber(
                "Pairs that differ in τ",
                str(len(clear)),
                f"of {len(tested)}",
                (f"p < {1 - self.result.options.level:.2g}, by Holm over all pairs",),
            ),
        )

    def _overall(self) -> Table:
        table = TableBuilder(
            caption="τ and precision of every subgroup; “random” is the central band of τ for as "
            "many random participants.",
            data="subgroups",
            heads=(HeadGroup("", 3), HeadGroup("Kendall’s τ", 3), HeadGroup("P@3", 2)),
            columns=(
                Column("Answer"),
                Column("Question", style="quiet"),
                Column("People", number=True),
                Column("τ", number=True, style="strong"),
                Column(f"{self.level} interval", number=True, style="quiet"),
                Column("random", number=True, style="quiet"),
                Column("Mean", number=True),
                Column(f"{self.level} interval", number=True, style="quiet"),
            ),
        )
        for slug in ("", *self.shown):
            for row in self.by_question.get(slug, []):
                table.add(
                    row.answer or words.EVERYBODY,
                    self.labels.get(slug, ""),
                    str(row.n_people),
                    number(row.tau.value),
                    interval(row.tau.interval.low, row.tau.interval.high),
                    interval(row.reference.low, row.reference.high),
                    number(row.precision.value),
                    interval(row.precision.interval.low, row.precision.interval.high),
                    note=str(row.tau.reason),
                )
        return table.build()

    def _pairs(self) -> Table:
        found = self.result.differences
        shown = sorted(found, key=lambda row: (row.p_holm, row.p_value))[:SHOWN_PAIRS]
        table = TableBuilder(
            caption=(
                f"The {len(shown)} differences with the smallest p of {len(found)}; p by Holm "
                "over all pairs of the report."
                if len(found) > len(shown)
                else "Differences between the subgroups of a question, smallest p first; p by Holm "
                "over all pairs of the report."
            ),
            data="differences",
            columns=(
                Column("First − second"),
                Column("Question"),
                Column("Value"),
                Column("Difference", number=True, style="strong"),
                Column(f"{self.level} interval", number=True, style="quiet"),
                Column("expected", number=True, style="quiet"),
                Column("p", number=True),
                Column("p (Holm)", number=True),
            ),
        )
        for row in shown:
            table.add(
                f"{row.first} − {row.second}",
                self.labels[row.question],
                QUANTITIES[row.quantity],
                number(row.value, signed=True),
                interval(row.interval.low, row.interval.high, signed=True),
                number(row.expected, signed=True),
                p_cell(row.p_value),
                p_cell(row.p_holm),
            )
        return table.build()

    # -- one question, one group ---------------------------------------------------------------

    def _detail(self) -> tuple[Section, ...]:
        if not self.question:
            return ()
        label, group = self.labels[self.question], self.groups[self.group]
        questions = Choices(
            label="Another question",
            anchor="groups",
            options=tuple(
                Choice(self.labels[slug], self._query(question=slug), slug == self.question)
                for slug in self.shown
            ),
            figures=tuple(
                (self.labels[slug], self.figures.grid(slug, self._query(question=slug)))
                for slug in self.shown
                if slug != self.question
            ),
        )
        groups = Choices(
            label="Another group",
            anchor="means",
            options=tuple(
                Choice(entry["plural"], self._query(group=slug), slug == self.group)
                for slug, entry in self.groups.items()
            ),
        )
        return (
            Section(
                f"Group by group: {label}",
                (self.figures.grid(self.question, self._query()), questions, self._by_group()),
                words.WHY_GROUPS,
                anchor="groups",
            ),
            Section(
                f"How they rate {group['plural']}: {label}",
                (
                    self.figures.means(self.question, self.group, self._query()),
                    groups,
                    self._means(),
                ),
                words.WHY_MEANS,
                anchor="means",
            ),
        )

    def _query(self, **changes: str) -> str:
        return "?" + urlencode({"question": self.question, "group": self.group, **changes})

    @cached_property
    def _answers(self) -> list[tuple[str, str]]:
        """Return (question, answer) of the columns: everybody, then the question's subgroups."""
        return [("", ""), *((self.question, row.answer) for row in self.by_question[self.question])]

    def _by_group(self) -> Table:
        found: dict[tuple[str, str, str], SubgroupGroup] = {
            (row.question, row.answer, row.group): row for row in self.result.by_group
        }
        table = TableBuilder(
            caption=f"Kendall’s τ of every group with the number of raters; {MISSING} is kept "
            f"back. {words.SIGNS}",
            data="groups",
            columns=(
                Column("Group"),
                *(Column(answer or words.EVERYBODY, number=True) for _, answer in self._answers),
            ),
        )
        for slug, entry in self.groups.items():
            cells = []
            for key in self._answers:
                row = found.get((*key, slug))
                cells.append(
                    f"{number(row.tau.value)}{words.sign(row)} ({row.n_raters})" if row else MISSING
                )
            table.add(entry["plural"], *cells)
        return table.build()

    def _means(self) -> Table:
        found: dict[tuple[str, str, str], SubgroupCell] = {
            (row.question, row.answer, row.scale): row
            for row in self.result.cells
            if row.group == self.group
        }
        table = TableBuilder(
            caption=f"Mean ratings of {self.groups[self.group]['plural']}, 0 at the left and 100 "
            f"at the right adjective, with their {self.level} intervals; {MISSING} is kept back.",
            data="means",
            columns=(
                Column("Scale"),
                *(Column(answer or words.EVERYBODY, number=True) for _, answer in self._answers),
            ),
        )
        raters = [self._raters(found, key) for key in self._answers]
        table.add("Raters", *raters)
        for scale in self.record["scales"]:
            cells = []
            for key in self._answers:
                cell = found.get((*key, scale["slug"]))
                cells.append(
                    f"{number(cell.mean, 1)} ({interval(cell.interval.low, cell.interval.high, 0)})"
                    if cell
                    else MISSING
                )
            table.add(f"{scale['low']} – {scale['high']}", *cells)
        return table.build()

    @staticmethod
    def _raters(found: dict[tuple[str, str, str], SubgroupCell], key: tuple[str, str]) -> str:
        counts = [row.n for (*own, _), row in found.items() if tuple(own) == key]
        if not counts:
            return MISSING
        low, high = min(counts), max(counts)
        return str(low) if low == high else f"{low} to {high}"

    def _provenance(self) -> tuple[tuple[tuple[str, str, str], ...], ...]:
        ratings, *run = rated_run_lines(self.record["study"], [self.record["run"]])
        answers = (
            "Answers of participants",
            count(len(self.labels), "question"),
            f"sha256 {self.record['hashes'][words.ANSWERS_HASH][:16]}",
        )
        return (
            (ratings, answers, *run),
            (("Analysis", "", self.result.signature), *closing_lines(self.report)),
        )
