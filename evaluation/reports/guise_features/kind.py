"""Guises and features: which linguistic features evoke a stereotype, and whether more do more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.corpora.guise_features import GUISE_FEATURES, count_guise_features
from annotation.corpora.words import split_words
from evaluation.analyses.guise_cells import GuiseOptions
from evaluation.analyses.guise_features import FeatureAnalysis, TextFeatures, analyze_features
from evaluation.models import NormKind, Report
from evaluation.reports.guise_features import prose, tables
from evaluation.reports.parts.document import Document, Section
from evaluation.reports.parts.formatting import MISSING, number, percent
from evaluation.reports.parts.guise_inputs import (
    StrengthParameters,
    common_attributes,
    load_guise_run,
    model_label,
    norm_record,
    stereotypical_attributes,
)
from evaluation.reports.parts.guise_kind import GuiseKind, gather, guise_runs
from evaluation.reports.parts.kind import Chosen, Loaded
from probing.measures.guise_library import TRAITS
from probing.models import Run


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
    meanings = prose.MEANINGS
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
        features = tables.feature_table(result, level)
        dose = tables.dose_table(result, level)
        density = tables.density_table(result, level)
        return Document(
            question=prose.question(result, record),
            banners=prose.disagreements(result),
            keys=tables.key_numbers(features, density),
            sections=(
                Section("Feature by feature", tables.feature_blocks(features), prose.WHY),
                Section("More features", tables.dose_blocks(dose, density), prose.WHY_DOSE),
            ),
            tables=(features, dose, density),
            method=prose.method(result, record),
            caveats=prose.CAVEATS,
            left_out=prose.left_out(result),
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
