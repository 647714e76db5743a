"""The tables of the judgment report: Tables 4, 7, 10 and 12 to 19, Figures 3 and 6 of Deas et al.
(2023)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypedDict

from evaluation.analyses.direction_gaps import Cell, Contrast, Gap
from evaluation.analyses.error_analysis import ANY, ErrorAgreement, ErrorResult
from evaluation.analyses.judgment_analysis import (
    HUMAN,
    AspectAgreement,
    JudgmentResult,
    PairAgreement,
    SourceAgreement,
)
from evaluation.metrics.krippendorff_alpha import MEASUREMENTS
from evaluation.reports.parts.directions import PRODUCER, Directions, producer_of, tone_of
from evaluation.reports.parts.document import Figure, KeyNumber, Section, Table
from evaluation.reports.parts.formatting import MISSING, count, interval, sentence, value_range
from evaluation.reports.parts.table import (
    ALPHA_COLUMNS,
    Column,
    Reader,
    ReportTable,
    beside,
    estimate_columns,
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

    def alphas(name: str, title: str, rows: Sequence[Any], kind: type, *parts: str) -> ReportTable:
        return ReportTable.of_rows(
            name,
            f"Agreement of {title}",
            rows,
            kind,
            *(*parts, "aspect"),
            Column("Aspect", value=lambda row: ASPECTS[row.aspect]),
            *ALPHA_COLUMNS,
            labels={"units": "Counterparts"},
            level=level,
            note="alpha.estimate.note",
        )

    every, levels = "judges at every level of measurement", result.agreement_levels
    pairs, sources = result.agreement_pairs, result.agreement_sources
    return (
        alphas("agreement", "judges by aspect", result.agreement, AspectAgreement),
        alphas("agreement_levels", every, levels, AspectAgreement),
        alphas("agreement_pairs", "every two judges", pairs, PairAgreement, "first", "second"),
        alphas(
            "agreement_sources", "judges within every source", sources, SourceAgreement, "source"
        ),
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


class WrittenRecord(TypedDict):
    producer: str
    body: str
    ratings: list[float]


class ExampleRecord(TypedDict):
    """A text that was drawn, with a row for everybody whose counterpart of it was judged."""

    pair: str
    variety: str
    original: str
    rows: list[WrittenRecord]


@dataclass(frozen=True)
class ExampleRow:
    """A counterpart of an example."""

    drawn_from: str
    example: ExampleRecord
    written: WrittenRecord

    @property
    def producer(self) -> str:
        return self.written["producer"]


def example_table(stored: Mapping[str, list[ExampleRecord]]) -> ReportTable:
    return ReportTable.of_rows(
        "examples",
        "The texts that were drawn as examples",
        [
            row
            for name in ("above", "below")
            for example in stored[name]
            for row in _example_rows(example, name)
        ],
        ExampleRow,
        *("drawn_from", "example.pair", "example.variety", "example.original"),
        Column("Written by", value=producer_of),
        "producer",
        Column("Counterpart", "counterpart", "written.body", wide=True),
        *(
            Column(head, name, _rating(place), 1)
            for place, (name, head) in enumerate(ASPECTS.items())
        ),
    )


def _rating(place: int) -> Reader:
    return lambda row: row.written["ratings"][place]


def _example_rows(example: ExampleRecord, drawn_from: str = "") -> list[ExampleRow]:
    return [ExampleRow(drawn_from, example, written) for written in example["rows"]]


def example_tables(table: ReportTable, examples: Sequence[ExampleRecord]) -> list[Table]:
    return [
        table.printed(
            f"{example['pair']}, rewritten in {example['variety']}. Original: "
            f"“{example['original']}”",
            rows=_example_rows(example),
        )
        for example in examples
    ]


# --- Errors that judges marked: Table 4 -----------------------------------------------------------

UNIT_WORDS = {"word": "words", "character": "characters"}
ERROR_CAVEAT = (
    "Errors are those that these judges saw. A counterpart without a mark may hold errors that "
    "nobody noticed, and judges who know the variety less well notice fewer."
)


@dataclass(frozen=True)
class Errors:
    """Tables and figures of coded errors; ``names`` are those of the scheme, by slug."""

    view: Directions
    result: ErrorResult
    names: Mapping[str, str]

    @property
    def tables(self) -> tuple[ReportTable, ...]:
        return self.shares, self.gaps, self.contrasts, self.agreement

    @property
    def section(self) -> Section:
        codings = count(self.result.n_codings, "judgment")
        return Section(
            "Errors that judges marked",
            tuple(self._blocks()),
            why=f"{codings} of {count(self.result.n_items, 'counterpart')} marked words as errors, "
            "or said that there are none.",
        )

    @property
    def method(self) -> str:
        return (
            "Judges marked the words of a counterpart that are errors: "
            f"{', '.join(self.names.values())}. A counterpart counts once, with the share of its "
            "judges who marked an error of the kind; differences rest on pairs, as those of "
            "ratings do. Where all counterparts are alike, the interval of a share is Wilson’s, "
            "and a difference has none. Agreement is Krippendorff’s nominal alpha of “marked” and "
            "“not marked” "
            f"over the {UNIT_WORDS[self.result.unit]} of counterparts with two judges or more; "
            "its intervals resample counterparts."
        )

    def name_of(self, slug: str) -> str:
        return "Any error" if slug == ANY else self.names.get(slug, slug)

    @cached_property
    def shares(self) -> ReportTable:
        counts = {(row.producer, row.variety, row.category): row.n for row in self.result.counts}
        return ReportTable.of_rows(
            "errors",
            "Counterparts with an error, in percent, by producer and kind of error",
            self.result.cells,
            Cell,
            PRODUCER,
            *("producer", "variety"),
            self._error,
            Column("", "category", "metric"),
            *estimate_columns("%", 0, units="Counterparts", style="strong"),
            Column(
                "Passages",
                "n_passages",
                lambda row: counts[row.producer, row.variety, row.metric],
                0,
                meaning="passages that all judges marked",
            ),
            level=self.view.level,
            note="estimate.reason",
        )

    @cached_property
    def gaps(self) -> ReportTable:
        return self._tested(
            "error_gaps",
            f"Counterparts with an error, in percentage points, {self.view.difference}",
            self.result.gaps,
            Gap,
        )

    @cached_property
    def contrasts(self) -> ReportTable:
        return self._tested(
            "error_contrasts",
            "Counterparts with an error, in percentage points, models less people",
            self.result.contrasts,
            Contrast,
            "variety",
        )

    def _tested(self, name: str, title: str, rows: Any, kind: type, *places: str) -> ReportTable:
        return ReportTable.of_rows(
            name,
            title,
            rows,
            kind,
            PRODUCER,
            *("producer", *places),
            Column("", "category", "metric"),
            self._error,
            *estimate_columns("Difference", 0, units="Pairs", signed=True, style="strong"),
            *("test.p_value", "p_corrected", "test.kind", "test.reason"),
            level=self.view.level,
            note=lambda row: row.estimate.reason or row.test.reason,
        )

    @property
    def _error(self) -> Column:
        return Column("Error", value=lambda row: self.name_of(row.metric))

    @cached_property
    def agreement(self) -> ReportTable:
        unit = UNIT_WORDS[self.result.unit]
        return ReportTable.of_rows(
            "error_agreement",
            f"Agreement of judges on the {unit} that are errors",
            self.result.agreement,
            ErrorAgreement,
            Column("Error", value=lambda row: self.name_of(row.category)),
            *("category", "alpha"),
            labels={"units": unit.capitalize()},
            level=self.view.level,
            note="alpha.estimate.note",
        )

    def _blocks(self) -> Iterator[Figure | Table]:
        view, target = self.view, self.view.varieties[1]
        order = [ANY, *self.result.categories]

        def key(row: Any) -> tuple[int, int]:
            return order.index(row.metric), view.producers.index(row.producer)

        yield self.shares.figure(
            "errors",
            f"Counterparts in {view.varieties[0]} (filled) and {target} (outlined) with an error. "
            f"Intervals: {view.resampled}.",
            "value",
            rows=sorted(self.shares.rows, key=lambda row: (*key(row), row.variety == target)),
            panel=lambda row: self.name_of(row.metric),
            label=producer_of,
            tone=tone_of,
            outlined=lambda row: row.variety == target,
            legend=view.legend(*(f"generating {variety}" for variety in view.varieties)),
            decimals=0,
            reference=None,
            title="Counterparts with an error",
            axis="Counterparts with it, %",
        )
        yield self._shares_printed(
            sorted(self.shares.rows, key=lambda row: (key(row)[1], row.variety == target)), order
        )
        yield from self.gaps.printed_if_any(
            f"Counterparts with an error, in percentage points: {view.difference}; p as above, "
            "Holm over all kinds and producers.",
            rows=sorted(self.gaps.rows, key=key),
        )
        yield from self.contrasts.printed_if_any(
            "Every model less people, in percentage points; p as above, Holm over all.",
            rows=sorted(self.contrasts.rows, key=key),
        )
        yield self.agreement.printed(
            f"Agreement of judges on which {UNIT_WORDS[self.result.unit]} are errors."
        )

    def _shares_printed(self, rows: Sequence[Any], order: Sequence[str]) -> Table:
        """Return one line for each producer and direction, kinds of error side by side."""
        return self.shares.printed(
            "Counterparts with an error, in percent, each with the share of its judges who marked "
            f"one; {self.view.level} intervals beside it.",
            rows=pivot(rows, lambda row: (row.producer, row.variety), "metric"),
            columns=(
                Column("Producer", value=lambda line: producer_of(line.first)),
                Column("Generating", value=lambda line: line.first.variety),
                *(
                    column
                    for slug in order
                    for column in self.shares.side_by_side(
                        slug, ("value",), group=self.name_of(slug), interval_head="interval"
                    )
                ),
                Column("Counterparts", value=lambda line: line.first.estimate.n, decimals=0),
            ),
            note=lambda line: line.first.estimate.reason,
        )
