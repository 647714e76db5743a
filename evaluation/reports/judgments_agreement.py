"""How far judges agree: by aspect, level of measurement, pair of judges and source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evaluation.analyses.judgment_analysis import JudgmentResult
from evaluation.charts import IntervalLine, IntervalPanel, IntervalWords
from evaluation.metrics.krippendorff_alpha import MEASUREMENTS, KrippendorffAlpha
from evaluation.reports.cells import estimate_cells, to_frame, to_mark
from evaluation.reports.directions import DirectionsView
from evaluation.reports.document import (
    Column,
    DataTable,
    Figure,
    HeadGroup,
    Section,
    Table,
    TableBuilder,
)
from evaluation.reports.formatting import MISSING, count, number
from evaluation.reports.interval_figure import interval_figure

NAMES = {
    "human_likeness": "Human-likeness",
    "linguistic_match": "Linguistic match",
    "meaning_preservation": "Meaning",
    "tone_preservation": "Tone",
}
PARTS = ("value", "low", "high", "n_units", "n_values", "measurement", "reason")


def measurement_of(result: JudgmentResult) -> str:
    """Return the level of measurement that the report's alphas take."""
    return str(result.agreement[0].alpha.measurement)


def agreement_section(view: DirectionsView, result: JudgmentResult) -> Section:
    """Return alpha of every aspect; then by level, by pair of judges and by source, as known."""
    blocks: list[Figure | Table] = [_figure(view, result), _table(view, result)]
    if result.agreement_levels:
        blocks.append(_level_table(result))
    if len({(row.first, row.second) for row in result.agreement_pairs}) > 1:
        pairs = (
            (f"Judges {row.first} and {row.second}", row.aspect, row.alpha)
            for row in result.agreement_pairs
        )
        caption = f"{_capital(result)} alpha of every two judges with counterparts in common."
        blocks.append(_part_table(view, caption, "agreement_pairs", "Judges", pairs))
    if len({row.source for row in result.agreement_sources}) > 1:
        sources = ((row.source, row.aspect, row.alpha) for row in result.agreement_sources)
        caption = f"{_capital(result)} alpha within every source of texts."
        blocks.append(_part_table(view, caption, "agreement_sources", "Source", sources))
    return Section(
        "Agreement of judges",
        tuple(blocks),
        why=f"{count(result.n_twice, 'counterpart')} had two judges or more.",
    )


def agreement_data(result: JudgmentResult) -> list[DataTable]:
    """Return the tables with all numbers."""
    aspects = ({"aspect": row.aspect} | _parts(row.alpha) for row in result.agreement)
    levels = ({"aspect": row.aspect} | _parts(row.alpha) for row in result.agreement_levels)
    pairs = (
        {"first": row.first, "second": row.second, "aspect": row.aspect} | _parts(row.alpha)
        for row in result.agreement_pairs
    )
    sources = (
        {"source": row.source, "aspect": row.aspect} | _parts(row.alpha)
        for row in result.agreement_sources
    )
    return [
        DataTable(
            "agreement", "Agreement of judges by aspect", to_frame(aspects, ("aspect", *PARTS))
        ),
        DataTable(
            "agreement_levels",
            "Agreement of judges at every level of measurement",
            to_frame(levels, ("aspect", *PARTS)),
        ),
        DataTable(
            "agreement_pairs",
            "Agreement of every two judges",
            to_frame(pairs, ("first", "second", "aspect", *PARTS)),
        ),
        DataTable(
            "agreement_sources",
            "Agreement of judges within every source",
            to_frame(sources, ("source", "aspect", *PARTS)),
        ),
    ]


def _capital(result: JudgmentResult) -> str:
    return measurement_of(result).capitalize()


def _parts(alpha: KrippendorffAlpha) -> dict[str, Any]:
    values = {name: getattr(alpha, name) for name in PARTS[:-1]}
    return values | {"reason": str(alpha.reason or alpha.interval_reason)}


def _figure(view: DirectionsView, result: JudgmentResult) -> Figure:
    lines = tuple(
        IntervalLine(NAMES[row.aspect], (to_mark(row.alpha, n=row.alpha.n_units, tone="human"),))
        for row in result.agreement
    )
    return interval_figure(
        "agreement",
        f"{_capital(result)} alpha of each aspect. Intervals: {view.options.n_resamples} resamples "
        "of counterparts; n is the number with two judges or more.",
        (IntervalPanel("", lines),),
        words=IntervalWords(
            title="Agreement of judges by aspect",
            axis=f"Krippendorff’s {measurement_of(result)} α",
            level=view.level,
            value="α",
        ),
        decimals=2,
        data="agreement",
    )


def _table(view: DirectionsView, result: JudgmentResult) -> Table:
    table = TableBuilder(
        f"{_capital(result)} alpha of judges by aspect.",
        "agreement",
        (
            Column("Aspect"),
            Column("α", number=True, style="strong"),
            Column(f"{view.level} interval", number=True, style="quiet"),
            Column("Counterparts", number=True),
            Column("Ratings", number=True),
        ),
    )
    for row in result.agreement:
        table.add(
            NAMES[row.aspect],
            *estimate_cells(row.alpha),
            str(row.alpha.n_units),
            str(row.alpha.n_values),
            note=row.alpha.reason or row.alpha.interval_reason,
        )
    return table.build()


def _level_table(result: JudgmentResult) -> Table:
    table = TableBuilder(
        "Alpha by level of measurement, over the same ratings: nominal counts any difference "
        "alike, ordinal goes by ranks, interval by squared differences, ratio by differences as "
        "shares.",
        "agreement_levels",
        (Column("Aspect"), *(Column(level.capitalize(), number=True) for level in MEASUREMENTS)),
    )
    found = {(row.aspect, row.alpha.measurement): row.alpha for row in result.agreement_levels}
    for aspect, name in NAMES.items():
        table.add(name, *(number(found[aspect, level].value) for level in MEASUREMENTS))
    return table.build()


def _part_table(
    view: DirectionsView,
    caption: str,
    data: str,
    head: str,
    rows: Iterable[tuple[str, str, KrippendorffAlpha]],
) -> Table:
    """Return one line for each part, and for each aspect alpha with its interval."""
    parts: dict[str, dict[str, KrippendorffAlpha]] = {}
    for name, aspect, alpha in rows:
        parts.setdefault(name, {})[aspect] = alpha
    table = TableBuilder(
        f"{caption} {view.level} intervals beside it.",
        data,
        (
            Column(head),
            *(
                Column(text, number=True, style=style)
                for _ in NAMES
                for text, style in (("α", "strong"), ("interval", "quiet"))
            ),
            Column("Counterparts", number=True),
        ),
        heads=(
            HeadGroup("", 1),
            *(HeadGroup(name, 2) for name in NAMES.values()),
            HeadGroup("", 1),
        ),
    )
    for name, alphas in parts.items():
        cells = [cell for aspect in NAMES for cell in estimate_cells(alphas[aspect])]
        table.add(name, *cells, _units(alphas), note=_note(list(alphas.values())))
    return table.build()


def _units(alphas: Mapping[str, KrippendorffAlpha]) -> str:
    sizes = {alpha.n_units for alpha in alphas.values()}
    return str(max(sizes)) if sizes else MISSING


def _note(alphas: Sequence[KrippendorffAlpha]) -> str:
    return next((str(alpha.reason) for alpha in alphas if alpha.reason), "")
