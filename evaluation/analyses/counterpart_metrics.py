"""Counterparts by producer and direction: coverage, gaps, features, and toxicity.

Deas et al. (2023) §4.2, §5.2 and §6: Tables 6, 8 and 9, Figures 2, 4, 5 and 8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from annotation.common.lazy import pd
from evaluation.analyses.counterpart_scores import (
    BERTSCORE_REASON,
    HUMAN,
    REPEAT,
    TOXICITY_IN,
    TOXICITY_OUT,
    ScoredCounterparts,
)
from evaluation.analyses.direction_gaps import (
    Cell,
    Contrast,
    DirectionOptions,
    DirectionTable,
    Floats,
    Gap,
    Key,
    split_masks,
)
from evaluation.analyses.feature_gaps import FeatureResult, analyze_features
from evaluation.metrics.bootstrap import Bootstrap
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.rouge import KINDS
from evaluation.metrics.shown import Shown, statistic
from evaluation.metrics.toxicity import Pooling
from evaluation.metrics.undefined import UndefinedReason

TOXICITY = "toxicity"


@dataclass(frozen=True)
class CounterpartOptions:
    """Options of the analysis; `pooling` of toxicity as in `evaluation.metrics.toxicity`."""

    directions: DirectionOptions = field(default_factory=DirectionOptions)
    pooling: Pooling = "corpus"


@dataclass(frozen=True)
class LeftOut:
    """Counterparts that are missing, by reason."""

    producer: str
    variety: str
    reason: str
    n: int


@dataclass(frozen=True)
class Removed:
    """Toxicity of inputs and outputs in one direction, and the share that is gone.

    t_in, t_out : mean hits of a text, over texts with an output
    share : (T_in − T_out) / T_in, 1 = all removed, below 0 = some added; n = texts that it rests on
    """

    producer: Annotated[str, Shown()]
    variety: Annotated[str, Shown("Generating")]
    split: Annotated[str, Shown()]
    t_in: Annotated[Estimate, Shown("Hits before", 2, no_interval=True)]
    t_out: Annotated[Estimate, Shown("Hits after", 2, no_interval=True)]
    share: Annotated[Estimate, statistic("Removed, %", 0, "Texts", scale=100, style="strong")]


@dataclass(frozen=True)
class RemovedGap:
    """Share removed when generating the source variety less that for the target variety.

    Over the pairs with outputs in both directions. The share is a ratio of sums over texts, so that
    its interval takes the place of a test.
    """

    producer: str
    split: str
    estimate: Annotated[Estimate, statistic("Gap", 0, "Pairs", scale=100, effect=True)]


@dataclass(frozen=True)
class AgainstGold:
    """Toxicity of outputs against that of the gold counterparts of the same texts (Figure 8).

    t_gold, t_out : mean hits of a text, over texts with an output
    change : (T_out − T_gold) / T_gold, above 0 = the output holds more hits than the gold
        counterpart; n = texts that it rests on
    """

    producer: Annotated[str, Shown()]
    variety: Annotated[str, Shown("Generating")]
    split: Annotated[str, Shown()]
    t_gold: Annotated[Estimate, Shown("Hits, gold", 2, no_interval=True)]
    t_out: Annotated[Estimate, Shown("Hits, output", 2, no_interval=True)]
    change: Annotated[Estimate, statistic("Change, %", 0, "Texts", scale=100, effect=True)]


@dataclass(frozen=True)
class CounterpartResult:
    """The whole analysis.

    cells, gaps : of the coverage metrics in percent, and of ``toxicity``, the hits of outputs
    contrasts : coverage of every producer less that of ``repeat``
    removed, removed_gaps, against_gold : empty without a word list
    features : None without features of the texts
    """

    options: CounterpartOptions
    metrics: tuple[str, ...]
    producers: tuple[str, ...]
    splits: tuple[str, ...]
    n_pairs: int
    cells: tuple[Cell, ...]
    gaps: tuple[Gap, ...]
    contrasts: tuple[Contrast, ...]
    removed: tuple[Removed, ...]
    removed_gaps: tuple[RemovedGap, ...]
    left_out: tuple[LeftOut, ...]
    against_gold: tuple[AgainstGold, ...]
    features: FeatureResult | None


def analyze_counterparts(
    scored: ScoredCounterparts,
    options: CounterpartOptions | None = None,
    *,
    features: pd.DataFrame | None = None,
) -> CounterpartResult:
    """Return means, gaps and toxicity of all producers, over all texts and in every split.

    features : uses of linguistic features in every pair's text of the source variety, as
        `feature_gaps.analyze_features` takes them; None = not counted

    Splits: ``toxic`` and ``non-toxic`` by the pair's text in the source variety, where a word list
    was given, and one for each source where there are several. Raises ValueError for counterparts
    in another variety than the two that are compared.
    """
    chosen = options or CounterpartOptions()
    rows = scored.rows
    known = {chosen.directions.source_variety, chosen.directions.target_variety}
    if foreign := set(rows["variety"]) - known:
        raise ValueError(
            f"counterparts in {', '.join(sorted(foreign))} cannot be compared; expected "
            f"{' and '.join(sorted(known))}"
        )
    units = rows.drop_duplicates("pair").set_index("pair")
    pairs = list(units.index)
    sources = units["source"].fillna("").tolist()
    splits = split_masks(sources, units["toxic"].tolist())
    producers = tuple(dict.fromkeys(rows["producer"]))
    columns = {
        name: _by_pair(rows, name, pairs)
        for name in (*scored.metrics, *((TOXICITY_IN, TOXICITY_OUT) if scored.has_toxicity else ()))
    }
    coverage = {
        (producer, variety, metric): values
        for metric in scored.metrics
        for (producer, variety), values in columns[metric].items()
        if producer != HUMAN
    }
    toxicity: dict[Key, Floats] = {}
    if scored.has_toxicity:
        toxicity = {
            (producer, variety, TOXICITY): values
            for (producer, variety), values in columns[TOXICITY_OUT].items()
        }
    covered = DirectionTable(pairs, coverage, splits, chosen.directions)
    hits = DirectionTable(pairs, toxicity, splits, chosen.directions)
    removed, removed_gaps, against_gold = [], [], []
    if scored.has_toxicity:
        counted = _Toxicity(columns[TOXICITY_IN], columns[TOXICITY_OUT], covered, chosen)
        removed, removed_gaps = list(counted.removed()), list(counted.gaps())
        against_gold = list(counted.against_gold())
    return CounterpartResult(
        options=chosen,
        metrics=(*scored.metrics, *((TOXICITY,) if scored.has_toxicity else ())),
        producers=producers,
        splits=tuple(covered.splits),
        n_pairs=len(pairs),
        cells=(*covered.cells(), *hits.cells()),
        # Holm's family is a split's coverage gaps; those of toxicity are a family of their own.
        gaps=(*covered.gaps(), *hits.gaps()),
        contrasts=tuple(covered.contrasts(REPEAT)),
        removed=tuple(removed),
        removed_gaps=tuple(removed_gaps),
        left_out=_left_out(rows),
        against_gold=tuple(against_gold),
        features=None if features is None else analyze_features(covered, features, sources),
    )


class _Toxicity:
    """Hits of inputs and outputs by producer and variety, as values of pairs."""

    def __init__(
        self,
        t_in: dict[tuple[str, str], Floats],
        t_out: dict[tuple[str, str], Floats],
        table: DirectionTable,
        options: CounterpartOptions,
    ) -> None:
        self._in, self._out, self._options = t_in, t_out, options
        self._splits = table.splits
        self._bootstrap: Bootstrap = table.bootstrap

    def removed(self) -> Iterator[Removed]:
        # Giving the input back removes nothing, by definition.
        keys = [key for key in self._out if key[0] != REPEAT]
        for split, members in self._splits.items():
            for key in keys:
                t_in, t_out = (
                    np.where(members, values[key], np.nan) for values in (self._in, self._out)
                )
                numerator, denominator, n = self._parts(t_in, t_out)
                share = self._bootstrap.ratio(
                    numerator, denominator, n=n, reason=UndefinedReason.NO_TOXICITY
                )
                yield Removed(
                    *key, split, self._bootstrap.mean(t_in), self._bootstrap.mean(t_out), share
                )

    def gaps(self) -> Iterator[RemovedGap]:
        directions = self._options.directions
        source, target = directions.source_variety, directions.target_variety
        producers = [p for p, variety in self._out if variety == source and p != REPEAT]
        for split, members in self._splits.items():
            for producer in producers:
                if (producer, target) not in self._out:
                    continue
                keys = [(producer, source), (producer, target)]
                both = members & ~np.isnan([self._out[key] for key in keys]).any(axis=0)
                parts = [
                    self._parts(*(np.where(both, v[key], np.nan) for v in (self._in, self._out)))
                    for key in keys
                ]
                (num_1, den_1, n_1), (num_2, den_2, n_2) = parts
                estimate = self._bootstrap.ratio_difference(
                    *(num_1, den_1, num_2, den_2),
                    n=min(n_1, n_2),
                    reason=UndefinedReason.NO_TOXICITY,
                )
                yield RemovedGap(producer, split, estimate)

    def against_gold(self) -> Iterator[AgainstGold]:
        keys = [key for key in self._out if key[0] != HUMAN]
        for split, members in self._splits.items():
            for key in keys:
                t_out = np.where(members, self._out[key], np.nan)
                t_gold = np.where(np.isnan(t_out), np.nan, self._out[HUMAN, key[1]])
                less, gold, n = self._parts(t_gold, t_out)
                change = self._bootstrap.ratio(
                    -less, gold, n=n, reason=UndefinedReason.NO_GOLD_TOXICITY
                )
                yield AgainstGold(
                    *key, split, self._bootstrap.mean(t_gold), self._bootstrap.mean(t_out), change
                )

    def _parts(self, t_in: Floats, t_out: Floats) -> tuple[Floats, Floats, int]:
        """Return numerators and denominators whose sums give the share, and the texts behind it."""
        there = ~np.isnan(t_in) & ~np.isnan(t_out)
        before, after = np.where(there, t_in, 0), np.where(there, t_out, 0)
        if self._options.pooling == "corpus":
            return before - after, before, int(there.sum())
        toxic = before > 0
        shares = np.divide(before - after, before, out=np.zeros_like(before), where=toxic)
        return shares, toxic.astype(float), int(toxic.sum())


def _by_pair(rows: pd.DataFrame, name: str, pairs: list[str]) -> dict[tuple[str, str], Floats]:
    return {
        (str(producer), str(variety)): some.set_index("pair")[name]
        .reindex(pairs)
        .to_numpy(dtype=float)
        for (producer, variety), some in rows.groupby(["producer", "variety"], sort=False)
    }


def _left_out(rows: pd.DataFrame) -> tuple[LeftOut, ...]:
    found = [_count_reasons(rows, rows["reason"], "")]
    found += [_count_reasons(rows, rows[f"{kind}_reason"], f"no R{kind[1:]}: ") for kind in KINDS]
    if BERTSCORE_REASON in rows:
        found.append(_count_reasons(rows, rows[BERTSCORE_REASON], "no BERTScore: "))
    return tuple(entry for entries in found for entry in entries)


def _count_reasons(rows: pd.DataFrame, reasons: pd.Series, prefix: str) -> list[LeftOut]:
    missing = zip(rows["producer"], rows["variety"], reasons, strict=True)
    counts = Counter((str(a), str(b), str(reason)) for a, b, reason in missing if reason)
    return [
        LeftOut(producer, variety, prefix + reason, n)
        for (producer, variety, reason), n in sorted(counts.items())
    ]
