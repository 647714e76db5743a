"""The tables of the report on features: Fig. 2c of Hofmann et al. (2024), and the dose."""

from __future__ import annotations

from annotation.corpora.guise_features import GUISE_FEATURES
from evaluation.analyses.guise_features import PER_WORDS, DoseLine, FeatureAnalysis
from evaluation.reports.parts.document import Block, KeyNumber
from evaluation.reports.parts.formatting import p_value
from evaluation.reports.parts.guise_tables import p_columns
from evaluation.reports.parts.table import Column, ReportTable, ranked


def feature_table(result: FeatureAnalysis, level: str) -> ReportTable:
    return ReportTable.of(
        "features",
        "Strength of the stereotype by feature",
        result.lines,
        Column("Model", "model"),
        Column("", "feature"),
        Column("Feature", "feature_name", lambda row: GUISE_FEATURES[row.feature]),
        Column.effect(
            "δ",
            "strength",
            decimals=3,
            meaning="strength over the pairs with the feature, texts and prompts as samples",
            unit="log ratio",
        ),
        Column("Pairs", "n_pairs", "strength.n", 0),
        Column("sd", "sd", decimals=3, meaning="over versions, settings and prompts, ddof 1"),
        Column("Cells", "n_cells", decimals=0, meaning="versions × settings × prompts"),
        Column("t", "t", decimals=2),
        Column("", "p_paper"),
        Column.p("p (paper)", "p_paper_holm"),
        *p_columns(holm=False),
        level=level,
        reason="reason",
    )


def dose_table(result: FeatureAnalysis, level: str) -> ReportTable:
    return ReportTable.of(
        "dose",
        "Strength by number of features",
        result.doses,
        Column("Model", "model"),
        Column("Features", "features", _step, meaning="more in the first text"),
        Column.effect("δ", "strength", decimals=3),
        Column("Pairs", "n_pairs", "strength.n", 0),
        level=level,
        reason="strength.note",
    )


def density_table(result: FeatureAnalysis, level: str) -> ReportTable:
    return ReportTable.of(
        "density",
        f"Change of the strength with one more feature in {PER_WORDS} words",
        result.densities,
        Column("Model", "model"),
        Column("", "adjusted"),
        Column("Length", value=lambda row: "held constant" if row.adjusted else "as it is"),
        Column.effect("Slope", "slope", "slope.estimate", 4),
        Column("t", "t", "slope.statistic", 2),
        Column.p("p", "p", "slope.p_value"),
        Column("Pairs", "n_pairs", "slope.estimate.n", 0),
        level=level,
        reason="slope.estimate.note",
    )


def key_numbers(features: ReportTable, density: ReportTable) -> tuple[KeyNumber, ...]:
    known = [row for row in features.rows if row.strength.is_defined]
    found = [
        features.key(
            "strength",
            row,
            f"{p_value(row.p_paper_holm)} (paper), {p_value(row.p_value)} ({row.question})",
            label=f"Strongest: {GUISE_FEATURES[row.feature]}, {row.model}",
        )
        for row in ranked(known, lambda row: row.strength.value)[:2]
    ]
    found += [
        density.key("slope", row, label=f"One more feature in {PER_WORDS} words, {row.model}")
        for row in density.rows[:2]
        if row.adjusted is False
    ]
    return tuple(found)


def feature_blocks(features: ReportTable) -> tuple[Block, ...]:
    return (
        features.figure(
            "features",
            "Strength of the stereotype over the pairs with each feature, with "
            f"{features.level} intervals.",
            "strength",
            label="feature_name",
            panel="model",
            title="Strength by feature",
            axis="δ, log ratio",
            n="pairs",
        ),
        features.printed(
            "Strength by feature. p (paper): t-test of the means of versions, settings and "
            "prompts, one-sided, with Holm’s correction over features; p is two-sided and not "
            "corrected, as its interval."
        ),
    )


def dose_blocks(dose: ReportTable, density: ReportTable) -> tuple[Block, ...]:
    return (
        dose.figure(
            "dose",
            "Strength by how many features the first text has more than the second, with "
            f"{dose.level} intervals.",
            "strength",
            label=_step,
            panel="model",
            axis="δ, log ratio",
            n="pairs",
        ),
        dose.printed("Strength by number of features."),
        density.printed(
            f"Change of a pair’s strength with one more feature in {PER_WORDS} words of its first "
            "text, as it is, and with the words of the text, and how many it has more than its "
            "counterpart, held constant."
        ),
    )


def _step(row: DoseLine) -> str:
    return f"{row.features} or more" if row.most else str(row.features)
