"""Template selection: which prompts follow people best on a few pilot groups.

Cao et al. (2022), §5.1 and Table 5: for each measure and model the one or two templates with the
highest Kendall tau on four pilot groups with five annotations each. The pilot groups are then
left out of the test, so that nobody tunes on the groups that are reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated

import numpy as np

from annotation.common.lazy import pd
from evaluation.metrics.rank_correlation import kendall_tau_b
from evaluation.metrics.shown import Shown
from probing.measures.streams import named_stream

PILOT_GROUPS = ("asian", "black", "hispanic", "immigrant")


@dataclass(frozen=True)
class SelectionOptions:
    """Options of the selection, as published where there is a publication.

    pilot_groups : groups that the choice may look at
    annotations : raters of each pilot group that the choice may look at, drawn with `seed`
    most : templates chosen at most; their scores are averaged
    """

    pilot_groups: tuple[str, ...] = PILOT_GROUPS
    annotations: int = 5
    most: int = 2
    seed: int = 0


@dataclass(frozen=True)
class Candidate:
    """One choice of templates and its tau over all pilot cells; NaN with a reason."""

    templates: tuple[str, ...]
    tau: Annotated[float, Shown("τ", 3, style="strong")]
    n_cells: Annotated[int, Shown("Cells", 0)]
    reason: str = ""


@dataclass(frozen=True)
class PilotGroup:
    """How many raters of a pilot group there are, and how many the choice looked at."""

    group: str
    n_raters: Annotated[int, Shown("Raters", 0)]
    n_used: Annotated[int, Shown("Looked at", 0)]


@dataclass(frozen=True)
class TemplateSelection:
    """The chosen templates, and every candidate from the best to the worst."""

    options: SelectionOptions
    chosen: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    pilot: tuple[PilotGroup, ...]
    test_groups: tuple[str, ...]
    reason: str = ""


def select_templates(
    *,
    ratings: pd.DataFrame,
    scores: pd.DataFrame,
    groups: Sequence[str],
    scales: Sequence[str],
    options: SelectionOptions | None = None,
) -> TemplateSelection:
    """Return the templates whose averaged scores follow the pilot ratings best.

    ratings : columns submission, group, scale, value (0 to 100)
    scores : columns group, scale, template, value; NaN = no score
    groups, scales : slugs; the groups that are not piloted are the test groups

    Among candidates of equal tau the one with fewer templates wins, then the alphabet: two
    templates are taken only where they are better than one. A template without a score in every
    pilot cell is no candidate. Raises ValueError where a pilot group has no ratings or no scores,
    or where nothing is left to test.
    """
    chosen = options or SelectionOptions()
    _validate(ratings, scores, groups, chosen)
    used, pilot = _draw_raters(ratings, chosen)
    human = used.groupby(["group", "scale"])["value"].mean()
    cells = pd.MultiIndex.from_product([chosen.pilot_groups, scales], names=["group", "scale"])
    means = human.reindex(cells).to_numpy(dtype=float)
    by_template = scores.pivot_table(
        index=["group", "scale"], columns="template", values="value", aggfunc="first", dropna=False
    ).reindex(cells)
    rated = ~np.isnan(means)
    usable = [
        str(name)
        for name in by_template
        if by_template[name].to_numpy()[rated].size
        and not np.isnan(by_template[name].to_numpy(dtype=float)[rated]).any()
    ]
    candidates = [
        _score(names, by_template, means)
        for size in range(1, chosen.most + 1)
        for names in combinations(sorted(usable), size)
    ]
    ranked = sorted(candidates, key=_rank)
    defined = [candidate for candidate in ranked if not candidate.reason]
    return TemplateSelection(
        options=chosen,
        chosen=defined[0].templates if defined else (),
        candidates=tuple(ranked),
        pilot=pilot,
        test_groups=tuple(group for group in groups if group not in chosen.pilot_groups),
        reason="" if defined else "no template has a rank correlation on the pilot groups",
    )


def _validate(
    ratings: pd.DataFrame,
    scores: pd.DataFrame,
    groups: Sequence[str],
    options: SelectionOptions,
) -> None:
    for name, frame, columns in (
        ("ratings", ratings, {"submission", "group", "scale", "value"}),
        ("scores", scores, {"group", "scale", "template", "value"}),
    ):
        absent = columns - set(frame.columns)
        if absent:
            raise ValueError(f"the {name} lack the columns {', '.join(sorted(absent))}")
    if options.annotations < 1 or options.most < 1:
        raise ValueError("annotations and most must be at least 1")
    if not options.pilot_groups or len(set(options.pilot_groups)) < len(options.pilot_groups):
        raise ValueError("name at least one pilot group, each of them once")
    for group in options.pilot_groups:
        if group not in set(ratings["group"]):
            raise ValueError(f"the pilot group '{group}' has no ratings")
        if group not in set(scores["group"]):
            raise ValueError(f"the pilot group '{group}' has no scores")
    if not set(groups) - set(options.pilot_groups):
        raise ValueError("all groups are pilot groups: none is left to test")


def _draw_raters(
    ratings: pd.DataFrame, options: SelectionOptions
) -> tuple[pd.DataFrame, tuple[PilotGroup, ...]]:
    """Return the ratings of the drawn raters; each group draws with a generator of its own."""
    kept, pilot = [], []
    for group in options.pilot_groups:
        rows = ratings[ratings["group"] == group]
        raters = sorted(rows["submission"].unique(), key=str)
        size = min(options.annotations, len(raters))
        rng = named_stream(options.seed, "pilot", group)
        drawn = rng.choice(len(raters), size=size, replace=False)
        kept.append(rows[rows["submission"].isin([raters[i] for i in drawn])])
        pilot.append(PilotGroup(group, len(raters), size))
    return pd.concat(kept), tuple(pilot)


def _score(names: tuple[str, ...], by_template: pd.DataFrame, means: np.ndarray) -> Candidate:
    averaged = by_template[list(names)].mean(axis=1, skipna=False).to_numpy(dtype=float)
    found = kendall_tau_b(averaged, means)
    return Candidate(names, found.value, found.n, str(found.reason))


def _rank(candidate: Candidate) -> tuple[bool, float, int, tuple[str, ...]]:
    undefined = bool(candidate.reason)
    # Equal taus differ in their last digits by the order of addition.
    tau = 0.0 if undefined else -round(candidate.tau, 12)
    return undefined, tau, len(candidate.templates), candidate.templates
