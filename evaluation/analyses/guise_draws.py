"""Association scores of runs of matched guise probing, with placebo guises.

A placebo exchanges the guises of a pair at random: without any difference between guises, scores
scatter as they do under placebos.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.known_values import mean_of_known, quotient
from probing.measures.association import log_ratios, paired_association, pooled_association
from probing.measures.guise_stimuli import Base
from probing.measures.streams import named_stream

Floats = NDArray[np.float64]
Matching = Literal["meaning_matched", "pooled"]
Probe = Literal["covert", "overt"]

_AT_ONCE = 256


@dataclass(frozen=True)
class GuiseRun:
    """Log probabilities of one run.

    model, probe, setting : what its scores belong to; settings of one model are averaged
    version : which of a family's models, where `model` is a family
    prompts : slugs, (n_prompts,)
    texts : names the set of texts, so that runs on the same texts are known
    first, second : (n_prompts, n_texts, n_attributes) ln P, attributes in one order for all runs;
        NaN = missing
    agrees : (n_prompts, n_attributes), whether an attribute counts for a prompt
    """

    model: str
    probe: Probe
    setting: str
    prompts: tuple[str, ...]
    texts: str
    first: Floats
    second: Floats
    agrees: NDArray[np.bool_]
    paired: bool
    base: Base = "10"
    version: str = ""

    @property
    def n_texts(self) -> int:
        return min(self.first.shape[1], self.second.shape[1])

    def of_attributes(self, places: Sequence[int]) -> GuiseRun:
        """Return the run with the attributes at these places, in their order."""
        return replace(
            self,
            first=self.first[..., places],
            second=self.second[..., places],
            agrees=self.agrees[..., places],
        )


def run_scores(run: GuiseRun, matching: Matching) -> Floats:
    """Return q, (n_prompts, n_attributes); NaN where the attribute does not count.

    NaN, too, where all answers of a side lack it: the ratio has no logarithm.
    """
    form = paired_association if _by_pairs(run, matching) else pooled_association
    with np.errstate(invalid="ignore"):
        q, _ = form(run.first, run.second, base=run.base)
    return np.where(run.agrees & np.isfinite(q), q, np.nan)


def placebo_scores(run: GuiseRun, *, n_placebos: int, seed: int) -> Floats:
    """Return q of a run of pairs with the guises of each pair exchanged at random.

    (n_placebos, n_prompts, n_attributes). A pair is exchanged in all prompts at once.
    """
    ratios = log_ratios(run.first, run.second, base=run.base)
    there = ~np.isnan(ratios)
    rng = named_stream(seed, "placebos", run.texts)
    signs = rng.choice([-1.0, 1.0], size=(n_placebos, ratios.shape[1]))
    means = quotient(_contract(signs, np.where(there, ratios, 0.0)), there.sum(axis=1))
    return np.where(run.agrees, means, np.nan)


def mean_over_prompts(scores: Floats) -> Floats:
    """Return the mean of q over the prompts in which an attribute counts, (…, n_attributes).

    scores : (…, n_prompts, n_attributes)
    """
    return mean_of_known(scores, axis=-2)


def stack_prompts(
    tables: Sequence[tuple[tuple[str, ...], Floats]],
) -> tuple[tuple[str, ...], Floats]:
    """Return the mean over runs of q by prompt: (prompts, q (…, n_prompts, n_attributes)).

    tables : the prompts of each run with its q; a prompt counts in the runs that have it
    """
    prompts = tuple(dict.fromkeys(name for names, _ in tables for name in names))
    shape = (*tables[0][1].shape[:-2], len(prompts), tables[0][1].shape[-1])
    totals, counts = np.zeros(shape), np.zeros(shape)
    for names, values in tables:
        places = [prompts.index(name) for name in names]
        there = ~np.isnan(values)
        totals[..., places, :] += np.where(there, values, 0.0)
        counts[..., places, :] += there
    return prompts, quotient(totals, counts)


def _by_pairs(run: GuiseRun, matching: Matching) -> bool:
    return run.paired and matching == "meaning_matched"


def _contract(weights: Floats, values: Floats) -> Floats:
    """Return Σ_i weights[r, i] values[p, i, x], (n_rows, n_prompts, n_attributes)."""
    n_prompts, n_texts, n_attributes = values.shape
    flat = np.ascontiguousarray(values.transpose(1, 0, 2)).reshape(n_texts, -1)
    rows = [weights[i : i + _AT_ONCE] @ flat for i in range(0, len(weights), _AT_ONCE)]
    return np.concatenate(rows).reshape(len(weights), n_prompts, n_attributes)
