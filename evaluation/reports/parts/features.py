"""Gaps by linguistic feature and by density of features, for counterpart and judgment reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from annotation.common.lazy import pd
from annotation.corpora.features import FEATURE_NAMES, detect_features, split_words
from annotation.corpora.summary import NAMES_OF_AAL
from evaluation.analyses.feature_gaps import (
    GAP,
    PER_WORDS,
    WORDS,
    DensitySlope,
    FeatureGap,
    FeatureResult,
)
from evaluation.charts import LegendEntry
from evaluation.reports.parts.directions import PRODUCER, REPEAT, Directions, producer_of, tone_of
from evaluation.reports.parts.document import Block, Figure, Prose, Section, Table
from evaluation.reports.parts.formatting import count, interval, number
from evaluation.reports.parts.table import (
    Column,
    ReportTable,
    estimate_columns,
    pivot,
)

FEATURE_WORDS = {
    "aint": "ain’t",
    "existential_it": "existential it",
    "negative_concord": "negative concord",
    "dropped_copula": "dropped copula",
    "determiner_leveling": "determiner leveling",
    "habitual_be": "habitual be",
    "completive_done": "completive done",
    "future_gone": "future gone",
    "remote_past_been": "remote past been",
}
CAVEAT = (
    "Features are found by search patterns, which over- and undershoot. Texts with many of them "
    "differ in other ways too: a slope is no effect of the features."
)


def count_uses(texts: Mapping[str, str], variety: str) -> pd.DataFrame | None:
    """Return pair → uses of each feature and words of its text in the source variety.

    None for a variety whose features nothing here can detect.
    """
    if variety.casefold() not in NAMES_OF_AAL:
        return None
    rows = {}
    for pair, body in texts.items():
        found = [feature.name for feature in detect_features(body)]
        uses = {name: found.count(name) for name in FEATURE_NAMES}
        rows[pair] = uses | {WORDS: len(split_words(body))}
    return pd.DataFrame.from_dict(rows, orient="index", columns=[*FEATURE_NAMES, WORDS])


@dataclass(frozen=True)
class Features:
    """Tables and figures of gaps by feature; ``lead`` is the score that features are shown for."""

    view: Directions
    result: FeatureResult
    lead: str

    @property
    def tables(self) -> tuple[ReportTable, ...]:
        return self.slopes, self.gaps

    @property
    def section(self) -> Section:
        source = self.view.varieties[0]
        blocks: tuple[Block, ...] = (*self._slope_blocks(), *self._gap_blocks())
        if not any(self.result.texts):
            blocks = (Prose((f"No {source} text holds one of the features that are looked for.",)),)
        density = self.result.density
        return Section(
            f"By features of {source}",
            blocks,
            why=f"If features of {source} make the gaps, texts with more of them have larger ones. "
            f"A text has {number(density.value, 1)} features in {PER_WORDS} words on average "
            f"({self.view.level} interval {interval(density.low, density.high, 1)}, "
            f"{count(density.n, 'text')}).",
        )

    @property
    def method(self) -> str:
        source, target = self.view.varieties
        return (
            f"Features of {source} are those of the {source} text of a pair, found by the search "
            "patterns of Deas et al. (2023, Appendix B), with closed lists of auxiliaries and "
            f"prepositions. Density is features in {PER_WORDS} words. Slopes are of least squares "
            f"over the pairs with both directions, so that the slope of the gap is that for "
            f"{source} less that for {target}; intervals and tests go by t with standard errors "
            "that allow for unequal spread (HC3). Adjusted slopes hold the source and the length "
            "(logarithm of words) of the text constant. Pairs with and without a feature are "
            "compared by Welch’s t-test, where there are five or more of either. p is by Holm’s "
            "method over all slopes of a kind, and over all features and producers of a score."
        )

    @cached_property
    def slopes(self) -> ReportTable:
        return ReportTable.of_rows(
            "feature_density",
            f"Change of scores and gaps with one more feature in {PER_WORDS} words",
            self.result.slopes,
            DensitySlope,
            *("producer", "metric", "quantity", "adjusted"),
            *estimate_columns(
                "Slope", self.view.decimals + 1, units="Pairs", signed=True, style="strong"
            ),
            *("p_value", "p_corrected"),
            level=self.view.level,
            note="estimate.note",
        )

    @cached_property
    def gaps(self) -> ReportTable:
        names = self.result.features
        return ReportTable.of_rows(
            "feature_gaps",
            "Gaps of pairs with and without each feature",
            self.result.gaps,
            FeatureGap,
            PRODUCER,
            *("producer", "metric"),
            Column("Feature", value=lambda row: FEATURE_WORDS.get(row.feature, row.feature)),
            "feature",
            Column("Gap with it", "present", decimals=self.view.decimals, signed=True),
            Column("Pairs", "n_present", "present.n", 0),
            Column("Gap without", "absent", decimals=self.view.decimals, signed=True),
            Column("Pairs", "n_absent", "absent.n", 0),
            *estimate_columns(
                "Difference",
                self.view.decimals,
                value="difference",
                signed=True,
                style="strong",
            ),
            *("p_value", "p_corrected"),
            level=self.view.level,
            note=lambda row: (
                f"{FEATURE_WORDS.get(row.feature, row.feature)}, in "
                f"{count(self.result.texts[names.index(row.feature)], 'text')}: "
                f"{row.difference.note}"
                if row.difference.note
                else ""
            ),
        )

    def _slope_blocks(self) -> tuple[Figure, Table]:
        view = self.view
        rows = [row for row in self.result.slopes if row.producer != REPEAT]
        shown = [row for row in rows if row.quantity == GAP]
        order = {name: number for number, name in enumerate(view.producers)}
        metrics = list(view.metrics)
        shown.sort(key=lambda row: (metrics.index(row.metric), order[row.producer], row.adjusted))
        figure = self.slopes.figure(
            "feature-density",
            f"Change of the gap ({view.difference}) with one more feature in {PER_WORDS} words, as "
            "it is (filled), and with source and length of the text held constant (outlined).",
            "value",
            rows=shown,
            panel=lambda row: view.metrics[row.metric],
            label=producer_of,
            tone=tone_of,
            outlined=lambda row: bool(row.adjusted),
            legend=(
                LegendEntry("as it is", "model"),
                LegendEntry("source and length held constant", "model", outlined=True),
            ),
            decimals=view.decimals + 1,
            title="Gaps by density of features",
            axis=f"Change of {view.difference}",
            value="slope",
        )

        def slope(key: tuple[str, bool], head: str, group: str, *more: str, **how: Any) -> Any:
            columns = self.slopes.side_by_side(
                key, ("value", *more), group=group, interval_head="interval", **how
            )
            return (replace(columns[0], head=head), *columns[1:])

        plain = f"One more feature in {PER_WORDS} words"
        table = self.slopes.printed(
            f"Change of scores, and of their gaps, with one more feature in {PER_WORDS} words; p "
            "by Holm’s method over all gaps.",
            rows=pivot(
                sorted(rows, key=lambda row: (order[row.producer], metrics.index(row.metric))),
                lambda row: (row.producer, row.metric),
                lambda row: (row.quantity, row.adjusted),
            ),
            columns=(
                Column("Producer", value=lambda line: producer_of(line.first)),
                Column("Score", value=lambda line: view.metrics[line.first.metric]),
                *(
                    column
                    for variety in view.varieties
                    for column in slope(
                        (variety, False),
                        f"Generating {variety}",
                        plain,
                        with_interval=False,
                        style="",
                    )
                ),
                *slope((GAP, False), "Gap", plain, "p_corrected", "n"),
                *slope((GAP, True), "Gap", "Source and length held constant", "p_corrected"),
            ),
            note=lambda line: next(
                (row.estimate.note for row in line.records.values() if row.estimate.note), ""
            ),
        )
        return figure, table

    def _gap_blocks(self) -> tuple[Figure, Table]:
        view = self.view
        present = {
            name for name, n in zip(self.result.features, self.result.texts, strict=True) if n
        }
        rows = [
            row
            for row in view.by_producer(self.result.gaps)  # type: ignore[type-var]
            if row.metric == self.lead and row.producer != REPEAT and row.feature in present
        ]
        name = view.metrics[self.lead]
        figure = self.gaps.figure(
            "feature-gaps",
            f"{name} gap ({view.difference}) of pairs whose text has the feature less that of "
            f"pairs whose text has not. Intervals by Welch’s t; n is the number of pairs with it.",
            "Difference",
            rows=rows,
            panel=producer_of,
            label="Feature",
            tone=tone_of,
            decimals=view.decimals,
            title="Gaps with and without each feature",
            axis=f"{name}, with the feature − without",
            value="difference",
        )
        table = self.gaps.printed(
            f"{name} gaps of pairs with and without each feature; features that no text has are "
            "left out.",
            rows=rows,
        )
        return figure, table
