"""Tables and figures of producers in two directions, for counterpart and judgment reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from evaluation.analyses.counterpart_metrics import CounterpartResult
from evaluation.analyses.direction_gaps import (
    ALL,
    NON_TOXIC,
    SOURCE_PREFIX,
    TOXIC,
    Cell,
    Contrast,
    DirectionOptions,
    Gap,
)
from evaluation.analyses.judgment_analysis import JudgmentResult
from evaluation.charts import LegendEntry
from evaluation.charts.intervals import Tone
from evaluation.reports.parts.document import Figure, Section, Table
from evaluation.reports.parts.formatting import count, percent
from evaluation.reports.parts.table import (
    Column,
    ReportTable,
    WideRow,
    estimate_columns,
    pivot,
)

HUMAN, REPEAT = "human", "repeat"
NAMES = {HUMAN: "People", REPEAT: "Repeat the input"}
TONES: dict[str, Tone] = {HUMAN: "human", REPEAT: "ink"}
TESTS = {
    "student": "a two-tailed t-test of means with equal variances",
    "welch": "Welch’s two-tailed t-test",
    "paired": "a paired two-tailed t-test",
}
TOXIC_NAMES = {TOXIC: "With a word of the list", NON_TOXIC: "Without one"}
NO_VERDICT = (
    "They describe models under stated prompts. They say nothing about the people who speak a "
    "variety."
)
R = TypeVar("R", Cell, Gap, Contrast)


def producer_of(row: Any) -> str:
    """Return how the producer of a row is written: models by their own name."""
    return NAMES.get(row.producer, row.producer)


def tone_of(row: Any) -> Tone:
    return TONES.get(row.producer, "model")


def source_of(row: Any) -> str:
    return str(row.split.removeprefix(SOURCE_PREFIX))


PRODUCER = Column("Producer", value=producer_of)


@dataclass(frozen=True)
class Directions:
    """How producers do at generating either variety.

    producers, metrics : in the order of tables and figures; a metric → how it is written
    decimals : of means and gaps
    baseline : the producer that contrasts are taken from
    """

    result: CounterpartResult | JudgmentResult
    options: DirectionOptions
    producers: Sequence[str]
    metrics: Mapping[str, str]
    decimals: int
    baseline: str

    # --- Downloads ---

    @property
    def tables(self) -> tuple[ReportTable, ...]:
        return self.means, self.gaps, self.contrasts

    @cached_property
    def means(self) -> ReportTable:
        return ReportTable.of_rows(
            "means",
            "Means of every producer, direction, score and split",
            self.result.cells,
            Cell,
            *("producer", "variety", "metric", "split"),
            *estimate_columns("Mean", self.decimals),
            "n_left_out",
            level=self.level,
        )

    @cached_property
    def gaps(self) -> ReportTable:
        return ReportTable.of_rows(
            "gaps",
            "Gaps between the directions, with tests, in every split",
            self.result.gaps,
            Gap,
            *("producer", "metric", "split"),
            *self._tested("Gap"),
            level=self.level,
            note=_why,
        )

    @cached_property
    def contrasts(self) -> ReportTable:
        return ReportTable.of_rows(
            "contrasts",
            f"Every producer less “{NAMES[self.baseline]}”, with tests, in every split",
            self.result.contrasts,
            Contrast,
            *("producer", "baseline", "variety", "metric", "split"),
            *self._tested("Difference"),
            level=self.level,
            note=_why,
        )

    def _tested(self, head: str) -> tuple[str | Column, ...]:
        return (
            *estimate_columns(head, self.decimals, units="Pairs", signed=True, style="strong"),
            *("n_left_out", "test.kind", "test.statistic", "test.df", "test.p_value"),
            *("p_corrected", "test.reason"),
        )

    # --- What rows show ---

    @property
    def level(self) -> str:
        return percent(self.options.level)

    @property
    def varieties(self) -> tuple[str, str]:
        return self.options.source_variety, self.options.target_variety

    @property
    def difference(self) -> str:
        return " − ".join(self.varieties)

    @property
    def resampled(self) -> str:
        """What the intervals of means come from."""
        return f"{self.options.n_resamples} resamples of pairs"

    @property
    def compared(self) -> str:
        """What the intervals of gaps come from."""
        return f"those of {TESTS[self.options.test]}"

    @property
    def has_toxic_split(self) -> bool:
        """Whether some text holds a word of the list, and some does not."""
        return all(
            any(gap.split == split and gap.estimate.n for gap in self.result.gaps)
            for split in (TOXIC, NON_TOXIC)
        )

    @property
    def sources(self) -> list[str]:
        """The splits by source."""
        splits = dict.fromkeys(gap.split for gap in self.result.gaps)
        return [split for split in splits if split.startswith(SOURCE_PREFIX)]

    @property
    def method(self) -> str:
        """How differences and their uncertainty were computed, as sentences of the method."""
        known = [gap.n_left_out for gap in self.result.gaps if gap.split == ALL]
        most = max(known, default=0)
        left = f"; up to {count(most, 'pair')} of a producer had one alone" if most else ""
        rests = f"A difference rests on the pairs that have both of its values{left}. "
        return (
            f"{rests if known else ''}Intervals come from {self.resampled} (bias-corrected "
            f"percentile), those of differences are of {TESTS[self.options.test]}, as p is, so "
            f"that they leave out 0 exactly where p is below {1 - self.options.level:.2g}; p is "
            "stated as it is and by Holm’s method."
        )

    def select(
        self, rows: Iterable[R], metrics: Iterable[str] = (), splits: Sequence[str] = (ALL,)
    ) -> list[R]:
        """Return rows of these scores and splits, by default of every score over all texts.

        Giving the input back is no rewriting: it has means, but no gap between directions.
        """
        wanted = list(metrics or self.metrics)
        return [
            row
            for row in rows
            if row.metric in wanted
            and row.split in splits
            and not (isinstance(row, Gap) and row.producer == REPEAT)
        ]

    def by_producer(self, rows: Iterable[R]) -> list[R]:
        return sorted(rows, key=lambda row: self.producers.index(row.producer))

    def by_metric(self, rows: Iterable[R]) -> list[R]:
        order = list(self.metrics)
        return sorted(self.by_producer(rows), key=lambda row: order.index(row.metric))

    # --- Figures and printed tables ---

    def mean_blocks(
        self, caption: str, table: str, *, axis: str, drawn: Iterable[str] = ()
    ) -> tuple[Figure, Table]:
        """Return the means over all texts; ``drawn`` are the scores of the figure."""
        source, target = self.varieties
        cells = sorted(self.result.cells, key=lambda cell: cell.variety == target)
        figure = self.means.figure(
            "means",
            f"{caption} Intervals: {self.resampled}.",
            "value",
            rows=self.by_metric(self.select(cells, drawn)),
            panel=self._metric_of,
            label=producer_of,
            tone=tone_of,
            outlined=lambda cell: cell.variety == target,
            decimals=self.decimals,
            reference=None,
            legend=self.legend(f"generating {source}", f"generating {target}"),
            title="Means by producer and direction",
            axis=axis,
            value="mean",
        )
        columns = [Column("Producer", value=lambda line: producer_of(line.first))]
        for variety in self.varieties:
            group = f"Generating {variety}"
            for name, head in self.metrics.items():
                columns += self.means.side_by_side(
                    (variety, name), ("value",), head=head, group=group, with_interval=False
                )
            columns.append(_sizes(variety, group))
        lines = pivot(
            self.by_producer(self.select(cells)),
            "producer",
            lambda cell: (cell.variety, cell.metric),
        )
        return figure, self.means.printed(table, rows=lines, columns=columns)

    def gap_blocks(self, what: str, *, drawn: Iterable[str] = ()) -> tuple[Figure, Table]:
        """Return the gaps over all texts; ``what`` says what is taken from what."""
        figure = self._gap_figure(
            "gaps",
            f"{what}. Intervals: {self.compared}; n is the number of pairs with both.",
            self.by_metric(self.select(self.result.gaps, drawn)),
            panel=self._metric_of,
            label=producer_of,
            title="Gaps between the directions",
        )
        table = self.gaps.printed(
            f"Gaps ({self.difference}) over all texts; p by {TESTS[self.options.test]}, Holm over "
            "all gaps.",
            rows=self.select(self.result.gaps),
            columns=(PRODUCER, self._score, "value", "p_value", "p_corrected", "n"),
        )
        return figure, table

    def contrasts_printed(self, what: str) -> Table:
        return self.contrasts.printed(
            f"Every model less {what}; p as above, Holm over all.",
            rows=self.select(self.result.contrasts),
            columns=(
                PRODUCER,
                "variety",
                self._score,
                *("value", "p_value", "p_corrected", "n"),
            ),
        )

    def toxic_section(self, what: str, table: str, metrics: Sequence[str] = ()) -> Section:
        """Return gaps in texts with a word of the list beside those in texts without one."""
        named = len(metrics) != 1
        gaps = self.by_producer(self.select(self.result.gaps, metrics, tuple(TOXIC_NAMES)))
        figure = self._gap_figure(
            "gaps-by-toxicity",
            f"{what} in pairs whose {self.varieties[0]} text holds a word of the list (filled) and "
            f"in the others (outlined). Intervals: {self.compared}; n is the number of pairs with "
            "both directions.",
            self.by_metric(gaps),
            panel=self._metric_of,
            label=producer_of,
            outlined=lambda gap: gap.split == NON_TOXIC,
            legend=self.legend("with a word of the list", "without one"),
            title="Gaps in texts with and without a word of the list",
            of="" if named else self.metrics[metrics[0]],
        )
        printed = self.gaps.printed(
            table,
            rows=pivot(gaps, lambda gap: (gap.producer, gap.metric), "split"),
            columns=(
                Column("Producer", value=lambda line: producer_of(line.first)),
                *(
                    [Column("Score", value=lambda line: self._metric_of(line.first))]
                    if named
                    else []
                ),
                *(
                    column
                    for split, group in TOXIC_NAMES.items()
                    for column in self.gaps.side_by_side(
                        split,
                        (*map(self._mean, self.varieties), "value", "n"),
                        group=group,
                        interval_head="interval",
                    )
                ),
            ),
            note="",
        )
        return Section(
            "With and without words of the list",
            (figure, printed),
            why="If removing such words made the gap, texts without them would have none.",
        )

    def source_blocks(self, metric: str) -> tuple[Figure, Table]:
        """Return the gaps of one score, source by source."""
        name = self.metrics[metric]
        gaps = self.by_producer(self.select(self.result.gaps, (metric,), self.sources))
        figure = self._gap_figure(
            "gaps-by-source",
            f"{name} gaps by source of the text. Intervals: {self.compared}.",
            gaps,
            panel=producer_of,
            label=source_of,
            title="Gaps by source",
            of=name,
        )
        means = (self._mean(variety, f"Generating {variety}") for variety in self.varieties)
        columns: tuple[str | Column, ...] = (
            PRODUCER,
            Column("Source", value=source_of),
            *means,
            "value",
            "n",
        )
        table = self.gaps.printed(
            f"{name} by source.", rows=gaps, columns=columns, note="estimate.reason"
        )
        return figure, table

    def _gap_figure(
        self, name: str, caption: str, gaps: Sequence[Gap], *, of: str = "", **how: Any
    ) -> Figure:
        source, target = self.varieties
        return self.gaps.figure(
            name,
            caption,
            "value",
            rows=gaps,
            tone=tone_of,
            decimals=self.decimals,
            axis=f"{of}, {self.difference}" if of else self.difference,
            value="gap",
            left=f"← higher for {target}",
            right=f"higher for {source} →",
            **how,
        )

    def legend(self, filled: str, outlined: str) -> list[LegendEntry]:
        tones = dict.fromkeys(TONES.get(producer, "model") for producer in self.producers)
        names = {"human": "People", "model": "Model", "ink": "Input"}
        return [
            LegendEntry(f"{names[tone]}, {text}", tone, outlined=text == outlined)
            for tone in [tone for tone in tones if tone != "ink"] or tones
            for text in (filled, outlined)
        ]

    @property
    def _score(self) -> Column:
        return Column("Score", value=self._metric_of)

    def _metric_of(self, row: Any) -> str:
        return self.metrics[row.metric]

    def _mean(self, variety: str, head: str = "") -> Column:
        """Return the mean for one variety, to stand beside its gap."""
        means = {
            (cell.producer, cell.metric, cell.split): cell.estimate
            for cell in self.result.cells
            if cell.variety == variety
        }
        return Column(
            head or variety,
            value=lambda gap: means.get((gap.producer, gap.metric, gap.split)),
            decimals=self.decimals,
        )


def _why(row: Gap | Contrast) -> str:
    return row.estimate.reason or row.test.reason


def _sizes(variety: str, group: str) -> Column:
    """Return how many texts the means of one line rest on: one number where they all agree."""

    def sizes(line: WideRow) -> str | None:
        numbers = {cell.estimate.n for key, cell in line.records.items() if key[0] == variety}
        return " to ".join(map(str, sorted({min(numbers), max(numbers)}))) if numbers else None

    return Column("Texts", value=sizes, decimals=0, cell=str, style="quiet", group=group)
