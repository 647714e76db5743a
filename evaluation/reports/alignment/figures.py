"""The figures of an alignment report: what they show and how they are captioned."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from annotation.models import Dimension
from evaluation.analyses.alignment_result import AlignmentResult, NoiseCeiling, ResampledValue
from evaluation.charts import (
    GroupLabel,
    IntervalLine,
    IntervalMark,
    IntervalPanel,
    IntervalWords,
    LegendEntry,
    ScaleLabel,
    forest_spec,
    heat_maps_spec,
    narrow_intervals_spec,
    profile_spec,
    small_multiples_specs,
)
from evaluation.reports.parts.document import Figure
from evaluation.reports.parts.formatting import count
from evaluation.reports.parts.table import ReportTable


class AlignmentFigures:
    """The three figures of an alignment; ``profile`` takes the group that it shows."""

    def __init__(
        self,
        result: AlignmentResult,
        record: dict[str, Any],
        tables: Mapping[str, ReportTable],
        *,
        measure: str,
    ) -> None:
        self._result = result
        self._tables = {name: table.frame for name, table in tables.items()}
        self._measure = measure
        dimensions = dict(Dimension.choices)
        self._groups = [
            GroupLabel(entry["slug"], entry["plural"], entry["domain"])
            for entry in record["groups"]
        ]
        self._scales = [
            ScaleLabel(
                entry["slug"],
                entry["low"],
                entry["high"],
                entry["dimension"],
                str(dimensions.get(entry["dimension"], "")),
            )
            for entry in record["scales"]
        ]

    @cached_property
    def heat_maps(self) -> Figure:
        domains = len({group.domain for group in self._groups})
        dimensions = len({scale.dimension for scale in self._scales})
        return Figure(
            "heat-maps",
            f"{count(len(self._groups), 'group')} in {count(domains, 'domain')}, "
            f"{count(len(self._scales), 'scale')} in {count(dimensions, 'dimension')}. Ratings are "
            "centred on 50, scores on 0; scores beyond the 98th percentile are clipped. Colors "
            "show direction and strength within a map; the units of the two maps differ.",
            heat_maps_spec(self._tables["cells"], groups=self._groups, scales=self._scales),
            heat_maps_spec(
                self._tables["cells"], groups=self._groups, scales=self._scales, stacked=True
            ),
            data="cells",
        )

    def profile(self, group: str) -> Figure:
        label = next(label for label in self._groups if label.slug == group)
        return Figure(
            "profile",
            f"Mean rating and mean score of {label.text} on every scale. People’s intervals "
            "resample whole submissions; the model’s say how far a score depends on the "
            "wording of the prompt, and exist for two prompts or more.",
            profile_spec(
                self._tables["cells"],
                self._tables["groups"],
                group=label,
                scales=self._scales,
                level=self._result.options.level,
                model_axis=f"Model: mean {self._measure} score",
            ),
            data="cells",
            query=f"?group={group}",
        )

    def multiples(self, order: Sequence[str]) -> tuple[Figure, ...]:
        """Return every group in small, row by row, in the order of these slugs."""
        labels = {label.slug: label for label in self._groups}
        specs = small_multiples_specs(
            self._tables["cells"],
            self._tables["groups"],
            groups=[labels[slug] for slug in order],
            scales=self._scales,
        )
        return tuple(
            Figure(f"multiples-{row}", "", spec, data="cells")
            for row, spec in enumerate(specs, start=1)
        )

    @cached_property
    def forest(self) -> Figure:
        options = self._result.options
        ceiling = self._result.pooled.ceiling
        first = count(ceiling.n_first, "person", "people")
        halves = f" (all cells: {first} with {ceiling.n_second})"
        return Figure(
            "forest",
            f"Groups in order of τ. Intervals: {options.n_resamples} resamples, of "
            f"{self._result.resampling.group} for a group and of "
            f"{self._result.resampling.overall} for all cells pooled. The band is the "
            f"agreement of one half of the raters with the other over {options.n_splits} splits"
            f"{halves if ceiling.n_first else ''}; a model can pass it where people themselves "
            "agree little.",
            forest_spec(self._tables["groups"], self._tables["overall"], groups=self._groups),
            self._narrow_forest(),
            data="groups",
        )

    def _narrow_forest(self) -> dict[str, Any]:
        """Return the forest for a phone: τ of every group, and outlined below it its halves."""
        names = {label.slug: label.text for label in self._groups}
        pooled = self._result.pooled
        lines = [
            IntervalLine(
                names[row.group],
                (_tau_mark(row.tau, row.n_raters), _ceiling_mark(row.ceiling, row.n_raters)),
            )
            for row in sorted(
                self._result.by_group,
                key=lambda row: math.inf if math.isnan(row.tau.value) else -row.tau.value,
            )
        ]
        whole = IntervalLine(
            f"all {pooled.n_cells} cells pooled",
            (
                _tau_mark(pooled.tau, pooled.n_submissions),
                _ceiling_mark(pooled.ceiling, pooled.n_submissions),
            ),
            bold=True,
        )
        options = self._result.options
        return narrow_intervals_spec(
            (IntervalPanel("", (*lines, whole)),),
            words=IntervalWords(
                title="Agreement by group",
                axis="Kendall’s τ",
                level=f"{options.level * 100:g} %",
                value="τ",
                n="raters",
            ),
            legend=(
                LegendEntry("τ of the model", "ink"),
                LegendEntry(
                    f"Halves of the raters, middle {options.ceiling_share * 100:g} % of splits",
                    "ink",
                    outlined=True,
                ),
            ),
            reference=0.0,
            decimals=2,
        )


def _tau_mark(tau: ResampledValue, n: int) -> IntervalMark:
    return IntervalMark(tau.value, tau.interval.low, tau.interval.high, n, reason=str(tau.reason))


def _ceiling_mark(ceiling: NoiseCeiling, n: int) -> IntervalMark:
    return IntervalMark(
        ceiling.mean, ceiling.low, ceiling.high, n, outlined=True, reason=str(ceiling.reason)
    )
