"""The words of the agreement report."""

from __future__ import annotations

from typing import Any

from evaluation.analyses.agreement import AgreementResult
from evaluation.reports.agreement.tables import DEFINITIONS, DISTANCES
from evaluation.reports.parts.formatting import count, number

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Krippendorff’s α of the counterparts": (
        "How alike people write the same text, beyond how alike texts are anyway: 1 if they "
        "write the same to the letter, 0 if their texts differ as much as those of different "
        "texts."
    ),
    "Texts written by two or more": (
        "Only these can say anything about agreement. All others have one counterpart."
    ),
    "Distance, observed and by chance": (
        "How many letters or words must be changed to turn one counterpart into the other: of "
        "the same text, and of different texts. α is one minus the ratio of the two."
    ),
    "Not interpretable": (
        "How often an annotator said of a text that it cannot be rewritten, a text counted for "
        "each annotator. α says how alike people are in that."
    ),
}


WHY_CHANCE = (
    "Alpha is one minus the distance of counterparts of one text over the distance that chance "
    "gives. What chance gives has three definitions in use."
)
WHY_PAIRS = "Alpha of every two annotators, from their own counterparts alone."
WHY_SOURCES = "Alpha within each source; texts of one source are more alike than those of all."
CAVEATS = (
    "A low alpha does not say that somebody is wrong: a text can have several good counterparts.",
    "The distance counts characters or words, not meaning. A synonym costs as much as a mistake.",
    "Counterparts that copy most of the text agree by that alone, since they share their source.",
    "Pairs of annotators with few texts in common have wide intervals; compare the intervals.",
)


def question(result: AgreementResult, record: dict[str, Any]) -> str:
    return (
        f"{count(result.n_annotators, 'annotator')} rewrote {count(result.n_texts, 'text')} of "
        f"{record['corpus']['name']} in {record['corpus']['target_variety']}. This report "
        "measures how close the counterparts of one text are, against those of different texts."
    )


def method(result: AgreementResult, record: dict[str, Any]) -> tuple[str, ...]:
    study, options = record["study"], result.options
    lines = [
        f"{study['common_texts']} texts were given to everyone, and {study['shared_percent']:g} % "
        "of the others to each pair of annotators. Only submitted counterparts count; drafts do "
        "not.",
        "Alpha is 1 − Dₒ/Dₑ with the Levenshtein distance over "
        f"{DISTANCES[options.distance]}. Dₒ is the mean distance over all texts and pairs of "
        "annotators with both counterparts. Pairs and sources take the definition of Dₑ "
        f"“{DEFINITIONS[options.expected]}”.",
        f"Intervals come from {options.n_resamples} resamples of texts (bias-corrected "
        "percentile). Texts called not interpretable have no counterpart to compare; whether "
        "annotators agree on that is a nominal alpha of its own.",
    ]
    if result.shuffled and not result.shuffled.reason:
        found = result.shuffled
        lines.append(
            f"Simulating the paper’s definition with {found.n} shuffles gives Dₑ = "
            f"{number(found.mean, 3)} with a standard error of {number(found.standard_error, 3)}."
        )
    return tuple(lines)


def left_out(result: AgreementResult, record: dict[str, Any]) -> tuple[str, ...]:
    lines = []
    if result.n_not_interpretable:
        lines.append(
            f"{count(result.n_not_interpretable, 'annotation')}: called not interpretable, so that "
            "there is no counterpart to compare."
        )
    if n := record["study"]["open"]:
        lines.append(f"{count(n, 'counterpart')}: assigned, but not submitted yet.")
    return tuple(lines)
