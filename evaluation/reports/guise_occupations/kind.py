"""Guises and occupations: which jobs models match with which guise, and their prestige."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from evaluation.analyses.guise_cells import GuiseOptions
from evaluation.analyses.guise_draws import Matching
from evaluation.analyses.guise_occupations import OccupationAnalysis, analyze_occupations
from evaluation.metrics.prestige import Rule
from evaluation.models import NormKind, Report
from evaluation.reports.guise_occupations import prose, tables
from evaluation.reports.parts.document import Document, Section
from evaluation.reports.parts.formatting import MISSING, number, percent
from evaluation.reports.parts.guise_inputs import common_attributes, load_guise_run
from evaluation.reports.parts.guise_kind import GuiseKind, first_norm, gather, guise_runs
from evaluation.reports.parts.guise_tables import WHY_CROSSED, crossed_table
from evaluation.reports.parts.kind import Chosen, Loaded
from evaluation.reports.parts.options import IntervalParameters
from probing.measures.guise_library import OCCUPATIONS


class GuiseOccupationParameters(IntervalParameters):
    """The options of a report on occupations."""

    matching: Matching = Field(
        "meaning_matched",
        title="Comparison of texts",
        description="How texts are compared: pair by pair, or the sets as a whole.",
    )
    prestige: str | None = Field(
        None,
        title="Norm of prestige",
        description="Norm of prestige; without one, the first that is stored.",
    )
    rule: Rule = Field(
        "words",
        title="Matching of titles",
        description="Which survey titles an occupation takes: those that start or end with its "
        "word (words), or with its letters, as the released code (released).",
    )


class GuiseOccupations(GuiseKind[OccupationAnalysis]):
    name = "guise_occupations"
    title = _("Guises and occupations")
    question = _("Which occupations do models match with speakers of a variety, and how reputed?")
    meanings = prose.MEANINGS
    Parameters = GuiseOccupationParameters
    Result = OccupationAnalysis
    asks = "Which occupations does {models} match with a guise?"
    purposes = (OCCUPATIONS,)
    remedy = "Choose runs with prompts on occupations."
    norms = {"prestige": NormKind.PRESTIGE}
    runs = guise_runs(
        _("Runs of matched guise probing with prompts on occupations and one list of them.")
    )

    def load(self, chosen: Chosen, parameters: GuiseOccupationParameters) -> Loaded:
        """Two queries a run, and one for the norm."""
        loaded = [load_guise_run(run, run.model.name) for run in chosen.runs]
        occupations = common_attributes(loaded)
        norms = first_norm(NormKind.PRESTIGE, parameters.prestige)
        data = ([one.run for one in loaded], occupations, norms[0].values if norms else {})
        return gather(chosen, loaded, norms, data)

    def analyze(self, loaded: Loaded, parameters: GuiseOccupationParameters) -> OccupationAnalysis:
        options = GuiseOptions(matching=parameters.matching, **parameters.bootstrap)
        runs, occupations, titles = loaded.data
        return analyze_occupations(runs, occupations, titles, options, rule=parameters.rule)

    def lay_out(
        self, report: Report, result: OccupationAnalysis, view: Mapping[str, str]
    ) -> Document:
        record: dict[str, Any] = report.inputs
        level = percent(result.options.level)
        scores = tables.score_table(result, level)
        tests = tables.test_table(result)
        lines = tables.prestige_table(result, level)
        bands = tables.band_table(result)
        inference = tables.inference_table(result, level)
        crossed = crossed_table(result.crossed, level, name="Occupation")
        return Document(
            question=prose.question(result, record),
            banners=prose.disagreements(result),
            keys=tables.key_numbers(tests, lines),
            sections=(
                Section(
                    "All occupations together",
                    tables.test_blocks(tests, lines, inference),
                    prose.WHY,
                ),
                Section("Every occupation", tables.score_blocks(scores, result)),
                Section(
                    "What the wording does",
                    crossed.printed_if_any("Every occupation, with what single values vary with."),
                    WHY_CROSSED,
                ),
            ),
            tables=(
                scores,
                tests,
                lines,
                bands,
                *(table for table in (inference, crossed) if table.rows),
            ),
            method=prose.method(result, record),
            caveats=prose.CAVEATS,
            left_out=prose.left_out(result),
        )

    def headline(self, result: dict[str, Any]) -> str:
        means = [row["test"]["mean"] for row in result["tests"]]
        return f"mean q {number(means[0], 3, signed=True)}" if means else MISSING
