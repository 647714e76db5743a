"""The words of the markedness report."""

from __future__ import annotations

from typing import Any

from evaluation.analyses.markedness import ONE_TEMPLATE, UNMARKED, Markedness
from evaluation.reports.parts.formatting import count
from evaluation.reports.parts.score_words import (
    is_read_in_sentences,
    measure_title,
    options_in_words,
    quoted_templates,
    scored_over,
)

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Explained by mere mention": (
        "The share of groups’ deviations from “a person” that is the same for every group "
        "that is named. What remains is particular to groups."
    ),
    "Explained most: …": ("The group whose deviation is most nearly that of any mention."),
    "Explained least: …": (
        "The group that is least like a mere mention: most of its deviation is its own."
    ),
}


REMEDY = (
    f"Add the group “{UNMARKED}” of the library to the groups of a run: its templates then speak "
    "of “the person” and “people” without any mark."
)
WHY_GROUPS = (
    "Where mention explains nearly all, a group’s scores tell little about this group: any group "
    "that is named moves them so. Where it explains nothing, the group goes its own way."
)
WHY_TRAITS = (
    "What naming a group, whichever it is, does to each trait beside the sentence that names none."
)
CAVEATS = (
    "They describe one model under stated prompts. They say nothing about the people in a group.",
    "The unmarked sentence is no neutral ground: “the person” is read as somebody, often as the "
    "group that goes without saying.",
    "What mention explains depends on which other groups the run has: more groups of one kind "
    "make their common deviation look like mention.",
    "Intervals take the error of the unmarked sentence from the differences between templates; "
    "with few templates they know little of it.",
)


def question(result: Markedness) -> str:
    return (
        f"{count(len(result.by_group), 'group')} beside a sentence that names none: how far do the "
        "model’s scores deviate from it, and how much of that would any named group do?"
    )


def method(result: Markedness, record: dict[str, Any]) -> tuple[str, ...]:
    run = record["run"]
    unmarked = (
        "“person” or “people” in the same corpus"
        if is_read_in_sentences(run)
        else "the same templates with “person” or “people” alone"
    )
    return (
        "After the comparison of marked with unmarked sentences by Kohankhaki et al. A score is "
        "that of a trait pair’s right adjective minus that of its left; the measure is "
        f"{measure_title(record)}, {options_in_words(run)}, "
        f"{scored_over(run)}{quoted_templates(run)} A group’s deviation is its score minus that of "
        f"{unmarked}.",
        "What mention does is the mean deviation of all other groups. It explains one minus the "
        "squared difference between a group’s deviations and this mean over the squared "
        "deviations, summed over traits.",
        _intervals(result),
    )


def _intervals(result: Markedness) -> str:
    resamples = result.options.n_resamples
    if result.n_templates == 1:
        return f"There are no intervals: {ONE_TEMPLATE}."
    return (
        f"The interval of a share takes the bias-corrected percentiles of {resamples} resamples of "
        "traits and templates; that of an effect is Student’s over groups and templates. Templates "
        "are the same for all groups and for the unmarked sentence, so that the error of the "
        "latter, which looks like mention, is part of both."
    )


def left_out(result: Markedness, record: dict[str, Any]) -> tuple[str, ...]:
    names = record["groups"]
    found = [f"{names[row.group]}: {row.reason}." for row in result.by_group if row.reason]
    if record["n_paired"]:
        found.append(
            f"{count(record['n_paired'], 'paired group')}: they would outweigh the single groups "
            "in what mention does on average."
        )
    return tuple(found)
