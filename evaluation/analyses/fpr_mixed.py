"""One model for all errors: false positive ~ group + (1 | template) + (1 | word) + (1 | run).

*Ours*, beside the gaps of rates: a mixed logistic regression, in which a group's effect is its log
odds of a false positive minus the mean over groups. Effects have no intervals: those of the model
leave out how a template moves one group more than others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from evaluation.analyses.fpr_counts import CountTable, GapOptions, Predictions, count_errors
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.mixed_logistic import SEPARATED, MixedLogistic, fit_mixed_logistic
from evaluation.metrics.shown import Shown

#: Beyond, runs are added up: a fit of many runs on a large set would take minutes.
MOST_ROWS = 50_000
NO_INTERVAL = "the model leaves out how a template moves one group more than others"
ONE_TEMPLATE = "fewer than two templates are known"


@dataclass(frozen=True)
class MixedEffect:
    """A group's log odds of a false positive minus the mean over groups; n = sentences."""

    group: str
    effect: Annotated[
        Estimate,
        Shown(
            "Effect",
            2,
            effect=True,
            no_interval=True,
            meaning="log odds of a false positive minus the mean over groups; no interval",
            n=Shown("n", meaning="sentences of another label, all runs"),
        ),
    ]


@dataclass(frozen=True)
class MixedFit:
    """The fit of one side.

    template_sd, word_sd, run_sd : of the random intercepts, in log odds; NaN where left out, since
        every group has one word, or there is one run, or too many rows
    reason : why there is no fit; the gaps of rates then stand alone
    """

    side: Annotated[str, Shown("Side")]
    effects: tuple[MixedEffect, ...]
    template_sd: Annotated[float, Shown("sd of templates", 2)]
    word_sd: Annotated[float, Shown("of words", 2)]
    run_sd: Annotated[float, Shown("of runs", 2)]
    n: int
    reason: str = ""


def fit_mixed(
    predictions: Predictions, options: GapOptions, sides: Sequence[str]
) -> tuple[MixedFit, ...]:
    """Return the fit of every side among the classes."""
    table = count_errors(predictions, options.fallback)
    return tuple(
        _fit(table, predictions.classes.index(side), side)
        for side in sides
        if side in predictions.classes
    )


def _fit(table: CountTable, c: int, side: str) -> MixedFit:
    units = [
        (place, unit)
        for place, unit in enumerate(table.units)
        if unit.role == "group" and (unit.filler or not unit.n_fillers)
    ]
    places = [place for place, _ in units]
    groups = list(dict.fromkeys(unit.group for _, unit in units))
    fp = table.fp[c][:, places]
    trials = np.broadcast_to(table.negatives[c][:, places], fp.shape)
    if np.count_nonzero(trials) > MOST_ROWS:
        fp, trials = fp.sum(0, keepdims=True), trials.sum(0, keepdims=True)
    run, word, template = np.nonzero(trials)
    group = np.array([groups.index(unit.group) for _, unit in units])[word]
    successes, tried = fp[run, word, template], trials[run, word, template]
    nothing = MixedFit(side, (), np.nan, np.nan, np.nan, int(tried.sum()))
    if table.n_templates < 2:
        return _without(nothing, ONE_TEMPLATE)
    errors = np.bincount(group, successes, minlength=len(groups))
    sizes = np.bincount(group, tried, minlength=len(groups))
    if (errors == 0).any() or (errors == sizes).any():
        return _without(nothing, SEPARATED)
    factors = {"template": template, "word": word, "run": run}
    if len(units) == len(groups):
        del factors["word"]
    if len(fp) == 1:
        del factors["run"]
    order = sorted(factors, key=lambda name: -len(set(factors[name])))
    levels = [np.unique(factors[name], return_inverse=True)[1] for name in order]
    design = np.eye(len(groups))[group]
    fit: MixedLogistic = fit_mixed_logistic(successes, tried, design, levels)
    if fit.reason:
        return _without(nothing, fit.reason)
    sds = dict(zip(order, fit.sds, strict=True))
    values = fit.coefficients - fit.coefficients.mean()
    effects = tuple(
        MixedEffect(name, Estimate(float(value), n=int(size), interval_reason=NO_INTERVAL))
        for name, value, size in zip(groups, values, sizes, strict=True)
    )
    return MixedFit(
        side,
        effects,
        sds["template"],
        sds.get("word", np.nan),
        sds.get("run", np.nan),
        int(tried.sum()),
    )


def _without(fit: MixedFit, reason: str) -> MixedFit:
    return MixedFit(fit.side, (), fit.template_sd, fit.word_sd, fit.run_sd, fit.n, reason)
