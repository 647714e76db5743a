"""What models associate with guises: scores, agreement with people, favorability, sensitivity.

Hofmann et al. (2024), Methods, Covert- and Overt-stereotype analysis; methods.md §11. Scores of one
model are averaged over runs (versions, settings) within each prompt, and then over prompts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from evaluation.analyses.guise_cells import GuiseCell, GuiseOptions, guise_cells, runs_of
from evaluation.analyses.guise_draws import Floats, GuiseRun, Probe, mean_over_prompts
from evaluation.analyses.guise_inference import CrossedLine, crossed_lines, fit_scores, pair_table
from evaluation.analyses.guise_variation import (
    VariationLine,
    stereotype_weights,
    strength_weights,
    variation,
)
from evaluation.metrics.attribute_agreement import (
    DEPTH,
    expected_map,
    human_top,
    map_of_ranks,
    permutation_null,
    rank_attributes,
    ranks_of,
)
from evaluation.metrics.draws import middle
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.holm import correct_rows
from evaluation.metrics.known_values import sd_of_known
from evaluation.metrics.one_sided_t import pooled_t
from evaluation.metrics.rank_correlation import kendall_tau_b
from evaluation.metrics.shown import Shown
from evaluation.metrics.stereotypes import (
    Favorability,
    favorability,
    overlap_probability,
    stereotype_strength,
)
from evaluation.metrics.undefined import UndefinedReason
from probing.measures.streams import named_stream

TOP = 5


@dataclass(frozen=True)
class HumanStudy:
    """Percentages of people who named each attribute."""

    slug: str
    title: str
    year: int | None
    percentages: Mapping[str, float]


@dataclass(frozen=True)
class AttributeScore:
    """The score of one attribute.

    estimate : q and its interval, that of its line among the crossed effects; n = prompts
    rank : from 1; None without a score
    prompt_sd : spread of q over prompts, ddof 1
    p_value, p_holm : two-sided, from the same t as the interval; Holm over the attributes of a
        model and probe
    why_no_p : why there is none
    question : what interval and p-value are about, empty where there are none
    """

    model: str
    probe: Probe
    attribute: Annotated[str, Shown("Attribute")]
    estimate: Annotated[
        Estimate,
        Shown(
            "q",
            4,
            name="q",
            effect=True,
            meaning="association score, mean over prompts",
            unit="log ratio",
            n=Shown("Prompts", name="n_prompts"),
        ),
    ]
    rank: Annotated[int | None, Shown("Rank", 0)]
    prompt_sd: Annotated[float, Shown("sd of prompts", 4)]
    p_value: float
    p_holm: float
    why_no_p: str
    question: str


@dataclass(frozen=True)
class PromptScore:
    """q of one attribute in one prompt, mean over runs."""

    model: str
    probe: Probe
    prompt: str
    attribute: Annotated[str, Shown("Attribute")]
    value: Annotated[float, Shown("q", 4, name="q", signed=True, unit="log ratio")]


@dataclass(frozen=True)
class TopAttribute:
    """One of the first attributes of a study or a model; `value` in percent or as q."""

    source: Annotated[str, Shown(meaning="slug of a study, or covert or overt for a model")]
    title: Annotated[str, Shown("Source")]
    rank: Annotated[int, Shown("Rank", 0)]
    attribute: Annotated[str, Shown("Attribute")]
    value: Annotated[float, Shown("Value", 3, meaning="percent of people, or q of a model")]


@dataclass(frozen=True)
class Agreement:
    """Agreement of a model's rankings with one study.

    estimate : mean over prompts of MAP; n = prompts
    chance : mean MAP of random rankings
    sd : over prompts, ddof 1
    statistic, df, p_t, p_t_holm : the paper's one-sided pooled t-test against random rankings
    p_permutation, p_permutation_holm : against random attributes of people, alike in all prompts
    least, most : MAP with one prompt left out
    shared, p_shared : how many of the first five are shared, and its chance
    strength : δ of the study's first five; its interval is that of the crossed effects
    """

    model: str
    probe: Probe
    study: str
    estimate: Annotated[
        Estimate,
        Shown(
            "MAP",
            3,
            name="map",
            style="strong",
            meaning="mean average precision, mean over prompts",
        ),
    ]
    chance: Annotated[
        float, Shown("Chance", 3, style="quiet", meaning="mean MAP of random rankings")
    ]
    sd: Annotated[float, Shown("sd", 3, meaning="over prompts, ddof 1")]
    statistic: Annotated[float, Shown("t", 2, name="t")]
    df: Annotated[float, Shown("", 0)]
    p_t: Annotated[float, Shown()]
    p_t_holm: Annotated[float, Shown("p (t)", is_p=True)]
    p_permutation: Annotated[float, Shown()]
    p_permutation_holm: Annotated[float, Shown("p (permutation)", is_p=True)]
    least: Annotated[float, Shown("Least", 3, meaning="MAP with one prompt left out, at least")]
    most: Annotated[float, Shown("Most", 3, meaning="MAP with one prompt left out, at most")]
    shared: Annotated[int, Shown("Shared", 0, meaning="of the first five")]
    p_shared: Annotated[float, Shown(meaning="chance of sharing as many, hypergeometric")]
    strength: Annotated[
        Estimate,
        Shown(
            "δ",
            3,
            prefix="strength_",
            signed=True,
            meaning="mean q of the study’s first five minus that of all others",
        ),
    ]
    reason: str

    @property
    def tests_disagree(self) -> bool:
        """Whether one test alone is significant at 5 % after Holm's correction."""
        return bool((self.p_t_holm < 0.05) != (self.p_permutation_holm < 0.05))


@dataclass(frozen=True)
class FavorabilityLine:
    """Favorability of the first five attributes of a study or a model, −2 to 2."""

    source: str
    title: str
    unweighted: Annotated[Estimate, Shown("Mean", 2, effect=True)]
    weighted: Annotated[Estimate, Shown("Weighted", 2, prefix="weighted_", signed=True)]


@dataclass(frozen=True)
class LeftOutPrompt:
    """What changes when one prompt is left out.

    shared : how many of the first five stay; tau : between both rankings; change : largest of q
    """

    model: str
    probe: Probe
    prompt: str
    shared: Annotated[int, Shown("Shared", 0, meaning="of the first five")]
    tau: Annotated[float, Shown("τ", 2, meaning="Kendall’s tau-b of both rankings")]
    change: Annotated[float, Shown("Largest change", 4, unit="log ratio")]
    reason: str = UndefinedReason.NONE


@dataclass(frozen=True)
class VarianceShares:
    """Shares of the variance of q over prompts × attributes; they add up to 1.

    interaction : what a wording does to single attributes, and noise
    """

    model: str
    probe: Probe
    attributes: Annotated[float, Shown("Attributes, %", 0, scale=100)]
    prompts: Annotated[float, Shown("Wording, %", 0, scale=100)]
    interaction: Annotated[float, Shown("Wording × attribute, %", 0, scale=100)]
    reason: str = UndefinedReason.NONE


@dataclass(frozen=True)
class NullLine:
    """What chance gives: random rankings.

    model, probe : empty for random rankings (MAP), which are alike for all
    mean, sd : of the null distribution; low, high : its central share at the level of intervals
    n : rankings
    """

    model: str
    probe: str
    quantity: Annotated[str, Shown("Quantity")]
    mean: Annotated[float, Shown("Mean", 4, signed=True)]
    sd: Annotated[float, Shown("sd", 4)]
    low: Annotated[float, Shown("{level} from", 4, signed=True)]
    high: Annotated[float, Shown("to", 4, signed=True)]
    n: Annotated[int, Shown("Draws", 0)]


@dataclass(frozen=True)
class GuiseAnalysis:
    """The whole analysis; `chance` is the mean MAP of random rankings for five attributes."""

    options: GuiseOptions
    models: tuple[tuple[str, Probe], ...]
    n_attributes: int
    chance: float
    scores: tuple[AttributeScore, ...]
    prompts: tuple[PromptScore, ...]
    tops: tuple[TopAttribute, ...]
    agreements: tuple[Agreement, ...]
    favorabilities: tuple[FavorabilityLine, ...]
    left_out: tuple[LeftOutPrompt, ...]
    variances: tuple[VarianceShares, ...]
    crossed: tuple[CrossedLine, ...]
    variations: tuple[VariationLine, ...]
    nulls: tuple[NullLine, ...]


def analyze_guises(
    runs: Sequence[GuiseRun],
    attributes: Sequence[str],
    studies: Sequence[HumanStudy],
    favor: Mapping[str, float],
    options: GuiseOptions,
    *,
    cells: Sequence[GuiseCell] | None = None,
) -> GuiseAnalysis:
    """Return the analysis of runs with the same attributes, which are in alphabetical order.

    favor : attribute → favorability; empty for none
    cells : of the runs, where they are known already
    """
    if list(attributes) != sorted(attributes):
        raise ValueError("attributes are given in alphabetical order, which decides ties")
    cells = guise_cells(runs, options) if cells is None else cells
    named = [
        replace(
            study,
            percentages={
                name: study.percentages[name] for name in attributes if name in study.percentages
            },
        )
        for study in studies
    ]
    return GuiseAnalysis(
        options=options,
        models=tuple((cell.model, cell.probe) for cell in cells),
        n_attributes=len(attributes),
        chance=expected_map(len(attributes)),
        scores=tuple(line for cell in cells for line in _scores(cell, runs, attributes, options)),
        prompts=tuple(
            PromptScore(cell.model, cell.probe, prompt, attribute, float(value))
            for cell in cells
            for prompt, row in zip(cell.prompts, cell.by_prompt, strict=True)
            for attribute, value in zip(attributes, row, strict=True)
            if not np.isnan(value)
        ),
        tops=tuple(_tops(cells, attributes, named)),
        agreements=tuple(_agreements(cells, runs, attributes, named, options)),
        favorabilities=tuple(_favorabilities(cells, attributes, named, favor)),
        left_out=tuple(line for cell in cells for line in _left_out(cell, attributes)),
        variances=tuple(_variances(cell) for cell in cells),
        crossed=tuple(
            line for cell in cells for line in _crossed(cell, runs, attributes, named, options)
        ),
        variations=tuple(
            line
            for cell in cells
            for study in named
            for line in variation(
                runs_of(cell, runs),
                study.slug,
                _places(study, attributes),
                options.matching,
            )
        ),
        nulls=tuple(_nulls(attributes, named, options)),
    )


def _places(study: HumanStudy, attributes: Sequence[str]) -> list[int]:
    """Return where a study's first attributes stand, the most named first."""
    alphabet = list(attributes)
    return [alphabet.index(name) for name in human_top(study.percentages, alphabet, DEPTH)]


def _crossed(
    cell: GuiseCell,
    runs: Sequence[GuiseRun],
    attributes: Sequence[str],
    studies: Sequence[HumanStudy],
    options: GuiseOptions,
) -> list[CrossedLine]:
    """Return every attribute, and δ of every study, with texts and prompts as samples."""
    if options.matching != "meaning_matched":
        return []
    some = runs_of(cell, runs)
    pairs = pair_table(some)
    if pairs is None:
        return []
    lines = crossed_lines(cell.model, cell.probe, attributes, pairs, options)
    for study in studies:
        weights = strength_weights(len(attributes), _places(study, attributes))
        if weights is not None:
            name = f"δ, {study.title}"
            table = pair_table(some, weights)
            lines += crossed_lines(cell.model, cell.probe, [name], table, options)
    return lines


def _nulls(
    attributes: Sequence[str], studies: Sequence[HumanStudy], options: GuiseOptions
) -> list[NullLine]:
    """Return the MAP that random rankings give."""
    if not studies:
        return []
    ranking = np.arange(float(len(attributes)))[None]
    maps = _null(ranking, min(DEPTH, len(attributes)), options, "any")
    return [_null_line("", "", "MAP of a random ranking", maps, options)]


def _null_line(
    model: str, probe: str, quantity: str, values: Floats, options: GuiseOptions
) -> NullLine:
    mean, sd = float(np.nanmean(values)), float(np.nanstd(values))
    return NullLine(model, probe, quantity, mean, sd, *middle(values, options.level), len(values))


def _scores(
    cell: GuiseCell,
    runs: Sequence[GuiseRun],
    attributes: Sequence[str],
    options: GuiseOptions,
) -> list[AttributeScore]:
    q = cell.q
    ranking = rank_attributes(dict(zip(attributes, q, strict=True)))
    ranks = {name: rank for rank, name in enumerate(ranking, start=1)}
    there = ~np.isnan(cell.by_prompt)
    fits = fit_scores(runs_of(cell, runs), q, options.level, n=0, why_no_pairs=cell.why_no_pairs)
    found = [
        AttributeScore(
            cell.model,
            cell.probe,
            name,
            replace(one.estimate, n=int(there[:, x].sum())),
            ranks.get(name),
            sd_of_known(cell.by_prompt[:, x]),
            one.p_value,
            np.nan,
            why_no_p=one.estimate.note,
            question=one.question,
        )
        for x, (name, one) in enumerate(zip(attributes, fits, strict=True))
    ]
    return correct_rows(found, p_holm="p_value")


def _tops(
    cells: Sequence[GuiseCell], attributes: Sequence[str], studies: Sequence[HumanStudy]
) -> list[TopAttribute]:
    found = []
    for study in studies:
        top = human_top(study.percentages, attributes, TOP)
        found += [
            TopAttribute(study.slug, study.title, rank, name, float(study.percentages[name]))
            for rank, name in enumerate(top, start=1)
        ]
    for cell in cells:
        scores = dict(zip(attributes, map(float, cell.q), strict=True))
        found += [
            TopAttribute(cell.probe, cell.model, rank, name, scores[name])
            for rank, name in enumerate(rank_attributes(scores)[:TOP], start=1)
        ]
    return found


def _agreements(
    cells: Sequence[GuiseCell],
    runs: Sequence[GuiseRun],
    attributes: Sequence[str],
    studies: Sequence[HumanStudy],
    options: GuiseOptions,
) -> list[Agreement]:
    alphabet = list(attributes)
    any_ranking = np.arange(float(len(alphabet)))[None]
    found: list[Agreement] = []
    for cell in cells:
        ranks = ranks_of(cell.by_prompt, range(len(alphabet)))
        nulls: dict[int, tuple[Floats, Floats]] = {}
        for study in studies:
            top = human_top(study.percentages, alphabet, DEPTH)
            if not top:
                found.append(_no_agreement(cell, study))
                continue
            chosen = [alphabet.index(name) for name in top]
            if len(top) not in nulls:
                nulls[len(top)] = (
                    _null(any_ranking, len(top), options, "any"),
                    _null(cell.by_prompt, len(top), options, cell.model, cell.probe),
                )
            single, common = nulls[len(top)]
            maps = map_of_ranks(ranks[:, chosen])
            test = pooled_t(maps, single, alternative="greater")
            mean = float(maps.mean())
            rest = [float(np.delete(maps, i).mean()) for i in range(len(maps))]
            ours = rank_attributes(dict(zip(alphabet, cell.q, strict=True)))[: len(top)]
            shared = len(set(ours) & set(top))
            found.append(
                Agreement(
                    cell.model,
                    cell.probe,
                    study.slug,
                    Estimate(mean, n=len(maps), interval_reason=UndefinedReason.RANKING),
                    expected_map(len(alphabet), len(top)),
                    sd_of_known(maps),
                    test.statistic,
                    test.df,
                    test.p_value,
                    np.nan,
                    share_at_least(common, mean),
                    np.nan,
                    min(rest) if len(maps) > 1 else np.nan,
                    max(rest) if len(maps) > 1 else np.nan,
                    shared,
                    overlap_probability(shared, chosen=len(top), n_attributes=len(alphabet)),
                    _strength(cell, runs, alphabet, top, options),
                    test.reason,
                )
            )
    return correct_rows(
        found, lambda row: row.probe, p_t_holm="p_t", p_permutation_holm="p_permutation"
    )


def share_at_least(null: Floats, value: float) -> float:
    """Return the share of chance values as large as one, the value itself counted: a p-value."""
    return float((1 + (null >= value - 1e-12).sum()) / (1 + len(null)))


def _null(scores: Floats, depth: int, options: GuiseOptions, *names: str) -> Floats:
    rng = named_stream(options.seed, "rankings", depth, *names)
    return permutation_null(scores, depth, n_permutations=options.n_permutations, rng=rng)


def _strength(
    cell: GuiseCell,
    runs: Sequence[GuiseRun],
    attributes: Sequence[str],
    top: Sequence[str],
    options: GuiseOptions,
) -> Estimate:
    value = stereotype_strength(dict(zip(attributes, cell.q, strict=True)), top)
    if np.isnan(value):  # every attribute is of the study, or none
        return no_estimate(UndefinedReason.NO_VALUES)
    (found,) = fit_scores(
        runs_of(cell, runs),
        [value],
        options.level,
        n=len(cell.prompts),
        why_no_pairs=cell.why_no_pairs,
        contrast=stereotype_weights(attributes, top),
    )
    return found.estimate


def _no_agreement(cell: GuiseCell, study: HumanStudy) -> Agreement:
    why = UndefinedReason.NO_STUDY_ATTRIBUTE
    return Agreement(
        cell.model,
        cell.probe,
        study.slug,
        no_estimate(why),
        *(np.nan,) * 10,
        0,
        np.nan,
        no_estimate(why),
        why,
    )


def _favorabilities(
    cells: Sequence[GuiseCell],
    attributes: Sequence[str],
    studies: Sequence[HumanStudy],
    favor: Mapping[str, float],
) -> list[FavorabilityLine]:
    if not favor:
        return []
    lines = []
    for study in studies:
        top = human_top(study.percentages, attributes, len(attributes))
        found = favorability(top, study.percentages, favor)
        lines.append(
            _favorability_line(study.slug, study.title, found, UndefinedReason.NOT_REQUESTED)
        )
    for cell in cells:
        scores = dict(zip(attributes, map(float, cell.q), strict=True))
        found = favorability(rank_attributes(scores), scores, favor)
        why = UndefinedReason.BEST_OF_NOISY
        lines.append(_favorability_line(cell.probe, cell.model, found, why))
    return lines


def _favorability_line(source: str, title: str, found: Favorability, why: str) -> FavorabilityLine:
    """Return a line without interval; ``why`` there is none."""
    unweighted, weighted = (
        Estimate(value, n=found.n, reason=reason, interval_reason=why)
        for value, reason in (
            (found.unweighted, "" if found.n else found.reason),
            (found.weighted, found.reason),
        )
    )
    return FavorabilityLine(source, title, unweighted, weighted)


def _left_out(cell: GuiseCell, attributes: Sequence[str]) -> list[LeftOutPrompt]:
    if len(cell.prompts) < 2:
        return []
    q = cell.q
    top = set(rank_attributes(dict(zip(attributes, q, strict=True)))[:TOP])
    found = []
    for place, prompt in enumerate(cell.prompts):
        rest = mean_over_prompts(np.delete(cell.by_prompt, place, axis=0))
        others = rank_attributes(dict(zip(attributes, rest, strict=True)))[:TOP]
        tau = kendall_tau_b(q, rest)
        found.append(
            LeftOutPrompt(
                cell.model,
                cell.probe,
                prompt,
                len(top & set(others)),
                tau.value,
                float(np.nanmax(np.abs(rest - q))),
                tau.reason,
            )
        )
    return found


def _variances(cell: GuiseCell) -> VarianceShares:
    """Return the two-way decomposition of q over the attributes that count in every prompt."""
    table = cell.by_prompt[:, ~np.isnan(cell.by_prompt).any(axis=0)]
    if table.shape[0] < 2 or table.shape[1] < 2 or np.ptp(table) == 0:
        return VarianceShares(cell.model, cell.probe, *(np.nan,) * 3, UndefinedReason.ONE_PROMPT)
    total = float(((table - table.mean()) ** 2).mean())
    attributes = float(table.mean(axis=0).var()) / total
    prompts = float(table.mean(axis=1).var()) / total
    return VarianceShares(
        cell.model, cell.probe, attributes, prompts, max(0.0, 1 - attributes - prompts)
    )
