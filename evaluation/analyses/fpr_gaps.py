"""Gaps between groups in the false positive rates of a classifier: Kohankhaki et al., §3.2.

    gap_c(X) = FPR_c(X) − mean over groups of FPR_c          unweighted, within the run

The mean is over the groups that are compared; placebo words and the sentence without a mention are
set against the same mean. Intervals of the mean gap over runs:

- *simultaneous* (default, ours): of all groups at once, for templates and runs like these, and
  *these-runs* for the runs as they are: `fpr_inference`. Groups, words, and placebos are a
  family each.
- *t*: Student's, over runs. *released*: 1.96 sd / √n over runs, as in the published figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated

import numpy as np

from annotation.common.lazy import stats
from evaluation.analyses.fpr_counts import (
    CountTable,
    Floats,
    GapOptions,
    Predictions,
    count_errors,
)
from evaluation.analyses.fpr_inference import (
    NOISE_INCLUDED,
    GapErrors,
    GapTest,
    gap_errors,
    joint_test,
    linear_shares,
    question_of,
)
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.known_values import sd_of_known
from evaluation.metrics.shown import Shown
from probing.measures.streams import named_stream

RELEASED_Z = 1.96
#: Quantile of the placebo words' distances from their mean that makes up the band.
BAND = 0.95
FEWEST_PLACEBOS = 5
FEWEST_FILLERS = 3

NO_NEGATIVES = "every sentence has this label, so that none can be a false positive"
NONE_IN_A_RUN = "in some run every sentence that is left has this label"
NO_MEAN = "another group has no rate, so that there is no mean over groups to set this one against"
ONE_RUN = "a spread over runs needs at least two runs"
FEW_PLACEBOS = f"a band needs at least {FEWEST_PLACEBOS} placebo words"
FEW_SURPRISALS = f"fewer than {FEWEST_FILLERS} words have a gap and a surprisal"
SAME_SURPRISAL = "all words have the same surprisal"


@dataclass(frozen=True)
class Gap:
    """The gap of a group or of one of its fillers in one class's false positive rate.

    filler : empty for the whole group
    n_sentences, n_negatives : in a run; those that are not of the class
    fpr : mean over runs
    gap : mean over runs with the chosen interval
    sd : of the runs' gaps, ddof 1; NaN for one run
    released_half_width, t_half_width : half widths of the other intervals, NaN for one run
    beyond_band : whether it is farther from 0 than placebo words are from their mean
    equivalence_p : p-value of two one-sided tests against the margin; small = no gap of that size
    p_value : adjusted for all groups at once, below 1 − level exactly if the interval leaves out 0;
        NaN beside other intervals
    adjusted : the gap without what the surprisal of its mention predicts
    """

    side: Annotated[str, Shown(meaning="class whose false positives are counted")]
    group: Annotated[str, Shown(meaning="slug of the group")]
    filler: Annotated[
        str,
        Shown("Word", name="word", meaning="word of the group, empty for all together"),
    ]
    role: Annotated[str, Shown(meaning="group, placebo or unmarked")]
    n_fillers: int
    n_sentences: Annotated[int, Shown("n", 0, meaning="sentences in a run")]
    n_negatives: Annotated[int, Shown(meaning="those of another label")]
    fpr: Annotated[float, Shown("FPR", 3, meaning="false positive rate, mean over runs")]
    gap: Annotated[
        Estimate,
        Shown(
            "Gap", 3, effect=True, meaning="rate minus the mean over groups; interval: {interval}"
        ),
    ]
    sd: Annotated[float, Shown("sd", 3, meaning="of the runs’ gaps, ddof 1")]
    released_half_width: Annotated[float, Shown("± released", 3, meaning="1.96 sd / √n")]
    t_half_width: Annotated[float, Shown("± t", 3, meaning="Student’s, over runs")]
    beyond_band: Annotated[
        bool | None,
        Shown("Beyond band", 0, meaning="farther from 0 than placebo words from their mean"),
    ]
    equivalence_p: Annotated[
        float,
        Shown(
            "p of |gap| ≥ {margin:g}",
            is_p=True,
            meaning="two one-sided tests against a margin of {margin:g}",
        ),
    ]
    adjusted: Annotated[float, Shown("Adjusted", 3, signed=True)] = math.nan
    p_value: Annotated[
        float,
        Shown(
            "p",
            is_p=True,
            meaning="of no gap, adjusted for all groups (or words, or placebos) at once",
        ),
    ] = math.nan

    @property
    def is_group(self) -> bool:
        """Whether it is one of the groups that are compared."""
        return self.role == "group" and not self.filler

    @property
    def decision(
        self,
    ) -> Annotated[int, Shown(meaning="1, −1 where the interval excludes 0")]:
        """1 or −1 where the interval lies above or below 0, else 0."""
        return int(self.gap.low > 0) - int(self.gap.high < 0)


@dataclass(frozen=True)
class Band:
    """How far placebo words are from their own mean, in the middle 95 %; a half width.

    by_chance : share of gaps that lie beyond it where groups are words like placebos
    """

    side: str
    half_width: Annotated[
        float,
        Shown(
            "Placebo band",
            3,
            name="band",
            meaning="half width of the middle 95 % of placebo words round their mean",
        ),
    ]
    n: Annotated[int, Shown("Placebo words", 0, name="n_placebos")]
    reason: Annotated[str, Shown(name="band_reason")] = ""
    by_chance: float = math.nan


@dataclass(frozen=True)
class Span:
    """Largest minus smallest mean gap over groups, and who has them.

    span : of the estimates, noise included, so that it has no interval
    """

    side: Annotated[str, Shown("Side")]
    span: Estimate
    highest: str
    lowest: str


@dataclass(frozen=True)
class RunRate:
    """Rate and gap of a group in one run."""

    run: Annotated[str, Shown()]
    side: Annotated[str, Shown()]
    group: Annotated[str, Shown()]
    fpr: Annotated[float, Shown()]
    gap: Annotated[float, Shown()]
    accuracy: Annotated[float, Shown()]


@dataclass(frozen=True)
class MentionFit:
    """Least-squares line of the words' gaps on the surprisal of their mention, in nats.

    explained : share of the variance of the gaps
    """

    side: Annotated[str, Shown("Side")]
    slope: Annotated[
        Estimate,
        Shown(
            "Slope",
            4,
            signed=True,
            meaning="change of the gap for a nat of surprisal, over words",
        ),
    ]
    explained: Annotated[float, Shown("Explained, %", 0, scale=100)]


@dataclass(frozen=True)
class Accuracy:
    """Share of right predictions over groups: mean over runs, sd with ddof 1."""

    mean: Annotated[float, Shown("Accuracy", 3, name="accuracy", style="strong")]
    sd: Annotated[float, Shown("sd", 3, meaning="over runs, ddof 1")]
    n_runs: Annotated[int, Shown("Runs", 0)]


@dataclass(frozen=True)
class ModelGaps:
    """Everything about one model on one set of sentences.

    tests : of all groups at once, for each class and question
    """

    model: Annotated[str, Shown("Model")]
    data_set: Annotated[str, Shown("Sentences")]
    n_runs: int
    n_templates: Annotated[int, Shown("Templates", 0)]
    n_sentences: Annotated[int, Shown("n", 0, meaning="sentences in a run, controls included")]
    accuracy: Accuracy
    gaps: tuple[Gap, ...]
    bands: tuple[Band, ...]
    spans: tuple[Span, ...]
    rates: tuple[RunRate, ...]
    mention: tuple[MentionFit, ...]
    tests: tuple[GapTest, ...]

    def of(self, side: str) -> list[Gap]:
        """Return the gaps of the groups that are compared, in their order."""
        return [gap for gap in self.gaps if gap.side == side and gap.is_group]


def analyze_gaps(
    predictions: Predictions,
    options: GapOptions | None = None,
    surprisal: Mapping[tuple[str, str], float] | None = None,
) -> ModelGaps:
    """Return rates, gaps, intervals, span, placebo band and accuracy of one model.

    surprisal : mean surprisal of the mention in nats, by (group, filler); none where not measured

    Raises ValueError where fewer than two groups are compared.
    """
    chosen = options or GapOptions()
    table = count_errors(predictions, chosen.fallback)
    if table.reference.sum() < 2:
        raise ValueError("a gap compares at least two groups")
    n_runs = len(predictions.runs)
    rates = table.rates(released_eps=chosen.released_eps)
    by_run = table.gaps(rates)
    gaps: list[Gap] = []
    bands, spans, fits, tests = [], [], [], []
    for c, side in enumerate(predictions.classes):
        errors, of_side = _errors(table, c, side, n_runs, chosen)
        tests += of_side
        found = [
            _gap(table, u, c, side, rates[c], by_run[c], errors[u], chosen)
            for u in range(len(table.units))
        ]
        band = _band(side, found)
        found = [replace(gap, beyond_band=_beyond(gap, band)) for gap in found]
        if surprisal is not None:
            fit, found = _fit_mention(side, found, surprisal, chosen.level)
            fits.append(fit)
        bands.append(band)
        spans.append(_span(side, found))
        gaps += found
    shares = table.right[:, table.reference].sum(1) / table.sizes[:, table.reference].sum(1)
    return ModelGaps(
        model=predictions.model,
        data_set=predictions.data_set,
        n_runs=n_runs,
        n_templates=table.n_templates,
        n_sentences=len(predictions.sentences),
        accuracy=Accuracy(float(shares.mean()), sd_of_known(shares), n_runs),
        gaps=tuple(gaps),
        bands=tuple(bands),
        spans=tuple(spans),
        rates=tuple(_run_rates(predictions, table, rates, by_run)),
        mention=tuple(fits),
        tests=tuple(tests),
    )


# --- intervals ----------------------------------------------------------------------------------


def _errors(
    table: CountTable, c: int, side: str, n_runs: int, options: GapOptions
) -> tuple[list[tuple[GapErrors, int]], list[GapTest]]:
    """Return, for every unit, the errors of its family and its place there; tests of the groups."""
    shares = linear_shares(table, c)
    if not table.n_templates:
        shares = shares[:, :1]
    found: dict[int, tuple[GapErrors, int]] = {}
    tests = []
    families: dict[tuple[str, bool], list[int]] = {}
    for u, unit in enumerate(table.units):
        families.setdefault((unit.role, bool(unit.filler)), []).append(u)
    reference = shares[table.reference]
    chosen = options.interval == "these-runs"
    for (role, words), places in families.items():
        compared = role == "group" and not words
        for these in (False, True) if compared and n_runs > 1 else (chosen,):
            question = question_of(n_runs, these=these)
            errors = gap_errors(
                shares[places],
                reference,
                named_stream(options.seed, "gaps", side, role, str(words)),
                level=options.level,
                n_draws=options.n_resamples,
                these=these,
                words=words,
            )
            if compared:
                tests.append(joint_test(side, question, errors, options.level))
            if these == chosen or n_runs == 1:
                found |= {u: (errors, place) for place, u in enumerate(places)}
    return [found[u] for u in range(len(table.units))], tests


def _gap(
    table: CountTable,
    u: int,
    c: int,
    side: str,
    rates: Floats,
    by_run: Floats,
    errors: tuple[GapErrors, int],
    options: GapOptions,
) -> Gap:
    unit, values = table.units[u], by_run[:, u]
    n_negatives = round(table.negatives[c, :, u].sum(-1).mean())
    sd, n = sd_of_known(values), len(values)
    released = RELEASED_Z * sd / math.sqrt(n)
    student = _t_quantile(options.level, n - 1) * sd / math.sqrt(n)
    mean, n_sentences = float(values.mean()), round(table.sizes[:, u].mean())
    if math.isnan(mean):
        own = bool(np.isnan(rates[:, u]).any())
        estimate = no_estimate(
            NO_NEGATIVES if n_negatives == 0 else NONE_IN_A_RUN if own else NO_MEAN
        )
    elif _of_all(options):
        estimate = _around(mean, *errors, n_sentences)
    else:
        half = student if options.interval == "t" else released
        reason = ONE_RUN if math.isnan(half) else ""
        estimate = Estimate(mean, mean - half, mean + half, n_sentences, interval_reason=reason)
    return Gap(
        side=side,
        group=unit.group,
        filler=unit.filler,
        role=unit.role,
        n_fillers=unit.n_fillers,
        n_sentences=n_sentences,
        n_negatives=n_negatives,
        fpr=float(rates[:, u].mean()),
        gap=estimate,
        sd=sd,
        released_half_width=released,
        t_half_width=student,
        beyond_band=None,
        equivalence_p=_equivalence(mean, values, *errors, options),
        p_value=_p_value(mean, *errors, options),
    )


def _of_all(options: GapOptions) -> bool:
    return options.interval not in ("t", "released")


def _around(mean: float, errors: GapErrors, place: int, n: int) -> Estimate:
    if errors.reason:
        return Estimate(mean, n=n, interval_reason=errors.reason)
    half = errors.critical * math.sqrt(errors.v[place])
    return Estimate(mean, max(mean - half, -1.0), min(mean + half, 1.0), n)


def _p_value(mean: float, errors: GapErrors, place: int, options: GapOptions) -> float:
    if math.isnan(mean) or errors.reason or not _of_all(options):
        return math.nan
    return float(errors.p_of(np.full(len(errors.v), abs(mean)))[place])


def _equivalence(
    mean: float, values: Floats, errors: GapErrors, place: int, options: GapOptions
) -> float:
    """Return the p-value of |gap| ≥ margin (Schuirmann 1987).

    Beside intervals of all gaps at once it is adjusted like them, and below 1 − level exactly if
    the interval lies within the margin; else Student's, where runs are the units of the interval.
    """
    if math.isnan(mean):
        return math.nan
    if _of_all(options):
        room = options.margin - abs(mean)
        if errors.reason:
            return math.nan
        return float(errors.p_of(np.full(len(errors.v), room))[place]) if room > 0 else 1.0
    error = sd_of_known(values) / math.sqrt(len(values))
    if math.isnan(error) or error == 0:
        return math.nan
    return float(stats.t.cdf((abs(mean) - options.margin) / error, len(values) - 1))


def _span(side: str, gaps: Sequence[Gap]) -> Span:
    own = [gap for gap in gaps if gap.is_group and gap.gap.is_defined]
    if len(own) < 2:
        reasons = {str(gap.gap.reason) for gap in gaps if gap.is_group} - {NO_MEAN, ""}
        return Span(side, no_estimate(min(reasons, default=NO_NEGATIVES)), "", "")
    highest = max(own, key=lambda gap: gap.gap.value)
    lowest = min(own, key=lambda gap: gap.gap.value)
    value = highest.gap.value - lowest.gap.value
    bare = Estimate(value, n=len(own), interval_reason=NOISE_INCLUDED)
    return Span(side, bare, highest.group, lowest.group)


# --- what else could make a gap -----------------------------------------------------------------


def _band(side: str, gaps: Sequence[Gap]) -> Band:
    words = [g.gap.value for g in gaps if g.role == "placebo" and not g.filler]
    known = np.array([value for value in words if not math.isnan(value)])
    if known.size < FEWEST_PLACEBOS:
        return Band(side, math.nan, known.size, FEW_PLACEBOS)
    distances = np.abs(known - known.mean())
    # One word more is as likely to have any of n + 1 ranks among n of them, and the quantile has
    # the rank BAND (n − 1) + 1: beside a hundred words 6 % lie beyond it, beside five 20 %.
    n = known.size
    by_chance = (n - BAND * (n - 1)) / (n + 1)
    return Band(side, float(np.quantile(distances, BAND)), n, by_chance=by_chance)


def _beyond(gap: Gap, band: Band) -> bool | None:
    if math.isnan(band.half_width) or not gap.gap.is_defined or not gap.is_group:
        return None
    return abs(gap.gap.value) > band.half_width


def _fit_mention(
    side: str, gaps: Sequence[Gap], surprisal: Mapping[tuple[str, str], float], level: float
) -> tuple[MentionFit, list[Gap]]:
    """Return the line through all words that mention something, and gaps without its part."""
    words = [
        (gap, surprisal[gap.group, gap.filler])
        for gap in gaps
        if gap.filler and gap.gap.is_defined and (gap.group, gap.filler) in surprisal
    ]
    x = np.array([value for _, value in words])
    y = np.array([gap.gap.value for gap, _ in words])
    if len(words) < FEWEST_FILLERS or np.ptp(x) == 0:
        reason = FEW_SURPRISALS if len(words) < FEWEST_FILLERS else SAME_SURPRISAL
        return MentionFit(side, no_estimate(reason), math.nan), list(gaps)
    fit = stats.linregress(x, y)
    half = _t_quantile(level, len(words) - 2) * fit.stderr
    slope = Estimate(fit.slope, fit.slope - half, fit.slope + half, len(words))
    own = {gap.group for gap in gaps if gap.is_group}
    of_groups = {
        group: np.mean([value for gap, value in words if gap.group == group])
        for group in dict.fromkeys(gap.group for gap, _ in words)
    }
    center = np.mean([value for group, value in of_groups.items() if group in own])
    explained = float(fit.rvalue**2) if np.ptp(y) > 0 else math.nan

    def adjust(gap: Gap) -> Gap:
        known = surprisal.get((gap.group, gap.filler)) if gap.filler else of_groups.get(gap.group)
        if known is None:
            return gap
        return replace(gap, adjusted=float(gap.gap.value - fit.slope * (known - center)))

    return MentionFit(side, slope, explained), [adjust(gap) for gap in gaps]


def _run_rates(
    predictions: Predictions, table: CountTable, rates: Floats, gaps: Floats
) -> Iterator[RunRate]:
    for r, run in enumerate(predictions.runs):
        for c, side in enumerate(predictions.classes):
            for u, unit in enumerate(table.units):
                if not unit.filler:
                    yield RunRate(
                        run,
                        side,
                        unit.group,
                        float(rates[c, r, u]),
                        float(gaps[c, r, u]),
                        float(table.right[r, u] / table.sizes[min(r, len(table.sizes) - 1), u]),
                    )


@cache
def _t_quantile(level: float, df: int) -> float:
    return float(stats.t.ppf((1 + level) / 2, df)) if df > 0 else math.nan
