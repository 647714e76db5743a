"""Gaps of several models on several sets of sentences side by side: Kohankhaki et al., §4.

Table 4 has the span of every model averaged over sets, Tables 2 and 3 its accuracy. §4.3 asks how
often a group has the largest or smallest gap of a model on a set, and which gaps are at least 0.7,
or at most 0.1, of the largest absolute mean gap on the set.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from evaluation.analyses.fpr_counts import GapOptions
from evaluation.analyses.fpr_gaps import ModelGaps
from evaluation.metrics.shown import Shown
from evaluation.metrics.undefined import UndefinedReason

#: Of the largest absolute mean gap on the set.
LARGE, SMALL = 0.7, 0.1


@dataclass(frozen=True)
class MeanGap:
    """A group's gap on one set, as comparisons of models read it."""

    model: str
    data_set: str
    side: str
    group: str
    value: float


@dataclass(frozen=True)
class AverageSpan:
    """A model's spans on the sets that it was asked about, and their mean; NaN = not asked.

    rank : 1 for the smallest mean among the models of a side
    """

    model: Annotated[str, Shown("Model")]
    side: Annotated[str, Shown()]
    by_set: tuple[float, ...]
    average: Annotated[float, Shown("Average", 3, style="strong")]
    n_sets: Annotated[int, Shown("Sets", 0)]
    rank: Annotated[int, Shown("Rank", 0, meaning="1 for the smallest average")]
    reason: str = ""


@dataclass(frozen=True)
class Extreme:
    """How often a group has the largest or the smallest gap, over models and sets.

    n_both : models and sets where it has both, since all gaps are equal
    """

    side: Annotated[str, Shown()]
    group: Annotated[str, Shown()]
    n_highest: Annotated[int, Shown("Largest", 0)]
    n_lowest: Annotated[int, Shown("Smallest", 0)]
    n: Annotated[int, Shown("Of", 0, meaning="models and sets")]
    n_both: int

    @property
    def share(self) -> Annotated[float, Shown("Either, %", 0, scale=100, style="strong")]:
        """Share of models and sets where it has either; ties count for every group."""
        return (self.n_highest + self.n_lowest - self.n_both) / self.n


@dataclass(frozen=True)
class GapSize:
    """Whether a gap is large or small beside the largest one on its set; empty for neither."""

    model: str
    data_set: str
    side: str
    group: str
    value: Annotated[float, Shown("Gap", 3, name="gap", signed=True)]
    of_largest: Annotated[
        float,
        Shown(
            "Of the largest",
            2,
            meaning="absolute gap as a share of the largest one of its side on its set",
        ),
    ]
    size: Annotated[str, Shown(meaning="large from 0.7 on, small up to 0.1")]


@dataclass(frozen=True)
class FprComparison:
    """Every model on every set, and what compares them."""

    options: GapOptions
    classes: tuple[str, ...]
    data_sets: tuple[str, ...]
    models: tuple[ModelGaps, ...]
    averages: tuple[AverageSpan, ...]
    extremes: tuple[Extreme, ...]
    sizes: tuple[GapSize, ...]


def compare_models(
    models: Sequence[ModelGaps], options: GapOptions, classes: Sequence[str]
) -> FprComparison:
    """Return the comparison of models that were analyzed one by one."""
    gaps = [
        MeanGap(model.model, model.data_set, gap.side, gap.group, gap.gap.value)
        for model in models
        for gap in model.gaps
        if gap.is_group and gap.gap.is_defined
    ]
    return FprComparison(
        options=options,
        classes=tuple(classes),
        data_sets=tuple(dict.fromkeys(model.data_set for model in models)),
        models=tuple(models),
        averages=tuple(average_spans(gaps)),
        extremes=tuple(count_extremes(gaps)),
        sizes=tuple(size_gaps(gaps)),
    )


def average_spans(gaps: Sequence[MeanGap]) -> list[AverageSpan]:
    """Return each model's spans, by side and then in the order of the models; Table 4."""
    sets = list(dict.fromkeys(gap.data_set for gap in gaps))
    found = []
    for side, of_side in _by(gaps, "side").items():
        spans: dict[str, list[float]] = {}
        for model, own in _by(of_side, "model").items():
            by_set = _by(own, "data_set")
            spans[model] = [_span(by_set.get(name, ())) for name in sets]
        means = {model: _mean(values) for model, values in spans.items()}
        for model, values in spans.items():
            known = [value for value in values if not math.isnan(value)]
            smaller = sum(other < means[model] for other in means.values())
            reason = "" if known else UndefinedReason.NO_VALUES
            found.append(
                AverageSpan(
                    model, side, tuple(values), means[model], len(known), 1 + smaller, reason
                )
            )
    return found


def count_extremes(gaps: Sequence[MeanGap]) -> list[Extreme]:
    """Return, for every side and group, how often its gap is the largest or the smallest."""
    found = []
    for side, of_side in _by(gaps, "side").items():
        cells = [
            {gap.group: gap.value for gap in own}
            for by_model in _by(of_side, "data_set").values()
            for own in _by(by_model, "model").values()
        ]
        for group in dict.fromkeys(gap.group for gap in of_side):
            own = [cell for cell in cells if group in cell]
            highest = sum(cell[group] == max(cell.values()) for cell in own)
            lowest = sum(cell[group] == min(cell.values()) for cell in own)
            both = sum(max(cell.values()) == min(cell.values()) for cell in own)
            found.append(Extreme(side, group, highest, lowest, len(own), both))
    return found


def size_gaps(gaps: Sequence[MeanGap]) -> list[GapSize]:
    """Return every gap beside the largest absolute one of its side on its set."""
    found = []
    for gap in gaps:
        beside = (g for g in gaps if (g.side, g.data_set) == (gap.side, gap.data_set))
        largest = max(abs(other.value) for other in beside)
        share = abs(gap.value) / largest if largest else math.nan
        size = "large" if share >= LARGE else "small" if share <= SMALL else ""
        found.append(GapSize(gap.model, gap.data_set, gap.side, gap.group, gap.value, share, size))
    return found


def _span(gaps: Iterable[MeanGap]) -> float:
    values = [gap.value for gap in gaps]
    return max(values) - min(values) if len(values) > 1 else math.nan


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


def _by(gaps: Iterable[MeanGap], name: str) -> dict[str, list[MeanGap]]:
    found: dict[str, list[MeanGap]] = {}
    for gap in gaps:
        found.setdefault(getattr(gap, name), []).append(gap)
    return found
