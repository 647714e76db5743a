"""The comparison of several runs as tidy tables with stable columns."""

from __future__ import annotations

from typing import Any

import pandas as pd

from evaluation.analyses.alignment_comparison_result import (
    ComparisonResult,
    Difference,
    RunGroup,
    RunOverall,
)
from evaluation.reports.cells import to_frame
from evaluation.reports.score_words import all_options

OVERALL = (
    "part", "run", "run_name", "measure", "options", "model", "n_submissions", "n_groups",
    "n_cells", "tau", "tau_low", "tau_high", "tau_wide_low", "tau_wide_high", "p_value", "p_holm",
    "mean_group_tau", "precision", "precision_low", "precision_high", "precision_wide_low",
    "precision_wide_high", "precision_top", "precision_bottom", "ceiling_mean", "ceiling_low",
    "ceiling_high", "reason",
)  # fmt: skip
GROUPS = (
    "run", "run_name", "group", "group_name", "n_raters", "n_scales", "tau", "tau_low", "tau_high",
    "p_value", "p_holm", "p_holm_table", "precision", "precision_top", "precision_bottom",
    "is_pilot", "reason", "precision_reason",
)  # fmt: skip
DIFFERENCES = (
    "part", "quantity", "first", "first_name", "second", "second_name", "n_groups", "n_cells",
    "first_value", "second_value", "difference", "low", "high", "wide_low", "wide_high", "p_value",
    "p_holm", "reason", "interval_reason",
)  # fmt: skip
MENTION = (
    "run", "run_name", "explained", "low", "high", "level", "n_groups", "n_cells", "reason",
)  # fmt: skip
LEFT_OUT = ("run", "run_name", "what", "group", "group_name", "scale", "n", "reason")
TITLES = {
    "overall": "Every run over all groups",
    "differences": "Every two runs",
    "groups": "Every group with every run",
    "mention": "What the mere mention of a group explains",
    "left_out": "What did not enter, and why",
}


def comparison_tables(
    record: dict[str, Any], result: ComparisonResult, mention: dict[str, dict[str, Any]]
) -> dict[str, pd.DataFrame]:
    """Return the tables, numbers as computed; `mention` only where a run has the baseline."""
    runs = {run["public_id"]: run for run in record["runs"]}
    names = record["other_groups"] | {e["slug"]: e["plural"] for e in record["groups"]}
    return {
        "overall": to_frame((_overall(row, runs) for row in result.overall), OVERALL),
        "differences": to_frame(
            (_difference(row, runs) for row in result.differences), DIFFERENCES
        ),
        "groups": to_frame(
            (_group(row, runs, names, result.pilot_groups) for row in result.by_group), GROUPS
        ),
        **({"mention": _mention(mention, runs)} if mention else {}),
        "left_out": to_frame(
            (
                {
                    "run": row.run,
                    "run_name": runs[row.run]["label"] if row.run else "",
                    "what": row.item.what,
                    "group": row.item.group,
                    "group_name": names.get(row.item.group, row.item.group),
                    "scale": row.item.scale,
                    "n": row.item.n,
                    "reason": row.item.reason,
                }
                for row in result.left_out
            ),
            LEFT_OUT,
        ),
    }


def _mention(found: dict[str, dict[str, Any]], runs: dict[str, Any]) -> pd.DataFrame:
    rows = ({"run": run, "run_name": runs[run]["label"]} | row for run, row in found.items())
    return to_frame(rows, MENTION)


def _overall(row: RunOverall, runs: dict[str, Any]) -> dict[str, Any]:
    pooled, run = row.pooled, runs[row.run]
    return {
        "part": row.part,
        "run": row.run,
        "run_name": run["label"],
        "measure": run["measure"],
        "options": all_options(run),
        "model": run["model"],
        "n_submissions": pooled.n_submissions,
        "n_groups": pooled.n_groups,
        "n_cells": pooled.n_cells,
        "tau": pooled.tau.value,
        "tau_low": pooled.tau.interval.low,
        "tau_high": pooled.tau.interval.high,
        "tau_wide_low": row.tau_wide.low,
        "tau_wide_high": row.tau_wide.high,
        "p_value": pooled.p_value,
        "p_holm": row.p_holm,
        "mean_group_tau": pooled.group_tau.value,
        "precision": pooled.precision.value,
        "precision_low": pooled.precision.interval.low,
        "precision_high": pooled.precision.interval.high,
        "precision_wide_low": row.precision_wide.low,
        "precision_wide_high": row.precision_wide.high,
        "precision_top": pooled.precision_top.value,
        "precision_bottom": pooled.precision_bottom.value,
        "ceiling_mean": pooled.ceiling.mean,
        "ceiling_low": pooled.ceiling.low,
        "ceiling_high": pooled.ceiling.high,
        "reason": str(pooled.tau.reason),
    }


def _group(
    row: RunGroup, runs: dict[str, Any], names: dict[str, str], pilot: tuple[str, ...]
) -> dict[str, Any]:
    group = row.alignment
    return {
        "run": row.run,
        "run_name": runs[row.run]["label"],
        "group": group.group,
        "group_name": names[group.group],
        "n_raters": group.n_raters,
        "n_scales": group.n_scales,
        "tau": group.tau.value,
        "tau_low": group.tau.interval.low,
        "tau_high": group.tau.interval.high,
        "p_value": group.p_value,
        "p_holm": group.p_holm,
        "p_holm_table": row.p_table,
        "precision": group.precision.value,
        "precision_top": group.precision_top.value,
        "precision_bottom": group.precision_bottom.value,
        "is_pilot": group.group in pilot,
        "reason": str(group.tau.reason),
        "precision_reason": str(group.precision.reason),
    }


def _difference(row: Difference, runs: dict[str, Any]) -> dict[str, Any]:
    return {
        "part": row.part,
        "quantity": row.quantity,
        "first": row.first,
        "first_name": runs[row.first]["label"],
        "second": row.second,
        "second_name": runs[row.second]["label"],
        "n_groups": row.n_groups,
        "n_cells": row.n_cells,
        "first_value": row.first_value,
        "second_value": row.second_value,
        "difference": row.value,
        "low": row.people.low,
        "high": row.people.high,
        "wide_low": row.wide.low,
        "wide_high": row.wide.high,
        "p_value": row.p_value,
        "p_holm": row.p_holm,
        "reason": row.reason,
        "interval_reason": str(row.wide.reason),
    }
