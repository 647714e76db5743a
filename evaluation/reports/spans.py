"""Spans: how well models guess what is hidden in texts of two varieties."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.common.lazy import pd
from annotation.common.row_order import order_rows
from evaluation.analyses.span_analysis import (
    SpanCell,
    SpanChange,
    SpanOptions,
    SpanResult,
    analyze_spans,
)
from evaluation.models import Report
from evaluation.reports.parts.corpus_inputs import (
    corpus_part,
    hash_rows,
    run_labels,
    text_run_record,
)
from evaluation.reports.parts.document import Document, Figure, KeyNumber, Section, Table
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import count, percent, value_range
from evaluation.reports.parts.kind import (
    AnalysisKind,
    Chosen,
    CorpusInput,
    Loaded,
    RunsInput,
    Topic,
)
from evaluation.reports.parts.missing import join_reasons
from evaluation.reports.parts.options import IntervalParameters
from evaluation.reports.parts.provenance import run_key
from evaluation.reports.parts.run_settings import settings_section, settings_table
from evaluation.reports.parts.table import Column, ReportTable, pivot
from probing.models import TextScore

# --- The words of the span report -----------------------------------------------------------------

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Perplexity, …": (
        "By how many percent hidden words of the second variety are harder to guess than "
        "those of the first. Below 0 they are easier; 0 would be no difference."
    ),
}


WHY_VALUES = (
    "Perplexities compare within one model. Models that read what follows the span and models that "
    "do not answer different questions."
)
CAVEATS = (
    "A mean perplexity follows its largest values: a few texts can move it. The intervals show how "
    "far.",
    "Which spans are hidden is drawn anew in either text of a pair, so that the spans differ in "
    "what they say.",
    "Perplexity depends on how a tokenizer cuts words; values of models with different tokenizers "
    "do not compare.",
    "Texts in the training data of a model are easier for it, and one variety may be there more "
    "often.",
    "They describe models. They say nothing about the people who speak a variety.",
)


def question(result: SpanResult) -> str:
    source, target = result.options.source_variety, result.options.target_variety
    return (
        f"In {count(result.n_pairs, 'pair')} of texts in {source} and {target} spans of words were "
        f"hidden, {count(result.n_trials, 'time')} each. This report measures how well "
        f"{count(len(result.models), 'model')} guessed them, and how that changes from {source} to "
        f"{target}."
    )


def why_changes(result: SpanResult) -> str:
    return (
        f"Below zero the hidden words are easier to guess in {result.options.target_variety}; for "
        "entropy, the model is surer of its guesses."
    )


def left_out(result: SpanResult) -> tuple[str, ...]:
    entries = (
        (f"{row.model}, {row.variety}, {condition_of(row)}", row.reason, row.n)
        for row in result.left_out
    )
    return tuple(
        f"{what}: {count(n, 'value')}, {reason}." for what, reason, n in join_reasons(entries)
    )


def method(result: SpanResult, record: dict[str, Any]) -> tuple[str, ...]:
    source, target = result.options.source_variety, result.options.target_variety
    ways = {run["parameters"].get("normalise", True) for run in record["runs"]}
    return (
        "Spans of words are drawn with a length from a Poisson distribution and a uniform place, "
        "or are noun phrases or verb phrases; each trial draws anew, in either text of a pair by "
        "itself. Settings and seeds stand under “How the models were asked”.",
        "Perplexity is exp of the mean negative log probability of the hidden span’s tokens. "
        f"Entropy is −Σ p ln p of the five likeliest spans in nats, {_renormalized(ways)}.",
        "The value of a trial is the mean over texts, the value of a cell the mean over trials; sd "
        "is that of the trials’ means (ddof 1). "
        f"Percent change is 100 ({target} − {source}) / {source}{_rests_on(result)}. Intervals "
        "come from "
        f"{result.options.n_resamples} resamples of pairs with all their trials (bias-corrected "
        "percentile). No test is made: an interval without 0 says that the varieties differ.",
    )


def _rests_on(result: SpanResult) -> str:
    """Return which pairs changes rest on."""
    known = [change.n_left_out for change in result.changes]
    if not known:
        return ""
    left = f"; up to {count(max(known), 'pair')} had one alone" if max(known) else ""
    return f", over the pairs with values of both{left}"


def _renormalized(ways: set[bool]) -> str:
    if ways == {True}:
        return "their probabilities renormalized over the five, so that it is at most ln 5 = 1.61"
    if ways == {False}:
        return "their probabilities as the model gives them"
    return "renormalized over the five or not as each run’s settings say"


# --- The tables of the span report: Table 11 and Figure 7 of Deas et al. (2023) -------------------

PERPLEXITY, ENTROPY = "span_perplexity", "top5_entropy"
NAMES = {PERPLEXITY: "Perplexity of the hidden span", ENTROPY: "Entropy of the five likeliest"}
CONDITIONS = {
    "random": "any words",
    "noun_phrase": "noun phrases",
    "verb_phrase": "verb phrases",
    "given": "marked spans",
}


def quantity_of(row: Any) -> str:
    return NAMES.get(row.name, row.name.replace("_", " "))


def condition_of(row: Any) -> str:
    return CONDITIONS.get(row.condition, row.condition.replace("_", " "))


def value_table(result: SpanResult, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "values",
        "Means over trials in either variety",
        result.cells,
        SpanCell,
        *("model", "name", "condition", "variety", "estimate", "sd"),
        Column("", "n_trials", lambda cell: len(cell.trial_means)),
        "n_left_out",
        level=level,
    )


def change_table(result: SpanResult, level: str) -> ReportTable:
    source, target = result.options.source_variety, result.options.target_variety
    return ReportTable.of_rows(
        "changes",
        f"Percent change from {source} to {target}",
        result.changes,
        SpanChange,
        *("model", "name", "condition"),
        Column("Hidden", value=condition_of),
        Column("Value", value=quantity_of),
        *("estimate", "n_left_out"),
        level=level,
        note="estimate.note",
    )


@dataclass(frozen=True)
class TrialRow:
    """The mean of one trial."""

    cell: SpanCell
    trial: int
    mean: float


def trial_table(result: SpanResult) -> ReportTable:
    return ReportTable.of_rows(
        "trials",
        "Means over texts in each trial",
        [
            TrialRow(cell, trial, mean)
            for cell in result.cells
            for trial, mean in enumerate(cell.trial_means)
        ],
        TrialRow,
        *("cell.model", "cell.name", "cell.condition", "cell.variety", "trial", "mean"),
    )


def key_numbers(changes: ReportTable) -> tuple[KeyNumber, ...]:
    shown = [change for change in changes.rows if change.name == PERPLEXITY][:4]
    return tuple(
        changes.key(
            "value",
            change,
            count(change.estimate.n, "pair"),
            label=f"Perplexity, {change.model}, {condition_of(change)}",
            unit="%",
        )
        for change in shown
    )


def change_blocks(changes: ReportTable, result: SpanResult) -> tuple[Figure, Table]:
    source, target = result.options.source_variety, result.options.target_variety
    return (
        changes.figure(
            "changes",
            f"{changes.title}. Intervals: {result.options.n_resamples} resamples of pairs with all "
            "their trials; n is the number of pairs.",
            "value",
            label=lambda change: f"{change.model}, {condition_of(change)}",
            panel=quantity_of,
            decimals=1,
            axis=f"100 ({target} − {source}) / {source}, %",
            value="%",
            left=f"← easier in {target}",
            right=f"easier in {source} →",
        ),
        changes.printed("Percent change, negative where the target variety has the lower value."),
    )


def narrow_values(values: ReportTable, result: SpanResult, name: str) -> Table:
    """Return one quantity with both varieties side by side."""
    varieties = (result.options.source_variety, result.options.target_variety)
    cells = [cell for cell in result.cells if cell.name == name]
    return values.printed(
        f"{NAMES[name]}: means over texts, then over trials.",
        rows=pivot(cells, lambda cell: (cell.model, cell.condition), "variety"),
        columns=(
            Column("Model", value="first.model"),
            Column("Hidden", value=lambda row: condition_of(row.first)),
            *(
                column
                for variety in varieties
                for column in values.side_by_side(
                    variety, ("value", "sd", TRIALS, "n"), interval_head="interval"
                )
            ),
        ),
        note="",
    )


TRIALS = Column(
    "Trials", value=lambda cell: sum(not math.isnan(mean) for mean in cell.trial_means), decimals=0
)


PLACES = {name: place for place, name in enumerate(CONDITIONS)}
COLUMNS = ("name", "pair", "variety", "condition", "trial", "value", "reason")
ORDER = [COLUMNS.index(name) for name in ("name", "condition", "variety", "trial", "pair")]


class SpanParameters(IntervalParameters):
    """The options of a span report."""


class Spans(AnalysisKind[SpanResult]):
    name = "spans"
    title = _("Masked spans")
    question = _("Are hidden words of one variety harder for models to guess than of another?")
    topic = Topic.SPEAKERS
    meanings = MEANINGS
    Parameters = SpanParameters
    Result = SpanResult
    corpus = CorpusInput(_("The corpus whose texts the models were asked about."))
    runs = RunsInput(
        _("Runs of masked span prediction on that corpus. The report waits for all of them."),
        measures=("span_prediction",),
        most=None,
    )

    def default_title(self, chosen: Chosen) -> str:
        corpus = chosen.the_corpus
        return (
            f"Is {corpus.source_variety} harder to fill in than {corpus.target_variety}, in "
            f"{corpus}?"
        )

    def load(self, chosen: Chosen, parameters: SpanParameters) -> Loaded:
        corpus = chosen.the_corpus
        labels = run_labels(chosen.runs)
        frames, hashes = [], {}
        for run in chosen.runs:
            rows = order_rows(TextScore.objects.filter(run=run).values_list(*COLUMNS), *ORDER)
            hashes[run_key({"public_id": run.public_id})] = hash_rows(rows)
            # Any words first, then phrases, as the paper's tables have it.
            rows.sort(key=lambda row: PLACES.get(row[COLUMNS.index("condition")], len(PLACES)))
            frames.append(pd.DataFrame(rows, columns=list(COLUMNS)).assign(model=labels[run.pk]))
        values = pd.concat(frames, ignore_index=True)
        if values.empty:
            raise ReportError("The runs have no value of any text.")
        values["value"] = values["value"].astype(float)
        return Loaded(
            record={
                **corpus_part(corpus),
                "runs": [text_run_record(run, labels[run.pk]) for run in chosen.runs],
            },
            data=values,
            hashes=hashes,
        )

    def analyze(self, loaded: Loaded, parameters: SpanParameters) -> SpanResult:
        corpus = loaded.record["corpus"]
        return analyze_spans(
            loaded.data,
            SpanOptions(
                source_variety=corpus["source_variety"],
                target_variety=corpus["target_variety"],
                **parameters.bootstrap,
            ),
        )

    def lay_out(self, report: Report, result: SpanResult, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        runs, options = record["runs"], result.options
        level = percent(options.level)
        values = value_table(result, level)
        changes = change_table(result, level)
        settings = settings_table(runs)
        return Document(
            question=question(result),
            keys=key_numbers(changes),
            sections=(
                Section(
                    f"From {options.source_variety} to {options.target_variety}",
                    change_blocks(changes, result),
                    why_changes(result),
                ),
                Section(
                    "Values in either variety",
                    tuple(narrow_values(values, result, name) for name in NAMES),
                    WHY_VALUES,
                ),
                settings_section(settings),
            ),
            tables=(values, changes, trial_table(result), settings),
            method=method(result, record),
            caveats=CAVEATS,
            left_out=left_out(result),
        )

    def headline(self, result: dict[str, Any]) -> str:
        found = value_range(
            (
                change["estimate"]["value"]
                for change in result["changes"]
                if change["name"] == PERPLEXITY
            ),
            decimals=0,
            signed=True,
        )
        return found and f"perplexity {found} %"
