"""Guises and models: whether size, or human feedback, takes a stereotype away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from evaluation.analyses.guise_cells import GuiseOptions
from evaluation.analyses.guise_models import (
    SIZE_CLASSES,
    FeedbackLine,
    ModelAnalysis,
    ModelLine,
    ModelValues,
    SizeLine,
    TrendLine,
    analyze_models,
)
from evaluation.models import NormKind, Report
from evaluation.reports.parts.document import Block, Document, KeyNumber, Section
from evaluation.reports.parts.errors import ReportError
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
    norm_record,
    stereotypical_attributes,
)
from evaluation.reports.parts.guise_kind import GuiseKind, first_norm, gather, guise_runs
from evaluation.reports.parts.guise_tables import FEW_PROMPTS, METHOD_OVER_TEXTS, disagreement
from evaluation.reports.parts.kind import Chosen, Loaded
from evaluation.reports.parts.options import names_in
from evaluation.reports.parts.perplexity_inputs import (
    PERPLEXITY,
    LoadedPerplexity,
    load_perplexity,
    split_runs,
)
from evaluation.reports.parts.table import Column, ReportTable
from probing.measures.guise_library import OVERT, TRAITS
from probing.models import ModelKind

# --- The words of the report on models ------------------------------------------------------------

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Ten times the parameters: δ, …": (
        "By how much the strength of the stereotype (δ) changes where a model has ten times "
        "as many parameters. 0: size does not matter."
    ),
    "With human feedback: …": (
        "Models trained with human feedback minus models without. Below 0 the quantity is "
        "smaller with feedback."
    ),
}


WHY_SIZES = (
    "Whether larger models, which find texts of the variety more familiar, hold the stereotype "
    "less. Perplexities are comparable within one kind only: pseudo-perplexity hides each token "
    "in turn."
)
WHY_MODELS = "Model by model, since a class of sizes mixes families."
WHY_FEEDBACK = (
    "Whether training with human feedback weakens the stereotype where groups are named, and where "
    "only the variety tells."
)
CAVEATS = (
    "They describe models under stated prompts. They say nothing about the people who speak a "
    "variety.",
    "Models differ in more than size: families were trained on other texts. A trend over a few "
    "models is one of these models.",
    "The paper’s tests take prompts for independent samples and the texts for fixed.",
    FEW_PROMPTS,
)


def question(result: ModelAnalysis, record: dict[str, Any]) -> str:
    models = len({row.model for row in result.models})
    beside = ", or those trained with human feedback," if result.feedback else ""
    return (
        f"Do larger models{beside} hold the stereotype of {record['study']['title']} less, of "
        f"{count(models, 'model')}?"
    )


def disagreements(result: ModelAnalysis) -> tuple[str, ...]:
    """Return where the paper's test and the interval over texts and prompts disagree."""
    return disagreement(
        "On human feedback the paper’s test over prompts and the interval over texts and prompts "
        "disagree",
        [
            f"{row.quantity}, {row.probe}: {p_value(row.p_value)} against "
            f"{interval(row.difference.low, row.difference.high, 3, signed=True)}"
            for row in result.feedback
            if row.disagree
        ],
    )


def method(result: ModelAnalysis, record: dict[str, Any]) -> tuple[str, ...]:
    ends = [f"{most / 1e6:,.0f}" for _, most in SIZE_CLASSES[:-1]]
    found = [
        "After Hofmann, Kalluri, Jurafsky and King (2024), Scaling analysis. δ is the mean score "
        f"of {listing(list(result.chosen))} minus that of all other attributes "
        f"({record['study']['title']}), for every model, setting and prompt. Classes of sizes end "
        f"at {listing(ends)} million parameters; numbers count as they are printed, with two "
        "digits.",
        f"{METHOD_OVER_TEXTS} Differences and trends also need models that read the same pairs in "
        "the same prompts. The trend is least squares of δ on the logarithm of the number of "
        "parameters.",
    ]
    if result.feedback:
        without, with_it = record["feedback"]
        found.append(
            f"Human feedback: {listing(with_it)} against {listing(without)}. Favorability is that "
            "of the first five of every prompt, weighted by q; the paper’s test is a two-sided "
            "t-test with equal variances over prompts."
        )
    return tuple(found)


def left_out(result: ModelAnalysis) -> tuple[str, ...]:
    unknown = sorted({row.model for row in result.models if row.parameters is None})
    return tuple(f"{name}: its number of parameters is not known." for name in unknown)


# --- The tables of the report on models: Fig. 4 and Extended Data Tables 7 and 8 ------------------

PROBES = ("covert", "overt")


def model_table(result: ModelAnalysis, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "models",
        "Strength of every model",
        sorted(result.models, key=lambda row: (row.probe, row.parameters or 0)),
        ModelLine,
        *("model", "probe"),
        Column("Parameters", "parameters", cell=lambda value: f"{value:,}"),
        Column("Size", "size", lambda row: row.size or None, missing="not known"),
        "strength",
        level=level,
        reason="strength.note",
    )


def size_table(result: ModelAnalysis) -> ReportTable:
    return ReportTable.of_rows(
        "sizes",
        "Strength and perplexity by size",
        result.sizes,
        SizeLine,
        Column("Quantity", "quantity", _quantity),
        Column("Variety", "variety", lambda row: row.variety or None),
        Column("Size", "size", _size),
        *("mean", "sd"),
        Column("n", "n", "mean.n", 0),
        Column("Models", "models", lambda row: ", ".join(row.models), wide=True),
        level="standard error",
    )


def trend_table(result: ModelAnalysis, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "trends",
        "Change of the strength with ten times the parameters",
        result.trends,
        TrendLine,
        level=level,
        reason="slope.note",
    )


def feedback_table(result: ModelAnalysis, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "feedback",
        "Human feedback",
        result.feedback,
        FeedbackLine,
        *("probe", "quantity", "without", "sd_without", "with_it", "sd_with"),
        *("difference", "t", "df", "p_value"),
        Column("Prompts", "n_prompts", "difference.n", 0),
        level=level,
        reason="reason",
    )


def key_numbers(trends: ReportTable, feedback: ReportTable) -> tuple[KeyNumber, ...]:
    found = [
        trends.key("slope", row, label=f"Ten times the parameters: δ, {row.probe}")
        for row in trends.rows
    ]
    found += [
        feedback.key(
            "difference",
            row,
            f"{p_value(row.p_value)} (paper)",
            label=f"With human feedback: {row.quantity}, {row.probe}",
        )
        for row in feedback.rows
    ]
    return tuple(found[:6])


def size_blocks(sizes: ReportTable) -> tuple[Block, ...]:
    """The strengths of Fig. 4a, then the perplexities; the latter only where there are some."""
    strengths = [row for row in sizes.rows if row.quantity in PROBES]
    familiar = [row for row in sizes.rows if row.quantity not in PROBES]
    found: list[Block] = []
    if strengths:
        found.append(
            sizes.figure(
                "strength-by-size",
                "Strength by size of the model; bars are one standard error over models, settings "
                "and prompts, whose number is n.",
                "mean",
                rows=strengths,
                label=_size,
                panel=_quantity,
                tone=lambda row: "model" if row.quantity == "covert" else "ink",
                title="Strength by size",
                axis="δ, log ratio",
                value="δ",
                n="cells",
            )
        )
    if familiar:
        found.append(
            sizes.figure(
                "perplexity-by-size",
                "Perplexity of the texts by size of the model; bars are one standard error over "
                "models and texts, whose number is n.",
                "mean",
                rows=familiar,
                label=_size,
                panel=lambda row: f"{row.variety}, {row.quantity}",
                reference=None,
                title="Perplexity by size",
                axis="perplexity",
                value="mean",
                n="texts",
            )
        )
    return (*found, sizes.printed("Strength and perplexity by size."))


def model_blocks(models: ReportTable, trends: ReportTable) -> tuple[Block, ...]:
    return (
        models.figure(
            "models",
            f"Strength of every model, the smallest first; {models.level} intervals over texts "
            "and prompts.",
            "strength",
            label="model",
            panel="probe",
            tone=lambda row: "model" if row.probe == "covert" else "ink",
            axis="δ, log ratio",
            n="prompts",
        ),
        models.printed("Strength of every model, the smallest first."),
        trends.printed(
            "Change of δ with ten times the parameters, over these models; intervals are over "
            "texts and prompts, not over other models."
        ),
    )


def feedback_blocks(feedback: ReportTable) -> tuple[Block, ...]:
    return feedback.printed_if_any(
        "Strength, and favorability of the first five, without and with human feedback. p "
        "(paper): t-test over prompts, two-sided, not corrected, with t of without − with; s "
        "is over prompts with ddof 1; intervals are over texts and prompts."
    )


def _quantity(row: SizeLine) -> str:
    return f"δ, {row.quantity}" if row.quantity in PROBES else row.quantity


def _size(row: SizeLine) -> str:
    return row.size or MISSING


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
    favorability: str | None = Field(
        None, description="Norm of favorability; without one, the first that is stored."
    )

    @property
    def feedback(self) -> tuple[list[str], list[str]]:
        return names_in(self.without_feedback), names_in(self.with_feedback)


class GuiseModels(GuiseKind[ModelAnalysis]):
    name = "guise_models"
    title = _("Guises and models")
    question = _("Does size, or training with human feedback, take a stereotype away?")
    meanings = MEANINGS
    Parameters = GuiseModelParameters
    Result = ModelAnalysis
    purposes = (TRAITS, OVERT)
    remedy = "Choose runs with prompts on traits."
    norms = {"study": NormKind.PERCENT, "favorability": NormKind.FAVORABILITY}
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
        favor = first_norm(NormKind.FAVORABILITY, parameters.favorability)
        data = (
            [one.run for one in loaded],
            attributes,
            stereotype,
            {run.model.name: run.model.parameter_count for run in chosen.runs},
            [entry for one in known for entry in _perplexities_of(one)],
            favor[0].values if favor else {},
            parameters.feedback,
        )
        return gather(
            chosen,
            [*loaded, *known],
            [norm, *favor],
            data,
            study=norm_record(norm),
            feedback=list(parameters.feedback),
        )

    def analyze(self, loaded: Loaded, parameters: GuiseModelParameters) -> ModelAnalysis:
        runs, attributes, chosen, sizes, perplexities, favor, feedback = loaded.data
        options = GuiseOptions(**parameters.bootstrap)
        return analyze_models(
            runs, attributes, chosen, sizes, perplexities, favor, feedback, options
        )

    def lay_out(self, report: Report, result: ModelAnalysis, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        level = percent(result.options.level)
        models = model_table(result, level)
        sizes = size_table(result)
        trends = trend_table(result, level)
        feedback = feedback_table(result, level)
        sections = (
            Section("By size", size_blocks(sizes), WHY_SIZES),
            Section("Model by model", model_blocks(models, trends), WHY_MODELS),
            Section("Human feedback", feedback_blocks(feedback), WHY_FEEDBACK),
        )
        return Document(
            question=question(result, record),
            banners=disagreements(result),
            keys=key_numbers(trends, feedback),
            sections=sections,
            tables=(models, sizes, trends, feedback),
            method=method(result, record),
            caveats=CAVEATS,
            left_out=left_out(result),
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
