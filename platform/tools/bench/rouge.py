"""Rouge of many counterparts against calling rouge-score text by text."""

from __future__ import annotations

from dataclasses import replace

from rouge_score.rouge_scorer import RougeScorer

from evaluation.metrics.rouge import KINDS, rouge_scores
from tools.bench.measuring import Row, measure
from tools.bench.texts import TextMaker

PAIRS = 5_000
PACKAGE_PAIRS = 500


def run() -> list[Row]:
    """Return the time of Rouge-1, -2 and -L, with and without stemming."""
    candidates, references = map(list, zip(*TextMaker().pairs(PAIRS), strict=True))
    rows = []
    for stemming in (False, True):
        name = "stemmed" if stemming else "plain"

        def ours(stemming: bool = stemming) -> object:
            return rouge_scores(candidates, references, stemming=stemming)

        def package(stemming: bool = stemming) -> object:
            scorer = RougeScorer(list(KINDS), use_stemmer=stemming)
            some = zip(references[:PACKAGE_PAIRS], candidates[:PACKAGE_PAIRS], strict=True)
            return [scorer.score(reference, candidate) for reference, candidate in some]

        mine = measure(f"all at once, {name}", f"{PAIRS:,} texts", ours)
        theirs = measure(
            f"rouge-score text by text, {name}",
            f"{PAIRS:,} texts",
            package,
            measured=PACKAGE_PAIRS,
            of=PAIRS,
        )
        rows += [mine, replace(theirs, factor=theirs.seconds / mine.seconds)]
    return rows
