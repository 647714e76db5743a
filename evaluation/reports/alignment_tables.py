"""The tables of an alignment report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from math import isnan
from typing import Annotated, Any

from evaluation.analyses.alignment_result import (
    AlignmentResult,
    Cell,
    GroupAlignment,
    LeftOut,
    NoiseCeiling,
    ResampledValue,
)
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.shown import Shown
from evaluation.reports.parts.document import KeyNumber, Table
from evaluation.reports.parts.formatting import (
    MISSING,
    count,
    interval,
    number,
    percent,
)
from evaluation.reports.parts.table import Column, ReportTable, ranked
from evaluation.reports.parts.tau_questions import (
    ceiling_key,
    pooled_rows,
    precision_key,
    question_table,
    tau_key,
)


@dataclass(frozen=True)
class Names:
    """How groups and scales are written; a slug that is not among them stands for itself.

    groups : of the analysis and beyond it; scales : slug → low, high, dimension
    """

    groups: Mapping[str, str] = field(default_factory=dict)
    scales: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Names:
        own = {entry["slug"]: entry["plural"] for entry in record["groups"]}
        scales = {entry["slug"]: entry for entry in record["scales"]}
        return cls(record["other_groups"] | own, scales)

    @property
    def group_name(self) -> Column:
        return Column("Group", "group_name", lambda row: self.groups.get(row.group))

    @property
    def poles(self) -> tuple[Column, ...]:
        def part(name: str) -> Callable[[Any], Any]:
            return lambda row: self.scales.get(row.scale, {}).get(name)

        return tuple(Column("", name, part(name)) for name in ("low", "high", "dimension"))

    def scale(self, slug: str) -> str:
        found = self.scales.get(slug)
        return f"{found['low']} – {found['high']}" if found else slug


def alignment_tables(result: AlignmentResult, names: Names | None = None) -> dict[str, ReportTable]:
    """Return every table of an alignment by its name.

    groups : one row a group; cells : one row a group and scale, ratings 0 to 100, scores in the
    measure's unit; overall : one row a quantity over all groups, `n` counts what `unit` names;
    left_out : one row for everything that did not enter; questions : what τ says to each
    """
    names, level = names or Names(), percent(result.options.level)
    tables = [
        group_table(result, names, level),
        cell_table(result, names, level),
        overall_table(result),
        left_out_table(result, names),
        question_table(pooled_rows(None, result.pooled), level),
    ]
    return {table.name: table for table in tables}


def group_table(result: AlignmentResult, names: Names, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "groups",
        "Agreement of every group",
        result.by_group,
        GroupAlignment,
        "group",
        names.group_name,
        *("n_raters", "n_incomplete", "n_scales", "observed", "p_value", "p_holm"),
        *("precision", "precision_top", "precision_bottom"),
        *("ceiling.mean", "ceiling.low", "ceiling.high", "ceiling.n_first", "ceiling.n_second"),
        *("tau.interval.method", "tau.reason", "precision.reason", "tau.interval.reason"),
        *("ceiling.reason", "p_resampled", "p_resampled_holm"),
        level=level,
        note=lambda row: str(row.tau.reason or row.tau.interval.reason),
    )


def printed_groups(groups: ReportTable) -> Table:
    """Return the groups, highest τ first."""
    return groups.printed(
        "Kendall’s τ as observed and precision at 3 for every group, highest τ first; interval and "
        "p leave out one scale at a time, p by Holm over all groups.",
        rows=by_tau(groups),
        columns=(
            "group_name",
            "tau",
            "p_resampled",
            "p_resampled_holm",
            *("precision_top", "precision_bottom", "precision"),
            "ceiling_mean",
            "n_raters",
            Column.p("p, scales independent", value="p_value", style="quiet"),
        ),
    )


def by_tau(groups: ReportTable) -> list[GroupAlignment]:
    return ranked(groups.rows, lambda row: float("nan") if row.tau.reason else row.tau.value)


def cell_table(result: AlignmentResult, names: Names, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "cells",
        "Every group on every scale",
        result.cells,
        Cell,
        "group",
        names.group_name,
        "scale",
        *names.poles,
        *("human.mean", "human.sd", "human.n", "human.interval.low", "human.interval.high"),
        *("human.rank", "model", "human.reason", "human.interval.reason", "model.reason"),
        level=level,
        note=lambda row: str(row.human.reason or row.model.reason),
    )


def printed_cells(cells: ReportTable, names: Names, group: str, measure: str) -> Table:
    """Return the scales of one group; ``measure`` is the measure's short name."""

    def human(row: Cell) -> Estimate:
        found = row.human
        return Estimate(found.mean, found.interval.low, found.interval.high, found.n)

    def model(row: Cell) -> Estimate:
        return Estimate(row.model.mean, row.model.low, row.model.high)

    people: dict[str, Any] = {"group": "People, rating 0–100", "source": "people"}
    scores: dict[str, Any] = {"group": f"{measure} score of the model", "source": "model"}
    return cells.printed(
        f"Ratings and scores of {names.groups[group]}; rank 1 is nearest the right adjective.",
        rows=[row for row in cells.rows if row.group == group],
        columns=(
            Column("Scale", value=lambda row: names.scale(row.scale)),
            Column("Mean", value=human, decimals=1, with_interval=True, **people),
            Column("Raters", value="human.n", decimals=0, **people),
            Column("Mean", value=model, decimals=2, with_interval=True, signed=True, **scores),
            Column("Prompts", value="model.n", decimals=0, missing="", **scores),
            Column("People", value="human.rank", decimals=0, missing="", group="Rank"),
            Column("Model", value="model.rank", decimals=0, missing="", group="Rank"),
        ),
    )


@dataclass(frozen=True)
class OverallRow:
    """One quantity over all groups, as observed; `n` counts what `unit` names."""

    quantity: Annotated[str, Shown()]
    value: Annotated[float, Shown()]
    low: Annotated[float | None, Shown()] = None
    high: Annotated[float | None, Shown()] = None
    level: Annotated[float | None, Shown()] = None
    p_value: Annotated[float | None, Shown(meaning="cells as independent draws")] = None
    method: Annotated[str, Shown()] = ""
    _: KW_ONLY
    n: Annotated[int, Shown()]
    unit: Annotated[str, Shown()]
    n_resamples: Annotated[int | None, Shown()] = None
    n_skipped: Annotated[int | None, Shown()] = None
    reason: Annotated[str, Shown()] = ""
    interval_reason: Annotated[str, Shown()] = ""


def overall_table(result: AlignmentResult) -> ReportTable:
    pooled = result.pooled
    rows = [
        _value_row(quantity, value, n, unit)
        for quantity, value, n, unit in (
            ("tau_pooled", pooled.tau, pooled.n_cells, "cells"),
            ("tau_mean_of_groups", pooled.group_tau, pooled.n_groups, "groups"),
            ("precision", pooled.precision, pooled.n_groups, "groups"),
            ("precision_top", pooled.precision_top, pooled.n_groups, "groups"),
            ("precision_bottom", pooled.precision_bottom, pooled.n_groups, "groups"),
        )
    ]
    rows[0] = replace(rows[0], p_value=pooled.p_value)
    rows.append(_ceiling_row(pooled.ceiling, pooled.n_submissions, result.options.ceiling_share))
    rows += [
        OverallRow(quantity, float(n), n=n, unit=unit)
        for quantity, n, unit in (
            ("submissions", pooled.n_submissions, "submissions"),
            ("annotations", pooled.n_annotations, "submissions by groups"),
            ("groups", pooled.n_groups, "groups"),
            ("cells", pooled.n_cells, "cells"),
            ("groups_tested", pooled.n_tested, "groups"),
            ("groups_above_zero", pooled.n_above_zero, "groups"),
        )
    ]
    return ReportTable.of_rows("overall", "Agreement over all groups", rows, OverallRow)


def left_out_table(result: AlignmentResult, names: Names) -> ReportTable:
    return ReportTable.of_rows(
        "left_out",
        "What did not enter, and why",
        result.left_out,
        LeftOut,
        *("what", "group"),
        names.group_name,
        "scale",
        *names.poles,
        *("n", "reason"),
    )


def key_numbers(result: AlignmentResult) -> tuple[KeyNumber, ...]:
    pooled, level = result.pooled, percent(result.options.level)
    answers, k = pooled.answers, result.options.k
    cells = f"{count(pooled.n_cells, 'cell')}, {count(pooled.n_annotations, 'rating')} of a group"
    ends = (
        f"Top {number(pooled.precision_top.value)}, bottom {number(pooled.precision_bottom.value)}"
    )
    known = [row for row in result.by_group if row.p_resampled == row.p_resampled]
    tested = len(known)
    above = sum(
        row.tau.value > 0 and row.p_resampled_holm < 1 - result.options.level for row in known
    )
    return (
        tau_key("Agreement in order, Kendall’s τ", answers, pooled.tau, level, cells),
        ceiling_key(answers, pooled.tau)
        if not isnan(answers.ceiling)
        else halves_key(pooled.ceiling, result.options.ceiling_share, *_halves(pooled.ceiling)),
        precision_key(k, answers, pooled.precision, level, ends),
        KeyNumber(
            "Groups with τ above zero",
            str(above),
            f"of {tested}",
            (
                f"p < {1 - result.options.level:.2g} after Holm’s correction",
                f"for {count(tested, 'test')}",
            ),
        )
        if tested
        else KeyNumber("Groups with τ above zero", MISSING, lines=("No group could be tested.",)),
    )


def _halves(ceiling: NoiseCeiling) -> tuple[str, ...]:
    return (f"Raters against raters, {ceiling.n_first} and {ceiling.n_second}",)


def halves_key(ceiling: NoiseCeiling, share: float, *more: str) -> KeyNumber:
    """Return how well halves of the raters agree."""
    return KeyNumber(
        "Agreement between halves of the raters",
        number(ceiling.mean),
        "",
        (f"{ceiling.reason.capitalize()}.",)
        if ceiling.reason
        else (
            f"Middle {percent(share)} of split halves: {interval(ceiling.low, ceiling.high)}",
            *more,
        ),
    )


def _value_row(quantity: str, value: ResampledValue, n: int, unit: str) -> OverallRow:
    found = value.interval
    return OverallRow(
        quantity,
        value.value,
        found.low,
        found.high,
        found.level,
        method=found.method,
        n=n,
        unit=unit,
        n_resamples=found.n_resamples,
        n_skipped=found.n_skipped,
        reason=str(value.reason),
        interval_reason=str(found.reason),
    )


def _ceiling_row(ceiling: NoiseCeiling, n: int, share: float) -> OverallRow:
    return OverallRow(
        "ceiling_pooled",
        ceiling.mean,
        ceiling.low,
        ceiling.high,
        share,
        method="split halves",
        n=n,
        unit="submissions",
        n_resamples=ceiling.n_splits,
        n_skipped=ceiling.n_skipped,
        reason=str(ceiling.reason),
    )
