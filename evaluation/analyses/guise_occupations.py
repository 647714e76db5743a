"""Occupations and guises: ranking, the mean against zero, and the regression on prestige.

Hofmann et al. (2024), Methods, Employability analysis; methods.md §11.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from evaluation.analyses.guise_association import AttributeScore, analyze_guises
from evaluation.analyses.guise_cells import GuiseCell, GuiseOptions, guise_cells, runs_of
from evaluation.analyses.guise_draws import Floats, GuiseRun, Probe
from evaluation.analyses.guise_inference import (
    CrossedLine,
    PairTable,
    fit_pairs,
    pair_table,
    tests_disagree,
)
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.holm import correct_rows
from evaluation.metrics.known_values import mean_of_known
from evaluation.metrics.one_sided_t import OneSidedT, one_sample_t
from evaluation.metrics.prestige import LinearFit, Rule, linear_fit, occupation_prestige
from evaluation.metrics.shown import Shown

MEAN, SLOPE = "mean q", "slope of prestige"
FLATTENED = "noise of the scores makes the slope flatter, and its interval would not hold"


@dataclass(frozen=True)
class OccupationTest:
    """Whether occupations as a whole lie below zero: the paper's test says so one-sided.

    p_holm : one-sided, corrected over models
    """

    model: str
    probe: Probe
    test: OneSidedT
    p_holm: Annotated[float, Shown("Holm", is_p=True)]


@dataclass(frozen=True)
class PrestigeLine:
    """The regression of prestige on the mean score; its n are occupations with a rating."""

    model: str
    probe: Probe
    fit: LinearFit


@dataclass(frozen=True)
class OccupationInference:
    """The mean of all occupations, or the slope of prestige, with texts and prompts as samples.

    name : “mean q” or “slope of prestige”; n of the estimate = occupations
    p_paper : of the paper's test, one-sided and by Holm for the mean
    p_value : two-sided, of the mean from the t of its interval; of the slope from that of the
        ratings’ covariance with the scores
    disagree : whether the paper's test and our interval come to different ends, at its level
    """

    model: str
    probe: Probe
    name: Annotated[str, Shown("Quantity", name="quantity")]
    estimate: Annotated[
        Estimate,
        Shown(
            "Value",
            4,
            name="value",
            effect=True,
            meaning="interval over texts and prompts",
            n=Shown("Occupations"),
        ),
    ]
    p_paper: Annotated[float, Shown("p (paper)", is_p=True)]
    disagree: bool
    p_value: Annotated[
        float, Shown("p", name="p", is_p=True, meaning="two-sided, over texts and prompts")
    ]


@dataclass(frozen=True)
class OccupationAnalysis:
    """The whole analysis; `prestige` holds the occupations that have a rating."""

    options: GuiseOptions
    rule: Rule
    models: tuple[tuple[str, Probe], ...]
    scores: tuple[AttributeScore, ...]
    tests: tuple[OccupationTest, ...]
    prestige: dict[str, float]
    lines: tuple[PrestigeLine, ...]
    inference: tuple[OccupationInference, ...]
    crossed: tuple[CrossedLine, ...]


def analyze_occupations(
    runs: Sequence[GuiseRun],
    occupations: Sequence[str],
    titles: Mapping[str, float],
    options: GuiseOptions,
    *,
    rule: Rule = "words",
) -> OccupationAnalysis:
    """Return the analysis of runs with the same occupations, in alphabetical order.

    titles : prestige by title of a survey; empty for no regression
    """
    cells = guise_cells(runs, options)
    found = analyze_guises(runs, occupations, [], {}, options, cells=cells)
    prestige = occupation_prestige(occupations, titles, rule=rule)
    tests, lines = [], []
    for model, probe in found.models:
        scores = {
            row.attribute: row.estimate.value
            for row in found.scores
            if (row.model, row.probe) == (model, probe)
        }
        test = one_sample_t(list(scores.values()), alternative="less")
        tests.append(OccupationTest(model, probe, test, np.nan))
        if titles:
            rated = [name for name in occupations if name in prestige]
            fit = linear_fit(
                [scores[name] for name in rated],
                [prestige[name] for name in rated],
                level=options.level,
            )
            lines.append(PrestigeLine(model, probe, fit))
    held = correct_rows(tests, p_holm="test.p_value")
    return OccupationAnalysis(
        options,
        rule,
        found.models,
        found.scores,
        tuple(held),
        prestige,
        tuple(lines),
        tuple(
            line
            for place, cell in enumerate(cells)
            for line in _inference(
                cell, runs, occupations, prestige, held[place], lines[place : place + 1], options
            )
        ),
        found.crossed,
    )


def _inference(
    cell: GuiseCell,
    runs: Sequence[GuiseRun],
    occupations: Sequence[str],
    prestige: Mapping[str, float],
    test: OccupationTest,
    lines: Sequence[PrestigeLine],
    options: GuiseOptions,
) -> list[OccupationInference]:
    """Return the paper's two quantities with intervals over texts and prompts."""
    known = ~np.isnan(cell.q)
    n = int(known.sum())
    quantities = [(MEAN, float(np.nanmean(cell.q)), known / max(n, 1), n, test.p_holm)]
    for line in lines:
        if line.fit.reason:
            continue
        ratings = np.array([prestige.get(name, np.nan) for name in occupations])
        quantities.append(
            (SLOPE, line.fit.slope, _slope_weights(cell.q, ratings), line.fit.n, line.fit.p_value)
        )
    found = []
    for name, value, weights, n_values, p_paper in quantities:
        why = cell.why_no_pairs
        table = None if why else _by_wording(runs_of(cell, runs), weights)
        (fit,) = fit_pairs(table, [value], options.level, n=n_values, why_no_pairs=why)
        # The paper tests the mean on one side.
        ours = _below(fit.estimate) if name == MEAN else fit.estimate
        found.append(
            OccupationInference(
                cell.model,
                cell.probe,
                name,
                fit.estimate if name == MEAN else _flattened(fit.estimate),
                p_paper,
                tests_disagree(p_paper, ours, options.level),
                fit.p_value,
            )
        )
    return found


def _flattened(slope: Estimate) -> Estimate:
    """Return the slope without interval: that of the contrast holds about a slope of 0 alone."""
    why = slope.interval_reason or FLATTENED
    return replace(slope, low=np.nan, high=np.nan, interval_reason=why)


def _by_wording(runs: Sequence[GuiseRun], weights: Floats) -> PairTable | None:
    """Return Σ weight × log ratio over occupations, prompts with “a” and with “an” as one."""
    table = pair_table(runs)
    if table is None:
        return None
    wordings = [re.sub("-an?$", "", prompt) for prompt in table.prompts]
    names = tuple(dict.fromkeys(wordings))
    values = np.stack(
        [mean_of_known(table.values[[one == name for one in wordings]], axis=0) for name in names]
    )
    chosen = np.flatnonzero(weights)
    return replace(table, prompts=names, values=values[..., chosen] @ weights[chosen, None])


def _below(mean: Estimate) -> Estimate:
    """Return an estimate that lies on one side of zero only below: the paper tests one side."""
    return mean if np.isnan(mean.low) else replace(mean, low=-np.inf)


def _slope_weights(q: Floats, ratings: Floats) -> Floats:
    """Return (n_occupations,) y / Σ x², x and y less their means: Σ weight × q is the slope."""
    there = ~np.isnan(q) & ~np.isnan(ratings)
    x, y = (np.where(there, one - one[there].mean(), 0.0) for one in (q, ratings))
    return y / (x @ x)
