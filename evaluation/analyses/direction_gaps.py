"""Values of text pairs in two directions: means, gaps between directions, and their tests.

Deas et al. (2023) §4.2 state scores for generating AAL, for generating WME, and the first less the
second. Here every mean has a bootstrap interval over pairs; gaps have the interval and the p-value
of a two-tailed t-test, paired by default, corrected over all tests of one split by Holm's method.

A difference rests on the pairs that have both values. Otherwise a model that refuses hard texts in
one direction alone, or reads short ones only, would be compared on other texts than its opposite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.resample_options import ResamplingOptions
from evaluation.metrics.bootstrap import Bootstrap
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.holm import correct_rows
from evaluation.metrics.shown import Shown
from evaluation.metrics.t_test import TestKind, TTest, t_test
from evaluation.metrics.undefined import UndefinedReason

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

ALL = "all"
TOXIC = "toxic"
NON_TOXIC = "non-toxic"
SOURCE_PREFIX = "source: "


@dataclass(frozen=True)
class DirectionOptions(ResamplingOptions):
    """How directions are compared.

    source_variety, target_variety : a gap is the value for generating the first less that for
        generating the second
    test : ``paired``, since both sides of a difference rest on the same pairs; ``welch``; or
        ``student``, the two-sample test with equal variances that Deas et al. (2023) publish
    seed, n_resamples, level : of the bootstrap over pairs
    """

    source_variety: str = "AAL"
    target_variety: str = "WME"
    test: TestKind = "paired"

    def __post_init__(self) -> None:
        if self.source_variety == self.target_variety:
            raise ValueError(f"two varieties are compared, but both are '{self.source_variety}'")


@dataclass(frozen=True)
class Cell:
    """The mean of a metric for one producer in one direction.

    variety : that was generated
    split : ``all``, ``toxic``, ``non-toxic`` or ``source: …``
    estimate : n = texts behind the mean
    n_left_out : texts of the split without a value
    """

    producer: str
    variety: Annotated[str, Shown("Generating")]
    metric: str
    split: str
    estimate: Estimate
    n_left_out: int


@dataclass(frozen=True)
class Gap:
    """Generating the source variety less generating the target variety.

    estimate : over the pairs with both values, n of them
    n_left_out : pairs of the split with one value alone
    test : of the difference, over the same pairs; NaN with a reason where there is none
    p_corrected : by Holm's method over all gaps of the split, NaN where there is no test
    """

    producer: str
    metric: str
    split: str
    estimate: Estimate
    test: TTest
    p_corrected: Annotated[float, Shown("p (Holm)", is_p=True)]
    n_left_out: int


@dataclass(frozen=True)
class Contrast:
    """A producer less the baseline, in one direction; fields as those of `Gap`."""

    producer: str
    baseline: str
    variety: Annotated[str, Shown("Generating")]
    metric: str
    split: str
    estimate: Estimate
    test: TTest
    p_corrected: Annotated[float, Shown("p (Holm)", is_p=True)]
    n_left_out: int


T = TypeVar("T", Gap, Contrast)
Key = tuple[str, str, str]
"""Producer, variety, metric."""


class DirectionTable:
    """Values of pairs by producer, variety and metric.

    pairs : names of the units that are resampled
    values : key → (n_pairs,), NaN = no value
    splits : name → (n_pairs,), True = the pair belongs to it; ``all`` is added
    """

    def __init__(
        self,
        pairs: Sequence[str],
        values: Mapping[Key, Floats],
        splits: Mapping[str, Mask],
        options: DirectionOptions,
    ) -> None:
        self.pairs, self.values, self.options = list(pairs), dict(values), options
        self.splits = {ALL: np.ones(len(self.pairs), dtype=bool)} | dict(splits)
        self.bootstrap = Bootstrap(len(self.pairs), **options.resampling)

    def cells(self) -> list[Cell]:
        """Return the mean of every key in every split."""
        found = []
        for split, members in self.splits.items():
            for (producer, variety, metric), values in self.values.items():
                estimate = self.bootstrap.mean(np.where(members, values, np.nan))
                n_left_out = int(members.sum()) - estimate.n
                found.append(Cell(producer, variety, metric, split, estimate, n_left_out))
        return found

    def gaps(self) -> list[Gap]:
        """Return the gap of every producer and metric that have both directions."""
        source, target = self.options.source_variety, self.options.target_variety
        both = [
            (producer, metric)
            for producer, variety, metric in self.values
            if variety == source and (producer, target, metric) in self.values
        ]

        def make(split: str, members: Mask) -> list[Gap]:
            return [
                Gap(
                    producer,
                    metric,
                    split,
                    **self._compare(
                        (producer, source, metric), (producer, target, metric), members
                    ),
                )
                for producer, metric in both
            ]

        return self._corrected(make)

    def contrasts(self, baseline: str) -> list[Contrast]:
        """Return every other producer less the baseline, wherever the baseline has values."""
        both = [
            (key, (baseline, *key[1:]))
            for key in self.values
            if key[0] != baseline and (baseline, *key[1:]) in self.values
        ]

        def make(split: str, members: Mask) -> list[Contrast]:
            return [
                Contrast(key[0], baseline, *key[1:], split, **self._compare(key, base, members))
                for key, base in both
            ]

        return self._corrected(make)

    def _compare(self, first: Key, second: Key, members: Mask) -> dict[str, Any]:
        """Return the fields of a gap or contrast that its values give."""
        x, y = self.values[first], self.values[second]
        both = members & ~np.isnan(x) & ~np.isnan(y)
        either = members & ~(np.isnan(x) & np.isnan(y))
        x, y = (np.where(both, values, np.nan) for values in (x, y))
        test = t_test(x, y, kind=self.options.test, level=self.options.level)
        if not both.any():
            reason = UndefinedReason.NO_PAIR if either.any() else UndefinedReason.NO_VALUES
            estimate = no_estimate(reason)
        else:
            estimate = test.estimate
        return {
            "estimate": estimate,
            "test": test,
            "p_corrected": np.nan,
            "n_left_out": int(either.sum() - both.sum()),
        }

    def _corrected(self, make: Callable[[str, Mask], list[T]]) -> list[T]:
        found: list[T] = []
        for split, members in self.splits.items():
            found += correct_rows(make(split, members), p_corrected="test.p_value")
        return found


def split_masks(sources: Sequence[str], toxic: Sequence[bool | None] | None) -> dict[str, Mask]:
    """Return the splits by toxicity, where it is known, and by source, where there are several.

    toxic : for each pair, None = not known; the pair then belongs to neither split
    """
    found: dict[str, Mask] = {}
    if toxic is not None and any(flag is not None for flag in toxic):
        found[TOXIC] = np.array([flag is True for flag in toxic])
        found[NON_TOXIC] = np.array([flag is False for flag in toxic])
    names = sorted({source for source in sources if source})
    if len(names) > 1:
        for name in names:
            found[SOURCE_PREFIX + name] = np.array([source == name for source in sources])
    return found
