"""The sentences of an alignment report. They state what was done, never a verdict."""

from __future__ import annotations

from typing import Any

from django.utils.safestring import mark_safe

from annotation.models import Origin
from evaluation.analyses.alignment_result import AlignmentResult
from evaluation.reports.alignment.tables import Names
from evaluation.reports.parts.document import Prose, Section
from evaluation.reports.parts.formatting import count, interval, number
from evaluation.reports.parts.meanings import CEILING, HALVES, ORDER, PRECISION
from evaluation.reports.parts.rating_inputs import say_accepted
from evaluation.reports.parts.score_words import (
    CORPUS_CAVEAT,
    is_asked,
    is_read_in_sentences,
    measure_title,
    options_in_words,
    quoted_templates,
    remarks,
    scored_over,
)
from evaluation.reports.parts.tau_questions import CAVEAT, CEILING_LABEL, METHOD

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Agreement in order, Kendall’s τ": ORDER,
    CEILING_LABEL: CEILING,
    "Agreement between halves of the raters": HALVES,
    "Precision at …": PRECISION,
    "Groups with τ above zero": (
        "Groups of which the model’s order of traits follows people’s by more than chance "
        "explains, after correction for the number of groups (Holm)."
    ),
}


# Below this many raters a group's numbers carry a warning of their own.
FEW_RATERS = 5

PICTURES = mark_safe(
    'Cells in <i class="swatch low"></i> brown lie nearer the adjective below the map, cells in '
    '<i class="swatch high"></i> green nearer the one above it. A dot marks a cell whose '
    "interval includes the centre: its direction is not settled."
)
DETAIL = (
    "People and model are drawn against one centre line. Compare their order from scale to scale, "
    "not the distance between the marks, since the units differ."
)


def agreement(n_scales: int) -> str:
    """Return how the differences between groups are to be read."""
    return (
        f"With {count(n_scales, 'scale')} a single group’s interval is wide, so a difference "
        "between two neighboring rows is not evidence of a difference."
    )


def reliability(result: AlignmentResult) -> list[Section]:
    """Return how far the ratings may be relied on; nothing without a ceiling."""
    answers, halves = result.pooled.answers, result.pooled.ceiling
    if answers.ceiling != answers.ceiling:
        return []
    share = f"{100 * result.options.ceiling_share:g} %"
    agreed = (
        f"Halves of the raters could not be compared: {halves.reason}."
        if halves.reason
        else f"Random halves of the raters, {halves.n_first} and {halves.n_second} people, agree "
        f"with τ {number(halves.mean)} on average (middle {share} of {halves.n_splits} splits: "
        f"{interval(halves.low, halves.high)}). Both halves are noisy, so a model can pass it."
    )
    text = (
        f"The reliability of the mean ratings is {number(answers.reliability)}: the share of their "
        "variance that is not noise. The true means themselves would reach τ "
        f"{number(answers.ceiling)} against these ratings, the ceiling of τ as observed. {agreed}"
    )
    return [Section("Reliability of the ratings", (Prose((text,)),))]


def question(record: dict[str, Any], result: AlignmentResult) -> str:
    """Return the lead: what is set beside what."""
    return (
        f"For {count(len(result.groups), 'social group')} and "
        f"{count(len(result.scales), 'trait scale')}, this report sets people’s ratings beside "
        "the scores of one language model and measures how well their orders agree."
    )


def method(record: dict[str, Any], result: AlignmentResult) -> tuple[str, ...]:
    """Return the method in words, one paragraph for people, model and comparison each."""
    study, run, options = record["study"], record["run"], result.options
    if study["origin"] == Origin.SIMULATED:
        source = "The ratings were simulated; no person gave them. "
    else:
        source = (
            "People rated how a group is seen in America, not what they think themselves, on "
            "lines from 0 to 100 between two words. "
        )
    groups = count(study["groups_per_submission"], "group")
    groups = f"with {groups}" if study["accepted"] == 1 else f"most with {groups} each"
    people = f"{source}{say_accepted(study)}, {groups}; repeated groups are left out."
    if is_read_in_sentences(run):
        scored = (
            "The model’s score for a scale is an effect size, how much nearer the group’s "
            "embeddings are to those of the right adjective than to those of the left, "
            f"{scored_over(run)}{quoted_templates(run)}"
        )
    elif is_asked(run):
        scored = (
            "The model’s score for a scale is its rating from 0 to 100 minus 50, "
            f"{scored_over(run)}{quoted_templates(run)}"
        )
    else:
        scored = (
            "The model’s score for a scale is that of the right adjective minus that of the left, "
            f"{scored_over(run)}{quoted_templates(run)}"
        )
    model = (
        f"The measure is {measure_title(record)}, {options_in_words(run)}. {scored} A positive "
        "score lies towards the right adjective."
    )
    comparison = (
        "τ is Kendall’s tau-b between the model’s scores and the means of people’s ratings: "
        f"overall over all {result.pooled.n_cells} pooled cells; the mean of the groups’ own τ is "
        f"{number(result.pooled.group_tau.value)}. Precision at {options.k} is the share of the "
        f"{options.k} highest scored scales whose mean rating is above {options.centre:g}, and of "
        f"the {options.k} lowest whose mean is below it, averaged. Intervals come from "
        f"{options.n_resamples} resamples: of {result.resampling.group} for a group, with the "
        f"bias-corrected percentile; of {result.resampling.overall} for the overall values, moved "
        "so that the resamples’ mean falls on the estimate, since the bias-corrected percentile "
        f"collapses where only people are resampled. A group’s p comes from the resamples of its "
        "interval and is Holm-corrected over groups; “p, scales independent” is that of published "
        "tables. Agreement between halves of the raters is τ between the means of two random "
        f"halves of the people, over {options.n_splits} splits."
    )
    return (people, model, comparison, METHOD)


def caveats(record: dict[str, Any], result: AlignmentResult) -> tuple[str, ...]:
    """Return what the numbers do not say."""
    found = [
        "They describe one model under stated prompts. They say nothing about the people in a "
        "group.",
        "Prompts that name “men” or “White people” are marked: texts often leave such groups "
        "unsaid, so scores for them rest on less natural sentences. People who rate “men” may "
        "likewise think of the unmarked case.",
        "A mean hides disagreement: half of the ratings at 0 and half at 100 give the same mean "
        "as all of them at 50.",
        "A model can pass the agreement between halves of the raters: both halves are noisy.",
        f"With {count(len(result.scales), 'scale')} a single group’s interval is wide. A "
        "difference between two groups is not evidence of a difference.",
        CAVEAT,
    ]
    fewest = min(row.n_raters for row in result.by_group)
    if fewest < FEW_RATERS:
        found.append(
            f"Some groups have only {count(fewest, 'rater')}: their means, intervals and halves "
            "rest on very little."
        )
    if len(record["run"]["templates"]) == 1:
        found.append("One template was used: the scores say nothing about other wordings.")
    if is_read_in_sentences(record["run"]):
        found.append(CORPUS_CAVEAT)
    found += remarks([record["run"]])
    origin = record["study"]["origin"]
    if origin == Origin.IMPORTED:
        citation = record["study"]["source"].splitlines()[0]
        found.append(f"The ratings were imported, not collected here. {citation}")
    elif origin == Origin.COLLECTED:
        found.append("The ratings come from one study with its own panel, place and time.")
    return tuple(found)


def left_out(result: AlignmentResult, names: Names) -> tuple[str, ...]:
    """Return what did not enter, with its group and scale."""
    found = []
    for item in result.left_out:
        parts = (names.groups.get(item.group, item.group), names.scale(item.scale))
        what = "" if item.what in {"group", "cell"} else f", {count(item.n, item.what[:-1])}"
        found.append(f"{' × '.join(part for part in parts if part)}{what}: {item.reason}.")
    return tuple(found)
