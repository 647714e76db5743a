"""The words of the matched guise report."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from evaluation.analyses.guise_association import GuiseAnalysis
from evaluation.reports.parts.formatting import count, listing, number, p_value
from evaluation.reports.parts.guise_inputs import access_in_words
from evaluation.reports.parts.guise_tables import (
    METHOD_CROSSED,
    WHY_CROSSED,
    disagreement,
)

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Agreement, …": (
        "How far up the attributes that people named in this study stand in the model’s order "
        "(mean average precision): 1 if they come first, the chance value if the order is "
        "random."
    ),
}


WHY_TOPS = (
    "The attributes that most people named in each study, and those that a model associates most "
    "with the first variety."
)
WHY_FAVOURABILITY = (
    "Whether what comes first is good or bad to be called. The weighted mean is not defined where "
    "one of the five scores is not above zero."
)
WHY_SENSITIVITY = (
    "Prompts are a choice of wordings, not the question itself. Where one wording decides, the "
    "result is about that wording."
)
WHY_VARIATION = (
    "How much hangs on one version of a model, one set of texts or one wording. A standard error "
    "over prompts says how far wordings differ; it is no interval for other wordings."
)
CAVEATS = (
    "They describe models under stated prompts. They say nothing about the people who speak a "
    "variety.",
    "A score compares two guises: it does not say that an attribute is likely, or unlikely, after "
    "either.",
    "Prompts, texts and versions of a model are no independent samples. Intervals that resample "
    "texts and prompts are too narrow rather than too wide with few prompts.",
    "The paper’s test takes random rankings for a sample of its own, so that its degrees of "
    "freedom grow with their number; read the permutation test beside it.",
    "Pairs may differ in more than the variety, such as length, and an effect may be that of such "
    "a difference.",
)


def question(result: GuiseAnalysis, record: dict[str, Any]) -> str:
    covert = [run for run in record["runs"] if run["probe"] == "covert"]
    first, second = (covert or record["runs"])[0]["varieties"]
    both = 0 < len(covert) < len(record["runs"])
    named = " Names of groups are asked about beside them." if both else ""
    return (
        f"After a text in {first} rather than in {second}, which of "
        f"{count(result.n_attributes, 'attribute')} does a model find likelier of its author, and "
        f"how does that agree with what people said in published studies?{named}"
    )


def disagreements(result: GuiseAnalysis, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return where the paper's test and the permutation test come to different ends."""
    found = [row for row in result.agreements if row.tests_disagree]
    told = [
        f"{row.model} ({row.probe}) and {names.get(row.study, row.study)}: "
        f"{p_value(row.p_t_holm)} against {p_value(row.p_permutation_holm)}"
        for row in found
    ]
    return disagreement(
        "The paper’s t-test and the permutation test disagree on agreement with people", told
    )


def why_agreement(result: GuiseAnalysis) -> str:
    return (
        "How early the attributes that people named come in a model’s ranking. A random ranking "
        f"has {number(result.chance, 3)} on average."
    )


def why_wording(result: GuiseAnalysis) -> str:
    return f"{WHY_SENSITIVITY} {WHY_CROSSED}" if result.crossed else WHY_SENSITIVITY


def why_scores(result: GuiseAnalysis, record: dict[str, Any]) -> str:
    first = record["runs"][0]["varieties"][0]
    above = f"Above zero an attribute is likelier after {first}."
    if all(math.isnan(row.p_value) for row in result.scores):
        reasons = dict.fromkeys(row.why_no_p for row in result.scores)
        return f"{above} There is no p: {listing([str(why) for why in reasons if why])}."
    return (
        f"{above} Interval and p are for the question that the row names; p (Holm) is "
        "corrected over the attributes of a model."
    )


def method(result: GuiseAnalysis, record: dict[str, Any]) -> tuple[str, ...]:
    options = result.options
    pairs = options.matching == "meaning_matched"
    form = (
        "the mean over pairs of the logarithm of the ratio of its probabilities"
        if pairs
        else "the logarithm of the ratio of its mean probabilities"
    )
    unpaired = [str(run["number"]) for run in record["runs"] if pairs and not run["paired"]]
    pooled = f" Runs without pairs ({listing(unpaired)}) are pooled." if unpaired else ""
    bases = {run["parameters"].get("base", "10") for run in record["runs"]}
    base = "base 10" if bases == {"10"} else f"base {listing(sorted(bases))}"
    return (
        "Matched guise probing after Hofmann, Kalluri, Jurafsky and King (2024). A model reads a "
        "text within a prompt that speaks of its author, and the probability of each attribute is "
        f"read where the prompt ends, {access_in_words(record['runs'])}. The association "
        f"score q of an attribute is {form} after either guise ({base}), averaged over runs of a "
        f"model within each prompt and then over prompts.{pooled}",
        "Agreement is the mean over k = 1 to 5 of the average precision of a prompt’s ranking for "
        "the k attributes that most people named, averaged over prompts. The paper tests the "
        f"prompts’ values against {options.n_permutations:,} random rankings by a one-sided t-test "
        "with equal variances. The permutation test draws the attributes of people at random, "
        "alike for all prompts. Both are corrected by Holm over models and studies of one probe.",
        f"Intervals of agreement and favourability take {options.n_resamples:,} resamples of texts "
        "(the same ones for runs on the same texts) and of prompts (bias-corrected percentile).",
        "δ is the mean score of a study’s first five attributes minus that of all others.",
        *((METHOD_CROSSED,) if result.crossed else ()),
    )


def left_out(result: GuiseAnalysis) -> tuple[str, ...]:
    unknown = {row.study for row in result.agreements if row.reason and not row.estimate.n}
    return tuple(f"{slug}: it names none of the attributes." for slug in sorted(unknown))
