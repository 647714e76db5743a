"""Verdicts and penalties after either guise: rates, relative increase, tests of counts.

Hofmann et al. (2024), Methods, Criminality analysis; methods.md §12.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from evaluation.analyses.guise_draws import Floats, GuiseRun
from evaluation.analyses.guise_inference import (
    CrossedLine,
    PairTable,
    corrected_over,
    crossed_lines,
    fit_pairs,
    pair_table,
)
from evaluation.analyses.resample_options import ResamplingOptions
from evaluation.metrics.decisions import (
    Calibration,
    CountTest,
    Ties,
    contingency_test,
    decide,
    equal_counts_test,
    mcnemar_test,
    relative_increase,
)
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.holm import correct_rows
from evaluation.metrics.shown import Shown
from evaluation.metrics.undefined import UndefinedReason

_ONE = np.ones((1, 1), dtype=bool)
SEVERAL_DECISIONS = (
    "McNemar’s test needs pairs that are decided once, and several prompts or runs decided them"
)


@dataclass(frozen=True)
class DecisionOptions(ResamplingOptions):
    """Options of the analysis; see the report's parameters."""

    calibration: Calibration = "difference"
    ties: Ties = "half"


@dataclass(frozen=True)
class DecisionRun:
    """A run on two outcomes. `empty` : (n_prompts, 2) ln P after the prompts without a text.

    The attributes of `run` are (detrimental, other) in this order.
    released_tie : the decision that the released code takes for a tie
    """

    run: GuiseRun
    empty: Floats
    outcome: str
    released_tie: float


@dataclass(frozen=True)
class DecisionRate:
    """Share of the detrimental outcome in one prompt, or over all of a model's (prompt "").

    first, second : of both guises; n_first, n_second : decisions
    increase : first / second − 1
    """

    model: Annotated[str, Shown("Model")]
    outcome: Annotated[str, Shown("Outcome")]
    setting: Annotated[str, Shown("Setting")]
    prompt: Annotated[str, Shown()]
    first: Annotated[float, Shown("{first}, %", 1, scale=100)]
    second: Annotated[float, Shown("{second}, %", 1, scale=100)]
    n_first: int
    n_second: int
    increase: Annotated[float, Shown("Increase, %", 0, scale=100, signed=True)]


@dataclass(frozen=True)
class DecisionTest:
    """Tests of one model and outcome over all prompts and settings.

    first, second : rates of both guises; n : decisions after the first
    difference, p_difference : first − second, interval and two-sided p from one t
    question : what these are about, empty without pairs
    equal, contingency, mcnemar : see `evaluation.metrics.decisions`; McNemar over pairs alone, its
        p where one prompt and run decided each of them once
    p_holm : of the paper's test (equal counts), over the models of one outcome
    p_contingency_holm, p_mcnemar_holm : of the other two, likewise
    """

    model: Annotated[str, Shown("Model")]
    outcome: Annotated[str, Shown("Outcome")]
    first: Annotated[float, Shown("{first}, %", 1, scale=100)]
    second: Annotated[float, Shown("{second}, %", 1, scale=100)]
    n: Annotated[int, Shown("Decisions", 0, meaning="decisions after the first guise")]
    difference: Annotated[Estimate, Shown("Difference, points", 1, scale=100, effect=True)]
    increase: Annotated[float, Shown("Increase, %", 0, scale=100, signed=True)]
    equal: CountTest
    p_holm: Annotated[float, Shown("p (paper)", name="p_equal_holm", is_p=True)]
    contingency: CountTest
    mcnemar: CountTest
    n_ties: Annotated[int, Shown(meaning="decisions that are ties")]
    p_contingency_holm: Annotated[float, Shown("p (2 × 2)", is_p=True, meaning="Holm over models")]
    p_mcnemar_holm: Annotated[float, Shown("p (McNemar)", is_p=True, meaning="Holm over models")]
    p_difference: float
    question: str


@dataclass(frozen=True)
class LeftOutDecision:
    """The difference of both rates, and the paper's p, with one prompt left out."""

    model: Annotated[str, Shown("Model")]
    outcome: Annotated[str, Shown("Outcome")]
    prompt: Annotated[str, Shown()]
    difference: Annotated[float, Shown("Difference, points", 1, scale=100, signed=True)]
    p_equal: Annotated[float, Shown("p (equal counts)", is_p=True)]


@dataclass(frozen=True)
class DecisionAnalysis:
    options: DecisionOptions
    rates: tuple[DecisionRate, ...]
    tests: tuple[DecisionTest, ...]
    crossed: tuple[CrossedLine, ...]
    left_out: tuple[LeftOutDecision, ...]


def analyze_decisions(runs: Sequence[DecisionRun], options: DecisionOptions) -> DecisionAnalysis:
    """Return rates and tests of every model and outcome."""
    rates: list[DecisionRate] = []
    tests: list[DecisionTest] = []
    crossed: list[CrossedLine] = []
    left_out: list[LeftOutDecision] = []
    groups: dict[tuple[str, str], list[DecisionRun]] = {}
    for one in runs:
        groups.setdefault((one.run.model, one.outcome), []).append(one)
    for (model, outcome), some in groups.items():
        decided = [(one, *_decisions(one, options)) for one in some]
        for one, first, second in decided:
            rates += [
                _rate(model, outcome, one.run.setting, prompt, first[place], second[place])
                for place, prompt in enumerate(one.run.prompts)
            ]
        pairs = _differences(decided)
        tests.append(_test(model, outcome, decided, pairs, options))
        crossed += crossed_lines(
            model,
            outcome,
            [f"difference of the rates of “{outcome}”"],
            pairs,
            options,
        )
        left_out += _left_out(model, outcome, decided)
    return DecisionAnalysis(
        options,
        tuple(rates),
        tuple(
            correct_rows(
                tests,
                lambda test: test.outcome,
                p_holm="equal.p_value",
                p_contingency_holm="contingency.p_value",
                p_mcnemar_holm="mcnemar.p_value",
            )
        ),
        tuple(corrected_over(crossed)),
        tuple(left_out),
    )


def _differences(decided: Sequence[tuple[DecisionRun, Floats, Floats]]) -> PairTable | None:
    """Return the decision after the first guise less that after the second, for every pair."""
    runs = [
        # As log ratios of one attribute, whose mean over versions is that of the decisions.
        replace(one.run, first=first[..., None], second=second[..., None], base="e", agrees=_ONE)
        for one, first, second in decided
    ]
    return pair_table(runs)


def _left_out(
    model: str, outcome: str, decided: Sequence[tuple[DecisionRun, Floats, Floats]]
) -> list[LeftOutDecision]:
    prompts = dict.fromkeys(prompt for one, *_ in decided for prompt in one.run.prompts)
    found = []
    for prompt in prompts if len(prompts) > 1 else ():
        kept = [[name != prompt for name in one.run.prompts] for one, *_ in decided]
        sides = [
            np.concatenate([side[rows].ravel() for side, rows in zip(some, kept, strict=True)])
            for some in ([first for _, first, _ in decided], [second for *_, second in decided])
        ]
        counts = [float(np.nansum(side)) for side in sides]
        rates = [
            count / _n(side) if _n(side) else np.nan
            for count, side in zip(counts, sides, strict=True)
        ]
        p = equal_counts_test(*counts).p_value
        found.append(LeftOutDecision(model, outcome, prompt, rates[0] - rates[1], p))
    return found


def _decisions(one: DecisionRun, options: DecisionOptions) -> tuple[Floats, Floats]:
    """Return the decisions after both guises, (n_prompts, n_texts)."""
    first, second = (
        decide(
            side[..., 0],
            side[..., 1],
            one.empty[:, None, 0],
            one.empty[:, None, 1],
            calibration=options.calibration,
            ties=options.ties,
            released_tie=one.released_tie,
        )
        for side in (one.run.first, one.run.second)
    )
    return first, second


def _rate(
    model: str, outcome: str, setting: str, prompt: str, first: Floats, second: Floats
) -> DecisionRate:
    n_first, n_second = _n(first), _n(second)
    share = float(np.nanmean(first)) if n_first else np.nan
    other = float(np.nanmean(second)) if n_second else np.nan
    if n_first == n_second:
        increase = relative_increase(float(np.nansum(first)), float(np.nansum(second)))
    else:
        increase = relative_increase(share, other)
    return DecisionRate(model, outcome, setting, prompt, share, other, n_first, n_second, increase)


def _test(
    model: str,
    outcome: str,
    decided: Sequence[tuple[DecisionRun, Floats, Floats]],
    pairs: PairTable | None,
    options: DecisionOptions,
) -> DecisionTest:
    sides = [
        np.concatenate([first.ravel() for _run, first, _second in decided]),
        np.concatenate([second.ravel() for _run, _first, second in decided]),
    ]
    counts, totals = [float(np.nansum(side)) for side in sides], [_n(side) for side in sides]
    rates = [count / n if n else np.nan for count, n in zip(counts, totals, strict=True)]
    paired = [(first, second) for one, first, second in decided if one.run.paired]
    mcnemar = (
        mcnemar_test(*(np.concatenate([pair[side].ravel() for pair in paired]) for side in (0, 1)))
        if paired
        else CountTest(np.nan, 0, np.nan, 0, UndefinedReason.NO_PAIR)
    )
    if not mcnemar.reason and sum(len(first) for first, _ in paired) > 1:
        mcnemar = replace(mcnemar, p_value=np.nan, reason=SEVERAL_DECISIONS)
    (ours,) = fit_pairs(pairs, [rates[0] - rates[1]], options.level, n=min(totals))
    return DecisionTest(
        model,
        outcome,
        rates[0],
        rates[1],
        totals[0],
        ours.estimate,
        relative_increase(*rates),
        equal_counts_test(*counts),
        np.nan,
        contingency_test([[count, n - count] for count, n in zip(counts, totals, strict=True)]),
        mcnemar,
        int(sum((side == 0.5).sum() for side in sides)),
        p_contingency_holm=np.nan,
        p_mcnemar_holm=np.nan,
        p_difference=ours.p_value,
        question=ours.question,
    )


def _n(values: Floats) -> int:
    return int((~np.isnan(values)).sum())
