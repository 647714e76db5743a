"""The alignment by subgroups as tidy tables with stable columns."""

from __future__ import annotations

from typing import Any

import pandas as pd

from evaluation.analyses.subgroup_result import SubgroupResult
from evaluation.reports.cells import to_frame

SUBGROUPS = (
    "question", "question_text", "answer", "n_people", "n_cells", "tau", "tau_low", "tau_high",
    "p_value", "random_mean", "random_low", "random_high", "precision", "precision_low",
    "precision_high", "reason",
)  # fmt: skip
DIFFERENCES = (
    "question", "question_text", "quantity", "first", "second", "difference", "low", "high",
    "expected", "p_value", "p_holm",
)  # fmt: skip
GROUPS = (
    "question", "question_text", "answer", "group", "group_name", "n_raters", "n_scales", "tau",
    "tau_low", "tau_high", "p_value", "p_holm", "precision", "precision_low", "precision_high",
    "reason",
)  # fmt: skip
MEANS = (
    "question", "question_text", "answer", "group", "group_name", "scale", "low_pole", "high_pole",
    "n", "mean", "sd", "low", "high",
)  # fmt: skip


def subgroup_tables(record: dict[str, Any], result: SubgroupResult) -> dict[str, pd.DataFrame]:
    """Return the tables subgroups, differences, groups and means; what is hidden is in none."""
    texts = {"": "", **record["questions"]}
    names = {entry["slug"]: entry["plural"] for entry in record["groups"]}
    scales = {entry["slug"]: entry for entry in record["scales"]}
    subgroups = (
        {
            "question": row.question,
            "question_text": texts[row.question],
            "answer": row.answer,
            "n_people": row.n_people,
            "n_cells": row.n_cells,
            "tau": row.tau.value,
            "tau_low": row.tau.interval.low,
            "tau_high": row.tau.interval.high,
            "p_value": row.p_value,
            "random_mean": row.reference.mean,
            "random_low": row.reference.low,
            "random_high": row.reference.high,
            "precision": row.precision.value,
            "precision_low": row.precision.interval.low,
            "precision_high": row.precision.interval.high,
            "reason": str(row.tau.reason),
        }
        for row in result.subgroups
    )
    differences = (
        {
            "question": row.question,
            "question_text": texts[row.question],
            "quantity": row.quantity,
            "first": row.first,
            "second": row.second,
            "difference": row.value,
            "low": row.interval.low,
            "high": row.interval.high,
            "expected": row.expected,
            "p_value": row.p_value,
            "p_holm": row.p_holm,
        }
        for row in result.differences
    )
    groups = (
        {
            "question": row.question,
            "question_text": texts[row.question],
            "answer": row.answer,
            "group": row.group,
            "group_name": names[row.group],
            "n_raters": row.n_raters,
            "n_scales": row.n_scales,
            "tau": row.tau.value,
            "tau_low": row.tau.interval.low,
            "tau_high": row.tau.interval.high,
            "p_value": row.p_value,
            "p_holm": row.p_holm,
            "precision": row.precision.value,
            "precision_low": row.precision.interval.low,
            "precision_high": row.precision.interval.high,
            "reason": str(row.tau.reason),
        }
        for row in result.by_group
    )
    means = (
        {
            "question": row.question,
            "question_text": texts[row.question],
            "answer": row.answer,
            "group": row.group,
            "group_name": names[row.group],
            "scale": row.scale,
            "low_pole": scales[row.scale]["low"],
            "high_pole": scales[row.scale]["high"],
            "n": row.n,
            "mean": row.mean,
            "sd": row.sd,
            "low": row.interval.low,
            "high": row.interval.high,
        }
        for row in result.cells
    )
    return {
        "subgroups": to_frame(subgroups, SUBGROUPS),
        "differences": to_frame(differences, DIFFERENCES),
        "groups": to_frame(groups, GROUPS),
        "means": to_frame(means, MEANS),
    }
