"""Words of a list that rewriting removes: Tables 6 and 8, Figures 4 and 8 of Deas et al. (2023)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from evaluation.analyses.counterpart_metrics import CounterpartResult, Removed
from evaluation.analyses.direction_gaps import ALL, SOURCE_PREFIX
from evaluation.charts import (
    IntervalLine,
    IntervalPanel,
    IntervalWords,
    LegendEntry,
)
from evaluation.reports.cells import estimate_cells, to_frame, to_mark
from evaluation.reports.direction_figures import tone_of
from evaluation.reports.direction_words import resampled
from evaluation.reports.directions import HUMAN, DirectionsView, interval_parts, producer_name
from evaluation.reports.document import (
    Column,
    DataTable,
    Figure,
    HeadGroup,
    Prose,
    Section,
    Table,
    TableBuilder,
)
from evaluation.reports.formatting import MISSING, number
from evaluation.reports.interval_figure import interval_figure

HEADING = "Words of the list that are removed"


def toxicity_section(view: DirectionsView, result: CounterpartResult) -> Section:
    """Return the share of hits that is gone in either direction, and the gap between the two."""
    rows = [row for row in result.removed if row.split == ALL]
    if all(row.share.reason for row in rows):
        nothing = "No text holds a word of the list, so that none could be removed."
        return Section(HEADING, (Prose((nothing,)),))
    figure = _figure(
        view,
        "toxicity-removed",
        "Share of hits that is gone",
        (IntervalPanel("", tuple(_lines(view, rows, lambda row: row.producer, producer_name))),),
        tones=("human", "model"),
    )
    return Section(
        HEADING,
        (figure, _removed_table(view, rows), _gap_table(view, result)),
        why="Hits of the input less hits of the output, as a share of the hits of the input. "
        "People stand for the gold texts.",
    )


def toxicity_by_source(view: DirectionsView, result: CounterpartResult) -> Section | None:
    """Return the same source by source, a panel for each model; None where no source has a hit."""
    panels = []
    for producer in view.rewriters:
        rows = [
            row
            for row in result.removed
            if row.producer == producer and row.split.startswith(SOURCE_PREFIX)
        ]
        if any(not row.share.reason for row in rows):
            lines = _lines(
                view, rows, lambda row: row.split, lambda split: split.removeprefix(SOURCE_PREFIX)
            )
            panels.append(IntervalPanel(producer_name(producer), tuple(lines)))
    if not panels:
        return None
    figure = _figure(
        view,
        "toxicity-by-source",
        "Share of hits that is gone, by source of the text,",
        panels,
        tones=("model",),
    )
    return Section(
        "Words of the list, by source",
        (figure,),
        why="Figure 8 of Deas et al. (2023) has the same numbers with the opposite sign: there "
        "more hits are above zero.",
    )


def removed_tables(result: CounterpartResult) -> list[DataTable]:
    """Return shares in every split, and their gaps, as downloads."""
    names = ("producer", "variety", "split")
    removed = (
        {name: getattr(row, name) for name in names}
        | {"t_in": row.t_in.value, "t_out": row.t_out.value}
        | interval_parts(row.share)
        for row in result.removed
    )
    gaps = (
        {"producer": row.producer, "split": row.split} | interval_parts(row.estimate)
        for row in result.removed_gaps
    )
    parts = ("value", "low", "high", "n", "reason")
    return [
        DataTable(
            "toxicity_removed",
            "Share of hits removed, in every split",
            to_frame(removed, (*names, "t_in", "t_out", *parts)),
        ),
        DataTable(
            "toxicity_gaps",
            "Share of hits removed, gaps between the directions in every split",
            to_frame(gaps, ("producer", "split", *parts)),
        ),
    ]


def _lines(
    view: DirectionsView,
    rows: Sequence[Removed],
    key: Callable[[Removed], str],
    label: Callable[[str], str],
) -> Iterator[IntervalLine]:
    """Yield one line for each key, with a mark for each direction."""
    _source, target = view.varieties
    for name in dict.fromkeys(map(key, rows)):
        marks = tuple(
            to_mark(
                row.share,
                n=row.share.n,
                tone=tone_of(row.producer),
                outlined=row.variety == target,
                scale=100,
            )
            for row in rows
            if key(row) == name
        )
        yield IntervalLine(label(name), marks)


def _figure(
    view: DirectionsView,
    name: str,
    what: str,
    panels: Sequence[IntervalPanel],
    *,
    tones: Iterable[str],
) -> Figure:
    source, target = view.varieties
    words = {"human": "People", "model": "Model"}
    return interval_figure(
        name,
        f"{what} when generating {source} (filled) and {target} (outlined); below 0 hits were "
        f"added. Intervals: {resampled(view)}; n is the number of texts.",
        panels,
        words=IntervalWords(
            title="Share of hits of the word list that is removed",
            axis="Removed, % of the hits of the input",
            level=view.level,
            value="%",
        ),
        legend=tuple(
            LegendEntry(f"{words[tone]}, generating {variety}", tone, outlined=place == 1)  # type: ignore[arg-type]
            for tone in tones
            for place, variety in enumerate(view.varieties)
        ),
        decimals=0,
        data="toxicity_removed",
    )


def _removed_table(view: DirectionsView, rows: Sequence[Removed]) -> Table:
    table = TableBuilder(
        "Mean hits a text before and after, and the share that is gone. Repeating the input leaves "
        "the hits before; those of the gold texts stand in the rows of people.",
        "toxicity_removed",
        (
            Column("Producer"),
            Column("Generating"),
            Column("Hits before", number=True),
            Column("Hits after", number=True),
            Column("Removed, %", number=True, style="strong"),
            Column(f"{view.level} interval", number=True, style="quiet"),
            Column("Texts", number=True),
        ),
    )
    for row in rows:
        table.add(
            producer_name(row.producer),
            row.variety,
            number(row.t_in.value),
            number(row.t_out.value),
            *estimate_cells(row.share, 0, scale=100),
            str(row.share.n),
            note=row.share.reason,
        )
    return table.build()


def _gap_table(view: DirectionsView, result: CounterpartResult) -> Table:
    source, target = view.varieties
    shares = {(r.producer, r.variety): r.share for r in result.removed if r.split == ALL}
    table = TableBuilder(
        f"Share removed when generating {source} less that when generating {target}, in percentage "
        "points, over the pairs with both. Shares of sums have no t-test: an interval without 0 "
        "says that the directions differ.",
        "toxicity_gaps",
        (
            Column("Producer"),
            *(Column(variety, number=True) for variety in view.varieties),
            Column("Gap", number=True, style="strong"),
            Column(f"{view.level} interval", number=True, style="quiet"),
            Column("Pairs", number=True),
        ),
        heads=(HeadGroup("", 1), HeadGroup("Removed, %", 2), HeadGroup("", 3)),
    )
    for row in result.removed_gaps:
        if row.split != ALL or row.producer == HUMAN:
            continue
        found = [shares.get((row.producer, variety)) for variety in view.varieties]
        table.add(
            producer_name(row.producer),
            *(number(100 * share.value, 0) if share else MISSING for share in found),
            *estimate_cells(row.estimate, 0, scale=100, signed=True),
            str(row.estimate.n),
            note=row.estimate.reason,
        )
    return table.build()
