"""Guises and verdicts: whether models judge speakers of a variety more harshly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from evaluation.analyses.guise_decisions import (
    DecisionAnalysis,
    DecisionOptions,
    DecisionRun,
    analyze_decisions,
)
from evaluation.metrics.decisions import Calibration, Ties
from evaluation.models import Report
from evaluation.reports.guise_decisions import prose, tables
from evaluation.reports.parts.document import Document, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import MISSING, number, percent
from evaluation.reports.parts.guise_inputs import LoadedGuise, load_guise_run, prompt_purposes
from evaluation.reports.parts.guise_kind import GuiseKind, gather, guise_runs, prompt_wordings
from evaluation.reports.parts.guise_tables import WHY_CROSSED, crossed_table
from evaluation.reports.parts.kind import Chosen, Loaded
from evaluation.reports.parts.options import IntervalParameters
from probing.measures.guise_library import GUILT, PENALTY

#: Purpose of the prompts → the outcome that is held against somebody, the other one, and whether
#: the released code takes the former where both are equally likely.
OUTCOMES = {GUILT: ("convicted", "acquitted", 1.0), PENALTY: ("death", "life", 0.0)}


class GuiseDecisionParameters(IntervalParameters):
    """The options of a report on decisions."""

    calibration: Calibration = Field(
        "difference",
        description="What is taken off the probability of an outcome: that without a text "
        "(difference), its ratio to it (ratio), or nothing (off).",
    )
    ties: Ties = Field(
        "half",
        description="Counts a tie half for either outcome (half), or as the released code "
        "(released): convicted, and life.",
    )


class GuiseDecisions(GuiseKind[DecisionAnalysis]):
    name = "guise_decisions"
    title = _("Guises and verdicts")
    question = _("Do models judge speakers of one variety more harshly than those of another?")
    meanings = prose.MEANINGS
    Parameters = GuiseDecisionParameters
    Result = DecisionAnalysis
    asks = "Does {models} judge one guise more harshly?"
    purposes = OUTCOMES
    remedy = "Choose runs with prompts on guilt or on the penalty."
    runs = guise_runs(_("Runs of matched guise probing with prompts on guilt or on the penalty."))

    def check(self, chosen: Chosen, parameters: GuiseDecisionParameters) -> None:
        super().check(chosen, parameters)
        for run in chosen.runs:
            _outcomes(run.stimuli["attributes"], prompt_purposes(run), str(run))

    def load(self, chosen: Chosen, parameters: GuiseDecisionParameters) -> Loaded:
        """Two queries a run."""
        loaded = [load_guise_run(run, run.model.name, tiers=("full",)) for run in chosen.runs]
        data = [
            _decision_run(one, prompt_purposes(run))
            for run, one in zip(chosen.runs, loaded, strict=True)
        ]
        return gather(chosen, loaded, [], data)

    def analyze(self, loaded: Loaded, parameters: GuiseDecisionParameters) -> DecisionAnalysis:
        options = DecisionOptions(
            calibration=parameters.calibration, ties=parameters.ties, **parameters.bootstrap
        )
        return analyze_decisions(loaded.data, options)

    def lay_out(
        self, report: Report, result: DecisionAnalysis, view: Mapping[str, str]
    ) -> Document:
        record: dict[str, Any] = report.inputs
        runs, level = record["runs"], percent(result.options.level)
        varieties = tuple(runs[0]["varieties"])
        wordings = prompt_wordings(runs)
        tests = tables.test_table(result, varieties, level)
        rates = tables.rate_table(result, varieties, wordings)
        left_out = tables.left_out_table(result, wordings)
        crossed = crossed_table(
            result.crossed,
            level,
            effect="Difference, points",
            part="Outcome",
            name="Quantity",
            decimals=1,
            scale=100,
        )
        return Document(
            question=prose.question(varieties),
            banners=prose.disagreements(result),
            keys=tables.key_numbers(tests, varieties),
            sections=(
                Section(
                    "Over all prompts",
                    tables.test_blocks(tests, varieties),
                    prose.WHY,
                ),
                Section("Prompt by prompt", tables.rate_blocks(rates, left_out)),
                Section(
                    "What the wording does",
                    crossed.printed_if_any(
                        "The difference of both rates, with what single values vary with."
                    ),
                    WHY_CROSSED,
                ),
            ),
            tables=(
                tests,
                rates,
                *(table for table in (left_out, crossed) if table.rows),
            ),
            method=prose.method(result),
            caveats=prose.CAVEATS,
            left_out=prose.left_out(result),
        )

    def headline(self, result: dict[str, Any]) -> str:
        known = [row["difference"]["value"] for row in result["tests"]]
        known = [value for value in known if value is not None]
        return f"{number(100 * known[0], 1, signed=True)} points" if known else MISSING


def _decision_run(loaded: LoadedGuise, purposes: set[str]) -> DecisionRun:
    """Return a run with its outcomes in the order (detrimental, other)."""
    detrimental, other, tie = _outcomes(loaded.attributes, purposes, "The run")
    order = [loaded.attributes.index(detrimental), loaded.attributes.index(other)]
    return DecisionRun(loaded.run.of_attributes(order), loaded.empty[:, order], detrimental, tie)


def _outcomes(
    attributes: list[str] | tuple[str, ...], purposes: set[str], name: str
) -> tuple[str, str, float]:
    if len(purposes) != 1:
        raise ReportError(f"{name} asks about guilt and penalty at once. Choose one for each run.")
    detrimental, other, tie = OUTCOMES[next(iter(purposes))]
    if set(attributes) != {detrimental, other}:
        raise ReportError(
            f"{name} has the attributes {', '.join(attributes)}. Run it with the list of "
            f"“{detrimental}” and “{other}”."
        )
    return detrimental, other, tie
