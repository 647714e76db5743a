"""Hidden spans in two varieties: means over trials, and the percent change between varieties.

Deas et al. (2023) §4.2 and §5.3: Table 11 and Figure 7. The value of a trial is the mean over
texts, the value of a cell the mean over trials. Percent change is 100 (target − source) / source;
below 0 the model finds the target variety easier.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from annotation.common.lazy import pd
from evaluation.analyses.resample_options import ResamplingOptions
from evaluation.metrics.bootstrap import Bootstrap, Floats
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.known_values import mean_of_known, quotient, sd_of_known
from evaluation.metrics.shown import Shown, statistic
from evaluation.metrics.undefined import UndefinedReason

COLUMNS = ("model", "name", "pair", "variety", "condition", "trial", "value", "reason")


@dataclass(frozen=True)
class SpanOptions(ResamplingOptions):
    """Options; the bootstrap resamples text pairs, with all their trials."""

    source_variety: str = "AAL"
    target_variety: str = "WME"


@dataclass(frozen=True)
class SpanCell:
    """One quantity of one model in one variety and condition.

    name : ``span_perplexity`` or ``top5_entropy`` (nats)
    estimate : mean over trials; n = texts with a value in any trial
    sd : of the trials' means, ddof 1, NaN with fewer than two trials
    trial_means : (n_trials,) mean over texts, NaN = no text has a value
    n_left_out : values that are missing, of all texts and trials
    """

    model: str
    name: str
    condition: str
    variety: str
    estimate: Annotated[Estimate, statistic("Mean", 2, "Texts")]
    sd: Annotated[float, Shown("sd of trials", 2)]
    trial_means: tuple[float, ...]
    n_left_out: int
    sd_reason: str = UndefinedReason.NONE


@dataclass(frozen=True)
class SpanChange:
    """Percent change from the source to the target variety, over the pairs with values of both.

    estimate : n = these pairs
    n_left_out : pairs with values of one alone
    """

    model: Annotated[str, Shown("Model")]
    name: str
    condition: str
    estimate: Annotated[Estimate, statistic("Change, %", 1, "Pairs", effect=True)]
    n_left_out: int


@dataclass(frozen=True)
class SpanLeftOut:
    """Missing values, by reason."""

    model: str
    condition: str
    variety: str
    reason: str
    n: int


@dataclass(frozen=True)
class SpanResult:
    """The whole analysis; cells and changes in the order of the values given."""

    options: SpanOptions
    models: tuple[str, ...]
    conditions: tuple[str, ...]
    n_pairs: int
    n_trials: int
    cells: tuple[SpanCell, ...]
    changes: tuple[SpanChange, ...]
    left_out: tuple[SpanLeftOut, ...]


def analyze_spans(values: pd.DataFrame, options: SpanOptions | None = None) -> SpanResult:
    """Return the analysis of one or more models.

    values : one row for each model, name, pair, variety, condition and trial, with the columns
        model, name, pair, variety, condition, trial, value (NaN = none), reason

    Raises ValueError for missing columns, infinite values, rows that come twice, and varieties
    other than the two that are compared.
    """
    chosen = options or SpanOptions()
    _validate(values, chosen)
    pairs = list(dict.fromkeys(values["pair"]))
    bootstrap = Bootstrap(len(pairs), **chosen.resampling)
    cells, changes = [], []
    for (model, name, condition), some in values.groupby(
        ["model", "name", "condition"], sort=False
    ):
        source, target = (
            _by_trial(some[some["variety"] == variety], pairs)
            for variety in (chosen.source_variety, chosen.target_variety)
        )
        labels = (str(model), str(name), str(condition))
        for variety, table in ((chosen.source_variety, source), (chosen.target_variety, target)):
            if table.size:
                cells.append(_cell(labels, variety, table, bootstrap))
        changes.append(SpanChange(*labels, *_change(source, target, bootstrap)))
    missing = values[values["value"].isna()]
    reasons = zip(
        missing["model"], missing["condition"], missing["variety"], missing["reason"], strict=True
    )
    counts = Counter((str(a), str(b), str(c), str(reason)) for a, b, c, reason in reasons)
    return SpanResult(
        options=chosen,
        models=tuple(map(str, dict.fromkeys(values["model"]))),
        conditions=tuple(map(str, dict.fromkeys(values["condition"]))),
        n_pairs=len(pairs),
        n_trials=int(values["trial"].nunique()),
        cells=tuple(cells),
        changes=tuple(changes),
        left_out=tuple(SpanLeftOut(*key, n) for key, n in sorted(counts.items())),
    )


def _validate(values: pd.DataFrame, options: SpanOptions) -> None:
    if absent := set(COLUMNS) - set(values.columns):
        raise ValueError(f"the values lack the columns {', '.join(sorted(absent))}")
    if values.empty:
        raise ValueError("there are no values to analyze")
    if np.isinf(values["value"].to_numpy(dtype=float)).any():
        raise ValueError("infinite values cannot be averaged; give NaN and a reason instead")
    keys = ["model", "name", "pair", "variety", "condition", "trial"]
    if values.duplicated(keys).any():
        row = values[values.duplicated(keys)].iloc[0]
        raise ValueError(f"the pair '{row['pair']}' of '{row['model']}' comes twice in one trial")
    known = {options.source_variety, options.target_variety}
    if foreign := set(values["variety"]) - known:
        raise ValueError(
            f"values in {', '.join(sorted(foreign))} cannot be compared; expected "
            f"{' and '.join(sorted(known))}"
        )


def _by_trial(values: pd.DataFrame, pairs: list[str]) -> Floats:
    """Return values, (n_pairs, n_trials), NaN = missing."""
    if values.empty:
        return np.zeros((len(pairs), 0))
    table = values.pivot(index="pair", columns="trial", values="value")
    return table.reindex(pairs).to_numpy(dtype=float)


def _columns(table: Floats) -> tuple[Floats, ...]:
    """Return sums and counts of every trial that has a value, (n_pairs,) each."""
    used = table[:, ~np.isnan(table).all(axis=0)]
    there = ~np.isnan(used)
    return (*np.where(there, used, 0).T, *there.astype(float).T)


def _mean_of_trials(sums: list[Floats]) -> Floats:
    """Return the mean over trials of sums divided by counts; NaN where a trial has no text."""
    half = len(sums) // 2
    if not half:
        return np.array([np.nan])
    return np.mean(list(map(quotient, sums[:half], sums[half:])), axis=0)


def _cell(
    labels: tuple[str, str, str], variety: str, table: Floats, bootstrap: Bootstrap
) -> SpanCell:
    model, name, condition = labels
    there = ~np.isnan(table)
    means = mean_of_known(table, axis=0)
    used = means[~np.isnan(means)]
    return SpanCell(
        model=model,
        name=name,
        condition=condition,
        variety=variety,
        estimate=_estimate(_columns(table), bootstrap, int(there.any(axis=1).sum())),
        sd=sd_of_known(used),
        trial_means=tuple(means.tolist()),
        n_left_out=int((~there).sum()),
        sd_reason=UndefinedReason.NONE if used.size > 1 else UndefinedReason.ONE_TRIAL,
    )


def _estimate(columns: tuple[Floats, ...], bootstrap: Bootstrap, n: int) -> Estimate:
    if not columns:
        return bootstrap.mean(np.full(bootstrap.n_units, np.nan))
    return bootstrap.estimate(columns, _mean_of_trials, n=n)


def _change(source: Floats, target: Floats, bootstrap: Bootstrap) -> tuple[Estimate, int]:
    """Return the change, and how many pairs have values of one variety alone."""
    before, after = (~np.isnan(table).all(axis=1) for table in (source, target))
    both = np.logical_and(before, after)
    left_out = int(np.logical_xor(before, after).sum())
    if not both.any():
        reason = (
            UndefinedReason.NO_PAIR if before.any() and after.any() else UndefinedReason.NO_VALUES
        )
        return no_estimate(reason), left_out
    first, second = (_columns(np.where(both[:, None], table, np.nan)) for table in (source, target))

    def percent(sums: list[Floats]) -> Floats:
        old, new = _mean_of_trials(sums[: len(first)]), _mean_of_trials(sums[len(first) :])
        return quotient(100 * (new - old), old)

    estimate = bootstrap.estimate(
        (*first, *second), percent, n=int(both.sum()), reason=UndefinedReason.NO_PERCENTAGE
    )
    return estimate, left_out
