"""Guises and controls: whether an effect is that of the variety."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.corpora.features import split_words
from evaluation.analyses.guise_cells import GuiseOptions
from evaluation.analyses.guise_controls import (
    CONTROL,
    MATCHED,
    AdjustedLine,
    ControlAnalysis,
    ControlLine,
    ControlNull,
    ControlRun,
    analyze_controls,
)
from evaluation.models import NormKind, Report
from evaluation.reports.parts.document import Block, Document, KeyNumber, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import MISSING, listing, number, percent
from evaluation.reports.parts.guise_inputs import (
    LoadedGuise,
    StrengthParameters,
    common_attributes,
    load_guise_run,
    norm_record,
    stereotypical_attributes,
)
from evaluation.reports.parts.guise_kind import GuiseKind, gather, guise_runs
from evaluation.reports.parts.guise_tables import FEW_PROMPTS, METHOD_CROSSED, p_columns
from evaluation.reports.parts.kind import Chosen, Loaded
from evaluation.reports.parts.meanings import DELTA
from evaluation.reports.parts.perplexity_inputs import (
    PERPLEXITY,
    LoadedPerplexity,
    load_perplexity,
    split_runs,
)
from evaluation.reports.parts.table import Column, ReportTable, ranked, shown
from probing.measures.guise_library import TRAITS
from probing.models import Run

# --- The words of the report on controls ----------------------------------------------------------

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "δ after …": DELTA,
}


WHY = (
    "If any deviation from the second variety did it, other varieties and noise would evoke the "
    "same stereotype. Of the differences, those whose interval keeps off zero tell guises apart."
)
NULLS = "Strength between guises that are none: what chance does."
WHY_NULLS = (
    "Guises that are none: the texts of every pair exchanged at random, and random halves of the "
    "second variety, whose scatter is brought to that of whole sets."
)
WHY_ADJUSTED = (
    "Texts of a pair may differ in length, and in how familiar a model is with them. A regression "
    "says what is left where they do not; it supposes straight lines."
)
CAVEATS = (
    "They describe models under stated prompts. They say nothing about the people who speak a "
    "variety.",
    "A control rules out what it differs in, and nothing else.",
    "Perplexity is itself a response to the variety: what is adjusted for it may be part of the "
    "effect.",
    FEW_PROMPTS,
)


def question(result: ControlAnalysis, record: dict[str, Any]) -> str:
    others = list(dict.fromkeys(row.guise for row in result.lines if row.kind == CONTROL))
    beside = f" rather than of {listing(others)}" if others else ""
    return (
        f"Is the stereotype of {record['study']['title']} after {result.subject} one of the "
        f"variety{beside}, or of length, familiarity, or chance?"
    )


def banners(result: ControlAnalysis) -> tuple[str, ...]:
    """Return where a control is as strong as the subject, or chance is."""
    found = [
        f"{row.model}: δ after {row.guise} is {number(row.strength.value, 3, signed=True)}, and "
        "the interval of its difference from the subject’s holds zero."
        for row in result.lines
        if row.kind == CONTROL and row.difference.low <= 0 <= row.difference.high
    ]
    return tuple(found[:4])


def method(result: ControlAnalysis, record: dict[str, Any]) -> tuple[str, ...]:
    options = result.options
    return (
        "After Hofmann, Kalluri, Jurafsky and King (2024), Supplementary Information, Alternative "
        f"explanations; matching and adjustment are ours. δ is the mean score of "
        f"{listing(list(result.chosen))} minus that of all other attributes "
        f"({record['study']['title']}).",
        METHOD_CROSSED,
        "Differences are within prompts: of the same pairs after two guises, or of other texts, "
        "whose parts of the variance add up (with fewer than six prompts Welch’s test of the "
        "texts’ means). Guises that are none exchange the texts of each pair at random, "
        f"{options.n_resamples:,} times.",
        f"Adjusted effects are least squares of every pair’s mean over prompts on the difference "
        f"in {' and in '.join(result.held)} between its texts; the value where there is none, "
        "with standard errors that allow for unequal spread (HC3).",
    )


# --- The tables of the report on controls ---------------------------------------------------------

#: Attributes of each model whose adjusted effects are printed.
LARGEST = 8


def control_table(result: ControlAnalysis, level: str) -> ReportTable:
    return ReportTable.of(
        "controls",
        "Strength after every guise",
        result.lines,
        *shown(ControlLine, "model", "guise", "kind", "strength", "n_pairs"),
        *p_columns(holm=False),
        *shown(ControlLine, "difference"),
        Column("", "difference_reason", "difference.note", meaning="why it has no interval"),
        *shown(ControlLine, "tau"),
        Column("First five", "first", lambda row: ", ".join(row.first), wide=True),
        level=level,
        reason="strength.note",
    )


def null_table(result: ControlAnalysis, level: str) -> ReportTable:
    return ReportTable.of(
        "placebos",
        "Strength between guises that are none",
        result.nulls,
        *shown(ControlNull, "model", "name", "mean", "sd"),
        Column(f"{level} from", "low", decimals=3, signed=True),
        *shown(ControlNull, "high", "n"),
    )


def adjusted_table(result: ControlAnalysis, level: str) -> ReportTable:
    return ReportTable.of(
        "adjusted",
        "Effects adjusted for what else differs",
        result.adjusted,
        *shown(AdjustedLine),
        Column.effect("Adjusted", "adjusted", "adjusted.estimate", 4, unit="log ratio"),
        Column("t", "t", "adjusted.statistic", 2),
        Column.p("p", "p", "adjusted.p_value"),
        Column("Pairs", "n_pairs", "adjusted.estimate.n", 0),
        Column.p(
            "p (Holm)", "p_holm", meaning="corrected over the attributes of a model, δ by itself"
        ),
        level=level,
        reason="adjusted.estimate.note",
    )


def key_numbers(controls: ReportTable) -> tuple[KeyNumber, ...]:
    found: list[KeyNumber] = []
    for row in controls.rows:
        if row.kind == MATCHED or len(found) == 4:
            continue
        label = "" if row.kind == CONTROL else ", the subject"
        found.append(
            controls.key("strength", row, label=f"δ after {row.guise}{label}, {row.model}")
        )
    return tuple(found)


def control_blocks(controls: ReportTable) -> tuple[Block, ...]:
    return (
        controls.figure(
            "controls",
            f"Strength after every guise, with {controls.level} intervals.",
            "strength",
            label="guise",
            panel="model",
            bold=lambda row: row.kind == "subject",
            tone=lambda row: "ink" if row.kind == CONTROL else "model",
            axis="δ, log ratio",
            n="texts",
        ),
        controls.printed(
            "Strength after the subject, after the controls, and over pairs of the subject that "
            "are alike in length or perplexity."
        ),
    )


def adjusted_blocks(adjusted: ReportTable, result: ControlAnalysis) -> tuple[Block, ...]:
    rows = []
    for model in dict.fromkeys(row.model for row in adjusted.rows):
        delta, *attributes = [row for row in adjusted.rows if row.model == model]
        rows += [delta, *ranked(attributes, lambda row: abs(row.plain))[:LARGEST]]
    return adjusted.printed_if_any(
        f"δ and the {LARGEST} largest effects as they are, and where the texts of a pair do "
        f"not differ in {' and '.join(result.held)}; the download has every attribute. "
        "p (Holm) is corrected over all attributes of a model.",
        rows=rows,
    )


class GuiseControlParameters(StrengthParameters):
    """The options of a report on controls."""

    subject: str | None = Field(
        None,
        max_length=60,
        title="First variety",
        description="The first variety that the others are controls of; without one, that of the "
        "first run.",
    )


class GuiseControls(GuiseKind[ControlAnalysis]):
    name = "guise_controls"
    title = _("Guises and controls")
    question = _("Is the effect of a guise that of its variety, or of anything that deviates?")
    meanings = MEANINGS
    Parameters = GuiseControlParameters
    Result = ControlAnalysis
    asks = "Is what {models} associates with a guise that of its variety?"
    purposes = (TRAITS,)
    remedy = "Choose runs with prompts on traits."
    norms = {"study": NormKind.PERCENT}
    runs = guise_runs(
        _(
            "Runs of matched guise probing on traits with one list of attributes: on the variety, "
            "and on other varieties or on noise; and runs on perplexity of the same texts."
        ),
        PERPLEXITY,
    )

    def check(self, chosen: Chosen, parameters: GuiseControlParameters) -> None:
        super().check(chosen, parameters)
        _subject(split_runs(chosen.runs)[0], parameters.subject)

    def load(self, chosen: Chosen, parameters: GuiseControlParameters) -> Loaded:
        """Two queries a run, and one for the norm."""
        guises, perplexities = split_runs(chosen.runs)
        loaded = [load_guise_run(run, run.model.name) for run in guises]
        known = [load_perplexity(run) for run in perplexities]
        attributes = common_attributes(loaded)
        norm, stereotype = stereotypical_attributes(
            parameters.study, parameters.stereotypical, attributes
        )
        data = (
            [_control_run(*each, known) for each in zip(guises, loaded, strict=True)],
            attributes,
            stereotype,
            _subject(guises, parameters.subject),
        )
        return gather(chosen, [*loaded, *known], [norm], data, study=norm_record(norm))

    def analyze(self, loaded: Loaded, parameters: GuiseControlParameters) -> ControlAnalysis:
        runs, attributes, chosen, subject = loaded.data
        options = GuiseOptions(**parameters.bootstrap)
        return analyze_controls(runs, attributes, chosen, subject, options)

    def lay_out(self, report: Report, result: ControlAnalysis, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        level = percent(result.options.level)
        controls = control_table(result, level)
        nulls = null_table(result, level)
        adjusted = adjusted_table(result, level)
        sections = (
            Section("Other guises", control_blocks(controls), WHY),
            Section("What chance does", nulls.printed_if_any(NULLS), WHY_NULLS),
            Section(
                "Length and familiarity",
                adjusted_blocks(adjusted, result),
                WHY_ADJUSTED,
            ),
        )
        return Document(
            question=question(result, record),
            banners=banners(result),
            keys=key_numbers(controls),
            sections=sections,
            tables=(controls, nulls, adjusted),
            method=method(result, record),
            caveats=CAVEATS,
        )

    def headline(self, result: dict[str, Any]) -> str:
        rows = [row for row in result["lines"] if row["kind"] == "subject"]
        return f"δ {number(rows[0]['strength']['value'], 3, signed=True)}" if rows else MISSING


def _guise(run: Run) -> str:
    return str(run.stimuli["first_variety"])


def _subject(runs: Sequence[Run], wanted: str | None) -> str:
    """Return the subject; `ReportError` where no run has it as its first variety."""
    known = list(dict.fromkeys(map(_guise, runs)))
    if wanted and wanted not in known:
        raise ReportError(f"No run has “{wanted}” as its first variety: {', '.join(known)}.")
    return wanted or known[0]


def _control_run(
    run: Run, loaded: LoadedGuise, perplexities: Sequence[LoadedPerplexity]
) -> ControlRun:
    """Return a run with what its pairs differ in; perplexities are of its model and corpus."""
    stimuli = run.stimuli
    first, second = (
        np.array([len(split_words(text["body"])) for text in stimuli[side]], dtype=float)
        for side in ("first", "second")
    )
    paired = bool(stimuli["paired"])
    found = next(
        (
            one.values
            for one in perplexities
            if paired and (one.run.model_id, one.run.corpus_id) == (run.model_id, run.corpus_id)
        ),
        None,
    )
    surprisal = tokens = None
    missing = (np.nan, 0)
    if found is not None:
        sides = [
            [found.get((text["slug"], stimuli[name]), missing) for text in stimuli["first"]]
            for name in ("first_variety", "second_variety")
        ]
        values, numbers = (
            np.array([[entry[place] for entry in side] for side in sides], dtype=float)
            for place in (0, 1)
        )
        surprisal = np.log(values[0]) - np.log(values[1])
        tokens = numbers[0] - numbers[1]
    return ControlRun(
        loaded.run,
        _guise(run),
        str(stimuli["second_variety"]),
        first - second if paired else np.zeros(len(first)),
        surprisal if surprisal is not None and not np.isnan(surprisal).all() else None,
        tokens,
    )
