"""The sentences of a report on subgroups of participants."""

from __future__ import annotations

from typing import Any

from annotation.models import Origin
from evaluation.analyses.subgroup_result import SubgroupGroup, SubgroupResult
from evaluation.reports.parts.formatting import count
from evaluation.reports.parts.meanings import HOLM_PAIRS, ORDER
from evaluation.reports.parts.score_words import (
    CORPUS_CAVEAT,
    is_read_in_sentences,
    measure_title,
    options_in_words,
    quoted_templates,
    remarks,
    scored_over,
)
from evaluation.reports.parts.significance_marks import mark
from evaluation.reports.parts.tau_questions import CAVEAT, METHOD

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "τ, all participants": ORDER,
    "Subgroups shown": (
        "Answers that enough people gave. Smaller ones are kept back, so that nobody can be "
        "recognized."
    ),
    "Pairs that differ in τ": HOLM_PAIRS,
    "Participants": (
        "Too few people answered to say anything about subgroups without telling something "
        "about single people."
    ),
}


EVERYBODY = "All participants"
WHY_OVERALL = (
    "Fewer people have noisier means, and noise lowers τ. With the noise taken out, subgroups of "
    "any size may be compared; as observed, compare a subgroup with as many random participants."
)
WHY_PAIRS = (
    "Both subgroups are set beside the same model and the same groups, with the noise of their "
    "means taken out, so that their sizes do not matter. The observed difference is tested by "
    "exchanging answers between participants: “expected” is what the sizes alone give."
)
DIFFERENCES = (
    "Differences between subgroups are taken on the cells that both rated. Both leave out the same "
    "group, and people count in theirs; p is that of the interval’s t, Holm-corrected over all "
    "pairs of all questions."
)
WHY_GROUPS = (
    "How the model’s order of scales follows that of one subgroup’s mean ratings, group by group."
)
WHY_MEANS = (
    "How the subgroups of participants rate one group. Each mean rests on few people: read it with "
    "its number and interval."
)
ANSWERS_HASH = "participants answers_hash"


def question(record: dict[str, Any], result: SubgroupResult) -> str:
    n = sum(bool(row.question) for row in result.subgroups)
    return (
        f"For {count(len(result.groups), 'social group')} and "
        f"{count(len(result.scales), 'trait scale')}, this report sets one model’s scores beside "
        f"the ratings of {count(n, 'subgroup')} of participants and asks whether it follows some "
        "more closely than others."
    )


def method(record: dict[str, Any], result: SubgroupResult) -> tuple[str, ...]:
    """Return the method in words: people, model, values, tests, small cells."""
    study, run, options = record["study"], record["run"], result.options
    source = (
        "The ratings and what is said of the participants were simulated; no person gave them. "
        if study["origin"] == Origin.SIMULATED
        else "People rated how a group is seen in America on lines from 0 to 100 between two "
        "words. What they said about themselves was optional. "
    )
    return (
        f"{source}A subgroup is everybody who gave an answer; who gave several counts in each. "
        "Who preferred not to say or left a question out is in no subgroup of it. After Cao et al. "
        "(2022), Tables A14 to A18.",
        f"The measure is {measure_title(record)}, {options_in_words(run)}, "
        f"{scored_over(run)}{quoted_templates(run)}",
        "τ is Kendall’s tau-b between the model’s scores and the subgroup’s mean ratings over all "
        f"cells that it rated; precision at {options.k} is averaged over groups. Intervals rest on "
        f"{options.n_resamples} resamples of whole submissions and take the recentred percentile; "
        "for a single group scales are resampled too, with the bias-corrected percentile. p-values "
        "of groups are Holm-corrected over the groups of a subgroup.",
        METHOD,
        DIFFERENCES,
        f"For the tests the answers to a question are exchanged {options.n_resamples} times "
        "between the participants who answered it, all answers of a person together (Davison and "
        "Hinkley 1997, eq. 4.11). The mean and central band of τ over these exchanges are what as "
        "many random participants give. p is twice the smaller tail, Holm-corrected over "
        "all pairs of all questions.",
        f"No number concerns fewer than {result.minimum} people: neither a subgroup, nor one group "
        "or one scale as a subgroup rates it. A larger number is kept back, too, where a smaller "
        "one could be computed from it and the rest, including the number of people who gave "
        "several answers and the rows and columns of crossed questions.",
    )


def caveats(record: dict[str, Any], result: SubgroupResult) -> tuple[str, ...]:
    found = [
        "They describe one model under stated prompts. They say nothing about the people in a "
        "group, nor about the people in a subgroup beyond these participants.",
        "Participants were asked how a group is seen in America, not what they think themselves: "
        "a difference between subgroups is one in what they believe others to see.",
        "Subgroups differ in more than the answer that names them: nothing here is adjusted for "
        "other answers, nor for who rated which group.",
        "With many subgroups and groups some values are high or low by chance. " + CAVEAT,
    ]
    if is_read_in_sentences(record["run"]):
        found.append(CORPUS_CAVEAT)
    found += remarks([record["run"]])
    if record["study"]["origin"] == Origin.SIMULATED:
        found.append("Answers about themselves were drawn at random: no difference is expected.")
    return tuple(found)


def left_out(record: dict[str, Any], result: SubgroupResult) -> tuple[str, ...]:
    """Return what did not enter or is not shown, without saying how small it is."""
    found = [
        f"{record['questions'][slug]} Answers that cannot be shown with {result.minimum} people or "
        "more."
        for slug in result.hidden
    ]
    if result.n_hidden_groups:
        found.append(
            f"{count(result.n_hidden_groups, 'row')} of a group as a subgroup rates it: fewer than "
            f"{result.minimum} raters, or kept back so that no smaller number follows."
        )
    participants = record["participants"]["left_out"]
    found += [f"{label} {why.capitalize()}." for label, why in participants.items()]
    found += [f"{pair}: {why}." for pair, why in record["crossings_left_out"].items()]
    found += [
        f"{name}: only people or only the model has it."
        for slug, name in record["other_groups"].items()
        if slug != "unmarked"
    ]
    return tuple(found)


def sign(row: SubgroupGroup, level: float) -> str:
    """Return the mark of a test beside tau."""
    return mark(row.p_resampled, row.p_resampled_holm, level)
