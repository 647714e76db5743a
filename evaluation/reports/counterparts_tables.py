"""The tables of the counterpart report: Tables 6, 8 and 9, Figures 2, 4, 5 and 8 of Deas et al.
(2023)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, TypedDict

from evaluation.analyses.counterpart_metrics import (
    AgainstGold,
    CounterpartResult,
    Removed,
    RemovedGap,
)
from evaluation.analyses.counterpart_scores import HUMAN, REPEAT
from evaluation.analyses.direction_gaps import ALL, Gap
from evaluation.charts import LegendEntry
from evaluation.charts.intervals import Tone
from evaluation.metrics.shown import Shown
from evaluation.reports.parts.directions import (
    PRODUCER,
    Directions,
    producer_of,
    source_of,
    tone_of,
)
from evaluation.reports.parts.document import Block, Figure, KeyNumber, Prose, Table
from evaluation.reports.parts.formatting import count, p_value
from evaluation.reports.parts.table import Column, ReportTable

SCORES = {"rouge1": "Rouge-1", "rouge2": "Rouge-2", "rougeL": "Rouge-L", "bertscore": "BERTScore"}
LEAD = "rouge1"
#: How reasons begin for which a counterpart is there and has no score.
NO_SCORE = ("no BERT", "no Rouge")
TONES: tuple[tuple[str, Tone], ...] = (("People", "human"), ("Model", "model"))


def directions_of(result: CounterpartResult) -> Directions:
    models = (name for name in result.producers if name not in (HUMAN, REPEAT))
    return Directions(
        result,
        result.options.directions,
        producers=(REPEAT, *models),
        metrics={name: SCORES[name] for name in result.metrics if name in SCORES},
        decimals=1,
        baseline=REPEAT,
    )


def _p_values(gap: Gap) -> str:
    """Return the p of the interval beside it, and by Holm's method."""
    if gap.test.reason:
        return p_value(gap.p_corrected)
    return f"{p_value(gap.test.p_value)}, {p_value(gap.p_corrected)} (Holm)"


def key_numbers(view: Directions, result: CounterpartResult) -> tuple[KeyNumber, ...]:
    gaps = view.by_producer(view.select(result.gaps, (LEAD,)))[:3]
    missing = sum(entry.n for entry in result.left_out if not entry.reason.startswith(NO_SCORE))
    return (
        *(
            view.gaps.key(
                "value",
                gap,
                f"{_p_values(gap)}, {count(gap.estimate.n, 'pair')}",
                label=f"{SCORES[LEAD]} gap, {producer_of(gap)}",
            )
            for gap in gaps
        ),
        KeyNumber(
            "Models",
            str(len(view.producers) - 1),
            lines=(
                count(result.n_pairs, "pair"),
                f"{count(missing, 'text')} without a counterpart",
            ),
        ),
    )


def removed_table(result: CounterpartResult, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "toxicity_removed",
        "Share of hits removed, in every split",
        result.removed,
        Removed,
        PRODUCER,
        *("producer", "variety", "split", "t_in", "t_out", "share"),
        level=level,
        note="share.reason",
    )


def removed_gap_table(result: CounterpartResult, level: str) -> ReportTable:
    shares = {(row.producer, row.variety, row.split): row.share for row in result.removed}

    def share(variety: str) -> Column:
        return Column(
            variety,
            value=lambda gap: shares.get((gap.producer, variety, gap.split)),
            decimals=0,
            scale=100,
            group="Removed, %",
        )

    varieties = result.options.directions.source_variety, result.options.directions.target_variety
    return ReportTable.of_rows(
        "toxicity_gaps",
        "Share of hits removed, gaps between the directions in every split",
        result.removed_gaps,
        RemovedGap,
        PRODUCER,
        *("producer", "split"),
        *map(share, varieties),
        "estimate",
        level=level,
        note="estimate.reason",
    )


def against_gold_table(result: CounterpartResult, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "toxicity_against_gold",
        "Hits of outputs against those of the gold counterparts, in every split",
        result.against_gold,
        AgainstGold,
        PRODUCER,
        *("producer", "variety", "split", "t_gold", "t_out", "change"),
        level=level,
        note="change.reason",
    )


def against_gold_blocks(view: Directions, table: ReportTable) -> Iterator[Block]:
    """Yield the change over all texts, and by source, as in Figure 8 of Deas et al. (2023)."""
    everywhere = [row for row in table.rows if row.split == ALL]
    if all(row.change.reason for row in everywhere):
        yield Prose(("No gold counterpart holds a word of the list, so that nothing compares.",))
        return
    yield _gold_figure(
        view, table, "toxicity-against-gold", "Hits of outputs less those", everywhere
    )
    yield table.printed(
        "Mean hits a text in the gold counterparts and in the outputs for the same texts, and the "
        "change from the one to the other. Repeating the input shows how far the two varieties "
        "differ.",
        rows=view.by_producer(everywhere),
    )
    rows = [row for row in table.rows if row.split in view.sources and row.producer != REPEAT]
    if any(not row.change.reason for row in rows):
        what = "By source of the text: hits of outputs less those"
        yield _gold_figure(view, table, "toxicity-against-gold-by-source", what, rows)


def _gold_figure(
    view: Directions,
    table: ReportTable,
    name: str,
    what: str,
    rows: Sequence[AgainstGold],
) -> Figure:
    source, target = view.varieties
    by_source = rows[0].split != ALL
    return table.figure(
        name,
        f"{what} of the gold counterparts, as a share of the latter, when generating {source} "
        f"(filled) and {target} (outlined); above 0 outputs hold more. Intervals: "
        f"{view.resampled}; n is the number of texts.",
        "value",
        rows=sorted(rows, key=lambda row: (view.producers.index(row.producer), row.split)),
        panel=producer_of if by_source else "",
        label=source_of if by_source else producer_of,
        tone=tone_of,
        outlined=lambda row: row.variety == target,
        legend=[
            LegendEntry(f"generating {variety}", "model", outlined=variety == target)
            for variety in view.varieties
        ],
        decimals=0,
        title="Hits of outputs against gold counterparts",
        axis="Change from the gold counterpart, %",
        value="%",
    )


def toxicity_blocks(view: Directions, removed: ReportTable, gaps: ReportTable) -> tuple[Block, ...]:
    """Return the share of hits that is gone in either direction, and the gap between the two."""
    source, target = view.varieties
    rows = [row for row in removed.rows if row.split == ALL]
    if all(row.share.reason for row in rows):
        return (Prose(("No text holds a word of the list, so that none could be removed.",)),)
    order = list(dict.fromkeys(row.producer for row in rows))
    return (
        _removed_figure(
            view,
            removed,
            "toxicity-removed",
            "Share of hits that is gone",
            sorted(rows, key=lambda row: order.index(row.producer)),
            people=True,
        ),
        removed.printed(
            "Mean hits a text before and after, and the share that is gone. Repeating the input "
            "leaves the hits before; those of the gold texts stand in the rows of people.",
            rows=rows,
        ),
        gaps.printed(
            f"Share removed when generating {source} less that when generating {target}, in "
            "percentage points, over the pairs with both. Shares of sums have no t-test: an "
            "interval without 0 says that the directions differ.",
            rows=[row for row in gaps.rows if row.split == ALL and row.producer != HUMAN],
        ),
    )


def toxicity_by_source(view: Directions, removed: ReportTable) -> tuple[Figure, ...]:
    """Return the same source by source, for models that were given a hit in some source."""
    rows = [
        row for row in removed.rows if row.split in view.sources and row.producer in view.producers
    ]
    with_hits = {row.producer for row in rows if not row.share.reason}
    rows = [row for row in view.by_producer(rows) if row.producer in with_hits]
    if not rows:
        return ()
    what = "Share of hits that is gone, by source of the text,"
    return (_removed_figure(view, removed, "toxicity-by-source", what, rows),)


def _removed_figure(
    view: Directions,
    removed: ReportTable,
    name: str,
    what: str,
    rows: Sequence[Removed],
    *,
    people: bool = False,
) -> Figure:
    source, target = view.varieties
    return removed.figure(
        name,
        f"{what} when generating {source} (filled) and {target} (outlined); below 0 hits were "
        f"added. Intervals: {view.resampled}; n is the number of texts.",
        "value",
        rows=rows,
        panel="" if people else producer_of,
        label=producer_of if people else source_of,
        tone=tone_of,
        outlined=lambda row: row.variety == target,
        legend=[
            LegendEntry(f"{text}, generating {variety}", tone, outlined=variety == target)
            for text, tone in TONES[not people :]
            for variety in view.varieties
        ],
        decimals=0,
        title="Share of hits of the word list that is removed",
        axis="Removed, % of the hits of the input",
        value="%",
    )


class Example(TypedDict):
    """A text that was drawn, and what was made of it by producer."""

    pair: str
    direction: str
    input: str
    reference: str
    outputs: dict[str, str]


@dataclass(frozen=True)
class Written:
    """One text of an example."""

    producer: Annotated[str, Shown("Written by")]
    output: Annotated[str, Shown("Text", wide=True)]
    example: Example


def example_table(examples: Sequence[Example]) -> ReportTable:
    return ReportTable.of_rows(
        "examples",
        "The texts that were drawn as examples",
        [
            Written(producer, output, example)
            for example in examples
            for producer, output in example["outputs"].items()
        ],
        Written,
        *("example.pair", "example.direction", "example.input", "example.reference"),
        *("producer", "output"),
    )


def example_tables(table: ReportTable, examples: Sequence[Example]) -> list[Table]:
    """Return for each drawn text what was asked, the gold text, and what models made of it."""
    return [
        table.printed(
            f"{example['pair']}, {example['direction']}.",
            rows=[
                Written(producer, text, example)
                for producer, text in (
                    ("The input", example["input"]),
                    ("Gold counterpart", example["reference"]),
                    *example["outputs"].items(),
                )
            ],
        )
        for example in examples
    ]
