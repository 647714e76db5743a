"""The sentences of a comparison of several runs."""

from __future__ import annotations

from typing import Any

from annotation.models import Origin
from evaluation.analyses.alignment_comparison_result import ComparisonResult, RunGroup
from evaluation.reports.parts.formatting import count, listing
from evaluation.reports.parts.meanings import CEILING, HALVES, HOLM_PAIRS
from evaluation.reports.parts.rating_inputs import say_accepted
from evaluation.reports.parts.score_words import (
    measure_title,
    options_in_words,
    remarks,
    scored_over,
    show_slots,
)
from evaluation.reports.parts.significance_marks import mark
from evaluation.reports.parts.tau_questions import CAVEAT, CEILING_LABEL, METHOD

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Highest τ, …": (
        "The run that follows people most closely. Kendall’s τ goes from −1 (opposite order) "
        "over 0 (no relation) to 1 (the same order). Whether it is truly ahead of the next "
        "one is said by the differences below."
    ),
    "τ, …": (
        "Kendall’s τ from −1 (opposite order) over 0 (no relation) to 1 (the same order); "
        "here it could not be computed, and the line says why."
    ),
    CEILING_LABEL: CEILING,
    "Agreement between halves of the raters": HALVES,
    "Pairs that differ in τ": HOLM_PAIRS,
}


PARTS = {"all": "All groups", "test": "Test groups"}
QUANTITIES = {"tau": "τ", "precision": "P@3"}
NO_UNMARKED = "the run has no unmarked sentence"
WHY_OVERALL = (
    "The first τ and P@3 have the noise of the mean ratings taken out, and their intervals say "
    "what other groups of this sort would give; the interval for these groups says what other "
    "people would give. As observed, τ is that of published tables: its interval resamples people, "
    "and its p takes all cells for independent."
)
WHY_PAIRS = (
    "Two intervals that overlap say little about a difference, since both runs are set beside the "
    "same people and groups. Here what the two share cancels: both leave out the same group and "
    "are moved by the same person, on the cells that both of them have."
)
WHY_GROUPS = (
    "Every cell is one group with one run. With so few scales a single value is uncertain, and "
    "the best of many cells is high by chance too."
)
WHY_MENTION = (
    "Naming any group moves the scores, since much goes without saying. What mere mention explains "
    "tells little about a single group; a report of the kind “markedness” shows it by group."
)
CAVEATS = (
    "They describe models under stated prompts. They say nothing about the people in a group.",
    "A run is a measure with a model, templates and adjectives: a difference between two runs "
    "belongs to all of these together.",
    "Runs that do not score the same groups are not comparable row by row; the pairs are, since "
    "they rest on common cells.",
)
PILOT_CAVEAT = (
    "Templates were chosen on the pilot groups, so that values over all groups are biased upwards "
    "for runs with chosen templates. Cite the test groups."
)


def question(record: dict[str, Any], result: ComparisonResult) -> str:
    return (
        f"For {count(len(result.groups), 'social group')} and "
        f"{count(len(result.scales), 'trait scale')}, this report sets the scores of "
        f"{count(len(result.runs), 'run')} beside the same people’s ratings and asks how far "
        "their agreement differs."
    )


def method(record: dict[str, Any], result: ComparisonResult) -> tuple[str, ...]:
    """Return the method in words: people, runs, values, differences."""
    study, options = record["study"], result.options
    source = (
        "The ratings were simulated; no person gave them. "
        if study["origin"] == Origin.SIMULATED
        else "People rated how a group is seen in America on lines from 0 to 100 between two "
        "words. "
    )
    runs = "; ".join(
        f"{run['label']}: {measure_title({'run': run})}, {options_in_words(run)}, "
        f"{scored_over(run)}"
        + (f" (“{show_slots(run['templates'][0])}”)" if len(run["templates"]) == 1 else "")
        for run in record["runs"]
    )
    paragraphs = [
        f"{source}{say_accepted(study)}; repeated groups are left out. Runs: {runs}. A score is "
        "that of the right adjective minus that of the left.",
        "After Cao et al. (2022), Tables 6, A11 to A13 and A19. τ is Kendall’s tau-b between a "
        "run’s scores and the means of people’s ratings, overall over all pooled cells. Precision "
        f"at {options.k} is the share of the {options.k} highest scored scales whose mean rating "
        f"is above {options.centre:g} and of the {options.k} lowest whose mean is below it, "
        "averaged over both ends and over groups; an order at random gives 0.50 on average. "
        f"Intervals rest on {options.n_resamples} resamples and take the recentred percentile, "
        "for single groups the bias-corrected one with scales resampled too. p-values of groups "
        "are Holm-corrected over the groups of a run, overall ones over the runs.",
        METHOD,
        "Differences are taken on the cells that both runs score, with the noise taken out of "
        "both. Both leave out the same group and are moved by the same person, so that the "
        "intervals are paired; p is that of the same t, Holm-corrected over all pairs. A "
        "difference as observed stands beside it, with resamples of people alone.",
    ]
    if result.pilot_groups:
        names = {entry["slug"]: entry["plural"] for entry in record["groups"]}
        pilot = listing([names[slug] for slug in result.pilot_groups])
        paragraphs.append(
            f"The test groups are all groups without {pilot}, which helped to choose templates."
        )
    return tuple(paragraphs)


def caveats(record: dict[str, Any], result: ComparisonResult) -> tuple[str, ...]:
    found = [*CAVEATS[:2], CAVEAT, *CAVEATS[2:]]
    if result.pilot_groups:
        found.append(PILOT_CAVEAT)
    found += remarks(record["runs"])
    if record["study"]["origin"] == Origin.IMPORTED:
        citation = record["study"]["source"].splitlines()[0]
        found.append(f"The ratings were imported, not collected here. {citation}")
    return tuple(found)


def left_out(record: dict[str, Any], result: ComparisonResult) -> tuple[str, ...]:
    """Return what did not enter, with the run that it concerns."""
    labels = {run["public_id"]: run["label"] for run in record["runs"]}
    names = record["other_groups"] | {e["slug"]: e["plural"] for e in record["groups"]}
    scales = {e["slug"]: f"{e['low']} – {e['high']}" for e in record["scales"]}
    found = []
    for row in result.left_out:
        item = row.item
        parts = (
            labels.get(row.run, ""),
            names.get(item.group, item.group),
            scales.get(item.scale, item.scale),
        )
        what = "" if item.what in {"group", "cell"} else f", {count(item.n, item.what[:-1])}"
        found.append(f"{' × '.join(part for part in parts if part)}{what}: {item.reason}.")
    return tuple(found)


def sign(row: RunGroup, level: float) -> str:
    """Return the mark of a test beside tau."""
    found = row.alignment
    return mark(found.p_resampled, found.p_resampled_holm, level)
