"""Guises and verdicts: whether models judge speakers of a variety more harshly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from evaluation.analyses.guise_decisions import (
    DecisionAnalysis,
    DecisionOptions,
    DecisionRate,
    DecisionRun,
    DecisionTest,
    LeftOutDecision,
    analyze_decisions,
)
from evaluation.analyses.guise_inference import tests_disagree
from evaluation.metrics.decisions import Calibration, Ties
from evaluation.models import Report
from evaluation.reports.parts.document import Block, Document, KeyNumber, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import MISSING, count, interval, number, p_value, percent
from evaluation.reports.parts.guise_inputs import LoadedGuise, load_guise_run, prompt_purposes
from evaluation.reports.parts.guise_kind import GuiseKind, gather, guise_runs, prompt_wordings
from evaluation.reports.parts.guise_tables import (
    FEW_PROMPTS,
    METHOD_CROSSED,
    WHY_CROSSED,
    crossed_table,
    disagreement,
    p_columns,
)
from evaluation.reports.parts.kind import Chosen, Loaded
from evaluation.reports.parts.options import IntervalParameters
from evaluation.reports.parts.table import Column, ReportTable
from probing.measures.guise_library import GUILT, PENALTY

# --- The words of the report on verdicts ----------------------------------------------------------

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "…": (
        "How many more decisions in a hundred end with this outcome after texts in the first "
        "guise than in the second. 0 would be equal treatment."
    ),
}


WHY = (
    "A decision is the outcome whose probability the text raises more, or lowers less. Above zero "
    "the first variety is judged more harshly."
)
CAVEATS = (
    "They describe models under stated prompts. They say nothing about the people who speak a "
    "variety, or about courts.",
    "Decisions for different prompts and models rest on the same texts and are not independent; "
    "the tests of counts take them for it, the intervals do not.",
    "A model that decides alike for all texts leaves nothing to test.",
    FEW_PROMPTS,
)


def question(varieties: tuple[str, ...]) -> str:
    first, second = varieties
    return (
        f"Told what somebody said in {first} rather than in {second}, does a model decide more "
        "often for a conviction, or for death?"
    )


def disagreements(result: DecisionAnalysis) -> tuple[str, ...]:
    """Return where the paper's test and ours come to different ends."""
    mcnemar = [
        f"{row.model}, {row.outcome}: {p_value(row.p_holm)} against {p_value(row.p_mcnemar_holm)}"
        for row in result.tests
        if not row.mcnemar.reason and (row.p_holm < 0.05) != (row.p_mcnemar_holm < 0.05)
    ]
    intervals = [
        f"{row.model}, {row.outcome}: {p_value(row.p_holm)} against "
        f"{interval(100 * row.difference.low, 100 * row.difference.high, 1, signed=True)} points"
        for row in result.tests
        if tests_disagree(row.p_holm, row.difference, result.options.level)
    ]
    return (
        *disagreement(
            "The paper’s test of counts and McNemar’s test of the same pairs disagree", mcnemar
        ),
        *disagreement(
            "The paper’s test of counts, which takes every decision for independent, and the "
            "interval of the difference disagree",
            intervals,
        ),
    )


def method(result: DecisionAnalysis) -> tuple[str, ...]:
    options = result.options
    calibration = {
        "difference": "its probability minus that after the same prompt without a text",
        "ratio": "its log probability minus that after the same prompt without a text",
        "off": "its probability",
    }[options.calibration]
    ties = (
        "A tie counts half for either outcome."
        if options.ties == "half"
        else "A tie counts as in the released code: convicted, and life."
    )
    return (
        "After Hofmann, Kalluri, Jurafsky and King (2024), Criminality analysis. The decision is "
        f"the outcome with the larger value of {calibration}. {ties} The relative increase is the "
        "count after the first guise over that after the second, minus one.",
        "The paper’s test compares the two counts of the detrimental outcome with equal shares "
        "(χ², df 1), which supposes as many decisions in either variety. The 2 × 2 test has no "
        "continuity correction. McNemar’s exact test looks at the pairs that were decided "
        "differently.",
        *((METHOD_CROSSED,) if result.crossed else ()),
    )


def left_out(result: DecisionAnalysis) -> tuple[str, ...]:
    ties = sum(row.n_ties for row in result.tests)
    if not ties or result.options.ties != "half":
        return ()
    left = "is" if ties == 1 else "are"
    return (f"{count(ties, 'tie')} {left} left out of McNemar’s test.",)


# --- The tables of the report on verdicts ---------------------------------------------------------

Varieties = tuple[str, ...]


def test_table(result: DecisionAnalysis, varieties: Varieties, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "tests",
        "Rates of the detrimental outcome",
        result.tests,
        DecisionTest,
        *("model", "outcome", "first", "second", "difference"),
        *p_columns(value="p_difference", holm=False),
        *("n", "increase"),
        Column("χ² (equal)", "chi2_equal", "equal.statistic", 2),
        Column("", "p_equal", "equal.p_value"),
        "p_holm",
        Column("", "chi2_contingency", "contingency.statistic"),
        Column("", "p_contingency", "contingency.p_value"),
        Column("", "p_mcnemar", "mcnemar.p_value"),
        Column("", "n_discordant", "mcnemar.n"),
        *("n_ties", "p_contingency_holm", "p_mcnemar_holm"),
        labels=dict(zip(("first", "second"), varieties, strict=True)),
        level=level,
        reason=lambda row: row.equal.reason or row.mcnemar.reason,
    )


def rate_table(
    result: DecisionAnalysis, varieties: Varieties, wordings: Mapping[str, str]
) -> ReportTable:
    return ReportTable.of_rows(
        "rates",
        "Rates in every prompt and setting",
        result.rates,
        DecisionRate,
        *("model", "outcome", "setting", "prompt"),
        Column("Prompt", "wording", lambda row: wordings.get(row.prompt, ""), wide=True),
        *("first", "second", "n_first", "n_second", "increase"),
        labels=dict(zip(("first", "second"), varieties, strict=True)),
    )


def key_numbers(tests: ReportTable, varieties: Varieties) -> tuple[KeyNumber, ...]:
    return tuple(
        tests.key(
            "difference",
            row,
            f"{p_value(row.p_holm)} (paper)"
            + ("" if row.mcnemar.reason else f", {p_value(row.p_mcnemar_holm)} (McNemar)"),
            *([f"{p_value(row.p_difference)} ({row.question})"] if row.question else []),
            label=f"{row.outcome}, {row.model}: {' − '.join(varieties)}",
            unit="points",
        )
        for row in tests.rows[:4]
    )


def test_blocks(tests: ReportTable, varieties: Varieties) -> tuple[Block, ...]:
    first, second = varieties
    return (
        tests.figure(
            "difference",
            f"Rate after {first} minus rate after {second}; {tests.level} intervals.",
            "difference",
            label="model",
            panel="outcome",
            title="Difference of the rates",
            axis="percentage points",
            value="Points",
            n="decisions",
            left=f"← harsher to {second}",
            right=f"harsher to {first} →",
        ),
        tests.printed(
            "Rates of the detrimental outcome. p (paper): the paper’s test of equal counts with "
            "Holm’s correction over models; beside it a 2 × 2 table and McNemar’s test of pairs, "
            "corrected alike."
        ),
    )


def rate_blocks(rates: ReportTable, left_out: ReportTable) -> tuple[Block, ...]:
    return (
        rates.printed("Rates in every prompt, and the relative increase."),
        *left_out.printed_if_any(
            "The difference of both rates, and the paper’s test, with one prompt left out."
        ),
    )


def left_out_table(result: DecisionAnalysis, wordings: Mapping[str, str]) -> ReportTable:
    return ReportTable.of_rows(
        "left_out_prompts",
        "Each prompt left out",
        result.left_out,
        LeftOutDecision,
        *("model", "outcome", "prompt"),
        Column("Left out", "wording", lambda row: wordings.get(row.prompt, ""), wide=True),
        *("difference", "p_equal"),
    )


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
    meanings = MEANINGS
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
        tests = test_table(result, varieties, level)
        rates = rate_table(result, varieties, wordings)
        each_left_out = left_out_table(result, wordings)
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
            question=question(varieties),
            banners=disagreements(result),
            keys=key_numbers(tests, varieties),
            sections=(
                Section(
                    "Over all prompts",
                    test_blocks(tests, varieties),
                    WHY,
                ),
                Section("Prompt by prompt", rate_blocks(rates, each_left_out)),
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
                *(table for table in (each_left_out, crossed) if table.rows),
            ),
            method=method(result),
            caveats=CAVEATS,
            left_out=left_out(result),
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
