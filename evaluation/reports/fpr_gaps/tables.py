"""The tables of the report on one classifier's false positive rates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.analyses.fpr_classifier import FprGaps
from evaluation.analyses.fpr_counts import GapOptions
from evaluation.analyses.fpr_gaps import ModelGaps
from evaluation.analyses.fpr_mixed import MixedEffect
from evaluation.metrics.estimate import no_estimate
from evaluation.reports.parts.document import Block, KeyNumber
from evaluation.reports.parts.formatting import MISSING
from evaluation.reports.parts.gap_tables import (
    OF_ALL,
    ROLE_NAMES,
    SIDES,
    beyond_key,
    gap_figure,
    span_key,
    unmarked_keys,
)
from evaluation.reports.parts.table import Column, ReportTable, ranked

FACTOR_NAMES = {"wording": "wording", "order": "order of the labels", "seed": "seed"}
GROUP_COLUMNS = ("Words", "n", "fpr", "gap", "± released", "± t", "Beyond band", "equivalence_p")
WORD_COLUMNS = ("n", "fpr", "gap")


def mention_table(result: ModelGaps, level: str) -> ReportTable:
    """Return the fits of gaps on the surprisal of the mention; empty where it was not measured."""
    return ReportTable.of(
        "mention",
        "Gaps on the surprisal of the mention",
        result.mention,
        Column("Side", "side"),
        Column.estimate(
            "Slope",
            "slope",
            decimals=4,
            signed=True,
            meaning="change of the gap for a nat of surprisal, over words",
        ),
        Column("Explained, %", "explained", decimals=0, scale=100),
        Column("Words", "n_words", "slope.n", 0),
        level=level,
        reason="slope.note",
    )


def fallback_table(result: FprGaps, names: Mapping[str, str], level: str) -> ReportTable:
    """Return the bounds of gaps for answers without a class."""
    return ReportTable.of(
        "fallback",
        "Answers that named no class",
        result.bounds,
        Column("Side", "side"),
        Column("", "group"),
        Column("Group", "group_name", lambda row: names.get(row.group, row.group)),
        Column("Without, %", "share", decimals=1, scale=100, meaning="of all runs’ answers"),
        Column("n", "n_answers", decimals=0, meaning="answers of all runs"),
        Column("", "n_without", decimals=0, meaning="answers that named no class"),
        Column.estimate(
            "All errors",
            "gap_errors",
            "errors",
            3,
            signed=True,
            prefix="errors_",
            meaning="gap where these answers are false positives",
        ),
        Column.estimate(
            "All correct",
            "gap_correct",
            "correct",
            3,
            signed=True,
            prefix="correct_",
            meaning="gap where none of them is",
        ),
        Column("Lowest", "lowest", "low", 3, signed=True, meaning="smallest possible gap"),
        Column("Highest", "highest", "high", 3, signed=True, meaning="largest possible gap"),
        level=level,
    )


def factor_table(result: FprGaps, level: str) -> ReportTable:
    return ReportTable.of(
        "prompts",
        "What prompts explain of the gaps",
        result.factors,
        Column("Side", "side"),
        Column("", "factor"),
        Column("Factor", value=lambda row: FACTOR_NAMES[row.factor]),
        Column("Levels", "n_levels", decimals=0),
        Column.estimate(
            "Share, %",
            "share",
            decimals=0,
            scale=100,
            meaning="ε² of the gaps of all runs and groups; interval over templates",
        ),
        Column("Runs", "n_runs", "share.n", 0),
        level=level,
        reason="share.note",
    )


def mixed_table(result: FprGaps, names: Mapping[str, str], level: str) -> ReportTable:
    """Return every group's effect; a side without a fit has one row with its reason."""
    rows = [
        {"fit": fit, "own": effect}
        for fit in result.mixed
        for effect in fit.effects or (MixedEffect("", no_estimate(fit.reason)),)
    ]
    return ReportTable.of(
        "mixed",
        "Mixed logistic regression",
        rows,
        Column("Side", "side", "fit.side"),
        Column("", "group", "own.group"),
        Column("Group", "group_name", lambda row: names.get(row["own"].group, MISSING)),
        Column.effect(
            "Effect",
            "effect",
            "own.effect",
            2,
            meaning="log odds of a false positive minus the mean over groups",
        ),
        Column("n", "n", "own.effect.n", 0, meaning="sentences of another label, all runs"),
        Column("sd of templates", "template_sd", "fit.template_sd", 2),
        Column("of words", "word_sd", "fit.word_sd", 2),
        Column("of runs", "run_sd", "fit.run_sd", 2),
        level=level,
        reason="fit.reason",
    )


def key_numbers(result: FprGaps, spans: ReportTable, level: str) -> tuple[KeyNumber, ...]:
    models = (result.result,)
    of_spans = (
        span_key(spans, row, f"Span, {row['span'].side} side")
        for row in spans.rows
        if row["span"].side in SIDES
    )
    beyond = beyond_key(models)
    return (*of_spans, *((beyond,) if beyond else ()), *unmarked_keys(models, level))


def side_blocks(
    gaps: ReportTable, result: ModelGaps, side: str, options: GapOptions
) -> tuple[Block, ...]:
    """Return the figure of one side, and its groups in the order of their gaps."""
    own = [row for row in gaps.rows if row.gap.side == side and not row.gap.filler]
    of_groups = [row for row in own if row.gap.role == "group"]
    controls = [row for row in own if row.gap.role == "unmarked"]
    return (
        gap_figure(gaps, (result,), side, options, words=True),
        gaps.printed(
            f"{SIDES[side]}-sentiment false positive rates, the largest gap first.",
            rows=[*ranked(of_groups, lambda row: row.gap.gap.value), *controls],
            columns=(gaps.column("group_name"), *_with_p(GROUP_COLUMNS, options)),
        ),
    )


def _with_p(names: tuple[str, ...], options: GapOptions) -> tuple[str, ...]:
    """Return the names with the p-value after the gap, where the interval has one."""
    place = names.index("gap") + 1
    own = ("p_value",) if options.interval in OF_ALL else ()
    return (*names[:place], *own, *names[place:])


def word_blocks(gaps: ReportTable, side: str, options: GapOptions) -> tuple[Block, ...]:
    rows = [row for row in gaps.rows if row.gap.side == side and row.gap.filler]
    shown = ranked(rows, lambda row: row.gap.gap.value)

    def of(row: Any) -> str:
        return ROLE_NAMES[row.gap.role] or str(gaps.column("group_name").read(row))

    return (
        gaps.printed(
            f"{SIDES[side]}-sentiment gaps word by word, the largest first.",
            rows=shown,
            columns=(
                "Word",
                Column("Group", value=of),
                *_with_p(WORD_COLUMNS, options),
                "Adjusted",
            ),
        ),
    )
