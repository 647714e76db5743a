"""The words of the report on ratings of guises."""

from __future__ import annotations

from typing import Any

from evaluation.analyses.guise_people import GuisePeople
from evaluation.reports.parts.formatting import count, interval, number, sentence

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "τ with people, …": (
        "How alike the model and people order the scales on which speakers of the two guises "
        "differ: 1 the same order, 0 no relation, −1 the opposite order."
    ),
    "…": (
        "People’s mean rating of speakers in the first guise minus that in the second, in "
        "points of the scale from 0 to 100. 0: people make no difference."
    ),
}


WHY = (
    "People rate the writer of a text and never see its other guise. What differs between the "
    "guises of the same content is what they make of the variety itself."
)
WHY_MODELS = (
    "The first value takes out what chance in people and texts adds, and says how a model would "
    "agree on texts like these; the second stays with these texts. As observed, noise hides part "
    "of the agreement."
)
CAVEATS = (
    "They are first impressions of strangers from a few written words. They say nothing about the "
    "people who speak a variety.",
    "Guises of a pair are meant to say the same; where they do not, the difference is also one of "
    "content.",
    "People and texts are resampled together, which makes intervals of differences rather too wide "
    "than too narrow.",
)
MODEL_CAVEAT = (
    "There are as many cells as scales, so agreement with a model rests on few numbers; scales of "
    "one dimension go together."
)


def question(result: GuisePeople) -> str:
    first, second = result.guises
    asked = f"What do people say of writers of {first} rather than {second}"
    return f"{asked}, and does a model say the same?" if result.models else f"{asked}?"


def ceiling_line(result: GuisePeople) -> str:
    """Return how well halves of the people agree, as a sentence."""
    found = result.ceiling
    if found.reason:
        return f"No ceiling: {found.reason}."
    share = f"{100 * result.options.ceiling_share:g} %"
    return (
        f"Two random halves of the people ({found.n_first} and {found.n_second}) agree with a τ of "
        f"{number(found.mean)} on average ({interval(found.low, found.high)}, the central {share} "
        f"of {count(found.n_splits, 'split')}). A model may pass it."
    )


def method(result: GuisePeople, record: dict[str, Any]) -> tuple[str, ...]:
    options, (first, second) = result.options, result.guises
    found = [
        f"{count(result.n_people, 'person', 'people')} rated the writers of texts of "
        f"{count(result.n_items, 'pair')} on lines from 0 to 100, each person at most one text of "
        f"a pair. Per scale and pair the mean rating of the text in {second} is taken from that in "
        f"{first}; differences are means over pairs of which both texts were rated.",
        f"Intervals resample people and pairs together {options.n_resamples:,} times (multiway "
        "bootstrap, bias-corrected percentile); p comes from the same resamples and is corrected "
        "over scales after Holm.",
    ]
    if result.models:
        found.append(
            "A model’s score on a scale is q of its high pole less q of its low pole, from matched "
            "guise probing after Hofmann et al. (2024) with the poles as attributes, mean over "
            f"prompts; {TEXTS[record['texts']]}."
        )
        found.append(
            "τ is Kendall’s tau-b over scales. Without noise it goes by Greiner’s relation to a "
            "correlation that is divided by the root of the differences’ reliability. For other "
            "texts the reliability and the interval come from differences between pairs, for these "
            "texts from what each person adds (jackknife pseudo-values); both take these scales as "
            "given. As observed, noise is left in, and the interval resamples people, pairs and "
            "scales: it says what other scales might give, too."
        )
    return tuple(found)


TEXTS = {
    "study": "only pairs that people rated enter",
    "all": "all pairs of the runs enter",
}


def caveats(result: GuisePeople) -> tuple[str, ...]:
    return (*CAVEATS, *((MODEL_CAVEAT,) if result.models else ()))


def left_out(result: GuisePeople, record: dict[str, Any], names: dict[str, str]) -> tuple[str, ...]:
    found = [
        f"{names[row.scale]}: {row.difference.reason}."
        for row in result.scales
        if row.difference.reason
    ]
    found += [
        f"{names[scale]} has no score: the runs’ attributes lack one of its poles."
        for scale in record["without_poles"]
    ]
    found += [sentence(text) for text in record["other_pairs"]]
    return tuple(found)
