"""The figures of a report on subgroups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.analyses.subgroup_result import Subgroup, SubgroupResult
from evaluation.charts import (
    GridCell,
    GridLabel,
    GridWords,
    IntervalLine,
    IntervalMark,
    IntervalPanel,
    IntervalWords,
    LegendEntry,
    value_grid_spec,
)
from evaluation.reports.document import Figure
from evaluation.reports.formatting import count, interval
from evaluation.reports.interval_figure import interval_figure
from evaluation.reports.subgroups import words

TAU_LIMIT = 0.6
CENTRE, RATING_LIMIT = 50.0, 30.0


class SubgroupFigures:
    def __init__(
        self,
        result: SubgroupResult,
        record: dict[str, Any],
        by_question: Mapping[str, Sequence[Subgroup]],
    ) -> None:
        self.result, self.record, self.by_question = result, record, by_question
        self.level = f"{result.options.level * 100:g} %"

    def overall(self) -> Figure:
        """Return τ of every subgroup beside that of as many random participants."""
        panels = tuple(
            IntervalPanel(
                self.record["questions"].get(slug, ""), tuple(self._line(row) for row in rows)
            )
            for slug, rows in self.by_question.items()
        )
        return interval_figure(
            "subgroups",
            "Kendall’s τ between the model’s scores and the mean ratings of each subgroup, with "
            f"{self.level} intervals over people. Outlined: mean and central {self.level} of as "
            "many participants drawn at random.",
            panels,
            words=IntervalWords(
                title="Alignment with every subgroup",
                axis="Kendall’s τ",
                level=self.level,
                value="τ",
                n="people",
            ),
            legend=(
                LegendEntry("Subgroup", "human"),
                LegendEntry("As many random participants", "ink", outlined=True),
            ),
            decimals=2,
            data="subgroups",
        )

    def _line(self, row: Subgroup) -> IntervalLine:
        found, reference = row.tau, row.reference
        marks = [
            IntervalMark(
                found.value, found.interval.low, found.interval.high, row.n_people, "human",
                reason=str(found.reason),
            )
        ]  # fmt: skip
        if row.question:
            marks.append(
                IntervalMark(
                    reference.mean, reference.low, reference.high, row.n_people, outlined=True,
                    reason="no reference",
                )
            )  # fmt: skip
        return IntervalLine(row.answer or words.EVERYBODY, tuple(marks), bold=not row.question)

    def grid(self, question: str, query: str) -> Figure:
        """Return τ of every group with every subgroup of a question."""
        columns = [GridLabel("", words.EVERYBODY)] + [
            GridLabel(row.answer, row.answer, "answers") for row in self.by_question[question]
        ]
        cells = {
            (row.group, row.answer): GridCell(
                row.tau.value,
                words.sign(row),
                f"{self.level} interval {interval(row.tau.interval.low, row.tau.interval.high)}, "
                f"{count(row.n_raters, 'rater')}",
            )
            for row in self.result.by_group
            if row.question in {"", question}
        }
        return Figure(
            "groups",
            "Kendall’s τ between the model’s scores and the mean ratings of each subgroup, group "
            f"by group. {words.SIGNS}",
            value_grid_spec(
                [
                    GridLabel(entry["slug"], entry["plural"], entry["domain"])
                    for entry in self.record["groups"]
                ],
                columns,
                cells,
                words=GridWords(
                    title="Alignment of every group with every subgroup",
                    scale="Kendall’s τ",
                    missing="Outlined cells are kept back",
                ),
                limit=TAU_LIMIT,
            ),
            data="groups",
            query=query,
        )

    def means(self, question: str, group: str, query: str) -> Figure:
        """Return mean ratings of one group by every subgroup of a question."""
        name = next(e["plural"] for e in self.record["groups"] if e["slug"] == group)
        columns = [GridLabel("", words.EVERYBODY)] + [
            GridLabel(row.answer, row.answer, "answers") for row in self.by_question[question]
        ]
        cells = {
            (row.scale, row.answer): GridCell(
                row.mean,
                tip=f"{self.level} interval "
                f"{interval(row.interval.low, row.interval.high, 1)}, {count(row.n, 'rating')}",
            )
            for row in self.result.cells
            if row.group == group and row.question in {"", question}
        }
        return Figure(
            "means",
            f"Mean ratings of {name} by each subgroup, centred on 50 and clipped at 20 and 80.",
            value_grid_spec(
                [
                    GridLabel(scale["slug"], f"{scale['low']} – {scale['high']}",
                              scale["dimension"])
                    for scale in self.record["scales"]
                ],
                columns,
                cells,
                words=GridWords(
                    title=f"Mean ratings of {name} by every subgroup",
                    scale="Mean rating",
                    missing="Outlined cells are kept back",
                ),
                limit=RATING_LIMIT,
                centre=CENTRE,
                decimals=1,
            ),
            data="means",
            query=query,
        )  # fmt: skip
