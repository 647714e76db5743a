"""The words of the report on one classifier's false positive rates."""

from __future__ import annotations

from typing import Any

from evaluation.analyses.fpr_classifier import FprGaps
from evaluation.reports.parts.formatting import count
from evaluation.reports.parts.meanings import BEYOND, SPAN

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Span, …": SPAN,
    "Gaps beyond the placebo band": BEYOND,
    "Without a mention, negative": (
        "How much more often the sentence that names nobody is wrongly called negative than "
        "sentences with a mention. Below 0: naming anybody at all makes errors more frequent."
    ),
}


WHY = {
    "negative": "Above zero, sentences that are neutral or positive are called negative more often "
    "when this group is named.",
    "positive": "Below zero, sentences that are neutral or negative are called positive less often "
    "when this group is named.",
}
WHY_WORDS = (
    "A group is as many words as a lexicon gives it. Where its words differ, the gap may be theirs."
)
WHY_SPANS = "How far the groups lie apart, beside words that name no group."
WHY_MENTION = (
    "If naming an unusual group surprises a model and errors follow, gaps rise with the surprisal "
    "of the mention. The adjusted gap is what is left."
)
WHY_FALLBACK = (
    "Where an answer names no class, one is drawn, the same way for all groups, which makes gaps "
    "smaller. The bounds say what those answers could make of a gap: counted as errors, counted as "
    "correct, and at the widest as one for this group and the other for all others."
)
WHY_FACTORS = (
    "Of the differences between runs, how much goes with the wording of the question, the order of "
    "its labels, and the seed of sampling and demonstrations. Near 0 is what chance gives."
)
WHY_MIXED = (
    "One mixed logistic regression of all errors, in which templates, words and runs have "
    "intercepts of their own. Effects are log odds of a false positive minus the mean over groups."
)
WAYS = {
    "random": ".",
    "drop": "; here these answers are left out.",
    "errors": "; here all of these count as errors.",
    "correct": "; here all of these count as correct.",
}


def question(result: FprGaps, record: dict[str, Any]) -> str:
    own, roles = result.result, list(record["roles"].values())
    placebos = roles.count("placebo")
    beside = f", beside {count(placebos, 'placebo word')}" if placebos else ""
    return (
        f"The same {own.n_templates or own.n_sentences} sentences with one word changed: false "
        f"positive rates of {own.model} for {count(roles.count('group'), 'group')} in "
        f"{count(own.n_runs, 'run')}{beside}."
    )


def method(result: FprGaps) -> tuple[str, ...]:
    """Return how what only some reports have was computed."""
    found = []
    if result.bounds:
        found.append(
            "Answers are read as published: the first of the classes’ names in it, whatever its "
            "case. Where there is none, a class is drawn with the run’s seed"
            + WAYS[result.options.fallback]
        )
    if result.mixed:
        found.append(
            "The mixed model is fitted by Laplace’s approximation, as lme4 does (Bates, Mächler, "
            "Bolker and Walker 2015), its intervals are Wald’s. Words have intercepts where a "
            "group has several, runs where there are several. Where it has no fit, the "
            "table of gaps stands alone."
        )
    return tuple(found)
