"""The words of the dataset report."""

from __future__ import annotations

from typing import Any

from evaluation.analyses.corpus_statistics import CorpusStatistics
from evaluation.metrics.rouge import NO_WORDS
from evaluation.models import Report
from evaluation.reports.dataset.tagger import NO_TAGGER
from evaluation.reports.parts.formatting import count
from evaluation.reports.parts.options import HITS_CAVEAT, NO_WORD_LIST, rouge_words

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Pairs": (
        "Texts that are there in both varieties. Texts of the training split are not counted."
    ),
    "Words a text": (
        "Mean length in words in either variety, and whether one is longer by more than "
        "chance explains."
    ),
    "Rouge-1 of a pair": (
        "How many words both texts of a pair share: 100 if all, 0 if none. High values mean "
        "that the varieties differ little on paper."
    ),
    "Different words among all": (
        "Different words divided by all words (type–token ratio). It falls with the length of "
        "a corpus, so compare the two varieties, never corpora of unlike size."
    ),
}


WHY_SOURCES = (
    "Texts of different sources differ in length and in how much of them a counterpart keeps. "
    "Rouge-1 is the overlap in words of the two texts of a pair."
)
WHY_VARIETIES = (
    "Scores of generated texts compare best where both varieties say the same in about as many "
    "words, with about as many different ones."
)
WHY_FEATURES = (
    "Found by patterns, which miss some uses and find some that are none. They guide sampling; "
    "they describe no speaker."
)


def question(statistics: CorpusStatistics, corpus: dict[str, Any]) -> str:
    return (
        f"{corpus['name']} holds {count(statistics.total.n, 'pair')} of texts in "
        f"{corpus['source_variety']} and {corpus['target_variety']}. This report says how long "
        "they are, how much a pair shares, which features they hold, and where they come from."
    )


def method(
    statistics: CorpusStatistics, report: Report, level: str, tagger: str | None
) -> tuple[str, ...]:
    record, rouge = report.inputs, rouge_words(report.parameters)
    words = record["word_list"]
    return (
        "A word is a run of letters and digits with the apostrophes and hyphens inside it, in "
        "lower case. Rouge-1 is the F-measure of overlapping words between the two texts of a "
        f"pair, its words being {rouge}, without stemming; means are times 100.",
        f"Intervals of means come from {statistics.options.n_resamples} resamples of pairs "
        f"(bias-corrected percentile, {level}). The difference in length is tested with a paired "
        "two-tailed t-test. The ratio of different words has Wilson’s score interval.",
        f"Toxicity is the mean number of words of “{words['title']}” ({words['n_words']} entries) "
        "in a text: whole words, whatever their case, repetitions counted."
        if words
        else NO_WORD_LIST,
        "Features are found by the search patterns of Deas et al. (2023, Appendix B). Of be, done, "
        "gone and been only those count that no auxiliary or preposition governs: "
        f"{f'the spaCy pipeline {tagger} tags these' if tagger else NO_TAGGER}.",
    )


def caveats(record: dict[str, Any]) -> tuple[str, ...]:
    found = [
        "A ratio of different words falls as texts get longer; compare it only between sides of "
        "about the same number of words.",
        "Wilson’s interval takes every word for an independent draw, which words of a text are "
        "not.",
        "Sources are few and were chosen by hand: an interval says what other texts of the same "
        "sources would give, not what other sources would.",
    ]
    if record["word_list"]:
        found.append(HITS_CAVEAT)
    return tuple(found)


def left_out(record: dict[str, Any], statistics: CorpusStatistics) -> tuple[str, ...]:
    wordless = statistics.total.n - statistics.total.rouge1.n
    found = {
        "kept for training, never evaluated": record["n_training"],
        f"no Rouge-1, {NO_WORDS}": wordless,
    }
    return tuple(f"{count(n, 'pair')}: {why}." for why, n in found.items() if n)
