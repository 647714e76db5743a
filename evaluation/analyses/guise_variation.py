"""How agreement and strength vary with versions of a model, settings and prompts.

Hofmann et al. (2024), Fig. 2b and Extended Data: bars are standard errors over versions, settings
and prompts, whose number is n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from evaluation.analyses.guise_draws import Floats, GuiseRun, Matching, Probe, run_scores
from evaluation.metrics.attribute_agreement import map_of_ranks, ranks_of
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.shown import Shown
from evaluation.metrics.undefined import UndefinedReason

ALL, VERSION, SETTING, PROMPT = "all", "version", "setting", "prompt"


@dataclass(frozen=True)
class VariationLine:
    """MAP and δ of one model for one study, over all its cells or those of one version, setting
    or prompt.

    factor, level : what is held fixed: nothing (“all”), or which version, setting or prompt
    agreement, strength : mean over the cells, less and plus one standard error; n = cells, which
        are versions × settings × prompts
    """

    model: str
    probe: Probe
    study: str
    factor: Annotated[str, Shown(meaning="what is held: version, setting, prompt, or all")]
    level: Annotated[str, Shown(meaning="which of them; slug of a prompt")]
    agreement: Annotated[Estimate, Shown("MAP", 3, style="strong")]
    strength: Annotated[Estimate, Shown("δ", 3, prefix="strength_")]


@dataclass(frozen=True)
class _Value:
    version: str
    setting: str
    prompt: str
    agreement: float
    strength: float
    #: What no factor holds apart.
    all: str = ""


def standard_error(values: Floats) -> Estimate:
    """Return the mean less and plus one standard error (ddof 1); n = values."""
    known = np.asarray(values, dtype=float)
    known = known[~np.isnan(known)]
    if not known.size:
        return no_estimate(UndefinedReason.NO_VALUES)
    mean = float(known.mean())
    if known.size < 2:
        return Estimate(mean, n=1, interval_reason=UndefinedReason.ONE_UNIT)
    error = float(known.std(ddof=1) / np.sqrt(known.size))
    return Estimate(mean, mean - error, mean + error, int(known.size))


def strength_weights(n_attributes: int, chosen: Sequence[int]) -> Floats | None:
    """Return the weights of δ: the mean over the chosen less that over all others.

    None where either side is empty.
    """
    if not 0 < len(chosen) < n_attributes:
        return None
    weights = np.full(n_attributes, -1 / (n_attributes - len(chosen)))
    weights[list(chosen)] = 1 / len(chosen)
    return weights


def stereotype_weights(attributes: Sequence[str], chosen: Sequence[str]) -> Floats:
    """Return the weights of δ for the chosen attributes; ValueError for none, or every one."""
    places = [place for place, name in enumerate(attributes) if name in set(chosen)]
    weights = strength_weights(len(attributes), places)
    if weights is None:
        raise ValueError("δ needs stereotypical attributes and others")
    return weights


def variation(
    runs: Sequence[GuiseRun], study: str, chosen: Sequence[int], matching: Matching
) -> list[VariationLine]:
    """Return the lines of one model and probe; a factor of one level has none of its own.

    chosen : places of the study's first attributes, the most named first
    """
    weights = strength_weights(runs[0].first.shape[2], chosen)
    if weights is None:
        return []
    values: list[_Value] = []
    for run in runs:
        q = run_scores(run, matching)
        maps = map_of_ranks(ranks_of(q, chosen))
        values += [
            _Value(run.version, run.setting, prompt, float(maps[place]), float(q[place] @ weights))
            for place, prompt in enumerate(run.prompts)
        ]
    lines = []
    for factor in (ALL, VERSION, SETTING, PROMPT):
        levels = dict.fromkeys(getattr(value, factor) for value in values)
        if len(levels) == 1 and factor != ALL:
            continue
        for level in levels:
            some = [value for value in values if getattr(value, factor) == level]
            lines.append(
                VariationLine(
                    runs[0].model,
                    runs[0].probe,
                    study,
                    factor,
                    level,
                    standard_error(np.array([value.agreement for value in some])),
                    standard_error(np.array([value.strength for value in some])),
                )
            )
    return lines
