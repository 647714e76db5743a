"""Tables, figures and words on gaps in false positive rates that several kinds share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.analyses.fpr_counts import GapOptions
from evaluation.analyses.fpr_gaps import Band, Gap, ModelGaps, RunRate, Span
from evaluation.analyses.fpr_inference import GapTest
from evaluation.charts import LegendEntry
from evaluation.metrics.estimate import Estimate
from evaluation.reports.parts.document import Figure, KeyNumber, Section
from evaluation.reports.parts.formatting import (
    MISSING,
    count,
    interval,
    listing,
    number,
    percent,
)
from evaluation.reports.parts.table import Column, ReportTable

#: Sides that are printed; the neutral one stands in the downloads.
SIDES = {"negative": "Negative", "positive": "Positive"}
ROLE_NAMES = {"group": "", "placebo": "placebo", "unmarked": "no mention"}
INTERVALS = {
    "simultaneous": "all gaps at once, for templates and runs like these",
    "these-runs": "all gaps at once, for templates like these and these runs",
    "t": "Student’s t over runs",
    "released": "1.96 sd / √n over runs, as published",
}
#: Intervals that hold for all gaps at once and have a p-value beside them.
OF_ALL = ("simultaneous", "these-runs")
RELEASED_LEVEL = 0.95
WHY_TOGETHER = (
    "Runs like these asks what other trainings or samplings would give, too; these runs takes them "
    "as they are. One run can only speak for itself."
)
CAVEATS = (
    "A gap is measured against the mean of the groups, not against zero errors: all groups can be "
    "misjudged often.",
    "A template names a group outright. Words that mostly go without saying are rare in what "
    "models have read, so that a gap may come from the mention and not from the group.",
    "An interval over five runs says how far trainings differ; other sentences can give other "
    "gaps. That of all gaps at once has both.",
    "They describe classifiers under stated sentences. They say nothing about people.",
)


@dataclass(frozen=True)
class GapRow:
    """A gap with the model and the set of sentences that it belongs to."""

    model: str
    data_set: str
    gap: Gap


def gap_rows(models: Iterable[ModelGaps]) -> list[GapRow]:
    return [GapRow(model.model, model.data_set, gap) for model in models for gap in model.gaps]


def gap_level(options: GapOptions) -> str:
    """Return the coverage of the intervals of gaps: the released 1.96 is always that of 95 %."""
    return percent(RELEASED_LEVEL if options.interval == "released" else options.level)


def gap_table(
    models: Sequence[ModelGaps], names: Mapping[str, str], options: GapOptions, level: str
) -> ReportTable:
    """Return every gap of every group and word; one declaration for all kinds."""
    return ReportTable.of_rows(
        "gaps",
        "Gaps of every group and word",
        gap_rows(models),
        GapRow,
        *("model", "data_set", "gap.side", "gap.group"),
        Column("Group", "group_name", lambda row: names.get(row.gap.group, row.gap.group)),
        *("gap.filler", "gap.role"),
        Column("Words", "n_words", "gap.n_fillers", 0, cell=lambda n: str(n) if n else MISSING),
        *("gap.n_sentences", "gap.n_negatives", "gap.fpr", "gap.gap"),
        *(("gap.p_value",) if options.interval in OF_ALL else ()),
        *("gap.sd", "gap.released_half_width", "gap.t_half_width", "gap.decision"),
        *("gap.beyond_band", "gap.equivalence_p", "gap.adjusted"),
        Column("", "reason", "gap.gap.note", meaning="why there is no gap or interval"),
        labels={"interval": INTERVALS[options.interval], "margin": options.margin},
        level=level,
        note="gap.gap.note",
    )


@dataclass(frozen=True)
class RateRow:
    """A rate with the model and the set of sentences that it belongs to."""

    model: str
    data_set: str
    rate: RunRate


def rate_table(models: Sequence[ModelGaps]) -> ReportTable:
    rows = [RateRow(model.model, model.data_set, rate) for model in models for rate in model.rates]
    return ReportTable.of_rows(
        "rates", "Rates of every group in every run", rows, RateRow, "model", "data_set", "rate"
    )


@dataclass(frozen=True)
class SpanRow:
    """A span of a model, with the band of placebo words beside it."""

    model: ModelGaps
    span: Span
    band: Band


def span_table(models: Sequence[ModelGaps], names: Mapping[str, str], level: str) -> ReportTable:
    """Return the spans of every model on every set, with the band of placebo words beside them."""
    rows = [
        SpanRow(model, span, band)
        for model in models
        for span, band in zip(model.spans, model.bands, strict=True)
    ]
    return ReportTable.of_rows(
        "spans",
        "Spans of gaps",
        rows,
        SpanRow,
        *("model.model", "model.data_set", "span.side"),
        Column(
            "Span",
            "span",
            "span.span",
            3,
            style="strong",
            meaning="largest minus smallest mean gap over groups, noise included",
            with_interval=has_interval(row.span.span for row in rows),
        ),
        Column("Largest gap", "highest", lambda row: names.get(row.span.highest, MISSING)),
        Column("Smallest gap", "lowest", lambda row: names.get(row.span.lowest, MISSING)),
        "band",
        level=level,
        reason="span.span.note",
    )


def has_interval(spans: Iterable[Estimate]) -> bool:
    """Return whether any has an interval: earlier reports do."""
    return any(not math.isnan(span.low) for span in spans)


@dataclass(frozen=True)
class JointRow:
    """A test of all groups of a model at once."""

    model: ModelGaps
    test: GapTest


def together_table(models: Sequence[ModelGaps], level: str) -> ReportTable:
    """Return what is said of all groups at once, for every side and question."""
    rows = [JointRow(model, test) for model in models for test in model.tests]
    return ReportTable.of_rows(
        "all-groups",
        "All groups at once",
        rows,
        JointRow,
        *("model.model", "model.data_set"),
        *("test.side", "test.question", "test.p_value", "test.spread"),
        Column(
            "Span",
            "span",
            "test.span",
            3,
            prefix="span_",
            meaning="of the estimates, noise included",
            with_interval=has_interval(row.test.span for row in rows),
        ),
        "test.n_templates",
        level=level,
        reason="test.reason",
    )


def together_sections(table: ReportTable) -> tuple[Section, ...]:
    rows = [row for row in table.rows if row.test.side in SIDES]
    if not rows:
        return ()
    text = "Whether any group differs, and how far the groups lie apart once noise is taken out."
    return (Section(table.title, (table.printed(text, rows=rows),), WHY_TOGETHER),)


def accuracy_table(models: Sequence[ModelGaps]) -> ReportTable:
    return ReportTable.of_rows(
        "accuracy",
        "Accuracy of every model",
        models,
        ModelGaps,
        *("model", "data_set", "accuracy", "n_sentences", "n_templates"),
    )


def gap_figure(
    gaps: ReportTable,
    models: Sequence[ModelGaps],
    side: str,
    options: GapOptions,
    *,
    words: bool,
) -> Figure:
    """Return the gaps of one side, a panel for each model: groups, their words, no mention."""
    bands = {_panel(model, len(models)): _band(model, side) for model in models}
    by_name = {(model.model, model.data_set): model for model in models}
    rows = [
        row
        for row in gaps.rows
        if row.gap.side == side
        and (row.model, row.data_set) in by_name
        and row.gap.role != "placebo"
        and not (row.gap.filler and (not words or row.gap.role != "group"))
        and not (row.gap.filler and _words_of(gaps.rows, row) < 2)
    ]
    name = gaps.column("group_name").read
    band_text = "Gray: middle 95 % of placebo words round their mean. "
    return gaps.figure(
        f"gaps-{side}",
        f"Gaps in the {side} false positive rate with {gaps.level} intervals "
        f"({INTERVALS[options.interval]}). "
        f"{band_text if any(not math.isnan(b) for b in bands.values()) else ''}"
        "n counts sentences in a run.",
        "gap",
        rows=rows,
        label=lambda row: row.gap.filler or f"{name(row)}{_n_words(row.gap)}",
        panel=lambda row: _panel(by_name[row.model, row.data_set], len(models)),
        outlined=lambda row: bool(row.gap.filler),
        bold=lambda row: not row.gap.filler,
        bands=bands,
        legend=(
            LegendEntry("group", "model"),
            *((LegendEntry("one word of the group", "model", outlined=True),) if words else ()),
        ),
        title=f"{SIDES[side]}-sentiment gaps",
        axis=f"{side} FPR minus the mean of all groups",
        n="n",
        left="← fewer false positives",
        right="more →",
    )


def span_key(spans: ReportTable, row: Any, label: str) -> KeyNumber:
    names = spans.column("highest").read(row), spans.column("lowest").read(row)
    return spans.key("span", row, f"{names[0]} above {names[1]}", label=label)


def beyond_key(models: Sequence[ModelGaps]) -> KeyNumber | None:
    """Return how many gaps lie beyond their placebo band; None without placebo words."""
    known, shares = [], []
    for model in models:
        by_chance = {band.side: band.by_chance for band in model.bands}
        for side in SIDES:
            own = [gap.beyond_band for gap in model.of(side) if gap.beyond_band is not None]
            known += own
            shares += [by_chance[side]] * len(own)
    if not known:
        return None
    chance = f"{number(sum(shares), 1)} expected by chance"
    lines = (chance, "negative and positive side together")
    return KeyNumber("Gaps beyond the placebo band", str(sum(known)), f"of {len(known)}", lines)


def unmarked_keys(models: Sequence[ModelGaps], level: str) -> tuple[KeyNumber, ...]:
    """Return the gap of the sentence without a mention, where there is one model."""
    found = [
        gap
        for model in models
        for gap in model.gaps
        if gap.role == "unmarked" and not gap.filler and gap.side == "negative"
    ]
    if len(models) != 1 or not found or not found[0].gap.is_defined:
        return ()
    gap = found[0].gap
    around = f"{level} interval {interval(gap.low, gap.high, 3, signed=True)}"
    text = number(gap.value, 3, signed=True)
    return (KeyNumber("Without a mention, negative", text, lines=(around,)),)


def mention_note(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the note on groups that rest on one word."""
    alone = [
        record["groups"][slug]
        for slug, own in record["words"].items()
        if len(own) == 1 and record["roles"][slug] == "group"
    ]
    if not alone:
        return ()
    return (
        f"{listing(alone)} {'rests' if len(alone) == 1 else 'rest'} on one word each: a gap may "
        "belong to the word rather than to the group.",
    )


def equivalence_note(models: Sequence[ModelGaps], options: GapOptions) -> str:
    """Return how many gaps are shown to be smaller than the margin."""
    tested = [
        gap.equivalence_p
        for model in models
        for side in SIDES
        for gap in model.of(side)
        if not math.isnan(gap.equivalence_p)
    ]
    settled = sum(p < 1 - options.level for p in tested)
    return (
        "A gap whose interval holds 0, or that lies inside the band, is no proof of no gap. The "
        f"equivalence test (margin {options.margin:g}) settles {settled} of "
        f"{count(len(tested), 'gap')}."
    )


def method(options: GapOptions, level: str) -> tuple[str, ...]:
    eps = " Rates have the released code’s 1e-10 on both counts." if options.released_eps else ""
    return (
        "Each labeled template is filled with every word of every group. The false positive rate "
        "of a class is the share of sentences of another label that are given it; a group’s gap is "
        "its rate minus the unweighted mean over groups, within a run (Kohankhaki et al., §3.2). "
        "Placebo words and the sentence without a mention are set against the same mean, which "
        f"they are not part of.{eps}",
        f"Intervals ({level}): {INTERVALS[options.interval]}. Intervals of all gaps at once have "
        "the errors of two-way clusters (Cameron, Gelbach and Miller 2011), the runs’ part pooled "
        f"over groups, and a critical value from {options.n_resamples} joint draws of all errors. "
        "Their p-values come from the same draws: an interval leaves out 0 exactly if its p-value "
        "is small. With one run they are of this run. The SD of true gaps is what their squares "
        "have beyond noise (noncentral F, Box 1954).",
        "The band is the 95 % quantile of the distances of placebo words from their mean. A group "
        "of several words averages over them and spreads less than one word, so that the band is "
        "cautious. Equivalence: two one-sided tests of a gap as large as the margin.",
    )


def _band(model: ModelGaps, side: str) -> float:
    found: Band = next(band for band in model.bands if band.side == side)
    return found.half_width


def _panel(model: ModelGaps, n: int) -> str:
    return "" if n == 1 else f"{model.model}, {model.data_set}"


def _words_of(rows: Sequence[GapRow], row: GapRow) -> int:
    """Return how many words the group of a word's row has."""
    return next(
        other.gap.n_fillers
        for other in rows
        if (other.gap.group, other.gap.filler) == (row.gap.group, "")
    )


def _n_words(gap: Gap) -> str:
    return f", {gap.n_fillers} words" if gap.n_fillers > 1 else ""
