"""The words of the judgment report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaluation.analyses.judgment_analysis import JudgmentResult
from evaluation.reports.judgments.errors import CAVEAT as ERROR_CAVEAT
from evaluation.reports.judgments.errors import Errors
from evaluation.reports.judgments.tables import measurement_of
from evaluation.reports.parts.directions import NO_VERDICT, Directions
from evaluation.reports.parts.features import CAVEAT as FEATURE_CAVEAT
from evaluation.reports.parts.features import Features
from evaluation.reports.parts.formatting import count
from evaluation.reports.parts.meanings import ALPHA
from evaluation.reports.parts.options import NO_WORD_LIST

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Judgments": ("How many ratings of counterparts were given, and by how many judges."),
    "Match, …": (
        "How much better models are rated for matching the variety in one direction than in "
        "the other, from the model with the smallest to the one with the largest value. "
        "Ratings go from 1 to 5."
    ),
    "Meaning, …": ("The same for keeping the meaning of the text."),
    "… α of judges": ALPHA,
}


WHY_MEANS = "Higher is better. People’s own counterparts are the baseline: no text asks for more."


def question(result: JudgmentResult) -> str:
    return (
        f"{count(result.n_judges, 'judge')} rated {count(result.n_items, 'counterpart')} of "
        f"{count(result.n_pairs, 'pair')} from 1 to 5, without knowing who wrote them. This "
        "report sets models beside people, and one direction beside the other."
    )


def why_agreement(result: JudgmentResult) -> str:
    return f"{count(result.n_twice, 'counterpart')} had two judges or more."


def method(
    view: Directions,
    result: JudgmentResult,
    features: Features | None,
    errors: Errors | None,
    record: dict[str, Any],
) -> tuple[str, ...]:
    words = record["word_list"]
    return (
        "Judges saw the original and one counterpart in random order, never who wrote it, and "
        "never a text that they had rewritten themselves. They rated human-likeness, how well the "
        "language matches the variety, meaning and tone, each from 1 to 5.",
        f"{record['study']['overlap_percent']:g} % of the counterparts went to two judges. Ratings "
        "of one counterpart are averaged first, so that it counts once.",
        view.method,
        f"Agreement is Krippendorff’s {measurement_of(result)} alpha over the counterparts with "
        "two judges or more; ratings that are missing are left out. Its intervals say what "
        "other counterparts would give with these judges, not what other judges would; there is "
        "none below 40 counterparts.",
        f"Texts are split by whether the text in {result.options.source_variety} holds a word of "
        f"“{words['title']}”."
        if words
        else NO_WORD_LIST,
        *(part.method for part in (features, errors) if part),
    )


def caveats(
    result: JudgmentResult, features: Features | None, errors: Errors | None
) -> tuple[str, ...]:
    found = [
        "Ratings are of these judges. Others, with other lives in the variety, may judge "
        "otherwise.",
        "A test takes text pairs for independent of one another; ratings of one judge are not."
        if result.options.test == "paired"
        else "A test treats ratings as independent numbers; ratings of one judge and one pair are "
        "not.",
        "“Human-likeness” asks judges to guess; it says how a text reads, not who wrote it.",
        "A mean hides disagreement: look at the agreement of judges before small differences.",
        NO_VERDICT,
    ]
    if features:
        found.append(FEATURE_CAVEAT)
    if errors:
        found.append(ERROR_CAVEAT)
    if result.n_judges < 3:
        found.append(f"Only {count(result.n_judges, 'judge')} took part.")
    return tuple(found)


def left_out(study: dict[str, Any]) -> Iterator[str]:
    for entry in study["left_out"]:
        if isinstance(entry, dict):
            yield f"{count(int(entry.get('n', 0)), 'pair')}: {entry.get('reason', '')}."
        else:
            yield str(entry)
    if n := study["open"]:
        yield f"{count(n, 'judgment')}: assigned, but not given yet."
