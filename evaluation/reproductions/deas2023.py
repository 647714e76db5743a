"""Deas et al. (2023), Evaluation of African American Language Bias in Natural Language Generation.

The authors give the texts only under an agreement, and three of the six models are no longer
served, so that only what follows from printed numbers is computed.
"""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.metrics.type_token import wilson_interval
from evaluation.reproductions.items import Item, Paper, Sources, Value

NO_TEXTS = "The authors give the 346 pairs of texts only under an agreement."
NO_MODELS = f"{NO_TEXTS} text-davinci-003 and the ChatGPT and GPT-4 of 2023 are no longer served."
NO_JUDGMENTS = "The paper announces the texts, but not the judgments of them."
EXAMPLES = "Examples of texts, no results."
#: Pairs by source of the texts.
PAIRS = {
    "r/BPT Comments": 60,
    "r/BPT Posts": 61,
    "TwitterAAE": 58,
    "CORAAL": 56,
    "Focus Groups": 54,
    "Hip-Hop Lyrics": 57,
}
#: Words, type-token ratio, and printed interval.
RATIOS = {"AAL": (5632, 0.274, (0.259, 0.290)), "WME": (5665, 0.260, (0.245, 0.275))}


def _total(sources: Sources) -> Iterator[Value]:
    yield Value("pairs of all sources", 346, float(sum(PAIRS.values())), decimals=0)


def _intervals(sources: Sources) -> Iterator[Value]:
    """Table 3: Wilson's interval of the printed ratio and number of words."""
    for variety, (words, ratio, printed) in RATIOS.items():
        for level in (0.95, 0.99):
            reason = "" if level == 0.99 else "The text says 95%; the printed interval is of 99%."
            ours = wilson_interval(ratio, words, level=level)
            for end, published, value in zip(("lower", "upper"), printed, ours, strict=True):
                yield Value(f"{variety}, {end} end at {level:.0%}", published, value, reason=reason)


PAPER = Paper(
    "deas2023",
    "Deas et al. (2023): Evaluation of African American Language Bias in Natural Language "
    "Generation",
    (
        Item("section-3.2", "Krippendorff's alpha of counterparts", reason=NO_TEXTS),
        Item("table-1", "Counterparts by models", is_text=True, reason=EXAMPLES),
        Item(
            "table-2",
            "The texts by source",
            _total,
            reason=f"{NO_TEXTS} Only the total follows from printed numbers.",
        ),
        Item(
            "table-3",
            "Type-token ratios and their intervals",
            _intervals,
            reason=f"{NO_TEXTS} The intervals follow from the printed ratios and words.",
        ),
        Item("table-4", "Misread counterparts", is_text=True, reason=EXAMPLES),
        Item("table-5", "Patterns of features", is_text=True, reason="Patterns, no results."),
        Item("table-6", "Rouge, BERTScore, and toxicity of counterparts", reason=NO_MODELS),
        Item("table-7", "Judgments of counterparts", reason=NO_JUDGMENTS),
        Item("table-8", "Toxicity removed", reason=NO_MODELS),
        Item("table-9", "Rouge-1 gaps of toxic and other texts", reason=NO_MODELS),
        Item(
            "table-10",
            "Gaps in judgments of toxic and other texts",
            reason=NO_JUDGMENTS,
        ),
        Item(
            "table-11",
            "Perplexity and entropy of masked spans",
            reason=f"{NO_TEXTS} The printed entropies of GPT-3 and BART exceed ln 5 = 1.61, the "
            "largest entropy of five spans.",
        ),
        *(
            Item(
                f"table-{number}", "Counterparts and their judgments", is_text=True, reason=EXAMPLES
            )
            for number in range(12, 20)
        ),
        Item("figure-1", "Prompt of the GPT models", is_text=True, reason="A prompt, no results."),
        *(
            Item(f"figure-{number}", about, reason=reason)
            for number, about, reason in (
                (2, "Coverage of counterparts", NO_MODELS),
                (3, "Judgments of counterparts", NO_JUDGMENTS),
                (4, "Toxicity removed", NO_MODELS),
                (5, "Rouge-1 gaps of toxic and other texts", NO_MODELS),
                (6, "Gaps in judgments", NO_JUDGMENTS),
                (7, "Perplexity and entropy of masked spans", NO_TEXTS),
                (8, "Rouge gaps and toxicity by source of the texts", NO_MODELS),
            )
        ),
    ),
)
