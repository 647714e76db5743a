"""Tables about producers in two directions, as counterpart and judgment reports share them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
from evaluation.reports.cells import estimate_cells, to_frame
from evaluation.reports.document import Column, DataTable, HeadGroup, Table, TableBuilder
from evaluation.reports.formatting import MISSING, number, p_cell

HUMAN, REPEAT = "human", "repeat"
FIXED_NAMES = {HUMAN: "People", REPEAT: "Repeat the input"}
TESTS = {
    "student": "a two-tailed t-test of means with equal variances",
    "welch": "Welch’s two-tailed t-test",
    "paired": "a paired two-tailed t-test",
}
INTERVAL_PARTS = ("value", "low", "high", "n", "reason")
TEST_PARTS = ("statistic", "df", "p_value")


@dataclass(frozen=True)
class DirectionsView:
    """What the tables and figures of two directions are made from.

    producers : in the order of the tables; metrics : name → how it is written
    decimals : of means and gaps
    """

    options: DirectionOptions
    producers: tuple[str, ...]
    metrics: Mapping[str, str]
    cells: tuple[Cell, ...]
    gaps: tuple[Gap, ...]
    contrasts: tuple[Contrast, ...]
    decimals: int

    @property
    def level(self) -> str:
        return f"{self.options.level * 100:g} %"

    @property
    def varieties(self) -> tuple[str, str]:
        return self.options.source_variety, self.options.target_variety

    @property
    def rewriters(self) -> tuple[str, ...]:
        """The producers that have a gap of their own: giving the input back has none."""
        return tuple(producer for producer in self.producers if producer != REPEAT)

    @property
    def has_toxic_split(self) -> bool:
        """Whether some text holds a word of the list, and some does not."""
        return all(
            any(gap.split == split and gap.estimate.n for gap in self.gaps)
            for split in (TOXIC, NON_TOXIC)
        )

    @property
    def sources(self) -> list[str]:
        splits = dict.fromkeys(gap.split for gap in self.gaps)
        return [s.removeprefix(SOURCE_PREFIX) for s in splits if s.startswith(SOURCE_PREFIX)]

    def cell(self, producer: str, variety: str, metric: str, split: str = ALL) -> Cell | None:
        wanted = (producer, variety, metric, split)
        return next(
            (c for c in self.cells if (c.producer, c.variety, c.metric, c.split) == wanted), None
        )

    def gap(self, producer: str, metric: str, split: str = ALL) -> Gap | None:
        wanted = (producer, metric, split)
        return next((g for g in self.gaps if (g.producer, g.metric, g.split) == wanted), None)


def producer_name(producer: str) -> str:
    """Return how a producer is written: models by their own name."""
    return FIXED_NAMES.get(producer, producer)


def means_table(view: DirectionsView, *, caption: str, metrics: Sequence[str] = ()) -> Table:
    """Return the means of every producer, one block of columns for each variety."""
    chosen = list(metrics or view.metrics)
    table = TableBuilder(
        caption,
        "means",
        (
            Column("Producer"),
            *(
                Column(head, number=True, style="quiet" if head == "Texts" else "")
                for _ in view.varieties
                for head in (*(view.metrics[name] for name in chosen), "Texts")
            ),
        ),
        heads=(
            HeadGroup("", 1),
            *(HeadGroup(f"Generating {variety}", len(chosen) + 1) for variety in view.varieties),
        ),
    )
    for producer in view.producers:
        cells: list[str] = []
        for variety in view.varieties:
            found = [view.cell(producer, variety, name) for name in chosen]
            cells += [number(c.estimate.value, view.decimals) if c else MISSING for c in found]
            cells.append(_sizes([c.estimate.n for c in found if c]))
        if set(cells) != {MISSING}:
            table.add(producer_name(producer), *cells)
    return table.build()


def _sizes(numbers: Sequence[int]) -> str:
    """Return how many texts the means of one row rest on: one number where they all agree."""
    if not numbers:
        return MISSING
    least, most = min(numbers), max(numbers)
    return str(most) if least == most else f"{least} to {most}"


def gap_table(view: DirectionsView, *, caption: str) -> Table:
    """Return the gap of every producer and metric with its interval and its test."""
    table = TableBuilder(
        caption,
        "gaps",
        (
            Column("Producer"),
            Column("Score"),
            Column("Gap", number=True, style="strong"),
            Column(f"{view.level} interval", number=True, style="quiet"),
            Column("p", number=True),
            Column("p (Holm)", number=True),
            Column("Pairs", number=True),
        ),
    )
    for gap in view.gaps:
        if gap.split == ALL and gap.metric in view.metrics and gap.producer in view.rewriters:
            table.add(
                producer_name(gap.producer),
                view.metrics[gap.metric],
                *estimate_cells(gap.estimate, view.decimals, signed=True),
                p_cell(gap.test.p_value),
                p_cell(gap.p_corrected),
                str(gap.estimate.n),
                note=gap.estimate.reason or gap.test.reason,
            )
    return table.build()


def contrast_table(view: DirectionsView, *, caption: str) -> Table:
    """Return every producer less the baseline, in either direction."""
    table = TableBuilder(
        caption,
        "contrasts",
        (
            Column("Producer"),
            Column("Generating"),
            Column("Score"),
            Column("Difference", number=True, style="strong"),
            Column(f"{view.level} interval", number=True, style="quiet"),
            Column("p", number=True),
            Column("p (Holm)", number=True),
            Column("Pairs", number=True),
        ),
    )
    for row in view.contrasts:
        if row.split == ALL and row.metric in view.metrics:
            table.add(
                producer_name(row.producer),
                row.variety,
                view.metrics[row.metric],
                *estimate_cells(row.estimate, view.decimals, signed=True),
                p_cell(row.test.p_value),
                p_cell(row.p_corrected),
                str(row.estimate.n),
                note=row.estimate.reason or row.test.reason,
            )
    return table.build()


def toxic_table(view: DirectionsView, *, caption: str, metrics: Sequence[str] = ()) -> Table:
    """Return means and gaps in texts with and without a word of the list."""
    return _split_table(
        view,
        caption,
        [(TOXIC, "With a word of the list"), (NON_TOXIC, "Without one")],
        metrics or list(view.metrics),
    )


def source_table(view: DirectionsView, *, caption: str, metric: str) -> Table:
    """Return the gap of every producer in every source."""
    table = TableBuilder(
        caption,
        "gaps",
        (
            Column("Producer"),
            Column("Source"),
            *(Column(f"Generating {variety}", number=True) for variety in view.varieties),
            Column("Gap", number=True, style="strong"),
            Column(f"{view.level} interval", number=True, style="quiet"),
            Column("Pairs", number=True),
        ),
    )
    for producer in view.rewriters:
        for source in view.sources:
            split = SOURCE_PREFIX + source
            gap = view.gap(producer, metric, split)
            if gap is None:
                continue
            cells = [view.cell(producer, variety, metric, split) for variety in view.varieties]
            table.add(
                producer_name(producer),
                source,
                *(number(c.estimate.value, view.decimals) if c else MISSING for c in cells),
                *estimate_cells(gap.estimate, view.decimals, signed=True),
                str(gap.estimate.n),
                note=gap.estimate.reason,
            )
    return table.build()


def _split_table(
    view: DirectionsView,
    caption: str,
    splits: Sequence[tuple[str, str]],
    metrics: Sequence[str],
) -> Table:
    heads = (*view.varieties, "Gap", "interval", "Pairs")
    styles = {"Gap": "strong", "interval": "quiet"}
    named = len(metrics) > 1
    table = TableBuilder(
        caption,
        "gaps",
        (
            Column("Producer"),
            *((Column("Score"),) if named else ()),
            *(
                Column(head, number=True, style=styles.get(head, ""))
                for _ in splits
                for head in heads
            ),
        ),
        heads=(
            HeadGroup("", 2 if named else 1),
            *(HeadGroup(name, len(heads)) for _, name in splits),
        ),
    )
    for producer in view.rewriters:
        for metric in metrics:
            cells: list[str] = []
            for split, _ in splits:
                gap = view.gap(producer, metric, split)
                if gap is None:
                    break
                for variety in view.varieties:
                    cell = view.cell(producer, variety, metric, split)
                    cells.append(number(cell.estimate.value, view.decimals) if cell else MISSING)
                cells += estimate_cells(gap.estimate, view.decimals, signed=True)
                cells.append(str(gap.estimate.n))
            else:
                score = (view.metrics[metric],) if named else ()
                table.add(producer_name(producer), *score, *cells)
    return table.build()


def direction_tables(view: DirectionsView, *, baseline: str) -> list[DataTable]:
    """Return the tables with all numbers: means, gaps and contrasts in every split."""
    return [
        DataTable("means", "Means of every producer, direction, score and split", _cells(view)),
        DataTable("gaps", "Gaps between the directions, with tests, in every split", _gaps(view)),
        DataTable(
            "contrasts",
            f"Every producer less “{producer_name(baseline)}”, with tests, in every split",
            _contrasts(view),
        ),
    ]


def _cells(view: DirectionsView) -> Any:
    names = ("producer", "variety", "metric", "split")
    rows = (
        {name: getattr(cell, name) for name in names}
        | interval_parts(cell.estimate)
        | {"n_left_out": cell.n_left_out}
        for cell in view.cells
    )
    return to_frame(rows, (*names, *INTERVAL_PARTS, "n_left_out"))


def _gaps(view: DirectionsView) -> Any:
    return _tested(view.gaps, ("producer", "metric", "split"))


def _contrasts(view: DirectionsView) -> Any:
    return _tested(view.contrasts, ("producer", "baseline", "variety", "metric", "split"))


def _tested(rows: Iterable[Any], names: tuple[str, ...]) -> Any:
    columns = (
        *names, *INTERVAL_PARTS, "n_left_out", "test", *TEST_PARTS, "p_corrected", "test_reason",
    )  # fmt: skip
    found = (
        {name: getattr(row, name) for name in names}
        | interval_parts(row.estimate)
        | {name: getattr(row.test, name) for name in TEST_PARTS}
        | {
            "n_left_out": row.n_left_out,
            "test": row.test.kind,
            "p_corrected": row.p_corrected,
            "test_reason": str(row.test.reason),
        }
        for row in rows
    )
    return to_frame(found, columns)


def interval_parts(estimate: Any) -> dict[str, Any]:
    """Return an estimate as cells of a table with all numbers."""
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        "reason": str(estimate.reason or estimate.interval_reason),
    }
