"""The dataset report as a document: Tables 2 and 3 of Deas et al. (2023), and a data statement."""

from __future__ import annotations

from typing import Any

from evaluation.analyses import from_plain
from evaluation.analyses.corpus_statistics import CorpusStatistics, OriginRow
from evaluation.charts import IntervalLine, IntervalPanel, IntervalWords
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
from evaluation.reports.formatting import count, interval, number, p_cell, p_value
from evaluation.reports.interval_figure import interval_figure
from evaluation.reports.kinds.options import NO_WORD_LIST
from evaluation.reports.kinds.taggers import NO_TAGGER
from evaluation.reports.provenance import (
    access_caveats,
    closing_lines,
    corpus_lines,
    word_list_lines,
)

NO_SOURCE = "no source named"
ALL = "All"
LENGTHS = ("source_length", "target_length")
HITS = ("source_toxicity", "target_toxicity")
FEATURE_WORDS = {
    "aint": "ain’t",
    "existential_it": "existential it",
    "negative_concord": "negative concord",
    "dropped_copula": "dropped copula",
    "determiner_leveling": "determiner leveling",
    "habitual_be": "habitual be",
    "completive_done": "completive done",
    "future_gone": "future gone",
    "remote_past_been": "remote past been",
}


def lay_out_dataset(report: Report) -> Document:
    """Return the document of a report from its record."""
    record, stored = report.inputs, report.result or {}
    statistics = from_plain(CorpusStatistics, stored["statistics"])
    features = stored["features"]
    source, target = (record["corpus"][f"{side}_variety"] for side in ("source", "target"))
    level = f"{statistics.options.level * 100:g} %"
    has_words = record["word_list"] is not None
    return Document(
        title=report.title,
        question=(
            f"{record['corpus']['name']} holds {count(statistics.total.n, 'pair')} of texts in "
            f"{source} and {target}. This report says how long they are, how much a pair shares, "
            "which features they hold, and where they come from."
        ),
        facts=(f"Corpus: {record['corpus']['name']}", f"Licence: {record['corpus']['licence']}"),
        keys=_keys(statistics, source, target, level),
        sections=(
            Section(
                "By source",
                (
                    _source_table(statistics, source, target, has_words),
                    _rouge_figure(statistics, level),
                ),
                why="Texts of different sources differ in length and in how much of them a "
                "counterpart keeps. Rouge-1 is the overlap in words of the two texts of a pair.",
            ),
            Section(
                "Are the two varieties comparable?",
                (
                    _type_table(statistics, source, target, level),
                    _length_table(statistics, source, target, level),
                ),
                why="Scores of generated texts compare best where both varieties say the same in "
                "about as many words, with about as many different ones.",
            ),
            Section(
                f"Features of {source}",
                (_feature_table(features, statistics, source, target),),
                why="Found by patterns, which miss some uses and find some that are none. They "
                "guide sampling; they describe no speaker.",
            ),
        ),
        tables=(
            DataTable(
                "sources", "Statistics of every source and of all", _source_frame(statistics)
            ),
            DataTable(
                "types", "Words, types and their ratio", _type_frame(statistics, source, target)
            ),
            DataTable(
                "length_difference",
                "Words of a text less words of its counterpart, with the paired test",
                _length_frame(statistics),
            ),
            DataTable(
                "features",
                "Uses of features, and texts with them",
                to_frame(features, tuple(features[0])),
            ),
        ),
        method=_method(statistics, record, level, stored.get("tagger")),
        caveats=_caveats(record, has_words),
        left_out=(
            (f"{count(record['n_training'], 'pair')}: kept for training, never evaluated.",)
            if record["n_training"]
            else ()
        ),
        statement=read_statement(record["statement"]),
        provenance=(
            (
                *corpus_lines(
                    record["corpus"], n_pairs=statistics.total.n, digest=record["hashes"]["pairs"]
                ),
                *word_list_lines(record["word_list"]),
            ),
            closing_lines(report),
        ),
    )


def _keys(
    statistics: CorpusStatistics, source: str, target: str, level: str
) -> tuple[KeyNumber, ...]:
    total, difference = statistics.total, statistics.length_difference
    return (
        KeyNumber("Pairs", str(total.n), "", (f"from {count(len(statistics.rows), 'source')}",)),
        KeyNumber(
            "Words a text",
            number(total.source_length.value, 1),
            f"{source}, {number(total.target_length.value, 1)} {target}",
            (
                f"Difference {number(difference.difference, 2, signed=True)}, {level} interval "
                f"{interval(difference.low, difference.high, signed=True)}",
                p_value(difference.p_value),
            )
            if not difference.reason
            else (f"{difference.reason.capitalize()}.",),
        ),
        KeyNumber(
            "Rouge-1 of a pair",
            number(total.rouge1.value, 1),
            "of 100",
            (f"{level} interval {estimate_cells(total.rouge1, 1)[1]}",),
        ),
        KeyNumber(
            "Different words among all",
            number(statistics.source_types.value, 3),
            f"{source}, {number(statistics.target_types.value, 3)} {target}",
            (
                f"of {statistics.source_types.n_tokens} and "
                f"{statistics.target_types.n_tokens} words",
            ),
        ),
    )


def _source_table(statistics: CorpusStatistics, source: str, target: str, has_words: bool) -> Table:
    toxic = (
        (Column(f"Hits, {source}", number=True), Column(f"Hits, {target}", number=True))
        if has_words
        else ()
    )
    table = TableBuilder(
        "Pairs, mean length in words, Rouge-1 between the texts of a pair"
        + (" and mean hits of the word list, by source." if has_words else ", by source."),
        "sources",
        (
            Column("Source"),
            Column("Pairs", number=True),
            Column(f"Words, {source}", number=True),
            Column(f"Words, {target}", number=True),
            Column("Rouge-1", number=True),
            Column("interval", number=True, style="quiet"),
            *toxic,
        ),
    )
    for row in (*statistics.rows, statistics.total):
        value, between = estimate_cells(row.rouge1, 1)
        hits = [number(getattr(row, name).value) for name in HITS] if has_words else []
        table.add(
            _name(row),
            str(row.n),
            number(row.source_length.value),
            number(row.target_length.value),
            value,
            between,
            *hits,
            note="" if row.rouge1.reason else row.rouge1.interval_reason,
        )
    return table.build()


def _name(row: OriginRow) -> str:
    return ALL if row.origin is None else row.origin or NO_SOURCE


def _rouge_figure(statistics: CorpusStatistics, level: str) -> Figure:
    lines = [
        IntervalLine(_name(row), (to_mark(row.rouge1, n=row.n),), bold=row.origin is None)
        for row in (*statistics.rows, statistics.total)
    ]
    return interval_figure(
        "rouge-by-source",
        "How much the two texts of a pair share in words, by source. Intervals: "
        f"{statistics.options.n_resamples} resamples of pairs; n is the number of pairs.",
        (IntervalPanel("", tuple(lines)),),
        words=IntervalWords(
            title="Rouge-1 between the texts of a pair, by source",
            axis="Mean Rouge-1 F, × 100",
            level=level,
            value="Rouge-1",
            n="pairs",
        ),
        decimals=1,
        reference=None,
        data="sources",
    )


def _type_table(statistics: CorpusStatistics, source: str, target: str, level: str) -> Table:
    table = TableBuilder(
        "Words, different words and their ratio, with Wilson’s score interval.",
        "types",
        (
            Column("Variety"),
            Column("Words", number=True),
            Column("Different words", number=True),
            Column("Ratio", number=True, style="strong"),
            Column(f"{level} interval", number=True, style="quiet"),
        ),
    )
    for variety, found in ((source, statistics.source_types), (target, statistics.target_types)):
        table.add(
            variety,
            str(found.n_tokens),
            str(found.n_types),
            number(found.value, 3),
            interval(found.low, found.high, 3),
            note=found.reason,
        )
    return table.build()


def _length_table(statistics: CorpusStatistics, source: str, target: str, level: str) -> Table:
    found = statistics.length_difference
    table = TableBuilder(
        f"Words of a text in {source} less words of its counterpart in {target}, over all pairs, "
        "with a paired two-tailed t-test.",
        "length_difference",
        (
            Column("Pairs"),
            Column("Mean difference", number=True, style="strong"),
            Column(f"{level} interval", number=True, style="quiet"),
            Column("t", number=True),
            Column("df", number=True),
            Column("p", number=True),
        ),
    )
    table.add(
        str(found.n_first),
        number(found.difference, 3, signed=True),
        interval(found.low, found.high, 3, signed=True),
        number(found.statistic),
        number(found.df, 0),
        p_cell(found.p_value),
        note=found.reason,
    )
    return table.build()


def _length_frame(statistics: CorpusStatistics) -> Any:
    found = statistics.length_difference
    columns = ("difference", "low", "high", "statistic", "df", "p_value", "n", "test", "reason")
    row = {name: getattr(found, name) for name in columns[:6]} | {
        "n": found.n_first,
        "test": found.kind,
        "reason": str(found.reason),
    }
    return to_frame([row], columns)


def _feature_table(
    features: list[dict[str, Any]], statistics: CorpusStatistics, source: str, target: str
) -> Table:
    table = TableBuilder(
        f"Uses of each feature, and the number of the {statistics.total.n} texts with it.",
        "features",
        (
            Column("Feature"),
            Column(f"Uses, {source}", number=True),
            Column(f"Texts, {source}", number=True),
            Column(f"Uses, {target}", number=True),
            Column(f"Texts, {target}", number=True),
        ),
    )
    for row in features:
        counts = (str(row[n]) for n in row if n != "name")
        table.add(FEATURE_WORDS.get(row["name"], row["name"]), *counts)
    return table.build()


def _method(
    statistics: CorpusStatistics, record: dict[str, Any], level: str, tagger: str | None
) -> tuple[str, ...]:
    words = record["word_list"]
    lines = [
        "A word is a run of letters and digits with the apostrophes and hyphens inside it, in "
        "lower case. Rouge-1 is the F-measure of overlapping words between the two texts of a "
        "pair, its words being runs of a to z and digits, without stemming; means are times 100.",
        f"Intervals of means come from {statistics.options.n_resamples} resamples of pairs "
        f"(bias-corrected percentile, {level}). The difference in length is tested with a paired "
        "two-tailed t-test. The ratio of different words has Wilson’s score interval.",
        f"Toxicity is the mean number of words of “{words['title']}” ({words['n_words']} entries) "
        "in a text: whole words, whatever their case, repetitions counted."
        if words
        else NO_WORD_LIST,
        "Features are found by the search patterns of Deas et al. (2023, Appendix B). Of be, done, "
        "gone and been only those count that no auxiliary or preposition governs: "
        f"{f'the spaCy pipeline {tagger} tags these' if tagger else NO_TAGGER}.",
    ]
    return tuple(lines)


def _caveats(record: dict[str, Any], has_words: bool) -> tuple[str, ...]:
    found = [
        "A ratio of different words falls as texts get longer; compare it only between sides of "
        "about the same number of words.",
        "Wilson’s interval takes every word for an independent draw, which words of a text are "
        "not.",
        "Sources are few and were chosen by hand: an interval says what other texts of the same "
        "sources would give, not what other sources would.",
    ]
    if has_words:
        found.append(
            "A hit says that a word of the list is there, not that the text is offensive: "
            "reclaimed words count like any other."
        )
    return (*found, *access_caveats(record["corpus"]))


def _source_frame(statistics: CorpusStatistics) -> Any:
    names = (*LENGTHS, "rouge1", *HITS)
    parts = [(name, part) for name in names for part in ("value", "low", "high")]
    rows = (
        {"source": _name(row), "n": row.n}
        | {_column(name, part): getattr(getattr(row, name), part) for name, part in parts}
        for row in (*statistics.rows, statistics.total)
    )
    return to_frame(rows, ("source", "n", *(_column(name, part) for name, part in parts)))


def _column(name: str, part: str) -> str:
    return name if part == "value" else f"{name}_{part}"


def _type_frame(statistics: CorpusStatistics, source: str, target: str) -> Any:
    columns = ("variety", "n_tokens", "n_types", "value", "low", "high", "level", "reason")
    rows = (
        {"variety": variety} | {name: getattr(found, name) for name in columns[1:]}
        for variety, found in ((source, statistics.source_types), (target, statistics.target_types))
    )
    return to_frame(rows, columns)
