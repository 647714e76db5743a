"""The tables of the agreement report."""

from __future__ import annotations

from typing import Any

from evaluation.analyses.agreement import AgreementResult, SourceAgreement
from evaluation.charts import MatrixCell, agreement_matrix_spec
from evaluation.metrics.levenshtein_alpha import LevenshteinAlpha
from evaluation.reports.parts.document import Figure, KeyNumber
from evaluation.reports.parts.formatting import count, number, sentence
from evaluation.reports.parts.table import Column, Reader, ReportTable, downloaded, read

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


def alpha_table(
    name: str,
    title: str,
    rows: tuple[Any, ...],
    head: str,
    label: Reader,
    *,
    result: AgreementResult,
    level: str,
    alpha: Reader = "alpha",
    names: tuple[str, ...] = (),
) -> ReportTable:
    """Return a table of alphas.

    head, label : the column that says what an alpha is of
    alpha : where the `LevenshteinAlpha` stands in a row
    names : further columns of the download, in front
    """

    def of(path: str) -> Reader:
        return lambda row: read(read(row, alpha), path)

    places = places_of(result)
    return ReportTable.of(
        name,
        title,
        rows,
        *downloaded(*names),
        Column(head, label if isinstance(label, str) else "", label),
        Column.estimate("α", "alpha", of("estimate"), 2, style="strong"),
        Column("Observed", "observed", of("observed"), places),
        Column("By chance", "expected", of("expected"), places),
        Column("", "n_texts", of("n_items")),
        Column("Texts in common", "n_overlap", of("n_overlap"), 0),
        Column("Counterparts", "n_annotations", of("n_annotations"), 0),
        Column("", "n_pairs", of("n_pairs")),
        Column("", "distance", of("distance")),
        Column("", "expected_by", of("expected_by")),
        level=level,
        reason=of("estimate.note"),
    )


def definition_table(result: AgreementResult, level: str) -> ReportTable:
    return alpha_table(
        "overall",
        "Alpha of all counterparts by definition of chance",
        result.by_definition,
        "Distance by chance over",
        lambda alpha: DEFINITIONS[alpha.expected_by],
        result=result,
        level=level,
        alpha=lambda alpha: alpha,
    )


def pair_table(result: AgreementResult, level: str) -> ReportTable:
    return alpha_table(
        "pairs",
        "Alpha of every pair of annotators",
        result.pairs,
        "Annotators",
        lambda pair: f"Annotators {pair.first} and {pair.second}",
        result=result,
        level=level,
        names=("first", "second"),
    )


def source_table(result: AgreementResult, level: str) -> ReportTable:
    return alpha_table(
        "sources",
        "Alpha within every source",
        result.sources,
        "Source",
        "source",
        result=result,
        level=level,
    )


def refusal_table(result: AgreementResult) -> ReportTable:
    return ReportTable.of(
        "not_interpretable",
        "Agreement on what is not interpretable",
        (result.not_interpretable,),
        Column.estimate("", "alpha", "estimate"),
        Column("", "n_texts", "n_units"),
        Column("", "n_annotations", "n_values"),
        Column("", "n_not_interpretable", lambda alpha: result.n_not_interpretable),
        Column("", "reason"),
    )


def places_of(result: AgreementResult) -> int:
    return 3 if result.options.distance == "normalised" else 1


def key_numbers(result: AgreementResult, level: str) -> tuple[KeyNumber, ...]:
    alpha, refused, places = result.overall, result.not_interpretable, places_of(result)
    return (
        KeyNumber(
            "Krippendorff’s α of the counterparts",
            number(alpha.value),
            lines=_alpha_lines(alpha, result, level),
        ),
        KeyNumber(
            "Texts written by two or more",
            str(alpha.n_overlap),
            f"of {alpha.n_items}",
            (f"{count(alpha.n_pairs, 'pair')} of counterparts compared",),
        ),
        KeyNumber(
            "Distance, observed and by chance",
            number(alpha.observed, places),
            f"against {number(alpha.expected, places)}",
            (f"Levenshtein distance over {DISTANCES[alpha.distance]}",),
        ),
        KeyNumber(
            "Not interpretable",
            str(result.n_not_interpretable),
            f"of {result.n_counterparts + result.n_not_interpretable}",
            (
                sentence(refused.reason)
                if refused.reason
                else f"Nominal α {number(refused.value)}",
                f"{count(refused.n_units, 'text')} with two annotators or more",
            ),
        ),
    )


def _alpha_lines(alpha: LevenshteinAlpha, result: AgreementResult, level: str) -> tuple[str, ...]:
    if alpha.reason:
        return (sentence(alpha.reason),)
    _, around = definition_table(result, level).column("alpha").cells(alpha)
    interval = f"{level} interval {around}" if " to " in around else alpha.interval_reason
    return (interval, DEFINITIONS[alpha.expected_by])


def matrix(result: AgreementResult) -> Figure:
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


def source_figure(sources: ReportTable, result: AgreementResult) -> Figure:
    return sources.figure(
        "sources",
        f"Alpha within every source. Intervals: {result.options.n_resamples} resamples of texts; "
        "n is the number of texts with two counterparts or more.",
        "alpha",
        label="Source",
        rows=(*result.sources, SourceAgreement("All sources", result.overall)),
        bold=lambda row: row.alpha is result.overall,
        tone="human",
        decimals=2,
        title="Agreement by source",
        axis="Krippendorff’s α of counterparts",
        n="texts",
    )
