"""The tables of an alignment report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isnan
from typing import Any

from evaluation.analyses.alignment_result import (
    AlignmentResult,
    Cell,
    GroupAlignment,
    LeftOut,
    NoiseCeiling,
    ResampledValue,
)
from evaluation.metrics.estimate import Estimate
from evaluation.reports.parts.document import KeyNumber, Table
from evaluation.reports.parts.formatting import (
    MISSING,
    count,
    interval,
    number,
    percent,
)
from evaluation.reports.parts.table import Column, Reader, ReportTable, ranked, shown
from evaluation.reports.parts.tau_questions import (
    ceiling_key,
    pooled_rows,
    precision_key,
    published_p_columns,
    question_table,
    resampled_p_columns,
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
    def group_columns(self) -> tuple[Column, ...]:
        return (
            Column("", "group", meaning="slug of the group"),
            Column("Group", "group_name", lambda row: self.groups.get(_get(row, "group"))),
        )

    @property
    def scale_columns(self) -> tuple[Column, ...]:
        def part(name: str) -> Callable[[Any], Any]:
            return lambda row: self.scales.get(_get(row, "scale"), {}).get(name)

        return (
            Column("", "scale", meaning="slug of the scale"),
            *(Column("", name, part(name)) for name in ("low", "high", "dimension")),
        )

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
    columns = (
        *names.group_columns,
        *shown(GroupAlignment),
        Column(
            "τ",
            "tau",
            _estimate("tau"),
            2,
            with_interval=True,
            prefix="tau_",
            style="strong",
            meaning="as observed; the interval leaves out one scale at a time",
        ),
        *published_p_columns(),
        *(
            Column(head, name, f"{name}.value", 2)
            for head, name in (
                ("P@3", "precision"),
                ("Top", "precision_top"),
                ("Bottom", "precision_bottom"),
            )
        ),
        Column(
            "Halves", "ceiling_mean", "ceiling.mean", 2, meaning="τ between halves of the raters"
        ),
        *(
            Column("", f"ceiling_{part}", f"ceiling.{part}")
            for part in ("low", "high", "n_first", "n_second")
        ),
        Column("", "interval_method", "tau.interval.method"),
        *(
            Column("", name, value)
            for name, value in (
                ("reason", "tau.reason"),
                ("precision_reason", "precision.reason"),
                ("interval_reason", "tau.interval.reason"),
                ("ceiling_reason", "ceiling.reason"),
            )
        ),
        *resampled_p_columns(),
    )
    return ReportTable(
        "groups",
        "Agreement of every group",
        result.by_group,
        columns,
        level,
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
    return ReportTable(
        "cells",
        "Every group on every scale",
        result.cells,
        (
            *names.group_columns,
            *names.scale_columns,
            Column("", "human_mean", "human.mean", unit="rating, 0 to 100"),
            Column("", "human_sd", "human.sd", unit="rating, 0 to 100"),
            Column("", "human_n", "human.n", meaning="ratings"),
            Column("", "human_low", "human.interval.low"),
            Column("", "human_high", "human.interval.high"),
            Column("", "human_rank", "human.rank", whole=True, meaning="1 = nearest the 100 pole"),
            Column("", "model_mean", "model.mean", unit="the measure’s"),
            Column("", "model_low", "model.low"),
            Column("", "model_high", "model.high"),
            Column("", "model_n", "model.n", whole=True, meaning="prompts"),
            Column("", "model_rank", "model.rank", whole=True, meaning="1 = nearest the 100 pole"),
            Column("", "human_reason", "human.reason"),
            Column("", "human_interval_reason", "human.interval.reason"),
            Column("", "model_reason", "model.reason"),
        ),
        level,
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


def overall_table(result: AlignmentResult) -> ReportTable:
    """One row a quantity over all groups, as observed; `n` counts what `unit` names."""
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
    rows[0]["p_value"] = pooled.p_value
    rows.append(_ceiling_row(pooled.ceiling, pooled.n_submissions, result.options.ceiling_share))
    rows += [
        {"quantity": quantity, "value": float(n), "n": n, "unit": unit}
        for quantity, n, unit in (
            ("submissions", pooled.n_submissions, "submissions"),
            ("annotations", pooled.n_annotations, "submissions by groups"),
            ("groups", pooled.n_groups, "groups"),
            ("cells", pooled.n_cells, "cells"),
            ("groups_tested", pooled.n_tested, "groups"),
            ("groups_above_zero", pooled.n_above_zero, "groups"),
        )
    ]
    numbers = ("value", "low", "high", "level", "p_value")
    return ReportTable(
        "overall",
        "Agreement over all groups",
        rows,
        (
            Column("", "quantity"),
            *(Column("", name, _get_float(name)) for name in numbers[:4]),
            Column("", "p_value", _get_float("p_value"), meaning="cells as independent draws"),
            Column("", "method", _get_text("method")),
            Column("", "n"),
            Column("", "unit"),
            Column("", "n_resamples", _get_float("n_resamples")),
            Column("", "n_skipped", _get_float("n_skipped")),
            Column("", "reason", _get_text("reason")),
            Column("", "interval_reason", _get_text("interval_reason")),
        ),
    )


def left_out_table(result: AlignmentResult, names: Names) -> ReportTable:
    return ReportTable(
        "left_out",
        "What did not enter, and why",
        result.left_out,
        (
            Column("", "what"),
            *names.group_columns,
            *names.scale_columns,
            *shown(LeftOut),
        ),
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


def _estimate(name: str) -> Reader:
    return lambda row: getattr(row, name).estimate(row.n_raters)


def _get(row: Any, name: str) -> str:
    return str(getattr(row, name))


def _get_float(name: str) -> Reader:
    return lambda row: row.get(name)


def _get_text(name: str) -> Reader:
    return lambda row: row.get(name, "")


def _value_row(quantity: str, value: ResampledValue, n: int, unit: str) -> dict[str, Any]:
    found = value.interval
    return {
        "quantity": quantity,
        "value": value.value,
        "low": found.low,
        "high": found.high,
        "level": found.level,
        "method": found.method,
        "n": n,
        "unit": unit,
        "n_resamples": found.n_resamples,
        "n_skipped": found.n_skipped,
        "reason": str(value.reason),
        "interval_reason": str(found.reason),
    }


def _ceiling_row(ceiling: NoiseCeiling, n: int, share: float) -> dict[str, Any]:
    return {
        "quantity": "ceiling_pooled",
        "value": ceiling.mean,
        "low": ceiling.low,
        "high": ceiling.high,
        "level": share,
        "method": "split halves",
        "n": n,
        "unit": "submissions",
        "n_resamples": ceiling.n_splits,
        "n_skipped": ceiling.n_skipped,
        "reason": str(ceiling.reason),
    }
