"""The words of the span report."""

from __future__ import annotations

from typing import Any

from evaluation.analyses.span_analysis import SpanResult
from evaluation.reports.parts.formatting import count
from evaluation.reports.parts.missing import join_reasons
from evaluation.reports.spans.tables import condition_of

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Perplexity, …": (
        "By how many per cent hidden words of the second variety are harder to guess than "
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
        f"Entropy is −Σ p ln p of the five likeliest spans in nats, {_renormalised(ways)}.",
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


def _renormalised(ways: set[bool]) -> str:
    if ways == {True}:
        return "their probabilities renormalised over the five, so that it is at most ln 5 = 1.61"
    if ways == {False}:
        return "their probabilities as the model gives them"
    return "renormalised over the five or not as each run’s settings say"
