"""Occupations and guises: ranking, the mean against zero, and the regression on prestige.

Hofmann et al. (2024), Methods, Employability analysis; methods.md §11.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.analyses.guise_association import (
    AttributeScore,
    GuiseOptions,
    analyse_guises,
)
from evaluation.analyses.guise_draws import GuiseRun, Probe
from evaluation.metrics.holm import holm_correction
from evaluation.metrics.one_sided_t import OneSidedT, one_sample_t
from evaluation.metrics.prestige import LinearFit, Rule, linear_fit, occupation_prestige


@dataclass(frozen=True)
class OccupationTest:
    """Whether occupations as a whole lie below zero: the paper's test says so one-sided.

    p_holm : one-sided, corrected over models
    """

    model: str
    probe: Probe
    test: OneSidedT
    p_holm: float


@dataclass(frozen=True)
class PrestigeLine:
    """The regression of prestige on the mean score; its n are occupations with a rating."""

    model: str
    probe: Probe
    fit: LinearFit


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


def analyse_occupations(
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
    found = analyse_guises(runs, occupations, [], {}, options)
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
    corrected = holm_correction([one.test.p_value for one in tests])
    return OccupationAnalysis(
        options,
        rule,
        found.models,
        found.scores,
        tuple(
            OccupationTest(one.model, one.probe, one.test, float(p))
            for one, p in zip(tests, corrected, strict=True)
        ),
        prestige,
        tuple(lines),
    )
