"""Gaps in false positive rates: groups, their words, and runs in designs that strangers bring.

The log odds that a classifier is wrong about a sentence are a sum of normal parts: of the group,
its word, the template, the run, and their pairs. Rates of runs like these are means over templates
and runs; rates of these runs are means over templates alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from annotation.common.lazy import pd
from evaluation.analyses.fpr_counts import GapOptions, IntervalKind, Predictions
from evaluation.analyses.fpr_gaps import Gap, ModelGaps, analyze_gaps
from evaluation.analyses.fpr_inference import LIKE_THESE, THESE_RUNS, question_of
from tools.coverage.rows import Row, Study, Tested, farthest

GAPS, WORDS, SPREAD = (
    "gaps in FPR, all groups at once",
    "gaps in FPR, all words at once",
    "SD of true gaps in FPR",
)
LIKE, THESE = QUESTIONS = LIKE_THESE, THESE_RUNS
#: Joint draws of errors, half of those of a report, for the sake of time.
DRAWS = 1000
NAMES = (GAPS, WORDS, SPREAD)
CLASSES = ("negative", "neutral")

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """Who is named how often, and how far the parts of the log odds scatter (standard deviations).

    words : of each group, in turn; level : log odds on average
    missing : share of sentences that a set lacks; uneven : factor of the last group's own part
    """

    groups: int = 6
    templates: int = 40
    runs: int = 5
    level: float = -3.0
    gaps: float = 0.0
    runs_differ: float = 0.2
    words: tuple[int, ...] = (2, 1, 3)
    template: float = 2.5
    own_template: float = 0.7
    run: float = 0.4
    template_run: float = 0.6
    missing: float = 0.0
    uneven: float = 1.0

    @property
    def n_words(self) -> NDArray[np.int64]:
        return np.resize(self.words, self.groups)

    @property
    def groups_of_words(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(self.groups), self.n_words)


DESIGNS = {
    "5 runs": Design(),
    "3 runs": Design(runs=3),
    "1 run": Design(runs=1),
    "1 run, runs alike": Design(runs=1, runs_differ=0),
    "3 runs, gaps": Design(runs=3, gaps=0.5),
    "1 run, gaps": Design(runs=1, gaps=0.5),
    "runs differ, 5 runs": Design(runs_differ=0.6),
    "runs differ, 3 runs, gaps": Design(runs=3, runs_differ=0.6, gaps=0.5),
    "20 groups, 3 runs, gaps": Design(groups=20, runs=3, gaps=0.5),
    "20 groups, 1 run, runs alike": Design(groups=20, runs=1, runs_differ=0),
    "2 groups, 3 runs": Design(groups=2, runs=3),
    "rare errors, 5 runs": Design(level=-6.0),
    "rare errors, 20 groups, 1 run, runs alike": Design(20, runs=1, level=-6.0, runs_differ=0),
    "frequent errors, gaps, 3 runs": Design(runs=3, level=-0.5, gaps=0.4),
    "10 templates, 3 runs": Design(templates=10, runs=3),
    "templates easy or hard, 3 runs": Design(runs=3, template=6.0),
    "a tenth of sentences missing, 3 runs, gaps": Design(runs=3, gaps=0.5, missing=0.1),
    "one group uneven, 3 runs": Design(runs=3, uneven=3.0),
    "20 templates, 3 runs": Design(templates=20, runs=3),
    "9 templates, 3 runs": Design(templates=9, runs=3),
}
THIN = ("1 run, runs alike", "3 runs, gaps")
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


def _mean_rate(level: Array, variance: Array) -> Array:
    """Return the mean of the logistic function of normal log odds, of the shape of `level`."""
    odds = level[..., None] + np.sqrt(variance)[..., None] * _NODES
    return np.asarray((1 / (1 + np.exp(-odds))) @ _WEIGHTS)


def _gaps_of(rates: Array, design: Design) -> tuple[Array, Array]:
    """Return gaps of groups and of words from rates of words, (n_words, ...)."""
    starts = np.flatnonzero(np.diff(design.groups_of_words, prepend=-1))
    sizes = design.n_words.reshape(-1, *[1] * (rates.ndim - 1))
    of_groups = np.add.reduceat(rates, starts, axis=0) / sizes
    mean = of_groups.mean(axis=0)
    # Rounded, so that no gap is 0 exactly.
    return np.round(of_groups - mean, 12), np.round(rates - mean, 12)


def _draw(design: Design, rng: np.random.Generator) -> tuple[Predictions, dict[str, tuple]]:
    """Return what the runs predict, and the true gaps of groups and words of either question."""
    own, n_words = design.groups_of_words, len(design.groups_of_words)
    templates, runs = design.templates, design.runs
    normal = rng.standard_normal
    level = design.level + design.gaps * normal(design.groups)[own]
    level = level + design.gaps / 2 * normal(n_words)
    of_run = design.run * normal(runs) + (design.runs_differ * normal((design.groups, runs)))[own]
    scale = np.where(np.arange(design.groups) == design.groups - 1, design.uneven, 1.0)
    scale = (scale * design.own_template)[own]
    of_template = design.template * normal(templates) + (
        scale[:, None] * normal((design.groups, templates))[own]
    )
    of_both = design.template_run * normal((templates, runs))
    odds = level[:, None, None] + of_template[:, :, None] + of_run[:, None, :] + of_both
    wrong = rng.random(odds.shape) < 1 / (1 + np.exp(-odds))
    variance = design.template**2 + scale**2 + design.template_run**2
    over_runs = design.run**2 + design.runs_differ**2
    like = _gaps_of(_mean_rate(level, variance + over_runs), design)
    within = np.broadcast_to(variance[:, None], of_run.shape)
    groups, words = _gaps_of(_mean_rate(level[:, None] + of_run, within), design)
    frame = _sentences(design)
    predicted = np.where(wrong, 0, 1).transpose(2, 0, 1).reshape(runs, -1)
    if design.missing:
        kept = rng.random(len(frame)) >= design.missing
        frame, predicted = frame[kept], predicted[:, kept]
    predictions = Predictions(
        "model",
        "sentences",
        frame,
        predicted,
        tuple(map(str, range(runs))),
        dict.fromkeys(map(str, range(design.groups)), "group"),
        CLASSES,
    )
    return predictions, {LIKE: like, THESE: (groups.mean(axis=1), words.mean(axis=1))}


@cache
def _sentences(design: Design) -> pd.DataFrame:
    """Return a sentence for every word and template; all have the label that is not asked about."""
    words = np.repeat(np.arange(len(design.groups_of_words)), design.templates)
    return pd.DataFrame(
        {
            "group": design.groups_of_words[words].astype(str),
            "filler": [f"word {word}" for word in words],
            "template": np.tile(np.arange(design.templates), len(design.groups_of_words)).astype(
                str
            ),
            "label": 1,
        }
    )


def _questions(design: Design) -> tuple[str, ...]:
    """One run says nothing about runs like it."""
    return (LIKE, THESE) if design.runs > 1 else (THESE,)


def _study(design: Design, rng: np.random.Generator) -> Study:
    predictions, truths = _draw(design, rng)
    seed = int(rng.integers(2**31))
    shown: dict[str, tuple[Tested, float]] = {}
    for question in _questions(design):
        interval: IntervalKind = "simultaneous" if question == LIKE else "these-runs"
        found = analyze_gaps(
            predictions, GapOptions(interval=interval, seed=seed, n_resamples=DRAWS)
        )
        for name, pair in _printed(found, truths[question], question).items():
            shown[f"{name}, {question}"] = pair
    return shown


def _printed(
    found: ModelGaps, truth: tuple[Array, Array], question: str
) -> dict[str, tuple[Tested, float]]:
    of_groups, of_words = truth
    side = CLASSES[0]
    words = [gap for gap in found.gaps if gap.side == side and gap.filler]
    asked = question_of(found.n_runs, these=question == THESE)
    test = next(one for one in found.tests if (one.side, one.question) == (side, asked))
    return {
        GAPS: _all_of(found.of(side), of_groups),
        WORDS: _all_of(words, of_words),
        SPREAD: (Tested(test.spread, test.p_value), float(np.std(of_groups, ddof=1))),
    }


def _all_of(gaps: list[Gap], truths: Array) -> tuple[Tested, float]:
    return farthest([Tested(gap.gap, gap.p_value) for gap in gaps], truths.tolist())


def list_rows() -> Iterator[Row]:
    """Return the rows of gaps; one run answers for itself alone."""
    for name, design in DESIGNS.items():
        statistics = tuple(f"{one}, {question}" for one in NAMES for question in _questions(design))
        yield _row(name, statistics, design)


def _row(name: str, statistics: tuple[str, ...], design: Design) -> Row:
    return Row(name, statistics, lambda rng: _study(design, rng), thin=name in THIN)
