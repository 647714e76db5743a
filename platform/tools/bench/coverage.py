"""How often the intervals of tau and of precision at 3 hold the value that they are about."""

from __future__ import annotations

import numpy as np

from evaluation.analyses import AlignmentOptions
from evaluation.analyses.questions import answer_questions
from evaluation.metrics import kendall_tau_b
from tools.bench.measuring import Meter, Row
from tools.bench.rated_studies import Design, draw_study, true_precision

TAUS = (0.0, 0.2, 0.35, 0.55, 0.7)
PEOPLE, GROUPS = (131, 40), (25, 8)
DATA_SETS = 2_000
# Groups of the population that the precision for groups like these is about.
POPULATION = 20_000
OPTIONS = AlignmentOptions()


def run() -> list[Row]:
    """Return coverage, bias and mean width for every row of the grid of methods, section 7."""
    return [
        measure(Design(tau, people, groups), DATA_SETS)
        for people in PEOPLE
        for groups in GROUPS
        for tau in TAUS
    ]


def measure(design: Design, data_sets: int) -> Row:
    """Draw studies of one design and ask each for tau and precision.

    Three truths: tau of the study's own groups, had everybody rated them; tau, and precision at 3,
    of all groups like these.
    """
    seed = [design.people, design.groups, round(100 * design.tau)]
    population = Design(design.tau, people=0, groups=POPULATION)
    precision = float(true_precision(draw_study(population, np.random.default_rng(seed))).mean())
    found: dict[str, list[tuple[float, float, float, float]]] = {}
    meter = Meter()
    with meter:
        for i in range(data_sets):
            study = draw_study(design, np.random.default_rng([*seed, i]))
            answers = answer_questions(study.ratings, study.scores, OPTIONS)
            own = kendall_tau_b(study.truth.ravel(), study.scores.ravel()).value
            for name, answer, truth in (
                ("these groups", answers.noise_free, own),
                ("groups like these", answers.generalising, design.tau),
                ("P@3", answers.precision, precision),
            ):
                width = answer.high - answer.low
                found.setdefault(name, []).append(
                    (answer.value - truth, answer.low - truth, answer.high - truth, width)
                )
    figures = {}
    for name, rows in found.items():
        error, low, high, widths = np.array(rows).T
        figures[f"{name}: coverage, %"] = 100 * float(np.mean((low <= 0) & (high >= 0)))
        figures[f"{name}: bias"] = float(np.nanmean(error))
        figures[f"{name}: width"] = float(np.nanmean(widths))
    case = f"tau {design.tau:g}, {design.people} people, {design.groups} groups"
    row = meter.row(case, f"{data_sets:,} studies")
    return Row(**{**vars(row), "figures": figures})
