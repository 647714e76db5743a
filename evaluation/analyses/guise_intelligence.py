"""Whether a guise is taken for less intelligent: adjectives and the IQ (ours; methods.md §10.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from evaluation.analyses.guise_cells import GuiseOptions
from evaluation.analyses.guise_draws import Floats, GuiseRun
from evaluation.analyses.guise_inference import (
    CrossedLine,
    corrected_over,
    crossed_lines,
    pair_table,
)
from evaluation.metrics.shown import Shown

ADJECTIVES, IQ = "adjectives", "IQ"
_ONE = np.ones((1, 1), dtype=bool)


@dataclass(frozen=True)
class ShareLine:
    """Share of the mass of two IQ values on the higher one, mean over texts, n = texts."""

    model: Annotated[str, Shown("Model")]
    setting: Annotated[str, Shown("Setting")]
    prompt: Annotated[str, Shown()]
    first: Annotated[float, Shown("{high} after {first}, %", 1, scale=100)]
    second: Annotated[float, Shown("after {second}, %", 1, scale=100)]
    n: Annotated[int, Shown("Texts", 0)]


@dataclass(frozen=True)
class IntelligenceAnalysis:
    """The whole analysis.

    lines : the contrast of adjectives, in log ratios, or of shares on the higher IQ, of every model
    attributes : every adjective by itself; higher, lower : the adjectives, and the IQ values
    """

    options: GuiseOptions
    high: tuple[str, ...]
    low: tuple[str, ...]
    values: tuple[str, ...]
    lines: tuple[CrossedLine, ...]
    attributes: tuple[CrossedLine, ...]
    shares: tuple[ShareLine, ...]


def analyze_intelligence(
    adjectives: Sequence[GuiseRun],
    attributes: Sequence[str],
    high: Sequence[str],
    low: Sequence[str],
    values: Sequence[GuiseRun],
    iq: Sequence[str],
    options: GuiseOptions,
) -> IntelligenceAnalysis:
    """Return the analysis of runs on pairs.

    adjectives : runs on adjectives; attributes : of these, of which `high` and `low` are some
    values : runs on two IQ values, the higher one first; iq : these values
    """
    lines: list[CrossedLine] = []
    single: list[CrossedLine] = []
    for model in dict.fromkeys(run.model for run in adjectives):
        some = [run for run in adjectives if run.model == model]
        contrast = _contrast(attributes, high, low)
        table = pair_table(some, contrast)
        name = "q of high less q of low adjectives"
        lines += crossed_lines(model, ADJECTIVES, [name], table, options)
        places = [place for place, each in enumerate(attributes) if contrast[place]]
        chosen = pair_table([run.of_attributes(places) for run in some])
        named = [attributes[place] for place in places]
        single += crossed_lines(model, ADJECTIVES, named, chosen, options)
    shares: list[ShareLine] = []
    for model in dict.fromkeys(run.model for run in values):
        some = [_as_shares(run) for run in values if run.model == model]
        name = f"share on {iq[0]} rather than {iq[1]}"
        lines += crossed_lines(model, IQ, [name], pair_table(some), options)
        shares += [line for run in some for line in _shares(run)]
    return IntelligenceAnalysis(
        options,
        tuple(high),
        tuple(low),
        tuple(iq),
        tuple(corrected_over(lines)),
        tuple(single),
        tuple(shares),
    )


def _contrast(attributes: Sequence[str], high: Sequence[str], low: Sequence[str]) -> Floats:
    return np.array(
        [
            (name in high) / max(len(high), 1) - (name in low) / max(len(low), 1)
            for name in attributes
        ]
    )


def _as_shares(run: GuiseRun) -> GuiseRun:
    """Return the share of the first attribute in both, in place of log probabilities."""
    first, second = (
        1 / (1 + np.exp(side[..., 1] - side[..., 0])) for side in (run.first, run.second)
    )
    return replace(run, first=first[..., None], second=second[..., None], agrees=_ONE, base="e")


def _shares(run: GuiseRun) -> list[ShareLine]:
    found = []
    for place, prompt in enumerate(run.prompts):
        sides = [side[place, :, 0] for side in (run.first, run.second)]
        both = ~np.isnan(sides[0]) & ~np.isnan(sides[1])
        first, second = (float(side[both].mean()) if both.any() else np.nan for side in sides)
        found.append(ShareLine(run.model, run.setting, prompt, first, second, int(both.sum())))
    return found
