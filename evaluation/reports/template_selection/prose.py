"""The words of a report on a template selection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.analyses.markedness import UNMARKED
from evaluation.analyses.template_selection import TemplateSelection
from evaluation.reports.parts.formatting import count, listing
from evaluation.reports.parts.meanings import ORDER
from evaluation.reports.parts.score_words import measure_title, options_in_words
from evaluation.reports.parts.tau_questions import CAVEAT, METHOD

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Templates chosen": (
        "The templates that follow people best on the pilot groups, of all that the run has."
    ),
    "τ, …": ORDER,
}


WHY_CHOICE = (
    "A candidate’s τ is over all cells of the pilot groups, with the means of the drawn raters "
    "alone. The best of many is high by chance too: read it as a choice, not as a result."
)
WHY_PARTS = (
    "The templates were chosen on the pilot groups, so only the test groups say how well they do."
)
CAVEATS = (
    "They describe one model under stated prompts. They say nothing about the people in a group.",
    "τ on the pilot groups is biased upwards, since the templates were chosen by it; so is the one "
    "over all groups, which contain the pilot groups. Cite the test groups.",
    CAVEAT,
    "Choosing again with other pilot groups or another seed until the test groups look well makes "
    "pilot groups of them.",
)


def question(selection: TemplateSelection, texts: Mapping[str, str]) -> str:
    return (
        f"Of {count(len(texts), 'template')}, which follow people best on "
        f"{count(len(selection.pilot), 'pilot group')}, and how well do they do on the "
        f"{count(len(selection.test_groups), 'group')} that the choice has not seen?"
    )


def method(
    selection: TemplateSelection,
    record: dict[str, Any],
    names: Mapping[str, str],
    n_resamples: int,
) -> tuple[str, ...]:
    options = selection.options
    pilot = listing([names[slug] for slug in options.pilot_groups])
    return (
        "After Cao et al. (2022), section 5.1 and Table 5. The choice looks at "
        f"{options.annotations} raters of each of {pilot}, or at all where there are fewer, drawn "
        f"with seed {options.seed}. Every template, and every set of up to "
        f"{count(options.most, 'template')} with its scores averaged, is a candidate; the one with "
        "the highest Kendall’s tau-b over the pilot cells is chosen, the smaller one among equals.",
        f"The measure is {measure_title(record)}, {options_in_words(record['run'])}. With the "
        "chosen templates the alignment is computed as in an alignment report, apart for pilot "
        f"groups, test groups and all groups: tau-b over pooled cells, {n_resamples} resamples of "
        "whole submissions, and p-values of groups Holm-corrected within each part.",
        METHOD,
    )


def left_out(
    selection: TemplateSelection, record: dict[str, Any], texts: Mapping[str, str]
) -> tuple[str, ...]:
    candidates = {slug for row in selection.candidates for slug in row.templates}
    return (
        *(
            f"Template “{text}”: it lacks a score in a pilot cell."
            for slug, text in texts.items()
            if slug not in candidates
        ),
        *(
            f"{name}: only people or only the model has it."
            for slug, name in record["other_groups"].items()
            if slug != UNMARKED
        ),
    )
