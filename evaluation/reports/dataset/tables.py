"""The tables of the dataset report: Tables 2 and 3 of Deas et al. (2023)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evaluation.analyses.corpus_statistics import CorpusStatistics, OriginRow
from evaluation.reports.parts.document import Figure, KeyNumber, Table
from evaluation.reports.parts.features import FEATURE_WORDS
from evaluation.reports.parts.formatting import count, number, p_value, sentence
from evaluation.reports.parts.table import Column, ReportTable

NO_SOURCE = "no source named"
ALL = "All"


def name_of(row: OriginRow) -> str:
    return ALL if row.origin is None else row.origin or NO_SOURCE


def source_table(
    statistics: CorpusStatistics, varieties: tuple[str, str], level: str
) -> ReportTable:
    heads = {
        "source_length": f"Words, {varieties[0]}",
        "target_length": f"Words, {varieties[1]}",
        "rouge1": "Rouge-1",
        "source_toxicity": f"Hits, {varieties[0]}",
        "target_toxicity": f"Hits, {varieties[1]}",
    }
    return ReportTable.of(
        "sources",
        "Statistics of every source and of all",
        (*statistics.rows, statistics.total),
        Column("Source", "source", name_of),
        Column("Pairs", "n", decimals=0),
        *(
            Column.estimate(
                head,
                name,
                name,
                1 if name == "rouge1" else 2,
                interval_head="interval",
                prefix=f"{name}_",
            )
            for name, head in heads.items()
        ),
        level=level,
        note=lambda row: "" if row.rouge1.reason else row.rouge1.interval_reason,
    )


def sources_printed(sources: ReportTable, has_words: bool) -> Table:
    shown = ["source_length", "target_length", "rouge1"]
    shown += ["source_toxicity", "target_toxicity"] if has_words else []
    return sources.printed(
        "Pairs, mean length in words, Rouge-1 between the texts of a pair"
        + (" and mean hits of the word list, by source." if has_words else ", by source."),
        columns=(
            "source",
            "n",
            *(replace(sources.column(name), with_interval=name == "rouge1") for name in shown),
        ),
    )


def rouge_figure(sources: ReportTable, statistics: CorpusStatistics) -> Figure:
    return sources.figure(
        "rouge-by-source",
        "How much the two texts of a pair share in words, by source. Intervals: "
        f"{statistics.options.n_resamples} resamples of pairs; n is the number of pairs.",
        Column("Rouge-1", value=lambda row: replace(row.rouge1, n=row.n)),
        label="Source",
        bold=lambda row: row.origin is None,
        decimals=1,
        reference=None,
        tone="ink",
        title="Rouge-1 between the texts of a pair, by source",
        axis="Mean Rouge-1 F, × 100",
        n="pairs",
    )


def type_table(statistics: CorpusStatistics, varieties: tuple[str, str], level: str) -> ReportTable:
    sides = (statistics.source_types, statistics.target_types)
    return ReportTable.of(
        "types",
        "Words, types and their ratio",
        [{"variety": v, "types": types} for v, types in zip(varieties, sides, strict=True)],
        Column("Variety", "variety"),
        Column("Words", "n_tokens", "types.n_tokens", 0),
        Column("Different words", "n_types", "types.n_types", 0),
        Column.estimate("Ratio", "value", "types.estimate", 3, style="strong"),
        Column("", "level", "types.level"),
        level=level,
        reason="types.reason",
    )


def length_table(statistics: CorpusStatistics, level: str) -> ReportTable:
    return ReportTable.of(
        "length_difference",
        "Words of a text less words of its counterpart, with the paired test",
        (statistics.length_difference,),
        Column.effect("Mean difference", "difference", "estimate", 3),
        Column("t", "statistic", decimals=2),
        Column("df", "df", decimals=0),
        Column.p("p", "p_value"),
        Column("", "n", "n_first"),
        Column("", "test", "kind"),
        level=level,
        reason="reason",
    )


def length_printed(lengths: ReportTable, varieties: tuple[str, str]) -> Table:
    return lengths.printed(
        f"Words of a text in {varieties[0]} less words of its counterpart in {varieties[1]}, over "
        "all pairs, with a paired two-tailed t-test.",
        columns=(
            Column("Pairs", value="n_first"),
            *("difference", "statistic", "df", "p_value"),
        ),
    )


def feature_table(features: list[dict[str, Any]], varieties: tuple[str, str]) -> ReportTable:
    source, target = varieties
    return ReportTable.of(
        "features",
        "Uses of features, and texts with them",
        features,
        Column("", "name"),
        Column("Feature", value=lambda row: FEATURE_WORDS.get(row["name"], row["name"])),
        Column(f"Uses, {source}", "source_uses", decimals=0),
        Column(f"Texts, {source}", "source_texts", decimals=0),
        Column(f"Uses, {target}", "target_uses", decimals=0),
        Column(f"Texts, {target}", "target_texts", decimals=0),
    )


def key_numbers(
    statistics: CorpusStatistics,
    varieties: tuple[str, str],
    sources: ReportTable,
    lengths: ReportTable,
) -> tuple[KeyNumber, ...]:
    total, difference = statistics.total, statistics.length_difference
    source, target = varieties
    types = (statistics.source_types, statistics.target_types)
    value, around = replace(lengths.column("difference"), decimals=2).cells(difference)
    return (
        KeyNumber("Pairs", str(total.n), lines=(f"from {count(len(statistics.rows), 'source')}",)),
        KeyNumber(
            "Words a text",
            number(total.source_length.value, 1),
            f"{source}, {number(total.target_length.value, 1)} {target}",
            (sentence(difference.reason),)
            if difference.reason
            else (
                f"Difference {value}, {lengths.level} interval {around}",
                p_value(difference.p_value),
            ),
        ),
        KeyNumber(
            "Rouge-1 of a pair",
            number(total.rouge1.value, 1),
            "of 100",
            (f"{sources.level} interval {sources.column('rouge1').cells(total)[1]}",),
        ),
        KeyNumber(
            "Different words among all",
            number(types[0].value, 3),
            f"{source}, {number(types[1].value, 3)} {target}",
            (f"of {types[0].n_tokens} and {types[1].n_tokens} words",),
        ),
    )
