"""Agreement of annotators who rewrote the same texts: overall, by pair, by source.

Deas et al. (2023) §3.2 and Appendix D. Texts that an annotator found not interpretable have no
counterpart to compare; whether annotators agree on that is a nominal alpha of its own.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated

import numpy as np

from annotation.common.lazy import pd
from evaluation.analyses.resample_options import ResamplingOptions
from evaluation.metrics.krippendorff_alpha import KrippendorffAlpha, krippendorff_alpha
from evaluation.metrics.levenshtein_alpha import (
    LevenshteinAlpha,
    ShuffledDistance,
    levenshtein_alphas,
    simulate_shuffled_distance,
)
from evaluation.metrics.levenshtein_sums import EXPECTED, Expected
from evaluation.metrics.shown import Shown
from evaluation.metrics.text_distance import Distance

COLUMNS = ("text", "source", "annotator", "body", "not_interpretable")


@dataclass(frozen=True)
class AgreementOptions(ResamplingOptions):
    """Options of the analysis.

    distance, expected : as in `evaluation.metrics.levenshtein_alpha`; pairs and sources use them
    definitions : definitions of chance distance that the overall alpha is also stated by
    n_shuffles : of the simulation of the paper's definition, 0 for none
    """

    distance: Distance = "characters"
    expected: Expected = "exact"
    definitions: tuple[Expected, ...] = EXPECTED
    n_shuffles: int = 400


@dataclass(frozen=True)
class PairAgreement:
    """Two annotators' agreement, from their annotations alone."""

    first: str
    second: str
    alpha: LevenshteinAlpha


@dataclass(frozen=True)
class SourceAgreement:
    """Agreement on texts of one source, from its annotations alone."""

    source: Annotated[str, Shown("Source")]
    alpha: LevenshteinAlpha


@dataclass(frozen=True)
class AgreementResult:
    """The whole analysis.

    overall : by the chosen definition; by_definition : by all that were asked for
    shuffled : simulation of the paper's chance distance, None where it was not asked for
    not_interpretable : nominal alpha of who found which text not interpretable
    n_texts : annotated texts; n_counterparts : written ones; n_not_interpretable : annotations
    """

    options: AgreementOptions
    overall: LevenshteinAlpha
    by_definition: tuple[LevenshteinAlpha, ...]
    shuffled: ShuffledDistance | None
    pairs: tuple[PairAgreement, ...]
    sources: tuple[SourceAgreement, ...]
    not_interpretable: KrippendorffAlpha
    n_texts: int
    n_annotators: int
    n_counterparts: int
    n_not_interpretable: int


def analyze_agreement(
    annotations: pd.DataFrame, options: AgreementOptions | None = None
) -> AgreementResult:
    """Return the agreement of annotators.

    annotations : one row for each text and annotator, with the columns text (its name), source,
        annotator (a number or name fit for a report), body, not_interpretable (True = no body)

    Raises ValueError for missing columns and for a text that somebody annotated twice.
    """
    chosen = options or AgreementOptions()
    if absent := set(COLUMNS) - set(annotations.columns):
        raise ValueError(f"the annotations lack the columns {', '.join(sorted(absent))}")
    if annotations.duplicated(["text", "annotator"]).any():
        raise ValueError("somebody annotated a text twice; keep one of the two")
    refused = annotations["not_interpretable"].astype(bool)
    written = annotations[~refused]
    columns: tuple[list[Hashable], list[Hashable], list[str]] = (
        written["text"].tolist(),
        written["annotator"].tolist(),
        written["body"].tolist(),
    )
    annotator = written["annotator"].to_numpy()
    source = written["source"].fillna("").to_numpy()
    pairs = list(combinations(sorted(set(annotator.tolist())), 2))
    sources = sorted({name for name in source.tolist() if name})
    subsets = [
        np.ones(len(written), dtype=bool),
        *(np.isin(annotator, pair) for pair in pairs),
        *(source == name for name in sources),
    ]
    overall, *parts = levenshtein_alphas(
        *columns,
        subsets,
        distance=chosen.distance,
        expected=chosen.expected,
        **chosen.resampling,
    )
    return AgreementResult(
        options=chosen,
        overall=overall,
        by_definition=tuple(
            overall if definition == chosen.expected else _define(columns, definition, chosen)
            for definition in chosen.definitions
        ),
        shuffled=simulate_shuffled_distance(
            *columns, distance=chosen.distance, n=chosen.n_shuffles, seed=chosen.seed
        )
        if chosen.n_shuffles
        else None,
        pairs=tuple(
            PairAgreement(str(first), str(second), alpha)
            for (first, second), alpha in zip(pairs, parts, strict=False)
        ),
        sources=tuple(
            SourceAgreement(name, alpha)
            for name, alpha in zip(sources, parts[len(pairs) :], strict=True)
        ),
        not_interpretable=_agree_on_refusals(annotations, refused, chosen),
        n_texts=int(annotations["text"].nunique()),
        n_annotators=int(annotations["annotator"].nunique()),
        n_counterparts=len(written),
        n_not_interpretable=int(refused.sum()),
    )


def _define(
    columns: tuple[list[Hashable], list[Hashable], list[str]],
    definition: Expected,
    options: AgreementOptions,
) -> LevenshteinAlpha:
    (found,) = levenshtein_alphas(
        *columns,
        [np.ones(len(columns[0]), dtype=bool)],
        distance=options.distance,
        expected=definition,
        **options.resampling,
    )
    return found


def _agree_on_refusals(
    annotations: pd.DataFrame, refused: pd.Series, options: AgreementOptions
) -> KrippendorffAlpha:
    table = annotations.assign(refused=refused.astype(float)).pivot(
        index="annotator", columns="text", values="refused"
    )
    return krippendorff_alpha(
        table.to_numpy(dtype=float),
        measurement="nominal",
        level=options.level,
    )
