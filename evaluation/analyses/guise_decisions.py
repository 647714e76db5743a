"""Verdicts and penalties after either guise: rates, relative increase, tests of counts.

Hofmann et al. (2024), Methods, Criminality analysis; methods.md §12.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluation.analyses.guise_draws import Floats, GuiseRun, prompt_counts
from evaluation.analyses.guise_inference import (
    CrossedLine,
    PairTable,
    corrected_over,
    crossed_lines,
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
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.holm import holm_correction
from evaluation.metrics.interval import bias_corrected_interval
from evaluation.metrics.undefined import UndefinedReason
from probing.measures.streams import named_stream

_ONE = np.ones((1, 1), dtype=bool)


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

    model: str
    outcome: str
    setting: str
    prompt: str
    first: float
    second: float
    n_first: int
    n_second: int
    increase: float


@dataclass(frozen=True)
class DecisionTest:
    """Tests of one model and outcome over all prompts and settings.

    rates : of both guises with intervals over texts and prompts; difference : first − second
    equal, contingency, mcnemar : see `evaluation.metrics.decisions`; McNemar over pairs alone
    p_holm : of the paper's test (equal counts), over the models of one outcome
    p_contingency_holm, p_mcnemar_holm : of the other two, likewise; NaN in results of before
        November 2026
    """

    model: str
    outcome: str
    first: Estimate
    second: Estimate
    difference: Estimate
    increase: float
    equal: CountTest
    p_holm: float
    contingency: CountTest
    mcnemar: CountTest
    n_ties: int
    p_contingency_holm: float = np.nan
    p_mcnemar_holm: float = np.nan


@dataclass(frozen=True)
class LeftOutDecision:
    """The difference of both rates, and the paper's p, with one prompt left out."""

    model: str
    outcome: str
    prompt: str
    difference: float
    p_equal: float


@dataclass(frozen=True)
class DecisionAnalysis:
    options: DecisionOptions
    rates: tuple[DecisionRate, ...]
    tests: tuple[DecisionTest, ...]
    crossed: tuple[CrossedLine, ...] = ()
    left_out: tuple[LeftOutDecision, ...] = ()


def analyse_decisions(runs: Sequence[DecisionRun], options: DecisionOptions) -> DecisionAnalysis:
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
        tests.append(_test(model, outcome, decided, options))
        crossed += crossed_lines(
            model,
            outcome,
            [f"difference of the rates of “{outcome}”"],
            _differences(decided),
            level=options.level,
            n_placebos=options.n_resamples,
            seed=options.seed,
        )
        left_out += _left_out(model, outcome, decided)
    return DecisionAnalysis(
        options,
        tuple(rates),
        tuple(_corrected(tests)),
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
    options: DecisionOptions,
) -> DecisionTest:
    sides = [
        np.concatenate([first.ravel() for _run, first, _second in decided]),
        np.concatenate([second.ravel() for _run, _first, second in decided]),
    ]
    counts, totals = [float(np.nansum(side)) for side in sides], [_n(side) for side in sides]
    rates = [count / n if n else np.nan for count, n in zip(counts, totals, strict=True)]
    drawn = _drawn_rates(decided, options)
    paired = [(first, second) for one, first, second in decided if one.run.paired]
    mcnemar = (
        mcnemar_test(*(np.concatenate([pair[side].ravel() for pair in paired]) for side in (0, 1)))
        if paired
        else CountTest(np.nan, 0, np.nan, 0, UndefinedReason.NO_PAIR)
    )
    return DecisionTest(
        model,
        outcome,
        _estimate(rates[0], drawn[0], totals[0], options, (0.0, 1.0)),
        _estimate(rates[1], drawn[1], totals[1], options, (0.0, 1.0)),
        _estimate(rates[0] - rates[1], drawn[0] - drawn[1], min(totals), options, (-1.0, 1.0)),
        relative_increase(*rates),
        equal_counts_test(*counts),
        np.nan,
        contingency_test([[count, n - count] for count, n in zip(counts, totals, strict=True)]),
        mcnemar,
        int(sum((side == 0.5).sum() for side in sides)),
    )


def _drawn_rates(
    decided: Sequence[tuple[DecisionRun, Floats, Floats]], options: DecisionOptions
) -> tuple[Floats, Floats]:
    """Return the rates of both guises in resamples of texts and prompts, (n_resamples,) each."""
    totals = np.zeros((2, 2, options.n_resamples))
    for one, first, second in decided:
        prompts = prompt_counts(
            len(one.run.prompts), n_resamples=options.n_resamples, seed=options.seed
        )
        texts: dict[str, Floats] = {}
        for side, decisions in enumerate((first, second)):
            name = "pairs" if one.run.paired else str(side)
            if name not in texts:
                rng = named_stream(options.seed, "texts", one.run.texts, name)
                n = decisions.shape[1]
                drawn = rng.multinomial(n, np.full(n, 1 / n), size=options.n_resamples)
                texts[name] = drawn.astype(np.float64)
            there = ~np.isnan(decisions)
            for part, values in enumerate((np.where(there, decisions, 0.0), there)):
                totals[side, part] += ((texts[name] @ values.T) * prompts).sum(axis=1)
    with np.errstate(invalid="ignore"):
        rates = totals[:, 0] / totals[:, 1]
    return rates[0], rates[1]


def _estimate(
    value: float, drawn: Floats, n: int, options: DecisionOptions, bounds: tuple[float, float]
) -> Estimate:
    if np.isnan(value):
        return no_estimate(UndefinedReason.NO_VALUES)
    found = bias_corrected_interval(value, drawn, level=options.level, bounds=bounds)
    return Estimate(float(value), found.low, found.high, n, interval_reason=found.reason)


def _corrected(tests: Sequence[DecisionTest]) -> list[DecisionTest]:
    found = list(tests)
    for outcome in dict.fromkeys(test.outcome for test in tests):
        places = [place for place, test in enumerate(tests) if test.outcome == outcome]
        some = [tests[place] for place in places]
        corrected = (
            holm_correction([test.equal.p_value for test in some]),
            holm_correction([test.contingency.p_value for test in some]),
            holm_correction([test.mcnemar.p_value for test in some]),
        )
        for place, equal, contingency, mcnemar in zip(places, *corrected, strict=True):
            found[place] = replace(
                tests[place],
                p_holm=float(equal),
                p_contingency_holm=float(contingency),
                p_mcnemar_holm=float(mcnemar),
            )
    return found


def _n(values: Floats) -> int:
    return int((~np.isnan(values)).sum())
