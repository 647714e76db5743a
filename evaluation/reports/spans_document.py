"""The span report as a document: Table 11 and Figure 7 of Deas et al. (2023)."""

from __future__ import annotations

import math
from typing import Any

from evaluation.analyses.span_analysis import SpanCell, SpanResult
from evaluation.charts import IntervalLine, IntervalPanel, IntervalWords
from evaluation.models import Report
from evaluation.reports.cells import estimate_cells, to_frame, to_mark
from evaluation.reports.data_statement import read_statement
from evaluation.reports.directions import interval_parts
from evaluation.reports.document import (
    Column,
    DataTable,
    Document,
    Figure,
    HeadGroup,
    KeyNumber,
    Section,
    Table,
    TableBuilder,
)
from evaluation.reports.formatting import MISSING, count, interval, number
from evaluation.reports.interval_figure import interval_figure
from evaluation.reports.missing import join_reasons
from evaluation.reports.provenance import banners, closing_lines, corpus_lines_bare, run_lines
from evaluation.reports.run_settings import settings_data, settings_section

PERPLEXITY, ENTROPY = "span_perplexity", "top5_entropy"
NAMES = {PERPLEXITY: "Perplexity of the hidden span", ENTROPY: "Entropy of the five likeliest"}
CONDITIONS = {
    "random": "any words",
    "noun_phrase": "noun phrases",
    "verb_phrase": "verb phrases",
    "given": "marked spans",
}


def lay_out_spans(report: Report, result: SpanResult) -> Document:
    """Return the document of a report whose analysis is given."""
    record = report.inputs
    options = result.options
    source, target = options.source_variety, options.target_variety
    level = f"{options.level * 100:g} %"
    return Document(
        title=report.title,
        question=(
            f"In {count(result.n_pairs, 'pair')} of texts in {source} and {target} spans of words "
            f"were hidden, {count(result.n_trials, 'time')} each. This report measures how well "
            f"{count(len(result.models), 'model')} guessed them, and how that changes from "
            f"{source} to {target}."
        ),
        banners=banners(record["runs"]),
        facts=(
            f"Corpus: {record['corpus']['name']}",
            *(f"Run {run['number']}: {run['label']}" for run in record["runs"]),
        ),
        keys=_keys(result, level),
        sections=(
            Section(
                f"From {source} to {target}",
                (_change_figure(result, level), _change_table(result, level)),
                why=f"Below zero the hidden words are easier to guess in {target}; for entropy, "
                "the model is surer of its guesses.",
            ),
            Section(
                "Values in either variety",
                (_value_table(result, PERPLEXITY), _value_table(result, ENTROPY)),
                why="Perplexities compare within one model. Models that read what follows the span "
                "and models that do not answer different questions.",
            ),
            settings_section(record["runs"]),
        ),
        tables=(
            DataTable("values", "Means over trials in either variety", _value_frame(result)),
            DataTable(
                "changes", f"Percent change from {source} to {target}", _change_frame(result)
            ),
            DataTable("trials", "Means over texts in each trial", _trial_frame(result)),
            settings_data(record["runs"]),
        ),
        method=_method(result, record, source, target),
        caveats=CAVEATS,
        left_out=_left_out(result),
        statement=read_statement(record["statement"]),
        provenance=(
            (
                *corpus_lines_bare(record["corpus"]),
                *run_lines(record["runs"], record["hashes"]),
            ),
            closing_lines(report),
        ),
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


def _condition(name: str) -> str:
    return CONDITIONS.get(name, name.replace("_", " "))


def _name(name: str) -> str:
    return NAMES.get(name, name.replace("_", " "))


def _names(result: SpanResult) -> list[str]:
    return list(dict.fromkeys(cell.name for cell in result.cells))


def _keys(result: SpanResult, level: str) -> tuple[KeyNumber, ...]:
    shown = [change for change in result.changes if change.name == PERPLEXITY][:4]
    return tuple(
        KeyNumber(
            f"Perplexity, {change.model}, {_condition(change.condition)}",
            number(change.estimate.value, 1, signed=True),
            "%",
            (
                f"{level} interval "
                f"{interval(change.estimate.low, change.estimate.high, 1, signed=True)}",
                count(change.estimate.n, "pair"),
            )
            if not change.estimate.reason
            else (f"{change.estimate.reason.capitalize()}.",),
        )
        for change in shown
    )


def _change_figure(result: SpanResult, level: str) -> Figure:
    panels = [
        IntervalPanel(
            _name(name),
            tuple(
                IntervalLine(
                    f"{change.model}, {_condition(change.condition)}",
                    (to_mark(change.estimate, n=change.estimate.n, tone="model"),),
                )
                for change in result.changes
                if change.name == name
            ),
        )
        for name in _names(result)
    ]
    source, target = result.options.source_variety, result.options.target_variety
    return interval_figure(
        "changes",
        f"Percent change from {source} to {target}. Intervals: {result.options.n_resamples} "
        "resamples of pairs with all their trials; n is the number of pairs.",
        panels,
        words=IntervalWords(
            title=f"Percent change from {source} to {target}",
            axis=f"100 ({target} − {source}) / {source}, %",
            level=level,
            value="%",
            left=f"← easier in {target}",
            right=f"easier in {source} →",
        ),
        decimals=1,
        signed=True,
        data="changes",
    )


def _change_table(result: SpanResult, level: str) -> Table:
    table = TableBuilder(
        "Percent change, negative where the target variety has the lower value.",
        "changes",
        (
            Column("Model"),
            Column("Hidden"),
            Column("Value"),
            Column("Change, %", number=True, style="strong"),
            Column(f"{level} interval", number=True, style="quiet"),
            Column("Pairs", number=True),
        ),
    )
    for change in result.changes:
        table.add(
            change.model,
            _condition(change.condition),
            _name(change.name),
            *estimate_cells(change.estimate, 1, signed=True),
            str(change.estimate.n),
            note=change.estimate.reason or change.estimate.interval_reason,
        )
    return table.build()


def _left_out(result: SpanResult) -> tuple[str, ...]:
    entries = (
        (f"{row.model}, {row.variety}, {_condition(row.condition)}", row.reason, row.n)
        for row in result.left_out
    )
    return tuple(
        f"{what}: {count(n, 'value')}, {reason}." for what, reason, n in join_reasons(entries)
    )


def _value_table(result: SpanResult, name: str) -> Table:
    varieties = (result.options.source_variety, result.options.target_variety)
    found = {(c.model, c.condition, c.variety): c for c in result.cells if c.name == name}
    heads = ("Mean", "interval", "sd of trials", "Trials", "Texts")
    table = TableBuilder(
        f"{_name(name)}: means over texts, then over trials.",
        "values",
        (
            Column("Model"),
            Column("Hidden"),
            *(
                Column(head, number=True, style="quiet" if head == "interval" else "")
                for _ in varieties
                for head in heads
            ),
        ),
        heads=(HeadGroup("", 2), *(HeadGroup(variety, len(heads)) for variety in varieties)),
    )
    for model, condition in dict.fromkeys((m, c) for m, c, _ in found):
        cells: list[str] = []
        for variety in varieties:
            cells += _value_cells(found.get((model, condition, variety)))
        table.add(model, _condition(condition), *cells)
    return table.build()


def _value_cells(cell: SpanCell | None) -> tuple[str, ...]:
    if cell is None:
        return (MISSING,) * 5
    trials = sum(not math.isnan(mean) for mean in cell.trial_means)
    return (
        *estimate_cells(cell.estimate),
        number(cell.sd),
        str(trials),
        str(cell.estimate.n),
    )


def _value_frame(result: SpanResult) -> Any:
    names = ("model", "name", "condition", "variety")
    rows = (
        {name: getattr(cell, name) for name in names}
        | interval_parts(cell.estimate)
        | {"sd": cell.sd, "n_trials": len(cell.trial_means), "n_left_out": cell.n_left_out}
        for cell in result.cells
    )
    columns = ("value", "low", "high", "n", "reason", "sd", "n_trials", "n_left_out")
    return to_frame(rows, (*names, *columns))


def _change_frame(result: SpanResult) -> Any:
    names = ("model", "name", "condition")
    rows = (
        {name: getattr(change, name) for name in names}
        | interval_parts(change.estimate)
        | {"n_left_out": change.n_left_out}
        for change in result.changes
    )
    return to_frame(rows, (*names, "value", "low", "high", "n", "reason", "n_left_out"))


def _trial_frame(result: SpanResult) -> Any:
    rows = (
        {
            "model": cell.model,
            "name": cell.name,
            "condition": cell.condition,
            "variety": cell.variety,
            "trial": trial,
            "mean": mean,
        }
        for cell in result.cells
        for trial, mean in enumerate(cell.trial_means)
    )
    return to_frame(rows, ("model", "name", "condition", "variety", "trial", "mean"))


def _method(
    result: SpanResult, record: dict[str, Any], source: str, target: str
) -> tuple[str, ...]:
    ways = {run["parameters"].get("normalise", True) for run in record["runs"]}
    return (
        "Spans of words are drawn with a length from a Poisson distribution and a uniform place, "
        "or are noun phrases or verb phrases; each trial draws anew, in either text of a pair by "
        "itself. Settings and seeds stand under “How the models were asked”.",
        "Perplexity is exp of the mean negative log probability of the hidden span’s tokens. "
        f"Entropy is −Σ p ln p of the five likeliest spans in nats, {_renormalised(ways)}.",
        "The value of a trial is the mean over texts, the value of a cell the mean over trials; sd "
        "is that of the trials’ means (ddof 1). "
        f"Percent change is 100 ({target} − {source}) / {source}{_rests_on(result)}. Intervals "
        "come from "
        f"{result.options.n_resamples} resamples of pairs with all their trials (bias-corrected "
        "percentile). No test is made: an interval without 0 says that the varieties differ.",
    )


def _rests_on(result: SpanResult) -> str:
    """Return which pairs changes rest on; nothing for results that do not say it."""
    known = [change.n_left_out for change in result.changes if change.n_left_out is not None]
    if not known:
        return ""
    left = f"; up to {count(max(known), 'pair')} had one alone" if max(known) else ""
    return f", over the pairs with values of both{left}"


def _renormalised(ways: set[bool]) -> str:
    if ways == {True}:
        return "their probabilities renormalised over the five, so that it is at most ln 5 = 1.61"
    if ways == {False}:
        return "their probabilities as the model gives them"
    return "renormalised over the five or not as each run’s settings say"
