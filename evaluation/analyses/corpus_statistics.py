"""What a corpus of pairs is like: Tables 2 and 3 of Deas et al. (2023).

Words are those of `annotation.corpora.features`: lower-cased runs of letters and digits,
apostrophes and hyphens within them included; the paper names no tokenizer. Rouge has words of its
own (`evaluation.metrics.rouge`). Toxicity is the mean number of word-list hits a text.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from annotation.corpora.features import split_words
from evaluation.analyses.resample_options import ResamplingOptions
from evaluation.metrics.bootstrap import Bootstrap
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.rouge import Tokens, rouge_scores
from evaluation.metrics.shown import Shown
from evaluation.metrics.t_test import TTest, t_test
from evaluation.metrics.toxicity import count_hits
from evaluation.metrics.type_token import TypeTokenRatio, type_token_ratio
from evaluation.metrics.undefined import UndefinedReason


@dataclass(frozen=True)
class PairTexts:
    """The two texts of a pair; ``origin`` is where it was drawn from, such as CORAAL."""

    source_text: str
    target_text: str
    origin: str = ""


@dataclass(frozen=True)
class CorpusOptions(ResamplingOptions):
    """The choices behind the statistics.

    seed : whole number from 0; the same seed and texts give the same intervals
    n_resamples : bootstrap resamples of pairs, 0 for no intervals
    level : coverage of all intervals, 0 to 1; Table 3 of the paper announces 0.95, prints 0.99
    """


def _mean(head: str, decimals: int, name: str) -> Shown:
    return Shown(head, decimals, interval_head="interval", prefix=f"{name}_")


@dataclass(frozen=True)
class OriginRow:
    """One row of Table 2; all pairs of the corpus where ``origin`` is None.

    source_length, target_length : mean words a text
    rouge1 : mean Rouge-1 F of the target text against the source text, times 100
    source_toxicity, target_toxicity : mean hits of the word list a text, undefined without one
    """

    origin: str | None
    n: Annotated[int, Shown("Pairs", 0)]
    source_length: Annotated[Estimate, _mean("Words, {source}", 2, "source_length")]
    target_length: Annotated[Estimate, _mean("Words, {target}", 2, "target_length")]
    rouge1: Annotated[Estimate, _mean("Rouge-1", 1, "rouge1")]
    source_toxicity: Annotated[Estimate, _mean("Hits, {source}", 2, "source_toxicity")]
    target_toxicity: Annotated[Estimate, _mean("Hits, {target}", 2, "target_toxicity")]


@dataclass(frozen=True)
class CorpusStatistics:
    """Table 2 (`rows`, then `total`) and Table 3.

    source_types, target_types : type–token ratio of all texts of a side
    length_difference : words of the source text minus words of the target text, paired t-test
    """

    rows: tuple[OriginRow, ...]
    total: OriginRow
    source_types: TypeTokenRatio
    target_types: TypeTokenRatio
    length_difference: TTest
    options: CorpusOptions


def describe_pairs(
    pairs: Sequence[PairTexts],
    *,
    words: Collection[str] | None = None,
    options: CorpusOptions | None = None,
    tokens: Tokens = "unicode",
) -> CorpusStatistics:
    """Return the statistics of all pairs, and of those of each origin in alphabetical order.

    words : a word list for toxicity; None = not measured
    tokens : the words of Rouge, see `evaluation.metrics.rouge`

    Means have bias-corrected bootstrap intervals over pairs. A counterpart that serves several
    texts counts with each. Raises ValueError without a pair and for a list without words.
    """
    if not pairs:
        raise ValueError("there are no pairs to describe")
    options = options or CorpusOptions()
    source_words = [split_words(pair.source_text) for pair in pairs]
    target_words = [split_words(pair.target_text) for pair in pairs]
    columns = _Columns.build(pairs, source_words, target_words, words, tokens)
    origins = np.array([pair.origin for pair in pairs], dtype=object)
    return CorpusStatistics(
        rows=tuple(
            columns.row(str(origin), np.flatnonzero(origins == origin), options)
            for origin in sorted(set(origins))
        ),
        total=columns.row(None, np.arange(len(pairs)), options),
        source_types=type_token_ratio(_flatten(source_words)),
        target_types=type_token_ratio(_flatten(target_words)),
        length_difference=t_test(
            columns.source_length, columns.target_length, kind="paired", level=options.level
        ),
        options=options,
    )


@dataclass(frozen=True)
class _Columns:
    """One value for each pair, (n_pairs,); toxicity is None where no list was given."""

    source_length: np.ndarray
    target_length: np.ndarray
    rouge1: np.ndarray
    source_hits: np.ndarray | None
    target_hits: np.ndarray | None

    @classmethod
    def build(
        cls,
        pairs: Sequence[PairTexts],
        source_words: Sequence[list[str]],
        target_words: Sequence[list[str]],
        words: Collection[str] | None,
        tokens: Tokens,
    ) -> _Columns:
        sources = [pair.source_text for pair in pairs]
        targets = [pair.target_text for pair in pairs]
        rouge = rouge_scores(targets, sources, kinds=("rouge1",), tokens=tokens)["rouge1"]
        return cls(
            source_length=np.array([len(found) for found in source_words], dtype=float),
            target_length=np.array([len(found) for found in target_words], dtype=float),
            rouge1=100 * rouge.f,
            source_hits=None if words is None else count_hits(sources, words),
            target_hits=None if words is None else count_hits(targets, words),
        )

    def row(self, origin: str | None, chosen: np.ndarray, options: CorpusOptions) -> OriginRow:
        bootstrap = Bootstrap(
            chosen.size,
            **options.resampling,
        )

        def mean(values: np.ndarray | None) -> Estimate:
            if values is None:
                return no_estimate(UndefinedReason.NOT_REQUESTED)
            return bootstrap.mean(values[chosen])

        return OriginRow(
            origin=origin,
            n=int(chosen.size),
            source_length=mean(self.source_length),
            target_length=mean(self.target_length),
            rouge1=mean(self.rouge1),
            source_toxicity=mean(self.source_hits),
            target_toxicity=mean(self.target_hits),
        )


def _flatten(texts: Sequence[list[str]]) -> list[str]:
    return [word for words in texts for word in words]
