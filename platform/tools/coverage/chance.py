"""Ratios of counts, marks, means over groups and templates, and tests against chance."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from annotation.common.lazy import pd
from evaluation.analyses.emergence_norms import Association, Pole, compare_with_norms
from evaluation.analyses.guise_association import share_at_least
from evaluation.analyses.intersectional import ComponentMeans
from evaluation.analyses.intersectional_result import Emergence
from evaluation.analyses.markedness import MarkednessOptions, analyze_markedness
from evaluation.analyses.norm_curve import trace_norms
from evaluation.metrics.attribute_agreement import map_of_ranks, permutation_null, ranks_of
from evaluation.metrics.bootstrap import Bootstrap
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.mark_agreement import mark_alpha
from evaluation.metrics.stereotypes import overlap_probability
from tools.coverage.rows import Row, Study, Tested

RATIO, RATIO_DIFFERENCE = "ratio of counts", "difference of ratios of counts"
MARKS, MENTION = "alpha of marks", "mean over groups and templates"
PICKS, CURVE = "hits of a list, by chance", "average precision, by chance"
PAIRS = "mean over paired groups, component groups like these"
RANKS, OVERLAP = "MAP of a ranking, by chance", "shared attributes, by chance"
RESAMPLES = 1000
ATTRIBUTES, NAMED = 37, 5
POLES: tuple[Pole, Pole] = ("low", "high")

Array = NDArray[np.float64]
Rng = np.random.Generator


def _counts(n: int, rng: Rng) -> tuple[Array, Array]:
    """Return hits of n texts, one or more, and how many of them are left in a counterpart."""
    before = 1 + rng.poisson(0.6, n)
    return before.astype(float), rng.binomial(before, 0.3 + 0.4 * (rng.random(n) < 0.5)).astype(
        float
    )


def _ratios(n: int, rng: Rng) -> Study:
    """Half of all hits are left, in either direction; the texts are the same."""
    bootstrap = Bootstrap(n, n_resamples=RESAMPLES, seed=int(rng.integers(2**31)))
    before, after = _counts(n, rng)
    other = rng.binomial(before.astype(int), 0.5)
    removed = bootstrap.ratio(before - after, before, n=n)
    gap = bootstrap.ratio_difference(before - after, before, before - other, before, n=n)
    return {RATIO: (Tested(removed), 0.5), RATIO_DIFFERENCE: (Tested(gap), 0.0)}


def _marked(n: int, coders: int, rng: Rng) -> list[NDArray[np.bool_]]:
    """Return marks of words; texts and words differ in how many coders mark them."""
    found = []
    for _ in range(n):
        level = -2 + rng.standard_normal() + 1.5 * rng.standard_normal(int(rng.integers(8, 25)))
        found.append(rng.random((coders, level.size)) < 1 / (1 + np.exp(-level)))
    return found


@cache
def _alpha_of_marks() -> float:
    return mark_alpha(_marked(40_000, 2, np.random.default_rng(0)), n_resamples=0).estimate.value


def _marks(n: int, coders: int, rng: Rng) -> Study:
    found = mark_alpha(
        _marked(n, coders, rng), n_resamples=RESAMPLES, seed=int(rng.integers(2**31))
    )
    return {MARKS: (Tested(found.estimate), _alpha_of_marks())}


def _mention(groups: int, templates: int, rng: Rng) -> Study:
    """Naming a group adds 1 on average, with parts of the group, the template, and the cell."""
    value = rng.standard_normal((templates, groups + 1))
    value[:, 1:] += 1 + 0.7 * rng.standard_normal(groups)
    value[:, :1] += 0.5 * rng.standard_normal((templates, 1))
    names = ["unmarked", *(f"g{place}" for place in range(groups))]
    index = pd.MultiIndex.from_product([range(templates), names], names=["template", "group"])
    scores = pd.DataFrame({"trait": value.ravel()}, index=index)
    found = analyze_markedness(scores, names[1:], MarkednessOptions(n_resamples=0)).by_trait[0]
    return {MENTION: (Tested(found.estimate), 1.0)}


def _cells(groups: int, dimensions: int) -> list[Association]:
    return [
        Association(frozenset((f"a{group}", f"b{group}")), f"d{dimension}", pole)
        for group in range(groups)
        for dimension in range(dimensions)
        for pole in POLES
    ]


def _without_interval(p_value: float) -> tuple[Tested, float]:
    return Tested(Estimate(0.0, interval_reason="a test by itself"), p_value), 0.0


def _norms(groups: int, dimensions: int, rng: Rng) -> Study:
    """A list, predictions, and excesses that have nothing to do with each other."""
    cells, names = _cells(groups, dimensions), [f"d{place}" for place in range(dimensions)]
    # Every group is on the list.
    on_list = {place * 2 * dimensions for place in range(groups)}
    more = rng.choice(len(cells), len(cells) // 6, replace=False)
    expected = [cells[place] for place in on_list | set(more.tolist())]
    picked = rng.choice(len(cells), len(cells) // 3, replace=False)
    predicted = frozenset(cells[place] for place in picked)
    emergent = []
    for place in picked:
        (first, second), excess = sorted(cells[place].components), float(rng.exponential())
        trait, pole = cells[place].dimension, cells[place].pole
        emergent.append(Emergence("", first, second, trait, pole, excess, 0.0, 0.0, 0.0))
    norms = compare_with_norms(predicted, expected, dimensions=names)
    curve = trace_norms(
        emergent, expected, dict(zip(names, names, strict=True)),
        n_resamples=100, seed=int(rng.integers(2**31)),
    )  # fmt: skip
    return {PICKS: _without_interval(norms.p_value), CURVE: _without_interval(curve.p_value)}


def _ranks(prompts: int, rng: Rng) -> Study:
    """Rankings that resemble each other from prompt to prompt, and attributes named at random."""
    scores = rng.standard_normal(ATTRIBUTES) + 0.5 * rng.standard_normal((prompts, ATTRIBUTES))
    named = rng.choice(ATTRIBUTES, NAMED, replace=False).tolist()
    value = float(map_of_ranks(ranks_of(scores, named)).mean())
    null = permutation_null(scores, NAMED, n_permutations=500, rng=rng)
    top = np.argsort(-scores.mean(axis=0))[:NAMED]
    shared = overlap_probability(len(set(top) & set(named)), n_attributes=ATTRIBUTES)
    return {
        RANKS: _without_interval(share_at_least(null, value)),
        OVERLAP: _without_interval(shared),
    }


#: Domains of so many component groups each.
DOMAINS = ((4, 4), (4, 8), (6, 8), (10, 12), (1,) * 5, (4, 4, 4), (3,) * 6, (2,) * 10)
#: Standard deviations over components, over two of them together, and over orders.
PARTS = {"components differ": (1.0, 0.3), "pairs differ": (0.5, 1.0), "pairs alone": (0.0, 1.0)}


def _paired(domains: tuple[int, ...], parts: str, missing: float, bounded: bool, rng: Rng) -> Study:
    """Values of paired groups of two domains, in both orders; those of two domains are signed."""
    of_component, of_pair = PARTS[parts]
    domain = np.repeat(np.arange(len(domains)), domains)
    first, second = np.triu_indices(domain.size, 1)
    kept = (domain[first] != domain[second]) & (rng.random(first.size) >= missing)
    first, second = first[kept], second[kept]
    own, sign = of_component * rng.standard_normal(domain.size), -1 if len(domains) == 2 else 1
    value = own[first] + sign * own[second] + of_pair * rng.standard_normal(first.size)
    both = np.concatenate([value, value]) + 0.3 * rng.standard_normal(2 * value.size)
    if bounded:
        both = np.tanh(0.5 * both)
    names = [f"g{place}" for place in range(domain.size)]
    pairs = [(names[a], names[b]) for a, b in zip(first, second, strict=True)]
    means = ComponentMeans([*pairs, *(pair[::-1] for pair in pairs)], 0.95)
    sides = {name: str(of) for name, of in zip(names, domain, strict=True)}
    found = means.mean(both, sides if len(domains) == 2 else None)
    return {PAIRS: (found.estimate, 0.0)}


def list_rows() -> Iterator[Row]:
    """Return the rows of ratios, marks, means over groups, and tests against chance."""
    for n in (39, 40, 100, 400):
        yield Row(f"{n} texts with hits", (RATIO, RATIO_DIFFERENCE), partial(_ratios, n))
    for n, coders in ((39, 2), (40, 2), (100, 2), (60, 3)):
        yield Row(f"{n} texts, {coders} coders", (MARKS,), partial(_marks, n, coders))
    for groups, templates in ((2, 2), (3, 3), (5, 5), (20, 2), (3, 20), (20, 10)):
        name = f"{groups} groups, {templates} templates"
        yield Row(name, (MENTION,), partial(_mention, groups, templates))
    for groups, dimensions in ((3, 2), (10, 3), (20, 4)):
        name = f"{groups} groups, {dimensions} dimensions"
        yield Row(name, (PICKS, CURVE), partial(_norms, groups, dimensions))
    for prompts in (1, 9):
        yield Row(f"{prompts} prompts, 37 attributes", (RANKS, OVERLAP), partial(_ranks, prompts))
    for domains in DOMAINS:
        for parts in PARTS:
            for missing in (0.0, 0.3):
                of = f", {100 * missing:g} % of pairs missing" if missing else ""
                name = f"domains of {_listed(domains)}, {parts}{of}"
                yield Row(name, (PAIRS,), partial(_paired, domains, parts, missing, False))
    yield Row(
        "values within −1 and 1", (PAIRS,), partial(_paired, (3,) * 6, "components differ", 0, True)
    )


def _listed(domains: tuple[int, ...]) -> str:
    alike = len(domains) > 2 and len(set(domains)) == 1
    return f"{len(domains)} times {domains[0]}" if alike else " and ".join(map(str, domains))
