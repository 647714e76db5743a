"""Means, percent changes, and differences of few or many texts, and alphas of few annotators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from annotation.common.lazy import pd
from evaluation.analyses.span_analysis import SpanOptions, analyze_spans
from evaluation.metrics.bootstrap import Bootstrap
from evaluation.metrics.crossed_effects import (
    LIKE_THESE,
    crossed_difference,
    crossed_effects,
)
from evaluation.metrics.decisions import mcnemar_test
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.krippendorff_alpha import Measurement, Over, krippendorff_alpha
from evaluation.metrics.levenshtein_alpha import levenshtein_alpha
from evaluation.metrics.slope import robust_intercept, robust_slope
from evaluation.metrics.t_test import t_test
from tools.coverage.rows import Row, Study, Tested

MEAN, CHANGE, PAIRED, WELCH, SLOPE = (
    "mean of texts",
    "percent change between varieties",
    "difference of means, paired",
    "difference of means, Welch",
    "slope on density",
)
ALPHA_UNITS, ALPHA_LIKE = (
    "Krippendorff's alpha, these annotators",
    "Krippendorff's alpha, annotators like these",
)
PROMPTS_LIKE, PROMPTS_THESE = (
    "effect of a guise, prompts like these",
    "effect of a guise, these prompts",
)
BETWEEN_LIKE, BETWEEN_THESE = (
    "difference between guises of other texts, prompts like these",
    "difference between guises of other texts, these prompts",
)
MCNEMAR = "McNemar's test of pairs decided once"
ADJUSTED, TEXTS = "mean adjusted for covariates", "alpha of texts"
RESAMPLES = 1000

Array = NDArray[np.float64]
Rng = np.random.Generator

#: Name → values of n texts, and their mean.
SHAPES: dict[str, tuple[Callable[[Rng, int], Array], float]] = {
    "normal": (lambda rng, n: rng.standard_normal(n), 0.0),
    "skewed": (lambda rng, n: rng.gamma(2.0, size=n), 2.0),
    "perplexities": (lambda rng, n: np.exp(0.6 * rng.standard_normal(n)), float(np.exp(0.18))),
    "counts, a fifth above 0": (lambda rng, n: rng.poisson(0.22, n).astype(float), 0.22),
    "shares, 10 %": (lambda rng, n: (rng.random(n) < 0.1).astype(float), 0.1),
    "judgments of 1 to 5": (
        lambda rng, n: rng.choice(5, n, p=(0.05, 0.1, 0.2, 0.3, 0.35)).astype(float) + 1,
        3.8,
    ),
}


def _mean(shape: str, n: int, rng: Rng) -> Study:
    draw, truth = SHAPES[shape]
    found = Bootstrap(n, n_resamples=RESAMPLES, seed=_seed(rng)).mean(draw(rng, n))
    return {MEAN: (Tested(found), truth)}


def _seed(rng: Rng) -> int:
    return int(rng.integers(2**31))


def _change(spread: float, n: int, rng: Rng) -> Study:
    """Perplexities in two varieties; `spread` is the sd of their logarithm over texts."""
    common = spread * rng.standard_normal((n, 1))
    own = 0.4 * rng.standard_normal((n, 2)) - np.array([0.0, 0.2])
    rows = [
        ("model", "span_perplexity", str(pair), variety, "words", 0, value, "")
        for pair, values in enumerate(np.exp(common + own))
        for variety, value in zip(("AAL", "WME"), values, strict=True)
    ]
    columns = ("model", "name", "pair", "variety", "condition", "trial", "value", "reason")
    options = SpanOptions(n_resamples=RESAMPLES, seed=_seed(rng))
    found = analyze_spans(pd.DataFrame(rows, columns=columns), options)
    return {CHANGE: (Tested(found.changes[0].estimate), 100 * (np.exp(-0.2) - 1))}


def _paired(shape: str, n: int, rng: Rng) -> Study:
    draw, _ = SHAPES[shape]
    test = t_test(draw(rng, n), draw(rng, n), kind="paired")
    return {PAIRED: (Tested(test.estimate, test.p_value), 0.0)}


def _welch(shape: str, sizes: tuple[int, int], rng: Rng) -> Study:
    """The smaller side scatters twice as far."""
    draw, mean = SHAPES[shape]
    first, second = (draw(rng, n) - mean for n in sizes)
    test = t_test(2 * first, second, kind="welch")
    return {WELCH: (Tested(test.estimate, test.p_value), 0.0)}


def _slope(n: int, covariates: int, rng: Rng) -> Study:
    """Densities are skewed, and values scatter the more the denser the text."""
    x = rng.gamma(2.0, size=n)
    others = rng.standard_normal((n, covariates)) if covariates else None
    y = rng.standard_normal(n) * (0.5 + 0.25 * x)
    found = robust_slope(y, x, others)
    return {SLOPE: (Tested(found.estimate, found.p_value), 0.0)}


_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
#: Name → threshold between two classes (None = a scale), sd of units, sd of annotators' leaning.
ALPHAS: dict[str, tuple[float | None, float, float]] = {
    "a scale": (None, 1.0, 0.3),
    "a scale, annotators lean": (None, 1.0, 0.7),
    "two classes": (0.0, 1.5, 0.5),
    "two classes, a tenth": (-2.4, 1.5, 0.5),
    "two classes, rare": (-3.5, 1.5, 0.5),
}
SIZES = ((2, 50), (3, 39), (3, 50), (5, 50), (5, 200), (10, 100), (10, 300), (20, 60))
#: With many annotators, which take long.
MANY = ("a scale, annotators lean", "two classes")
RARE = ("two classes, a tenth", "two classes, rare")
#: Between the marks of a scale.
STEP = 0.5


def _normal_share(x: Array) -> Array:
    from scipy.special import ndtr

    return np.asarray(ndtr(x))


def _alpha(name: str, annotators: int, units: int, rng: Rng) -> Study:
    threshold, of_unit, leaning = ALPHAS[name]
    measurement: Measurement = "interval" if threshold is None else "nominal"
    own = leaning * rng.standard_normal((annotators, 1))
    latent = of_unit * rng.standard_normal(units) + own + rng.standard_normal((annotators, units))
    if threshold is None:
        # Rounding adds its twelfth to what scatters (Sheppard).
        noise = 1 + STEP**2 / 12
        between = float(own.var(ddof=1))
        share = (annotators - 1) / annotators
        these = 1 - (between + noise) / (of_unit**2 + share * between + noise)
        like = 1 - (leaning**2 + noise) / (of_unit**2 + leaning**2 + noise)
        table = STEP * np.round(latent / STEP)
    else:
        these = _alpha_of_classes(threshold, of_unit, leaning, own)
        like = _alpha_of_classes(threshold, of_unit, leaning, None)
        table = (latent + threshold > 0).astype(float)
    truths: dict[str, tuple[Over, float]] = {
        ALPHA_UNITS: ("units", these),
        ALPHA_LIKE: ("annotators", like),
    }
    return {
        statistic: (
            Tested(krippendorff_alpha(table, measurement=measurement, over=over).estimate),
            truth,
        )
        for statistic, (over, truth) in truths.items()
    }


def _alpha_of_classes(threshold: float, of_unit: float, leaning: float, own: Array | None) -> float:
    """Return 1 − chance that two annotators differ on a unit / that they do on any two units.

    own : (n_annotators, 1) leaning of these annotators, None for annotators like these
    """
    level = threshold + of_unit * _NODES
    if own is None:
        share = _normal_share(level / np.sqrt(1 + leaning**2))  # of annotators, for each unit
        # Two annotators of one unit differ in their own leaning, which is in the share.
        apart, mean = float(_WEIGHTS @ (share * (1 - share))), float(_WEIGHTS @ share)
        return 1 - apart / (mean * (1 - mean))
    each = _normal_share(level + own)
    n, total = len(own), each.sum(axis=0)
    pairs = total * (n - total) - (each * (1 - each)).sum(axis=0)
    mean = float(_WEIGHTS @ each.mean(axis=0))
    return 1 - float(_WEIGHTS @ pairs) / (n * (n - 1)) / (mean * (1 - mean))


def _effect(prompts: int, texts: int, of_prompt: float, rng: Rng) -> Study:
    """Log ratios of texts in prompts; without an effect on average over prompts like these."""
    own = of_prompt * rng.standard_normal((prompts, 1))
    table = own + 0.4 * rng.standard_normal(texts) + 0.5 * rng.standard_normal((prompts, texts))
    found = crossed_effects(table)
    like = found.question == LIKE_THESE
    truth = 0.0 if like else float(own.mean())
    shown = (Tested(found.estimate, found.p_value), truth)
    return {PROMPTS_LIKE if like else PROMPTS_THESE: shown}


def _two_guises(prompts: int, sizes: tuple[int, int], of_prompt: float, rng: Rng) -> Study:
    """Two guises of other texts in the same prompts, which move both, and each by itself."""
    shared = of_prompt * rng.standard_normal((prompts, 1))
    own = of_prompt / 2 * rng.standard_normal((2, prompts, 1))
    tables = [
        shared + part + 0.4 * rng.standard_normal(n) + 0.5 * rng.standard_normal((prompts, n))
        for part, n in zip(own, sizes, strict=True)
    ]
    found = crossed_difference(*tables)
    like = found.question == LIKE_THESE
    truth = 0.0 if like else float((own[0] - own[1]).mean())
    return {BETWEEN_LIKE if like else BETWEEN_THESE: (Tested(found.estimate, found.p_value), truth)}


def _pairs_decided(n: int, rng: Rng) -> Study:
    """Pairs that are decided once, whose texts are easy or hard in either guise alike."""
    share = 1 / (1 + np.exp(-(-1 + 1.5 * rng.standard_normal(n))))
    found = mcnemar_test(*((rng.random(n) < share).astype(float) for _ in range(2)))
    alone = Estimate(0.0, interval_reason="a test by itself")
    return {MCNEMAR: (Tested(alone, found.p_value), 0.0)}


def _decisions(prompts: int, texts: int, rng: Rng) -> Study:
    """Differences of two decisions, 0 or 1, that texts and prompts make likelier in both guises."""
    level = -1 + rng.standard_normal(texts) + 0.5 * rng.standard_normal((prompts, 1))
    first, second = (rng.random(level.shape) < 1 / (1 + np.exp(-level)) for _ in range(2))
    found = crossed_effects(first.astype(float) - second)
    like = found.question == LIKE_THESE
    name = PROMPTS_LIKE if like else PROMPTS_THESE
    return {name: (Tested(found.estimate, found.p_value), 0.0)}


def _adjusted(n: int, rng: Rng) -> Study:
    """Values that scatter more with the first of two covariates, and follow it."""
    others = rng.standard_normal((n, 2))
    y = 0.3 * others[:, 0] + rng.standard_normal(n) * (1 + 0.3 * np.abs(others[:, 0]))
    found = robust_intercept(y, others)
    return {ADJUSTED: (Tested(found.estimate, found.p_value), 0.0)}


def _written(items: int, annotators: int, rng: Rng) -> list[tuple[int, int, str]]:
    """Return (item, annotator, text): annotators change some letters of an item's text."""
    found = []
    for item in range(items):
        n = int(rng.integers(10, 40))
        base, easy = rng.integers(6, size=n), rng.beta(1, 3)
        for annotator in range(annotators):
            changed = np.where(rng.random(n) < easy, rng.integers(6, size=n), base)
            found.append((item, annotator, "".join("abcdef"[letter] for letter in changed)))
    return found


@cache
def _alpha_of_texts() -> float:
    """Return alpha of annotators' texts on very many items."""
    columns = zip(*_written(1500, 2, np.random.default_rng(0)), strict=True)
    return levenshtein_alpha(*map(list, columns), n_resamples=0).value


def _texts(items: int, annotators: int, rng: Rng) -> Study:
    columns = zip(*_written(items, annotators, rng), strict=True)
    found = levenshtein_alpha(*map(list, columns), n_resamples=RESAMPLES, seed=_seed(rng))
    return {TEXTS: (Tested(found.estimate), _alpha_of_texts())}


def list_rows() -> Iterator[Row]:
    """Return the rows of means, changes, differences, slopes, effects, and alphas."""
    for shape in SHAPES:
        for n in (39, 40, 100, 400) if shape in ("normal", "perplexities") else (40, 100):
            yield _row(f"{shape}, {n} texts", MEAN, partial(_mean, shape, n), thin=n == 100)
    for spread in (0.3, 1.0):
        for n in (39, 40, 100):
            name = f"{n} pairs, sd of logarithms {spread:g}"
            yield _row(name, CHANGE, partial(_change, spread, n))
    for shape in ("normal", "perplexities", "counts, a fifth above 0", "judgments of 1 to 5"):
        for n in (4, 5, 10, 40):
            yield _row(f"{shape}, {n} pairs", PAIRED, partial(_paired, shape, n), thin=n == 5)
    for shape in ("normal", "judgments of 1 to 5"):
        for sizes in ((7, 40), (8, 40), (20, 30)):
            name = f"{shape}, {sizes[0]} and {sizes[1]} texts"
            yield _row(name, WELCH, partial(_welch, shape, sizes))
    for n, covariates in ((6, 0), (12, 0), (20, 3), (100, 3)):
        yield _row(f"{n} texts, {covariates} covariates", SLOPE, partial(_slope, n, covariates))
    for prompts, texts, of_prompt in (
        *((9, 4, 0.2), (9, 5, 0.2), (9, 50, 0.2), (9, 50, 0.0), (6, 50, 0.2), (6, 500, 0.4)),
        *((3, 4, 0.2), (3, 5, 0.2), (3, 50, 0.2), (1, 50, 0.2)),
    ):
        name = f"{prompts} prompts, {texts} texts, sd of prompts {of_prompt:g}"
        question = PROMPTS_LIKE if prompts >= 6 else PROMPTS_THESE
        yield _row(name, question, partial(_effect, prompts, texts, of_prompt))
    for prompts, texts in ((9, 50), (3, 50)):
        question = PROMPTS_LIKE if prompts >= 6 else PROMPTS_THESE
        name = f"decisions, {prompts} prompts, {texts} texts"
        yield _row(name, question, partial(_decisions, prompts, texts))
    for prompts, sizes, of_prompt in (
        *((9, (5, 50), 0.2), (9, (50, 50), 0.2), (9, (50, 50), 0.0), (6, (50, 200), 0.4)),
        *((3, (5, 50), 0.2), (3, (50, 50), 0.2), (1, (20, 60), 0.2)),
    ):
        name = f"{prompts} prompts, {sizes[0]} and {sizes[1]} texts, sd of prompts {of_prompt:g}"
        question = BETWEEN_LIKE if prompts >= 6 else BETWEEN_THESE
        yield _row(name, question, partial(_two_guises, prompts, sizes, of_prompt))
    for n in (8, 40, 400):
        yield _row(f"{n} pairs decided once", MCNEMAR, partial(_pairs_decided, n))
    for n in (9, 20, 100):
        yield _row(f"{n} pairs, 2 covariates", ADJUSTED, partial(_adjusted, n))
    for items, annotators in ((39, 2), (40, 2), (60, 3)):
        name = f"{items} texts, {annotators} annotators"
        yield _row(name, TEXTS, partial(_texts, items, annotators))
    for name in ALPHAS:
        for annotators, units in SIZES:
            if (annotators > 10 and name not in MANY) or (units == 300 and name not in RARE):
                continue
            row = f"{name}, {annotators} annotators, {units} units"
            draw = partial(_alpha, name, annotators, units)
            thin = (annotators, units, name) == (5, 50, "a scale")
            yield Row(row, (ALPHA_UNITS, ALPHA_LIKE), draw, thin=thin)


def _row(name: str, statistic: str, study: Callable[[Rng], Study], *, thin: bool = False) -> Row:
    return Row(name, (statistic,), study, thin=thin)
