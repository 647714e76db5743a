"""Judgments of counterparts: means, gaps between directions, people as the baseline, agreement.

Deas et al. (2023) §4.2 and §5.2: Tables 7 and 10, Figures 3 and 6. Ratings go from 1 to 5. Judges
of one item are averaged first, so that an item counts once, however many judged it; intervals
resample text pairs, since all items of a pair share its text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from annotation.common.lazy import pd
from evaluation.analyses.direction_gaps import (
    Cell,
    Contrast,
    DirectionOptions,
    DirectionTable,
    Gap,
    split_masks,
)
from evaluation.analyses.error_analysis import ErrorResult
from evaluation.analyses.feature_gaps import FeatureResult, analyze_features
from evaluation.metrics.krippendorff_alpha import (
    MEASUREMENTS,
    KrippendorffAlpha,
    Measurement,
    krippendorff_alpha,
)

ASPECTS = ("human_likeness", "linguistic_match", "meaning_preservation", "tone_preservation")
HUMAN = "human"
LOWEST, HIGHEST = 1, 5
COLUMNS = ("item", "pair", "source", "variety", "producer", "annotator", *ASPECTS)


@dataclass(frozen=True)
class AspectAgreement:
    """Alpha of one aspect over items with two judges or more."""

    aspect: str
    alpha: KrippendorffAlpha


@dataclass(frozen=True)
class PairAgreement:
    """Alpha of one aspect over the items that both of two judges rated."""

    first: str
    second: str
    aspect: str
    alpha: KrippendorffAlpha


@dataclass(frozen=True)
class SourceAgreement:
    """Alpha of one aspect over items whose text is from one source."""

    source: str
    aspect: str
    alpha: KrippendorffAlpha


@dataclass(frozen=True)
class JudgmentResult:
    """The whole analysis; metric = aspect in cells, gaps and contrasts.

    contrasts : every producer less the human counterparts
    n_twice : items with two judges or more
    agreement, agreement_pairs, agreement_sources : at the chosen level of measurement, of all
        judges, of every two who rated an item in common, and within every source
    agreement_levels : of all judges at every level of measurement
    features : None without features of the texts
    errors : None where judges marked none
    """

    options: DirectionOptions
    producers: tuple[str, ...]
    splits: tuple[str, ...]
    n_pairs: int
    n_items: int
    n_judgments: int
    n_judges: int
    n_twice: int
    cells: tuple[Cell, ...]
    gaps: tuple[Gap, ...]
    contrasts: tuple[Contrast, ...]
    agreement: tuple[AspectAgreement, ...]
    agreement_levels: tuple[AspectAgreement, ...]
    agreement_pairs: tuple[PairAgreement, ...]
    agreement_sources: tuple[SourceAgreement, ...]
    features: FeatureResult | None
    errors: ErrorResult | None = None


def analyze_judgments(
    judgments: pd.DataFrame,
    *,
    toxic: Mapping[str, bool] | None = None,
    features: pd.DataFrame | None = None,
    options: DirectionOptions | None = None,
    measurement: Measurement = "ordinal",
) -> JudgmentResult:
    """Return the analysis of a study's judgments.

    judgments : one row for each item and judge, with the columns item, pair, source, variety (of
        the counterpart), producer (``human`` = the gold text), annotator, and the four aspects,
        each 1 to 5
    toxic : pair → whether its text in the source variety holds a word of a list; None = no split
    features : uses of linguistic features in every pair's text of the source variety, as
        `feature_gaps.analyze_features` takes them; None = not counted
    measurement : level at which alpha takes the ratings

    Raises ValueError for missing columns, ratings off the scale, an item that one judge rated
    twice, and two items of one pair, variety and producer: runs of one model need names of their
    own.
    """
    chosen = options or DirectionOptions()
    _validate(judgments)
    aspects = list(ASPECTS)
    items = judgments.groupby(["producer", "variety", "pair", "item"], sort=False, as_index=False)
    means = items[aspects].mean()
    twice = means.duplicated(["producer", "variety", "pair"])
    if twice.any():
        row = means[twice].iloc[0]
        raise ValueError(
            f"the pair '{row['pair']}' has two items by '{row['producer']}' in {row['variety']}; "
            "give runs of one model different names"
        )
    units = judgments.drop_duplicates("pair").set_index("pair")
    pairs = list(units.index)
    values = {
        (str(producer), str(variety), aspect): some.set_index("pair")[aspect]
        .reindex(pairs)
        .to_numpy(dtype=float)
        for (producer, variety), some in means.groupby(["producer", "variety"], sort=False)
        for aspect in ASPECTS
    }
    flags: Sequence[bool | None] | None = None if toxic is None else [toxic.get(p) for p in pairs]
    sources = units["source"].fillna("").tolist()
    splits = split_masks(sources, flags)
    table = DirectionTable(pairs, values, splits, chosen)
    sizes = judgments.groupby("item").size()
    return JudgmentResult(
        options=chosen,
        producers=tuple(dict.fromkeys(judgments["producer"])),
        splits=tuple(table.splits),
        n_pairs=len(pairs),
        n_items=len(sizes),
        n_judgments=len(judgments),
        n_judges=int(judgments["annotator"].nunique()),
        n_twice=int((sizes > 1).sum()),
        cells=tuple(table.cells()),
        gaps=tuple(table.gaps()),
        contrasts=tuple(table.contrasts(HUMAN)),
        agreement=tuple(
            AspectAgreement(aspect, _agree(judgments, aspect, measurement, chosen))
            for aspect in ASPECTS
        ),
        agreement_levels=tuple(
            AspectAgreement(aspect, _agree(judgments, aspect, level, chosen))
            for aspect in ASPECTS
            for level in MEASUREMENTS
        ),
        agreement_pairs=tuple(_agree_in_pairs(judgments, measurement, chosen)),
        agreement_sources=tuple(_agree_by_source(judgments, measurement, chosen)),
        features=None if features is None else analyze_features(table, features, sources),
    )


def _agree_in_pairs(
    judgments: pd.DataFrame, measurement: Measurement, options: DirectionOptions
) -> list[PairAgreement]:
    rated = {judge: set(some["item"]) for judge, some in judgments.groupby("annotator", sort=True)}
    found = []
    for first, second in combinations(rated, 2):
        if rated[first] & rated[second]:
            both = judgments[judgments["annotator"].isin([first, second])]
            found += [
                PairAgreement(
                    str(first), str(second), aspect, _agree(both, aspect, measurement, options)
                )
                for aspect in ASPECTS
            ]
    return found


def _agree_by_source(
    judgments: pd.DataFrame, measurement: Measurement, options: DirectionOptions
) -> list[SourceAgreement]:
    named = judgments[judgments["source"].fillna("") != ""]
    return [
        SourceAgreement(str(source), aspect, _agree(some, aspect, measurement, options))
        for source, some in named.groupby("source", sort=True)
        for aspect in ASPECTS
    ]


def _agree(
    judgments: pd.DataFrame, aspect: str, measurement: Measurement, options: DirectionOptions
) -> KrippendorffAlpha:
    ratings = judgments.pivot(index="annotator", columns="item", values=aspect)
    return krippendorff_alpha(
        ratings.to_numpy(dtype=float),
        measurement=measurement,
        level=options.level,
    )


def _validate(judgments: pd.DataFrame) -> None:
    absent = set(COLUMNS) - set(judgments.columns)
    if absent:
        raise ValueError(f"the judgments lack the columns {', '.join(sorted(absent))}")
    if judgments.empty:
        raise ValueError("there are no judgments to analyze")
    for aspect in ASPECTS:
        ratings = judgments[aspect].to_numpy(dtype=float)
        if not ((ratings >= LOWEST) & (ratings <= HIGHEST)).all():
            raise ValueError(f"{aspect} holds ratings off the scale from {LOWEST} to {HIGHEST}")
    if judgments.duplicated(["item", "annotator"]).any():
        raise ValueError("somebody judged an item twice; keep one of the two")
    placed = judgments.groupby("item")[["pair", "variety", "producer"]].nunique()
    if (placed > 1).any(axis=None):
        raise ValueError("an item belongs to one pair, variety and producer")
