"""Guises and models: whether size, or human feedback, takes a stereotype away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from evaluation.analyses.guise_cells import GuiseOptions
from evaluation.analyses.guise_models import ModelAnalysis, ModelValues, analyze_models
from evaluation.models import NormKind, Report
from evaluation.reports.guise_models import prose, tables
from evaluation.reports.parts.document import Document, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import MISSING, count, number, percent
from evaluation.reports.parts.guise_inputs import (
    StrengthParameters,
    common_attributes,
    load_guise_run,
    norm_record,
    stereotypical_attributes,
)
from evaluation.reports.parts.guise_kind import GuiseKind, first_norm, gather, guise_runs
from evaluation.reports.parts.kind import Chosen, Loaded
from evaluation.reports.parts.options import names_in
from evaluation.reports.parts.perplexity_inputs import (
    PERPLEXITY,
    LoadedPerplexity,
    load_perplexity,
    split_runs,
)
from probing.measures.guise_library import OVERT, TRAITS
from probing.models import ModelKind


class GuiseModelParameters(StrengthParameters):
    """The options of a report on models."""

    without_feedback: str | None = Field(
        None,
        max_length=500,
        description="Models trained without human feedback, by name with commas; empty for no "
        "comparison.",
    )
    with_feedback: str | None = Field(
        None, max_length=500, description="Models trained with human feedback, set beside them."
    )
    favourability: str | None = Field(
        None, description="Norm of favourability; without one, the first that is stored."
    )

    @property
    def feedback(self) -> tuple[list[str], list[str]]:
        return names_in(self.without_feedback), names_in(self.with_feedback)


class GuiseModels(GuiseKind[ModelAnalysis]):
    name = "guise_models"
    title = _("Guises and models")
    question = _("Does size, or training with human feedback, take a stereotype away?")
    meanings = prose.MEANINGS
    Parameters = GuiseModelParameters
    Result = ModelAnalysis
    purposes = (TRAITS, OVERT)
    remedy = "Choose runs with prompts on traits."
    norms = {"study": NormKind.PERCENT, "favourability": NormKind.FAVOURABILITY}
    runs = guise_runs(
        _(
            "Runs of several models on traits, covert and overt, with one list of attributes; and "
            "runs on perplexity of the texts."
        ),
        PERPLEXITY,
    )

    def check(self, chosen: Chosen, parameters: GuiseModelParameters) -> None:
        super().check(chosen, parameters)
        guises, _perplexities = split_runs(chosen.runs)
        _check_feedback({run.model.name for run in guises}, parameters.feedback)

    def default_title(self, chosen: Chosen) -> str:
        n = len({run.model_id for run in chosen.runs})
        return f"Do larger models hold a stereotype less? {count(n, 'model')} compared"

    def load(self, chosen: Chosen, parameters: GuiseModelParameters) -> Loaded:
        """Two queries a run, and two for the norms."""
        guises, perplexities = split_runs(chosen.runs)
        loaded = [load_guise_run(run, run.model.name) for run in guises]
        known = [load_perplexity(run) for run in perplexities]
        attributes = common_attributes(loaded)
        norm, stereotype = stereotypical_attributes(
            parameters.study, parameters.stereotypical, attributes
        )
        favour = first_norm(NormKind.FAVOURABILITY, parameters.favourability)
        data = (
            [one.run for one in loaded],
            attributes,
            stereotype,
            {run.model.name: run.model.parameter_count for run in chosen.runs},
            [entry for one in known for entry in _perplexities_of(one)],
            favour[0].values if favour else {},
            parameters.feedback,
        )
        return gather(
            chosen,
            [*loaded, *known],
            [norm, *favour],
            data,
            study=norm_record(norm),
            feedback=list(parameters.feedback),
        )

    def analyze(self, loaded: Loaded, parameters: GuiseModelParameters) -> ModelAnalysis:
        runs, attributes, chosen, sizes, perplexities, favour, feedback = loaded.data
        options = GuiseOptions(**parameters.bootstrap)
        return analyze_models(
            runs, attributes, chosen, sizes, perplexities, favour, feedback, options
        )

    def lay_out(self, report: Report, result: ModelAnalysis, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        level = percent(result.options.level)
        models = tables.model_table(result, level)
        sizes = tables.size_table(result)
        trends = tables.trend_table(result, level)
        feedback = tables.feedback_table(result, level)
        sections = (
            Section("By size", tables.size_blocks(sizes), prose.WHY_SIZES),
            Section("Model by model", tables.model_blocks(models, trends), prose.WHY_MODELS),
            Section("Human feedback", tables.feedback_blocks(feedback), prose.WHY_FEEDBACK),
        )
        return Document(
            question=prose.question(result, record),
            banners=prose.disagreements(result),
            keys=tables.key_numbers(trends, feedback),
            sections=sections,
            tables=(models, sizes, trends, feedback),
            method=prose.method(result, record),
            caveats=prose.CAVEATS,
            left_out=prose.left_out(result),
        )

    def headline(self, result: dict[str, Any]) -> str:
        known = [row for row in result["trends"] if row["slope"]["value"] is not None]
        if not known:
            return MISSING
        value = number(known[0]["slope"]["value"], 3, signed=True)
        return f"δ {value} with ten times the parameters"


def _check_feedback(models: set[str], feedback: tuple[list[str], list[str]]) -> None:
    """Raise `ReportError` for names that no run has, or that stand on both sides or on one only."""
    without, with_it = feedback
    if unknown := [name for name in (*without, *with_it) if name not in models]:
        raise ReportError(
            f"No run is of the model “{unknown[0]}”. Models: {', '.join(sorted(models))}."
        )
    if doubled := set(without) & set(with_it):
        raise ReportError(
            f"“{min(doubled)}” is named with and without human feedback. Name it once."
        )
    if bool(without) != bool(with_it):
        raise ReportError("Name models with human feedback, and models without it.")


def _perplexities_of(one: LoadedPerplexity) -> list[ModelValues]:
    kind = "perplexity" if one.run.model.kind == ModelKind.CAUSAL else "pseudo-perplexity"
    varieties = dict.fromkeys(variety for _, variety in one.values)
    return [
        ModelValues(
            one.run.model.name,
            kind,
            variety,
            np.array([value for (_, name), (value, _) in one.values.items() if name == variety]),
        )
        for variety in varieties
    ]
