"""The alignment as tidy tables with stable columns, for CSV, XLSX, pages and charts."""

from __future__ import annotations

from typing import Any

import pandas as pd

from evaluation.analyses.alignment_result import (
    AlignmentResult,
    Cell,
    Estimate,
    GroupAlignment,
    NoiseCeiling,
)

COUNT_COLUMNS = ("human_rank", "model_rank", "model_n")

GROUP_COLUMNS = (
    "group", "n_raters", "n_incomplete", "n_scales",
    "tau", "tau_low", "tau_high", "p_value", "p_holm",
    "precision", "precision_low", "precision_high",
    "precision_top", "precision_top_low", "precision_top_high",
    "precision_bottom", "precision_bottom_low", "precision_bottom_high",
    "ceiling_mean", "ceiling_low", "ceiling_high", "ceiling_n_first", "ceiling_n_second",
    "interval_method", "precision_method", "n_resamples", "n_skipped",
    "reason", "precision_reason", "interval_reason", "ceiling_reason",
)  # fmt: skip

CELL_COLUMNS = (
    "group", "scale",
    "human_mean", "human_sd", "human_n", "human_low", "human_high", "human_rank",
    "model_mean", "model_low", "model_high", "model_n", "model_rank",
    "human_reason", "human_interval_reason", "model_reason",
)  # fmt: skip

OVERALL_COLUMNS = (
    "quantity", "value", "low", "high", "level", "p_value", "method", "n", "unit",
    "n_resamples", "n_skipped", "reason", "interval_reason",
)  # fmt: skip

LEFT_OUT_COLUMNS = ("what", "group", "scale", "n", "reason")


def to_tables(result: AlignmentResult) -> dict[str, pd.DataFrame]:
    """Return the tables groups, cells, overall and left_out.

    groups : one row a group; tau, precision at k and noise ceiling with their limits
    cells : one row a group and scale; ratings 0 to 100, scores in the measure's unit
    overall : one row a quantity over all groups; `n` counts what `unit` names
    left_out : one row for everything that did not enter

    Numbers are as computed, NaN where a reason stands in a column beside them.
    """
    cells = pd.DataFrame([_cell_row(cell) for cell in result.cells], columns=list(CELL_COLUMNS))
    for column in COUNT_COLUMNS:
        cells[column] = cells[column].astype("Int64")
    return {
        "groups": pd.DataFrame(
            [_group_row(group) for group in result.by_group], columns=list(GROUP_COLUMNS)
        ),
        "cells": cells,
        "overall": pd.DataFrame(_overall_rows(result), columns=list(OVERALL_COLUMNS)),
        "left_out": pd.DataFrame(
            [
                (item.what, item.group, item.scale, item.n, str(item.reason))
                for item in result.left_out
            ],
            columns=list(LEFT_OUT_COLUMNS),
        ),
    }


def _group_row(group: GroupAlignment) -> dict[str, Any]:
    row: dict[str, Any] = {
        "group": group.group,
        "n_raters": group.n_raters,
        "n_incomplete": group.n_incomplete,
        "n_scales": group.n_scales,
        "p_value": group.p_value,
        "p_holm": group.p_holm,
        "ceiling_mean": group.ceiling.mean,
        "ceiling_low": group.ceiling.low,
        "ceiling_high": group.ceiling.high,
        "ceiling_n_first": group.ceiling.n_first,
        "ceiling_n_second": group.ceiling.n_second,
        "interval_method": group.tau.interval.method,
        "precision_method": group.precision.interval.method,
        "n_resamples": group.tau.interval.n_resamples,
        "n_skipped": group.tau.interval.n_skipped,
        "reason": str(group.tau.reason),
        "precision_reason": str(group.precision.reason),
        "interval_reason": str(group.tau.interval.reason),
        "ceiling_reason": str(group.ceiling.reason),
    }
    for name in ("tau", "precision", "precision_top", "precision_bottom"):
        estimate: Estimate = getattr(group, name)
        row[name] = estimate.value
        row[f"{name}_low"] = estimate.interval.low
        row[f"{name}_high"] = estimate.interval.high
    return row


def _cell_row(cell: Cell) -> dict[str, Any]:
    return {
        "group": cell.group,
        "scale": cell.scale,
        "human_mean": cell.human.mean,
        "human_sd": cell.human.sd,
        "human_n": cell.human.n,
        "human_low": cell.human.interval.low,
        "human_high": cell.human.interval.high,
        "human_rank": cell.human.rank,
        "model_mean": cell.model.mean,
        "model_low": cell.model.low,
        "model_high": cell.model.high,
        "model_n": cell.model.n,
        "model_rank": cell.model.rank,
        "human_reason": str(cell.human.reason),
        "human_interval_reason": str(cell.human.interval.reason),
        "model_reason": str(cell.model.reason),
    }


def _overall_rows(result: AlignmentResult) -> list[dict[str, Any]]:
    pooled = result.pooled
    rows = [
        _estimate_row("tau_pooled", pooled.tau, pooled.n_cells, "cells"),
        _estimate_row("tau_mean_of_groups", pooled.group_tau, pooled.n_groups, "groups"),
        _estimate_row("precision", pooled.precision, pooled.n_groups, "groups"),
        _estimate_row("precision_top", pooled.precision_top, pooled.n_groups, "groups"),
        _estimate_row("precision_bottom", pooled.precision_bottom, pooled.n_groups, "groups"),
        _ceiling_row(pooled.ceiling, pooled.n_submissions, result.options.ceiling_share),
    ]
    rows[0]["p_value"] = pooled.p_value
    for quantity, value, unit in (
        ("submissions", pooled.n_submissions, "submissions"),
        ("annotations", pooled.n_annotations, "submissions by groups"),
        ("groups", pooled.n_groups, "groups"),
        ("cells", pooled.n_cells, "cells"),
        ("groups_tested", pooled.n_tested, "groups"),
        ("groups_above_zero", pooled.n_above_zero, "groups"),
        ("resamples_with_empty_cells", pooled.n_thinned, "resamples"),
    ):
        rows.append({"quantity": quantity, "value": float(value), "n": value, "unit": unit})
    texts = ("method", "reason", "interval_reason")
    return [{**dict.fromkeys(texts, ""), **row} for row in rows]


def _estimate_row(quantity: str, estimate: Estimate, n: int, unit: str) -> dict[str, Any]:
    return {
        "quantity": quantity,
        "value": estimate.value,
        "low": estimate.interval.low,
        "high": estimate.interval.high,
        "level": estimate.interval.level,
        "method": estimate.interval.method,
        "n": n,
        "unit": unit,
        "n_resamples": estimate.interval.n_resamples,
        "n_skipped": estimate.interval.n_skipped,
        "reason": str(estimate.reason),
        "interval_reason": str(estimate.interval.reason),
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
