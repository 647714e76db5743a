"""Guises and features: which linguistic features evoke a stereotype, and whether more do more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.corpora.features import split_words
from annotation.corpora.guise_features import GUISE_FEATURES, count_guise_features
from evaluation.analyses.guise_cells import GuiseOptions
from evaluation.analyses.guise_features import (
    PER_WORDS,
    DensityLine,
    DoseLine,
    FeatureAnalysis,
    FeatureLine,
    TextFeatures,
    analyze_features,
)
from evaluation.models import NormKind, Report
from evaluation.reports.parts.document import Block, Document, KeyNumber, Section
from evaluation.reports.parts.formatting import (
    MISSING,
    count,
    interval,
    listing,
    number,
    p_value,
    percent,
)
from evaluation.reports.parts.guise_inputs import (
    StrengthParameters,
    common_attributes,
    load_guise_run,
    model_label,
    norm_record,
    stereotypical_attributes,
)
from evaluation.reports.parts.guise_kind import GuiseKind, gather, guise_runs
from evaluation.reports.parts.guise_tables import METHOD_CROSSED, disagreement, p_columns
from evaluation.reports.parts.kind import Chosen, Loaded
from evaluation.reports.parts.meanings import DELTA
from evaluation.reports.parts.table import Column, ReportTable, ranked
from probing.measures.guise_library import TRAITS
from probing.models import Run

# --- The words of the report on features ----------------------------------------------------------

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Strongest: …": DELTA,
    "One more feature in … words, …": (
        "How much the strength of the stereotype changes where texts hold one more of the "
        "feature in so many words. 0: more features do not evoke more."
    ),
}


WHY = (
    "Which features of a variety evoke the stereotype. Above zero, attributes of the stereotype "
    "gain more than others where the text has the feature."
)
WHY_DOSE = (
    "If features make the stereotype, texts with more of them have a stronger one. A slope over "
    "texts as they are found is no effect of the features: such texts differ in other ways too."
)
CAVEATS = (
    "They describe models under stated prompts. They say nothing about the people who speak a "
    "variety.",
    "Features are found by search patterns, which over- and undershoot. A pair may have several; "
    "choose pairs in which nothing else differs to tell them apart.",
    "The paper’s test takes prompts and versions for independent samples and the texts for fixed.",
)


def question(result: FeatureAnalysis, record: dict[str, Any]) -> str:
    first, second = record["runs"][0]["varieties"]
    return (
        f"Which features of {first}, found {count(sum(result.pairs), 'time')} in pairs with "
        f"{second} (once for each pair that has one), evoke the stereotype of "
        f"{record['study']['title']} in models, and does it grow with their density?"
    )


def disagreements(result: FeatureAnalysis) -> tuple[str, ...]:
    """Return where the paper's test and the interval over texts and prompts disagree."""
    return disagreement(
        "The paper’s test and the interval disagree",
        [
            f"{row.model}, {GUISE_FEATURES[row.feature]}: {p_value(row.p_paper_holm)} against "
            f"{interval(row.strength.low, row.strength.high, 3, signed=True)}"
            for row in result.lines
            if row.disagree
        ],
    )


def method(result: FeatureAnalysis, record: dict[str, Any]) -> tuple[str, ...]:
    which = (
        "in which no other of the eight differs"
        if record["alone"]
        else "whatever else differs between its texts"
    )
    return (
        "After Hofmann, Kalluri, Jurafsky and King (2024), Fig. 2c and Supplementary Information, "
        f"Feature analysis. δ is the mean score of {listing(result.chosen)} minus that of all "
        f"other attributes ({record['study']['title']}), pair by pair. A pair counts for a "
        f"feature if its first text has it more often than its second, {which}.",
        "The eight features are found by closed lists and patterns (ours): "
        f"{listing(list(GUISE_FEATURES.values()))}.",
        "The paper’s test is a one-sided t-test of the means of every version, setting and prompt "
        f"against zero, by Holm over features. {METHOD_CROSSED}",
        f"Density is features in {PER_WORDS} words of the first text, less those of the second. "
        "Slopes are of least squares over pairs, with standard errors that allow for unequal "
        "spread (HC3); adjusted ones hold the logarithm of the words and the difference in words "
        "constant.",
    )


def left_out(result: FeatureAnalysis) -> tuple[str, ...]:
    absent = [
        GUISE_FEATURES[name] for name, n in zip(result.features, result.pairs, strict=True) if not n
    ]
    return (f"In no pair: {listing(absent)}.",) if absent else ()


# --- The tables of the report on features: Fig. 2c of Hofmann et al. (2024), and the dose ---------


def feature_table(result: FeatureAnalysis, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "features",
        "Strength of the stereotype by feature",
        result.lines,
        FeatureLine,
        *("model", "feature"),
        Column("Feature", "feature_name", lambda row: GUISE_FEATURES[row.feature]),
        *("strength", "sd", "n_cells", "t", "p_paper", "p_paper_holm"),
        *p_columns(holm=False),
        level=level,
        reason="reason",
    )


def dose_table(result: FeatureAnalysis, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "dose",
        "Strength by number of features",
        result.doses,
        DoseLine,
        "model",
        Column("Features", "features", _step, meaning="more in the first text"),
        "strength",
        level=level,
        reason="strength.note",
    )


def density_table(result: FeatureAnalysis, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "density",
        f"Change of the strength with one more feature in {PER_WORDS} words",
        result.densities,
        DensityLine,
        *("model", "adjusted"),
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


class GuiseFeatureParameters(StrengthParameters):
    """The options of a report on features."""

    pairs: Literal["with", "alone"] = Field(
        "with",
        title="Pairs that count",
        description="Which pairs count for a feature: all whose first text has it more often than "
        "the second (with), or those in which no other of the eight differs (alone).",
    )
    average: Literal["model", "family"] = Field(
        "model",
        description="What is averaged: the runs of each model, or of all models of a family, "
        "which then are its versions.",
    )


class GuiseFeatures(GuiseKind[FeatureAnalysis]):
    name = "guise_features"
    title = _("Guises and features")
    question = _("Which linguistic features evoke a stereotype in models, and do more do more?")
    meanings = MEANINGS
    Parameters = GuiseFeatureParameters
    Result = FeatureAnalysis
    asks = "Which features evoke a stereotype in {models}?"
    purposes = (TRAITS,)
    remedy = "Choose runs with prompts on traits."
    only_pairs = True
    norms = {"study": NormKind.PERCENT}
    runs = guise_runs(
        _("Runs of matched guise probing on pairs, with prompts on traits and one list of them.")
    )

    def load(self, chosen: Chosen, parameters: GuiseFeatureParameters) -> Loaded:
        """Two queries a run, and one for the norm."""
        labels = [model_label(run, parameters.average) for run in chosen.runs]
        loaded = [load_guise_run(*each) for each in zip(chosen.runs, labels, strict=True)]
        attributes = common_attributes(loaded)
        norm, stereotype = stereotypical_attributes(
            parameters.study, parameters.stereotypical, attributes
        )
        texts = {
            one.run.texts: text_features(run) for run, one in zip(chosen.runs, loaded, strict=True)
        }
        data = ([one.run for one in loaded], attributes, stereotype, texts)
        alone = parameters.pairs == "alone"
        return gather(chosen, loaded, [norm], data, study=norm_record(norm), alone=alone)

    def analyze(self, loaded: Loaded, parameters: GuiseFeatureParameters) -> FeatureAnalysis:
        runs, attributes, stereotype, texts = loaded.data
        return analyze_features(
            runs,
            attributes,
            stereotype,
            tuple(GUISE_FEATURES),
            texts,
            GuiseOptions(**parameters.bootstrap),
            alone=parameters.pairs == "alone",
        )

    def lay_out(self, report: Report, result: FeatureAnalysis, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        level = percent(result.options.level)
        features = feature_table(result, level)
        dose = dose_table(result, level)
        density = density_table(result, level)
        return Document(
            question=question(result, record),
            banners=disagreements(result),
            keys=key_numbers(features, density),
            sections=(
                Section("Feature by feature", feature_blocks(features), WHY),
                Section("More features", dose_blocks(dose, density), WHY_DOSE),
            ),
            tables=(features, dose, density),
            method=method(result, record),
            caveats=CAVEATS,
            left_out=left_out(result),
        )

    def headline(self, result: dict[str, Any]) -> str:
        known = [row for row in result["lines"] if row["strength"]["value"] is not None]
        if not known:
            return MISSING
        best = max(known, key=lambda row: row["strength"]["value"])
        value = number(best["strength"]["value"], 3, signed=True)
        return f"{GUISE_FEATURES[best['feature']]}: δ {value}"


def text_features(run: Run) -> TextFeatures:
    """Return the features of a run's pairs, from its stimuli as they were stored."""
    sides = [[text["body"] for text in run.stimuli[side]] for side in ("first", "second")]
    counts, words = (
        [np.array([read(body) for body in bodies], dtype=np.int64) for bodies in sides]
        for read in (
            lambda body: list(count_guise_features(body).values()),
            lambda body: len(split_words(body)),
        )
    )
    return TextFeatures(counts[0] - counts[1], words[0], words[0] - words[1])
