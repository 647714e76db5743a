"""The words of the report on a model's covert and overt picture beside people's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.analyses.three_pictures import ThreePictures
from evaluation.reports.parts.formatting import count, number
from evaluation.reports.parts.guise_tables import FEW_PROMPTS, disagreement

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "…, τ": (
        "How alike two pictures order the scales: 1 the same order, 0 no relation, −1 the "
        "opposite order. Units differ between pictures, so nothing but order is compared."
    ),
    "Scales on opposite sides": (
        "Scales on which the model says the opposite of a group by name and of its speakers, "
        "both clear of zero."
    ),
}


PARTS = (
    "Scales in the tinted quarters lie on opposite sides in the two pictures. τ compares order "
    "over few scales, so that its intervals are wide."
)
OPPOSITE = (
    "By name the model stands on one side of zero, of speakers on the other, and both intervals "
    "leave out zero. Rank 1 is the scale farthest to the right."
)
TESTS = (
    "The paper treats prompts as independent samples. The intervals of this report resample texts "
    "and prompts together."
)
CAVEATS = (
    "A difference between two groups is no level: both can stand on the same side of a scale.",
    "A speaker of a variety is not a member of a group, nor the other way round.",
    "Covert and overt scores have different units and different n; only sides and order are "
    "compared.",
    "Agreement with people is no merit where people hold a stereotype.",
    "The texts are those of one corpus. Pairs may differ in more than the variety, such as length.",
    FEW_PROMPTS,
)


def question(record: Mapping[str, Any]) -> str:
    people = "people say of both" if "second_study" in record else "people say of the groups"
    return (
        f"On the same {count(len(record['scales']), 'scale')}: what {record['runs'][0]['model']} "
        "says of groups by name, what it says of the speakers of texts that name no group, and "
        f"what {people}."
    )


def pictures(record: Mapping[str, Any]) -> str:
    (first, second), (one, other) = record["group_names"], record["guises"]
    return (
        f"Right of 0, {first} (by name) or speakers of {one} (from texts) stand nearer the right "
        f"word than {second} or speakers of {other} do. Units differ between columns: compare "
        "sides and order, not distances."
    )


def disagreements(result: ThreePictures, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return on which covert scales the test over prompts and the interval disagree."""
    found = [names[row.scale] for row in result.by_scale if row.disagree]
    return disagreement(
        "The t-test that takes prompts for independent, and the interval over texts and prompts, "
        f"disagree on {len(found)} of {count(len(result.scales), 'covert scale')}",
        found,
    )


def method(result: ThreePictures, record: Mapping[str, Any]) -> tuple[str, ...]:
    options, (named, guised) = result.options, record["runs"]
    pairs = f"{guised['n_first']:,} and {guised['n_second']:,} texts"
    asked = (
        f"By name: run {named['number']} ({named['measure']}), the mean over prompts of the score "
        "of the first group less that of the second; its interval resamples prompts."
    )
    spoken = (
        f"Of speakers: matched guise probing (Hofmann et al. 2024) with both poles of every scale "
        f"as attributes, {pairs}, {count(len(guised['prompt_texts']), 'prompt')}. A scale’s score "
        "is q of its high pole less q of its low one; the interval and its p resample texts "
        "and prompts."
    )
    people = (
        f"People by name: accepted ratings of “{record['study']['title']}”, the mean rating of the "
        "first group less that of the second; the interval resamples people."
    )
    if "second_study" in record:
        people += (
            f" People of speakers: “{record['second_study']['title']}”, in which nobody rates two "
            "guises of one pair; differences within pairs, averaged; the interval resamples people "
            "and texts."
        )
    compared = (
        "Two pictures are compared by Kendall’s tau-b over scales. Its squared error is that of "
        "leaving out one scale at a time (jackknife) plus the variance over "
        f"{options.n_resamples:,} resamples of prompts, people and texts; interval and p are "
        "Student’s, for scales like these. The ceiling is the mean τ between the pictures by "
        f"random halves of the people ({options.n_splits:,} splits)."
    )
    return (asked, spoken, people, compared)


def left_out(record: Mapping[str, Any]) -> tuple[str, ...]:
    found = [f"Scale {name}: {why}." for name, why in record["other_scales"].items()]
    if "second_study" not in record:
        found.append("People of speakers: no study of speakers of texts was chosen.")
    return tuple(found)


def headline_tau(result: Mapping[str, Any]) -> str:
    pair = result["pairs"][0]
    return f"τ, overt and covert {number(pair['tau']['value'], 2)}"
