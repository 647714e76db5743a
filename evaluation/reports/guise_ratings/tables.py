"""The tables of the report on ratings of guises."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.analyses.guise_people import GuisePeople, ModelLine
from evaluation.reports.parts.document import Block, KeyNumber
from evaluation.reports.parts.formatting import (
    MISSING,
    count,
    interval,
    number,
    p_value,
    sentence,
)
from evaluation.reports.parts.table import Column, ReportTable

SHOWN_KEYS = 3


def scale_table(result: GuisePeople, names: Mapping[str, str], level: str) -> ReportTable:
    first, second = result.guises
    return ReportTable.of(
        "scales",
        "Differences between guises per scale",
        result.scales,
        Column("", "scale", meaning="slug of the trait scale"),
        Column("Scale", "scale_name", lambda row: names[row.scale]),
        Column.estimate(
            first,
            "first",
            decimals=1,
            prefix="first_",
            source="people",
            meaning=f"mean rating of texts in {first}",
            unit="0 to 100",
        ),
        Column.estimate(
            second,
            "second",
            decimals=1,
            prefix="second_",
            source="people",
            meaning=f"mean rating of texts in {second}",
            unit="0 to 100",
        ),
        Column.effect(
            "Difference",
            "difference",
            decimals=1,
            meaning=f"{first} less {second}, mean over pairs",
            unit="points",
        ),
        Column("", "p", "p_value", meaning="two-sided, of no difference"),
        Column.p("p (Holm)", "p_holm"),
        Column("Pairs", "n_pairs", "difference.n", 0, meaning="pairs rated in both guises"),
        Column("People", "n_people", decimals=0),
        Column("", "reason", "difference.note", meaning="why there is no value or interval"),
        level=level,
        note="difference.note",
    )


def item_table(result: GuisePeople) -> ReportTable:
    return ReportTable.of(
        "pairs",
        "Differences per pair and scale",
        result.items,
        Column("", "pair", "item", meaning="slug of the pair"),
        Column("", "scale", meaning="slug of the trait scale"),
        Column("", "difference", meaning="first guise less the second", unit="points"),
        Column("", "n_people", decimals=0, meaning="people who rated the pair on the scale"),
    )


def model_scale_table(result: GuisePeople, names: Mapping[str, str], level: str) -> ReportTable:
    people = {row.scale: row.difference for row in result.scales}
    return ReportTable.of(
        "model_scales",
        "Models’ matched guises per scale",
        result.model_scales,
        Column("Model", "model"),
        Column("", "scale", meaning="slug of the trait scale"),
        Column("Scale", "scale_name", lambda row: names[row.scale]),
        Column(
            "People",
            "people",
            lambda row: people[row.scale].value,
            1,
            signed=True,
            source="people",
            meaning="first guise less the second",
            unit="points",
        ),
        Column.effect(
            "Model",
            "score",
            "estimate",
            3,
            source="model",
            meaning="q(high pole) − q(low pole)",
            unit="log ratio",
        ),
        Column("Prompts", "n_prompts", "estimate.n", 0),
        level=level,
        reason="estimate.note",
    )


def model_table(result: GuisePeople, level: str) -> ReportTable:
    return ReportTable.of(
        "models",
        "Agreement of models with people",
        result.models,
        Column("Model", "model"),
        Column("Scales", "n_scales", decimals=0),
        Column.estimate(
            "τ, other texts",
            "tau_other_texts",
            "other_texts.estimate",
            2,
            prefix="other_texts_",
            style="strong",
            meaning="tau-b without the noise of people and texts: for texts like these",
        ),
        Column.p("p", "p_other_texts", "other_texts.p_value"),
        Column.estimate(
            "τ, these texts",
            "tau_these_texts",
            "these_texts.estimate",
            2,
            prefix="these_texts_",
            meaning="tau-b without the noise of people: for these texts",
        ),
        Column.p("p", "p_these_texts", "these_texts.p_value"),
        Column.estimate(
            "τ as observed", "tau", "observed", 2, meaning="tau-b over scales, noise left in"
        ),
        Column("", "p", "p_value", meaning="of tau as observed, scales independent"),
        Column("", "reliability_people", meaning="of the differences, other people"),
        Column("", "reliability_texts", meaning="of the differences, other texts"),
        Column("", "reason", note_of, meaning="why a value or an interval is missing"),
        level=level,
        note=note_of,
    )


def note_of(row: ModelLine) -> str:
    """Return why a value of the line is missing, the first of them."""
    parts = (row.observed.note, row.other_texts.estimate.note, row.these_texts.estimate.note)
    return next((part for part in parts if part), "")


def key_numbers(result: GuisePeople, names: Mapping[str, str], level: str) -> tuple[KeyNumber, ...]:
    """Return the largest differences, or with models their agreement."""
    if result.models:
        return tuple(
            KeyNumber(
                f"τ with people, {row.model}",
                number(row.other_texts.value) if not row.other_texts.reason else MISSING,
                lines=(
                    sentence(str(row.other_texts.estimate.note))
                    if row.other_texts.estimate.note
                    else f"{interval(row.other_texts.low, row.other_texts.high)} ({level}), for "
                    "texts like these",
                    f"as observed {number(row.observed.value)}, {count(row.n_scales, 'scale')}"
                    if row.observed.is_defined
                    else row.observed.note,
                ),
            )
            for row in result.models[:SHOWN_KEYS]
        )
    known = [row for row in result.scales if row.difference.is_defined]
    largest = sorted(known, key=lambda row: -abs(row.difference.value))[:SHOWN_KEYS]
    return tuple(
        KeyNumber(
            names[row.scale],
            number(row.difference.value, 1, signed=True),
            "points",
            (
                f"No interval: {row.difference.interval_reason}.",
                count(row.difference.n, "pair"),
            )
            if row.difference.interval_reason
            else (
                f"{interval(row.difference.low, row.difference.high, 1, signed=True)} ({level})",
                f"{p_value(row.p_holm)} (Holm), {count(row.difference.n, 'pair')}",
            ),
        )
        for row in largest
    )


def scale_blocks(table: ReportTable, result: GuisePeople) -> tuple[Block, ...]:
    first, second = result.guises
    return (
        table.figure(
            "differences",
            f"What people say of writers of {first} less what they say of writers of {second}; "
            f"{table.level} intervals over people and texts.",
            "difference",
            label="scale_name",
            tone="human",
            axis="points of the scale from 0 to 100",
            value="difference",
            n="pairs",
            left=f"← lower for {first}",
            right=f"higher for {first} →",
        ),
        table.printed(
            "Mean ratings of either guise and their difference. Each pair weighs the same."
        ),
    )


def model_blocks(
    models: ReportTable, scales: ReportTable, result: GuisePeople
) -> tuple[Block, ...]:
    return (
        models.printed(
            "Kendall’s τ between people’s differences and the models’ scores over scales."
        ),
        scales.figure(
            "model_scales",
            f"How much likelier the first guise makes the high pole than the low one; "
            f"{scales.level} intervals over texts and prompts.",
            "score",
            label="scale_name",
            panel="model",
            axis="q(high) − q(low), log ratio",
            value="score",
            n="prompts",
            left=f"← low pole with {result.guises[0]}",
            right="high pole →",
        ),
        scales.printed("People’s difference and the model’s score on every scale."),
    )
