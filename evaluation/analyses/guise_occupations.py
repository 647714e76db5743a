"""Occupations and guises: ranking, the mean against zero, and the regression on prestige.

Hofmann et al. (2024), Methods, Employability analysis; methods.md §11.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from evaluation.analyses.guise_association import AttributeScore, analyze_guises
from evaluation.analyses.guise_cells import GuiseCell, GuiseOptions, estimate_of, guise_cells
from evaluation.analyses.guise_draws import Floats, GuiseRun, Probe
from evaluation.analyses.guise_inference import CrossedLine, tests_disagree
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.holm import correct_rows
from evaluation.metrics.interval import bias_corrected_p_value
from evaluation.metrics.known_values import mean_of_known, quotient
from evaluation.metrics.one_sided_t import OneSidedT, one_sample_t
from evaluation.metrics.prestige import LinearFit, Rule, linear_fit, occupation_prestige
from evaluation.metrics.shown import Shown

MEAN, SLOPE = "mean q", "slope of prestige"


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
    """The mean of all occupations, or the slope of prestige, with texts and prompts resampled.

    name : “mean q” or “slope of prestige”; n of the estimate = occupations
    p_paper : of the paper's test, one-sided and by Holm for the mean
    p_value : two-sided, from the resamples of the interval
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
        float, Shown("p", name="p", is_p=True, meaning="two-sided, from the interval’s resamples")
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
                cell, occupations, prestige, held[place], lines[place : place + 1], options
            )
        ),
        found.crossed,
    )


def _inference(
    cell: GuiseCell,
    occupations: Sequence[str],
    prestige: Mapping[str, float],
    test: OccupationTest,
    lines: Sequence[PrestigeLine],
    options: GuiseOptions,
) -> list[OccupationInference]:
    """Return the paper's two quantities with intervals over texts and prompts."""
    n = int((~np.isnan(cell.q)).sum())
    value, drawn = float(np.nanmean(cell.q)), mean_of_known(cell.drawn, axis=1)
    quantities = [(MEAN, value, drawn, n, test.p_holm)]
    for line in lines:
        if line.fit.reason:
            continue
        ratings = np.array([prestige.get(name, np.nan) for name in occupations])
        drawn = _slopes(cell.drawn, ratings)
        quantities.append((SLOPE, line.fit.slope, drawn, line.fit.n, line.fit.p_value))
    found = [
        (name, estimate_of(value, drawn, n, options), p_paper, bias_corrected_p_value(value, drawn))
        for name, value, drawn, n, p_paper in quantities
    ]
    return [
        OccupationInference(
            cell.model,
            cell.probe,
            name,
            estimate,
            p_paper,
            tests_disagree(p_paper, _below(estimate) if name == MEAN else estimate, options.level),
            p,
        )
        for name, estimate, p_paper, p in found
    ]


def _below(mean: Estimate) -> Estimate:
    """Return an estimate that lies on one side of zero only below: the paper tests one side."""
    return mean if np.isnan(mean.low) else replace(mean, low=-np.inf)


def _slopes(q: Floats, ratings: Floats) -> Floats:
    """Return the least-squares slope of the ratings on the scores of every draw, (n_draws,)."""
    there = ~np.isnan(q) & ~np.isnan(ratings)
    n = np.maximum(there.sum(axis=1, keepdims=True), 1)
    x, y = np.where(there, q, 0.0), np.where(there, ratings, 0.0)
    x = np.where(there, x - x.sum(axis=1, keepdims=True) / n, 0.0)
    y = np.where(there, y - y.sum(axis=1, keepdims=True) / n, 0.0)
    return quotient((x * y).sum(axis=1), (x**2).sum(axis=1))
