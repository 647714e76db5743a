"""The tables of the judgment report: Tables 7, 10 and 12 to 19, Figures 3 and 6 of Deas et al.
(2023)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evaluation.analyses.judgment_analysis import HUMAN, JudgmentResult
from evaluation.metrics.krippendorff_alpha import MEASUREMENTS
from evaluation.reports.parts.directions import NAMES, Directions
from evaluation.reports.parts.document import Figure, KeyNumber, Table
from evaluation.reports.parts.formatting import MISSING, count, interval, sentence, value_range
from evaluation.reports.parts.table import (
    Column,
    Reader,
    ReportTable,
    alpha_columns,
    beside,
    downloaded,
    pivot,
    read,
)

ASPECTS = {
    "human_likeness": "Human-likeness",
    "linguistic_match": "Linguistic match",
    "meaning_preservation": "Meaning",
    "tone_preservation": "Tone",
}


#: The aspect that gaps are shown for feature by feature: whether a text was understood.
LEAD = "meaning_preservation"


def directions_of(result: JudgmentResult) -> Directions:
    people = [HUMAN] if HUMAN in result.producers else []
    return Directions(
        result,
        result.options,
        producers=(*people, *sorted(name for name in result.producers if name != HUMAN)),
        metrics=ASPECTS,
        decimals=2,
        baseline=HUMAN,
    )


def measurement_of(result: JudgmentResult) -> str:
    """Return the level of measurement that the report's alphas take."""
    return str(result.agreement[0].alpha.measurement)


def agreement_tables(result: JudgmentResult, level: str) -> tuple[ReportTable, ...]:
    """Return alpha by aspect: of all judges, at every level, of every two, and by source."""
    return tuple(
        ReportTable.of(
            name,
            title,
            rows,
            *downloaded(*parts),
            Column("Aspect", value=lambda row: ASPECTS[row.aspect]),
            *alpha_columns("Counterparts"),
            level=level,
            note="alpha.estimate.note",
        )
        for name, title, rows, parts in (
            ("agreement", "Agreement of judges by aspect", result.agreement, ("aspect",)),
            (
                "agreement_levels",
                "Agreement of judges at every level of measurement",
                result.agreement_levels,
                ("aspect",),
            ),
            (
                "agreement_pairs",
                "Agreement of every two judges",
                result.agreement_pairs,
                ("first", "second", "aspect"),
            ),
            (
                "agreement_sources",
                "Agreement of judges within every source",
                result.agreement_sources,
                ("source", "aspect"),
            ),
        )
    )


def key_numbers(view: Directions, result: JudgmentResult) -> tuple[KeyNumber, ...]:
    return (
        KeyNumber(
            "Judgments",
            str(result.n_judgments),
            lines=(
                f"{count(result.n_items, 'counterpart')} of {count(result.n_pairs, 'pair')}",
                f"{count(result.n_judges, 'judge')}, {result.n_twice} judged twice or more",
            ),
        ),
        *_gap_keys(view, result),
        _alpha_key(result),
    )


def _gap_keys(view: Directions, result: JudgmentResult) -> Iterator[KeyNumber]:
    for metric, label in (("linguistic_match", "Match"), ("meaning_preservation", "Meaning")):
        known = [
            gap.estimate.value
            for gap in view.select(result.gaps, (metric,))
            if gap.producer != HUMAN and gap.estimate.is_defined
        ]
        if known:
            yield KeyNumber(
                f"{label}, {view.difference}, of models",
                value_range(known, signed=True),
                lines=(f"{count(len(known), 'model')}; intervals below",),
            )


def _alpha_key(result: JudgmentResult) -> KeyNumber:
    alphas = [row.alpha.value for row in result.agreement if not row.alpha.reason]
    why = sentence(result.agreement[0].alpha.reason)
    return KeyNumber(
        f"{measurement_of(result).capitalize()} α of judges",
        interval(min(alphas), max(alphas)) if alphas else MISSING,
        lines=(f"over {count(len(alphas), 'aspect')}" if alphas else why,),
    )


def agreement_blocks(
    result: JudgmentResult, agreement: Sequence[ReportTable]
) -> Iterator[Figure | Table]:
    """Yield alpha of every aspect; then by level, by pair of judges and by source, as known."""
    overall, levels, pairs, sources = agreement
    measurement = measurement_of(result)
    yield overall.figure(
        "agreement",
        f"{measurement.capitalize()} alpha of each aspect; n is the number of counterparts with "
        "two judges or more.",
        "value",
        label="Aspect",
        tone="human",
        decimals=2,
        axis=f"Krippendorff’s {measurement} α",
    )
    yield overall.printed(f"{measurement.capitalize()} alpha of judges by aspect.")
    yield from levels.printed_if_any(
        "Alpha by level of measurement, over the same ratings: nominal counts any difference "
        "alike, ordinal goes by ranks, interval by squared differences, ratio by differences "
        "as shares.",
        rows=pivot(levels.rows, "aspect", "alpha.measurement"),
        columns=(
            Column("Aspect", value=lambda line: ASPECTS[line.first.aspect]),
            *(
                Column(level.capitalize(), value=beside(level, "alpha.value"), decimals=2)
                for level in MEASUREMENTS
            ),
        ),
        note="",
    )
    for table, head, part, caption in (
        (
            pairs,
            "Judges",
            lambda row: f"Judges {row.first} and {row.second}",
            "alpha of every two judges with counterparts in common.",
        ),
        (sources, "Source", "source", "alpha within every source of texts."),
    ):
        if len({read(row, part) for row in table.rows}) > 1:
            yield _by_aspect(table, f"{measurement.capitalize()} {caption}", head, part)


def _by_aspect(table: ReportTable, caption: str, head: str, part: Reader) -> Table:
    """Return one line for each part, and for each aspect alpha with its interval."""
    return table.printed(
        f"{caption} {table.level} intervals beside it.",
        rows=pivot(table.rows, part, "aspect"),
        columns=(
            Column(head, value=lambda line: read(line.first, part)),
            *(
                column
                for aspect, name in ASPECTS.items()
                for column in table.side_by_side(
                    aspect, ("value",), group=name, interval_head="interval"
                )
            ),
            Column(
                "Counterparts",
                value=lambda line: max(row.alpha.n_units for row in line.records.values()),
                decimals=0,
            ),
        ),
        note=lambda line: next(
            (row.alpha.reason for row in line.records.values() if row.alpha.reason), ""
        ),
    )


def example_table(stored: dict[str, Any]) -> ReportTable:
    return ReportTable.of(
        "examples",
        "The texts that were drawn as examples",
        [
            row
            for name in ("above", "below")
            for example in stored[name]
            for row in _example_rows(example, name)
        ],
        *downloaded("drawn_from", "pair", "variety", "original"),
        Column("Written by", value=lambda row: NAMES.get(row["producer"], row["producer"])),
        Column("", "producer"),
        Column("Counterpart", "counterpart", wide=True),
        *(Column(head, name, decimals=1) for name, head in ASPECTS.items()),
    )


def _example_rows(example: dict[str, Any], drawn_from: str = "") -> list[dict[str, Any]]:
    """Return a line for everybody whose counterpart of the text was judged."""
    about = {name: example[name] for name in ("pair", "variety", "original")}
    return [
        about
        | {"drawn_from": drawn_from, "producer": row["producer"], "counterpart": row["body"]}
        | dict(zip(ASPECTS, row["ratings"], strict=True))
        for row in example["rows"]
    ]


def example_tables(table: ReportTable, examples: Sequence[dict[str, Any]]) -> list[Table]:
    return [
        table.printed(
            f"{example['pair']}, rewritten in {example['variety']}. Original: "
            f"“{example['original']}”",
            rows=_example_rows(example),
        )
        for example in examples
    ]
