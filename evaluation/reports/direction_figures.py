"""Figures about producers in two directions: means, gaps, gaps by toxicity and by source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.analyses.direction_gaps import NON_TOXIC, SOURCE_PREFIX, TOXIC
from evaluation.charts import (
    IntervalLine,
    IntervalPanel,
    IntervalWords,
    LegendEntry,
)
from evaluation.charts.intervals import Tone
from evaluation.reports.cells import to_mark
from evaluation.reports.directions import HUMAN, REPEAT, DirectionsView, producer_name
from evaluation.reports.document import Figure
from evaluation.reports.interval_figure import interval_figure

TONES: dict[str, Tone] = {HUMAN: "human", REPEAT: "ink"}


def tone_of(producer: str) -> Tone:
    return TONES.get(producer, "model")


def means_figure(
    view: DirectionsView, *, caption: str, axis: str, metrics: Sequence[str] = ()
) -> Figure:
    """Return the means, a panel for each score, filled for the source variety."""
    panels = []
    for metric in metrics or list(view.metrics):
        lines = []
        for producer in view.producers:
            marks = tuple(
                to_mark(
                    cell.estimate, n=cell.estimate.n, tone=tone_of(producer), outlined=place == 1
                )
                for place, variety in enumerate(view.varieties)
                if (cell := view.cell(producer, variety, metric)) is not None
            )
            if marks:
                lines.append(IntervalLine(producer_name(producer), marks))
        panels.append(IntervalPanel(view.metrics[metric], tuple(lines)))
    source, target = view.varieties
    return _figure(
        view,
        "means",
        caption,
        panels,
        title="Means by producer and direction",
        axis=axis,
        legend=_legend(view, f"generating {source}", f"generating {target}"),
        data="means",
        value="mean",
    )


def gaps_figure(
    view: DirectionsView, *, caption: str, axis: str, metrics: Sequence[str] = ()
) -> Figure:
    """Return the gaps over all texts, a panel for each score."""
    panels = []
    for metric in metrics or list(view.metrics):
        lines = [
            IntervalLine(
                producer_name(producer),
                (to_mark(gap.estimate, n=gap.estimate.n, tone=tone_of(producer)),),
            )
            for producer in view.rewriters
            if (gap := view.gap(producer, metric)) is not None
        ]
        panels.append(IntervalPanel(view.metrics[metric], tuple(lines)))
    return _gaps(view, "gaps", caption, panels, title="Gaps between the directions", axis=axis)


def toxic_figure(
    view: DirectionsView, *, caption: str, axis: str, metrics: Sequence[str] = ()
) -> Figure:
    """Return the gaps in texts with a word of the list (filled) and without one."""
    panels = []
    for metric in metrics or list(view.metrics):
        lines = []
        for producer in view.rewriters:
            found = [view.gap(producer, metric, split) for split in (TOXIC, NON_TOXIC)]
            marks = tuple(
                to_mark(gap.estimate, n=gap.estimate.n, tone=tone_of(producer), outlined=place == 1)
                for place, gap in enumerate(found)
                if gap is not None
            )
            if marks:
                lines.append(IntervalLine(producer_name(producer), marks))
        panels.append(IntervalPanel(view.metrics[metric], tuple(lines)))
    return _gaps(
        view,
        "gaps-by-toxicity",
        caption,
        panels,
        title="Gaps in texts with and without a word of the list",
        axis=axis,
        legend=_legend(view, "with a word of the list", "without one"),
    )


def sources_figure(view: DirectionsView, *, caption: str, axis: str, metric: str) -> Figure:
    """Return the gaps by source, a panel for each producer."""
    panels = []
    for producer in view.rewriters:
        lines = [
            IntervalLine(source, (to_mark(gap.estimate, n=gap.estimate.n, tone=tone_of(producer)),))
            for source in view.sources
            if (gap := view.gap(producer, metric, SOURCE_PREFIX + source)) is not None
        ]
        panels.append(IntervalPanel(producer_name(producer), tuple(lines)))
    return _gaps(view, "gaps-by-source", caption, panels, title="Gaps by source", axis=axis)


def _legend(view: DirectionsView, filled: str, outlined: str) -> list[LegendEntry]:
    tones = list(dict.fromkeys(tone_of(producer) for producer in view.producers))
    names = {"human": "People", "model": "Model", "ink": "Input"}
    shown = [tone for tone in tones if tone != "ink"] or tones
    return [
        LegendEntry(f"{names[tone]}, {text}", tone, outlined=place == 1)
        for tone in shown
        for place, text in enumerate((filled, outlined))
    ]


def _gaps(
    view: DirectionsView,
    name: str,
    caption: str,
    panels: Sequence[IntervalPanel],
    *,
    title: str,
    axis: str,
    legend: Sequence[LegendEntry] = (),
) -> Figure:
    source, target = view.varieties
    return _figure(
        view,
        name,
        caption,
        panels,
        title=title,
        axis=axis,
        legend=legend,
        data="gaps",
        value="gap",
        gap=True,
        left=f"← higher for {target}",
        right=f"higher for {source} →",
    )


def _figure(
    view: DirectionsView,
    name: str,
    caption: str,
    panels: Sequence[IntervalPanel],
    *,
    title: str,
    axis: str,
    legend: Sequence[LegendEntry],
    data: str,
    value: str,
    gap: bool = False,
    **ends: Any,
) -> Figure:
    words = IntervalWords(title=title, axis=axis, level=view.level, value=value, n="n", **ends)
    return interval_figure(
        name,
        caption,
        panels,
        words=words,
        data=data,
        legend=legend,
        reference=0.0 if gap else None,
        decimals=view.decimals,
        signed=gap,
    )
