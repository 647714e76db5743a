"""Guises and intelligence: whether a variety makes its speaker less intelligent to a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_lazy as _

from evaluation.analyses.guise_cells import GuiseOptions
from evaluation.analyses.guise_inference import CrossedLine
from evaluation.analyses.guise_intelligence import (
    ADJECTIVES,
    IQ,
    IntelligenceAnalysis,
    ShareLine,
    analyze_intelligence,
)
from evaluation.models import Report
from evaluation.reports.parts.document import Block, Document, KeyNumber, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import MISSING, listing, number, p_value, percent
from evaluation.reports.parts.guise_inputs import (
    common_attributes,
    load_guise_run,
    prompt_purposes,
    require_one_access,
)
from evaluation.reports.parts.guise_kind import GuiseKind, gather, guise_runs, prompt_wordings
from evaluation.reports.parts.guise_tables import METHOD_CROSSED, crossed_table
from evaluation.reports.parts.kind import Chosen, Loaded
from evaluation.reports.parts.options import IntervalParameters
from evaluation.reports.parts.table import Column, ReportTable
from probing.measures.guise_library import INTELLIGENCE, INTELLIGENT, TRAITS, UNINTELLIGENT
from probing.models import Run

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "…": (
        "What the model gives after texts in the first guise, less what it gives after texts in "
        "the second. 0 is no difference; the figure’s axis says what either side means."
    ),
}


WHY = "Below zero, the first guise is taken for less intelligent."
WHY_SINGLE = "Every adjective by itself, and the IQ prompt by prompt."
CAVEATS = (
    "They describe models under stated prompts. They say nothing about the people who speak a "
    "variety, or about their intelligence.",
    "Prompts and attributes are ours: those of the paper are not released, and there are no "
    "published values to compare with.",
)


def question(record: dict[str, Any]) -> str:
    first, second = record["runs"][0]["varieties"]
    return (
        f"After a text in {first} rather than in {second}, does a model take its author for less "
        "intelligent?"
    )


def method(result: IntelligenceAnalysis) -> tuple[str, ...]:
    found = []
    if result.high:
        found.append(
            f"Adjectives: the mean association score of {listing(list(result.high))} minus that of "
            f"{listing(list(result.low))}, pair by pair."
        )
    if result.values:
        found.append(
            f"IQ: of the probability of {listing(list(result.values))} together, the share on "
            f"{result.values[0]} after the first guise less that after the second, pair by pair."
        )
    return (*found, METHOD_CROSSED)


# --- The tables of the report on intelligence -----------------------------------------------------


def effect_table(result: IntelligenceAnalysis, level: str) -> ReportTable:
    table = crossed_table(
        result.lines, level, effect="Difference", part="Asked by", name="Quantity", decimals=3
    )
    return replace(table, name="intelligence", title="Intelligence after either guise")


def attribute_table(rows: Sequence[CrossedLine], level: str) -> ReportTable:
    return crossed_table(rows, level, part="Asked by")


def share_table(
    result: IntelligenceAnalysis, varieties: Sequence[str], wordings: Mapping[str, str]
) -> ReportTable:
    first, second = varieties
    high = result.values[0] if result.values else ""
    return ReportTable.of_rows(
        "shares",
        "Share on the higher IQ in every prompt",
        result.shares,
        ShareLine,
        *("model", "setting", "prompt"),
        Column("Prompt", "wording", lambda row: wordings.get(row.prompt, ""), wide=True),
        *("first", "second", "n"),
        labels={"high": high, "first": first, "second": second},
    )


def key_numbers(effects: ReportTable) -> tuple[KeyNumber, ...]:
    return tuple(
        effects.key(
            "effect",
            row,
            f"{p_value(row.p_value)} ({row.question}), {p_value(row.p_holm)} (Holm)",
            label=f"{row.part}, {row.model}: {row.name}",
        )
        for row in effects.rows[:4]
    )


def effect_blocks(effects: ReportTable, varieties: Sequence[str]) -> tuple[Block, ...]:
    first, second = varieties
    found: list[Block] = [
        effects.figure(
            name,
            f"{what} after {first} less after {second}; {effects.level} intervals.",
            "effect",
            rows=rows,
            label="model",
            title=title,
            axis=axis,
            value="difference",
            n="texts",
            left=f"← {first} less intelligent",
            right="more →",
        )
        for name, part, what, title, axis in (
            (
                "adjectives",
                ADJECTIVES,
                "q of high less q of low adjectives",
                "Adjectives on intelligence",
                "log ratio",
            ),
            ("iq", IQ, "Share of the mass on the higher IQ", "IQ", "share"),
        )
        if (rows := [row for row in effects.rows if row.part == part])
    ]
    return (
        *found,
        effects.printed("Intelligence after either guise."),
    )


class GuiseIntelligenceParameters(IntervalParameters):
    """The options of a report on intelligence."""


class GuiseIntelligence(GuiseKind[IntelligenceAnalysis]):
    name = "guise_intelligence"
    title = _("Guises and intelligence")
    question = _("Do models take speakers of a variety for less intelligent?")
    meanings = MEANINGS
    Parameters = GuiseIntelligenceParameters
    Result = IntelligenceAnalysis
    asks = "Does {models} take a guise for less intelligent?"
    purposes = (TRAITS, INTELLIGENCE)
    remedy = "Choose runs with prompts on traits or the IQ."
    only_pairs = True
    runs = guise_runs(
        _(
            "Runs of matched guise probing on pairs: on traits with adjectives on intelligence, or "
            "with prompts on the IQ and two values."
        )
    )

    def check(self, chosen: Chosen, parameters: GuiseIntelligenceParameters) -> None:
        super().check(chosen, parameters)
        for run in chosen.runs:
            _high_and_low(run)

    def load(self, chosen: Chosen, parameters: GuiseIntelligenceParameters) -> Loaded:
        """Two queries a run."""
        loaded = {run.pk: load_guise_run(run, run.model.name) for run in chosen.runs}
        require_one_access(list(loaded.values()))
        parts: dict[bool, list[Run]] = {True: [], False: []}
        for run in chosen.runs:
            parts[INTELLIGENCE in prompt_purposes(run)].append(run)
        data = []
        for runs in (parts[False], parts[True]):
            some = [loaded[run.pk] for run in runs]
            attributes = common_attributes(some) if some else ()
            high, low = _high_and_low(runs[0]) if runs else ((), ())
            data.append((some, attributes, high, low))
        (adjectives, attributes, high, low), (values, numbers, *iq) = data
        order = [numbers.index(value) for value in (*iq[0], *iq[1])] if values else []
        read = (
            [one.run for one in adjectives],
            attributes,
            high,
            low,
            [one.run.of_attributes(order) for one in values],
            (*iq[0], *iq[1]),
        )
        return gather(chosen, list(loaded.values()), [], read)

    def analyze(
        self, loaded: Loaded, parameters: GuiseIntelligenceParameters
    ) -> IntelligenceAnalysis:
        adjectives, attributes, high, low, values, iq = loaded.data
        options = GuiseOptions(**parameters.bootstrap)
        return analyze_intelligence(adjectives, attributes, high, low, values, iq, options)

    def lay_out(
        self, report: Report, result: IntelligenceAnalysis, view: Mapping[str, str]
    ) -> Document:
        record: dict[str, Any] = report.inputs
        runs, level = record["runs"], percent(result.options.level)
        varieties = runs[0]["varieties"]
        wordings = prompt_wordings(runs)
        effects = effect_table(result, level)
        single = attribute_table(result.attributes, level)
        shares = share_table(result, varieties, wordings)
        blocks = (
            *single.printed_if_any("Every adjective by itself."),
            *shares.printed_if_any("Share on the higher IQ, prompt by prompt."),
        )
        return Document(
            question=question(record),
            keys=key_numbers(effects),
            sections=(
                Section("On the whole", effect_blocks(effects, varieties), WHY),
                Section("One by one", blocks, WHY_SINGLE),
            ),
            tables=(effects, single, shares),
            method=method(result),
            caveats=CAVEATS,
        )

    def headline(self, result: dict[str, Any]) -> str:
        if not result["lines"]:
            return MISSING
        first = result["lines"][0]
        return f"{first['part']}: {number(first['estimate']['value'], 3, signed=True)}"


def _high_and_low(run: Run) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the attributes of a run that speak for intelligence, and those against it.

    `ReportError` where one side is empty, or where an IQ is no number.
    """
    attributes = list(run.stimuli["attributes"])
    if INTELLIGENCE in prompt_purposes(run):
        if len(attributes) != 2 or not all(name.isdecimal() for name in attributes):
            raise ReportError(
                f"{run} has the attributes {', '.join(attributes)}. Run it with a list of two IQ "
                "values, such as “iq-70-130”."
            )
        low, high = sorted(attributes, key=int)
        return (high,), (low,)
    sides = tuple(
        tuple(name for name in words if name in attributes)
        for words in (INTELLIGENT, UNINTELLIGENT)
    )
    if not all(sides):
        raise ReportError(
            f"{run} lacks adjectives on intelligence. Run it with a list that has some of "
            f"{', '.join(INTELLIGENT)} and of {', '.join(UNINTELLIGENT)}, such as "
            "“intelligence-8”."
        )
    return sides[0], sides[1]
