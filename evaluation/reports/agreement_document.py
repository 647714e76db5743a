"""The agreement report as a document."""

from __future__ import annotations

from typing import Any

import pandas as pd

from evaluation.analyses.agreement import AgreementResult
from evaluation.charts import (
    IntervalLine,
    IntervalPanel,
    IntervalWords,
    MatrixCell,
    agreement_matrix_spec,
)
from evaluation.metrics.levenshtein_alpha import LevenshteinAlpha
from evaluation.models import Report
from evaluation.reports.cells import estimate_cells, to_frame, to_mark
from evaluation.reports.data_statement import read_statement
from evaluation.reports.document import (
    Column,
    DataTable,
    Document,
    Figure,
    KeyNumber,
    Section,
    Table,
    TableBuilder,
)
from evaluation.reports.formatting import count, number
from evaluation.reports.interval_figure import interval_figure
from evaluation.reports.provenance import banners, closing_lines, corpus_lines_bare, study_lines

DEFINITIONS = {
    "exact": "different texts, exact",
    "shuffle": "shuffled pairs (Deas et al. 2023), exact expectation",
    "krippendorff": "coincidences (Krippendorff)",
}
DISTANCES = {
    "characters": "characters",
    "words": "words",
    "normalised": "characters, as a share of the longer text",
}
ALPHA_COLUMNS = (
    "alpha", "low", "high", "observed", "expected", "n_texts", "n_overlap", "n_annotations",
    "n_pairs", "distance", "expected_by", "reason",
)  # fmt: skip


def lay_out_agreement(report: Report, result: AgreementResult) -> Document:
    """Return the document of a report whose result is given."""
    record = report.inputs
    level = f"{result.options.level * 100:g} %"
    sections = [Section("By definition of chance", (_definition_table(result, level),), WHY_CHANCE)]
    if result.pairs:
        sections.append(
            Section("Pair by pair", (_matrix(result), _pair_table(result, level)), WHY_PAIRS)
        )
    if result.sources:
        sections.append(
            Section(
                "Source by source",
                (_source_figure(result, level), _source_table(result, level)),
                WHY_SOURCES,
            )
        )
    return Document(
        title=report.title,
        question=(
            f"{count(result.n_annotators, 'annotator')} rewrote {count(result.n_texts, 'text')} of "
            f"{record['corpus']['name']} in {record['corpus']['target_variety']}. This report "
            "measures how close the counterparts of one text are, against those of different "
            "texts."
        ),
        banners=banners(origin=record["study"]["origin"]),
        facts=(f"Study: {record['study']['title']}",),
        keys=_keys(result, level),
        sections=tuple(sections),
        tables=tuple(_data_tables(result)),
        method=_method(result, record),
        caveats=CAVEATS,
        left_out=_left_out(result, record),
        statement=read_statement(record["statement"]),
        provenance=(
            (
                *study_lines(
                    record["study"],
                    what=count(result.n_counterparts, "counterpart"),
                    digest=record["hashes"]["annotations"],
                ),
                *corpus_lines_bare(record["corpus"]),
            ),
            closing_lines(report),
        ),
    )


WHY_CHANCE = (
    "Alpha is one minus the distance of counterparts of one text over the distance that chance "
    "gives. What chance gives has three definitions in use."
)
WHY_PAIRS = "Alpha of every two annotators, from their own counterparts alone."
WHY_SOURCES = "Alpha within each source; texts of one source are more alike than those of all."
CAVEATS = (
    "A low alpha does not say that somebody is wrong: a text can have several good counterparts.",
    "The distance counts characters or words, not meaning. A synonym costs as much as a mistake.",
    "Counterparts that copy most of the text agree by that alone, since they share their source.",
    "Pairs of annotators with few texts in common have wide intervals; compare the intervals.",
)


def _keys(result: AgreementResult, level: str) -> tuple[KeyNumber, ...]:
    alpha, refused = result.overall, result.not_interpretable
    return (
        KeyNumber(
            "Krippendorff’s α of the counterparts",
            number(alpha.value),
            "",
            _alpha_lines(alpha, level),
        ),
        KeyNumber(
            "Texts written by two or more",
            str(alpha.n_overlap),
            f"of {alpha.n_items}",
            (f"{count(alpha.n_pairs, 'pair')} of counterparts compared",),
        ),
        KeyNumber(
            "Distance, observed and by chance",
            number(alpha.observed, _places(result)),
            f"against {number(alpha.expected, _places(result))}",
            (f"Levenshtein distance over {DISTANCES[alpha.distance]}",),
        ),
        KeyNumber(
            "Not interpretable",
            str(result.n_not_interpretable),
            f"of {result.n_counterparts + result.n_not_interpretable}",
            (
                f"Nominal α {number(refused.value)}"
                if not refused.reason
                else f"{refused.reason.capitalize()}.",
                f"{count(refused.n_units, 'text')} with two annotators or more",
            ),
        ),
    )


def _places(result: AgreementResult) -> int:
    return 3 if result.options.distance == "normalised" else 1


def _alpha_lines(alpha: LevenshteinAlpha, level: str) -> tuple[str, ...]:
    if alpha.reason:
        return (f"{alpha.reason.capitalize()}.",)
    value = estimate_cells(alpha)[1]
    interval = f"{level} interval {value}" if " to " in value else alpha.interval_reason
    return (interval, DEFINITIONS[alpha.expected_by])


def _alpha_table(caption: str, data: str, head: str, level: str) -> TableBuilder:
    return TableBuilder(
        caption,
        data,
        (
            Column(head),
            Column("α", number=True, style="strong"),
            Column(f"{level} interval", number=True, style="quiet"),
            Column("Observed", number=True),
            Column("By chance", number=True),
            Column("Texts in common", number=True),
            Column("Counterparts", number=True),
        ),
    )


def _add_alpha(table: TableBuilder, name: str, alpha: LevenshteinAlpha, places: int) -> None:
    value, interval = estimate_cells(alpha)
    table.add(
        name,
        value,
        interval,
        number(alpha.observed, places),
        number(alpha.expected, places),
        str(alpha.n_overlap),
        str(alpha.n_annotations),
        note=alpha.reason or alpha.interval_reason,
    )


def _definition_table(result: AgreementResult, level: str) -> Table:
    table = _alpha_table("Alpha of all counterparts by definition of chance.", "overall",
                         "Distance by chance over", level)  # fmt: skip
    for alpha in result.by_definition:
        _add_alpha(table, DEFINITIONS[alpha.expected_by], alpha, _places(result))
    return table.build()


def _pair_table(result: AgreementResult, level: str) -> Table:
    table = _alpha_table("Alpha of every pair of annotators.", "pairs", "Annotators", level)
    for pair in result.pairs:
        name = f"Annotators {pair.first} and {pair.second}"
        _add_alpha(table, name, pair.alpha, _places(result))
    return table.build()


def _source_table(result: AgreementResult, level: str) -> Table:
    table = _alpha_table("Alpha within every source.", "sources", "Source", level)
    for row in result.sources:
        _add_alpha(table, row.source, row.alpha, _places(result))
    return table.build()


def _matrix(result: AgreementResult) -> Figure:
    names = sorted({name for pair in result.pairs for name in (pair.first, pair.second)}, key=int)
    places = {name: i for i, name in enumerate(names)}
    cells = {
        (places[pair.second], places[pair.first]): MatrixCell(
            pair.alpha.value, pair.alpha.n_overlap
        )
        for pair in result.pairs
    }
    return Figure(
        "annotators",
        "Alpha of every pair of annotators; n is the number of texts that both rewrote. Outlined "
        "cells have no alpha.",
        agreement_matrix_spec([f"Annotator {name}" for name in names], cells),
        data="pairs",
    )


def _source_figure(result: AgreementResult, level: str) -> Figure:
    lines = tuple(
        IntervalLine(row.source, (to_mark(row.alpha, n=row.alpha.n_overlap, tone="human"),))
        for row in result.sources
    )
    every = IntervalLine(
        "All sources",
        (to_mark(result.overall, n=result.overall.n_overlap, tone="human"),),
        bold=True,
    )
    return interval_figure(
        "sources",
        f"Alpha within every source. Intervals: {result.options.n_resamples} resamples of texts; "
        "n is the number of texts with two counterparts or more.",
        (IntervalPanel("", (*lines, every)),),
        words=IntervalWords(
            title="Agreement by source",
            axis="Krippendorff’s α of counterparts",
            level=level,
            value="α",
            n="texts",
        ),
        decimals=2,
        data="sources",
    )


def _method(result: AgreementResult, record: dict[str, Any]) -> tuple[str, ...]:
    study, options = record["study"], result.options
    lines = [
        f"{study['common_texts']} texts were given to everyone, and {study['shared_percent']:g} % "
        "of the others to each pair of annotators. Only submitted counterparts count; drafts do "
        "not.",
        "Alpha is 1 − Dₒ/Dₑ with the Levenshtein distance over "
        f"{DISTANCES[options.distance]}. Dₒ is the mean distance over all texts and pairs of "
        "annotators with both counterparts. Pairs and sources take the definition of Dₑ "
        f"“{DEFINITIONS[options.expected]}”.",
        f"Intervals come from {options.n_resamples} resamples of texts (bias-corrected "
        "percentile). Texts called not interpretable have no counterpart to compare; whether "
        "annotators agree on that is a nominal alpha of its own.",
    ]
    if result.shuffled and not result.shuffled.reason:
        found = result.shuffled
        lines.append(
            f"Simulating the paper’s definition with {found.n} shuffles gives Dₑ = "
            f"{number(found.mean, 3)} with a standard error of {number(found.standard_error, 3)}."
        )
    return tuple(lines)


def _left_out(result: AgreementResult, record: dict[str, Any]) -> tuple[str, ...]:
    lines = []
    if result.n_not_interpretable:
        lines.append(
            f"{count(result.n_not_interpretable, 'annotation')}: called not interpretable, so that "
            "there is no counterpart to compare."
        )
    if n := record["study"].get("open"):
        lines.append(f"{count(n, 'counterpart')}: assigned, but not submitted yet.")
    return tuple(lines)


def _data_tables(result: AgreementResult) -> list[DataTable]:
    return [
        DataTable(
            "overall",
            "Alpha of all counterparts by definition of chance",
            to_frame((_alpha_row(a) for a in result.by_definition), ALPHA_COLUMNS),
        ),
        DataTable(
            "pairs",
            "Alpha of every pair of annotators",
            to_frame(
                (
                    {"first": p.first, "second": p.second} | _alpha_row(p.alpha)
                    for p in result.pairs
                ),
                ("first", "second", *ALPHA_COLUMNS),
            ),
        ),
        DataTable("sources", "Alpha within every source", _source_frame(result)),
        DataTable("not_interpretable", "Agreement on what is not interpretable", _refusals(result)),
    ]


def _source_frame(result: AgreementResult) -> pd.DataFrame:
    rows = ({"source": row.source} | _alpha_row(row.alpha) for row in result.sources)
    return to_frame(rows, ("source", *ALPHA_COLUMNS))


def _refusals(result: AgreementResult) -> pd.DataFrame:
    alpha = result.not_interpretable
    row = {
        "alpha": alpha.value,
        "low": alpha.low,
        "high": alpha.high,
        "n_texts": alpha.n_units,
        "n_annotations": alpha.n_values,
        "n_not_interpretable": result.n_not_interpretable,
        "reason": alpha.reason,
    }
    return to_frame([row], tuple(row))


def _alpha_row(alpha: LevenshteinAlpha) -> dict[str, Any]:
    return {
        "alpha": alpha.value,
        "low": alpha.low,
        "high": alpha.high,
        "observed": alpha.observed,
        "expected": alpha.expected,
        "n_texts": alpha.n_items,
        "n_overlap": alpha.n_overlap,
        "n_annotations": alpha.n_annotations,
        "n_pairs": alpha.n_pairs,
        "distance": alpha.distance,
        "expected_by": alpha.expected_by,
        "reason": alpha.reason or alpha.interval_reason,
    }
