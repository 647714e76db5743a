"""The sentences of an alignment report. They state what was done, never a verdict."""

from __future__ import annotations

from typing import Any

from django.utils.safestring import mark_safe

from annotation.models import Origin
from evaluation.analyses import AlignmentResult
from evaluation.models import Report
from evaluation.reports.formatting import count, number
from evaluation.reports.score_words import (
    CORPUS_CAVEAT,
    all_options,
    is_read_in_sentences,
    measure_title,
    options_in_words,
    quoted_templates,
    remarks,
    scored_over,
)

# Below this many raters a group's numbers carry a warning of their own.
FEW_RATERS = 5

TABLE_TITLES = {
    "groups": "Agreement of every group",
    "cells": "Every group on every scale",
    "overall": "Agreement over all groups",
    "left_out": "What did not enter, and why",
}
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
        "between two neighbouring rows is not evidence of a difference."
    )


def question(record: dict[str, Any], result: AlignmentResult) -> str:
    """Return the lead: what is set beside what."""
    return (
        f"For {count(len(result.groups), 'social group')} and "
        f"{count(len(result.scales), 'trait scale')}, this report sets people’s ratings beside "
        "the scores of one language model and measures how well their orders agree."
    )


def method(record: dict[str, Any], result: AlignmentResult) -> list[str]:
    """Return the method in words, one paragraph for people, model and comparison each."""
    study, run, options = record["study"], record["run"], result.options
    if study["origin"] == Origin.SIMULATED:
        source = "The ratings were simulated; no person gave them. "
    else:
        source = (
            "People rated how a group is seen in America, not what they think themselves, on "
            "lines from 0 to 100 between two words. "
        )
    people = (
        f"{source}"
        f"{count(study['accepted'], 'submission')} of {study['finished']} finished ones "
        f"were accepted, most with {count(study['groups_per_submission'], 'group')} each; "
        "repeated groups are left out."
    )
    if is_read_in_sentences(run):
        scored = (
            "The model’s score for a scale is an effect size, how much nearer the group’s "
            "embeddings are to those of the right adjective than to those of the left, "
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
        "collapses where only people are resampled. p-values of groups are Holm-corrected. The "
        "noise ceiling is τ between the means of two random halves of the people, over "
        f"{options.n_splits} splits."
    )
    return [people, model, comparison]


def caveats(record: dict[str, Any], result: AlignmentResult) -> list[str]:
    """Return what the numbers do not say."""
    found = [
        "They describe one model under stated prompts. They say nothing about the people in a "
        "group.",
        "Prompts that name “men” or “White people” are marked: texts often leave such groups "
        "unsaid, so scores for them rest on less natural sentences. People who rate “men” may "
        "likewise think of the unmarked case.",
        "A mean hides disagreement: half of the ratings at 0 and half at 100 give the same mean "
        "as all of them at 50.",
        "The noise ceiling says how well one half of these raters agrees with the other half. A "
        "model can pass it where people themselves agree little.",
        f"With {count(len(result.scales), 'scale')} a single group’s interval is wide. A "
        "difference between two groups is not evidence of a difference.",
        "The interval of the overall values resamples people only: it says what other people "
        "would give for these groups and scales, not what other groups would give. The overall p "
        "treats the cells as independent, which those of one group are not.",
    ]
    fewest = min(row.n_raters for row in result.by_group)
    if fewest < FEW_RATERS:
        found.append(
            f"Some groups have only {count(fewest, 'rater')}: their means, intervals and ceilings "
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
    return found


def _sources(source: str) -> list[tuple[str, str, str]]:
    """Return the lines of an import’s source after its citation, such as file and hash."""
    lines = [line.partition(": ") for line in source.splitlines()[1:]]
    return [(name, "", text) for name, _, text in lines if text]


def provenance(
    report: Report, record: dict[str, Any], result: AlignmentResult
) -> list[list[tuple[str, str, str]]]:
    """Return two columns of (name, text, code) that identify everything that went in."""
    study, run = record["study"], record["run"]
    excluded = study["finished"] - study["accepted"]
    built = f"{report.built_at:%-d %B %Y, %H:%M} UTC, in {report.seconds:g} s"
    return [
        [
            (
                "Ratings",
                f"{study['title']}, instrument {study['instrument_version']}, "
                f"{count(study['ratings'], 'rating')}",
                f"sha256 {study['ratings_hash'][:16]}",
            ),
            *_sources(study["source"]),
            (
                "Scores",
                f"Run {run['number']}, {run['model']}, seed {run['seed']}",
                f"sha256 {run['scores_hash'][:16]}",
            ),
            ("Model revision", "", run["model_revision"] or "not recorded"),
            ("Options of the run", "", all_options(run)),
            (
                "Left out",
                f"{count(excluded, 'finished submission')} not accepted; "
                f"{count(len(result.left_out), 'entry', 'entries')} listed above"
                if result.left_out
                else f"{count(excluded, 'finished submission')} not accepted; no group, no scale",
                "",
            ),
        ],
        [
            ("Analysis", "", result.signature),
            ("Code", "", report.code_version),
            (
                "Libraries",
                ", ".join(f"{name} {text}" for name, text in report.library_versions.items()),
                "",
            ),
            ("Built", built, ""),
            ("Report", "", report.public_id),
        ],
    ]
