"""The figures of a comparison of several runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.analyses.alignment_comparison_result import (
    TAU,
    ComparisonResult,
    RunGroup,
    RunOverall,
)
from evaluation.charts import (
    GridCell,
    GridLabel,
    GridWords,
    IntervalLine,
    IntervalMark,
    IntervalPanel,
    IntervalWords,
    value_grid_spec,
)
from evaluation.reports.alignment import comparison_words as words
from evaluation.reports.document import Figure
from evaluation.reports.formatting import count, interval
from evaluation.reports.interval_figure import interval_figure

TAU_LIMIT = 0.6


def cells_of(result: ComparisonResult) -> dict[tuple[str, str], RunGroup]:
    """Return (group, run) → its alignment."""
    return {(row.alignment.group, row.run): row for row in result.by_group}


class ComparisonFigures:
    """``by_part`` : part → its runs, highest τ first; the last part is the one to cite."""

    def __init__(
        self,
        result: ComparisonResult,
        record: dict[str, Any],
        by_part: Mapping[str, Sequence[RunOverall]],
    ) -> None:
        self.result, self.by_part = result, by_part
        self.labels = {run["public_id"]: run["label"] for run in record["runs"]}
        self.names = {entry["slug"]: entry for entry in record["groups"]}
        self.level = f"{result.options.level * 100:g} %"

    def overall(self) -> Figure:
        panels = tuple(
            IntervalPanel(
                words.PARTS[part],
                tuple(
                    IntervalLine(
                        self.labels[row.run],
                        (
                            IntervalMark(
                                row.pooled.tau.value,
                                row.tau_wide.low,
                                row.tau_wide.high,
                                row.pooled.n_cells,
                                reason=str(row.pooled.tau.reason),
                            ),
                        ),
                    )
                    for row in self.by_part[part]
                ),
            )
            for part in self.by_part
        )
        return interval_figure(
            "overall",
            f"Kendall’s τ of every run over pooled cells, highest first; {self.level} intervals "
            "resample people and groups.",
            panels,
            words=IntervalWords(
                title="Alignment of every run",
                axis="Kendall’s τ",
                level=self.level,
                value="τ",
                n="cells",
            ),
            decimals=2,
            data="overall",
        )

    def differences(self) -> Figure:
        part = list(self.by_part)[-1]
        panels = tuple(
            IntervalPanel(
                f"{self.labels[first]} minus",
                tuple(
                    IntervalLine(
                        self.labels[row.second],
                        (
                            IntervalMark(
                                row.value,
                                row.wide.low,
                                row.wide.high,
                                row.n_cells,
                                reason=row.reason,
                            ),
                        ),
                    )
                    for row in self.result.differences
                    if (row.part, row.quantity, row.first) == (part, TAU, first)
                ),
            )
            for first in self.result.runs
        )
        return interval_figure(
            "differences",
            f"{words.PARTS[part]}: difference in τ between every two runs; {self.level} "
            "intervals resample people and groups, for both runs alike.",
            panels,
            words=IntervalWords(
                title="Differences in alignment",
                axis="Difference in Kendall’s τ",
                level=self.level,
                value="difference",
                n="cells",
            ),
            decimals=2,
            signed=True,
            data="differences",
        )

    def groups(self) -> Figure:
        cells = {
            key: GridCell(
                row.alignment.tau.value,
                words.sign(row),
                f"{self.level} interval "
                f"{interval(row.alignment.tau.interval.low, row.alignment.tau.interval.high)}, "
                f"{count(row.alignment.n_raters, 'rater')}",
            )
            for key, row in cells_of(self.result).items()
        }
        return Figure(
            "groups",
            f"Kendall’s τ of every group with every run. {words.SIGNS}",
            value_grid_spec(
                [GridLabel(slug, e["plural"], e["domain"]) for slug, e in self.names.items()],
                [GridLabel(run, self.labels[run]) for run in self.result.runs],
                cells,
                words=GridWords(title="Alignment of every group", scale="Kendall’s τ"),
                limit=TAU_LIMIT,
            ),
            data="groups",
        )
