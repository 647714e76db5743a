"""Alignment by subgroups of participants: whose view does a model's order follow?

Cao et al. (2022), Tables A14 to A17 (mean ratings by annotators' race and gender) and A18
(correlation of the model with each of these subgroups). A subgroup of fewer people than the
minimum is not computed, nor is one from which a few people's ratings would follow; see
`annotation.common.small_cells`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from annotation.common.lazy import pd
from annotation.common.small_cells import DEFAULT_MINIMUM, UNANSWERED, choose_crossed, choose_shown
from evaluation.analyses.alignment import observed_tau, without_interval
from evaluation.analyses.alignment_cells import (
    frame_values,
    mean_precision,
    rating_interval,
    tau_of,
)
from evaluation.analyses.alignment_result import AlignmentOptions, ResampledValue
from evaluation.analyses.questions import answer_questions, compare_precisions, compare_taus
from evaluation.analyses.rating_cube import RatingCube, build_rating_cube
from evaluation.analyses.score_table import ScoreTable
from evaluation.analyses.subgroup_result import (
    CROSSED,
    PRECISION,
    TAU,
    TIMES,
    Question,
    Reference,
    Subgroup,
    SubgroupCell,
    SubgroupDifference,
    SubgroupGroup,
    SubgroupResult,
)
from evaluation.analyses.weighted_means import weighted_means
from evaluation.metrics import (
    RankCorrelation,
    UndefinedReason,
    holm_correction,
    kendall_tau_b_batch,
    precision_at_k,
    precision_at_k_batch,
    tau_over_scales,
)
from evaluation.metrics.draws import middle
from evaluation.metrics.holm import correct_rows
from evaluation.metrics.known_values import mean_of_known
from evaluation.metrics.resampled_test import permutation_p_value
from probing.measures.streams import named_stream

# --- Values of subgroups, and what exchanged answers give ----------------------------------------

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


class SubgroupDraws:
    """The people of a study with a model's scores, their answers exchanged as often as options say.

    model : (n_groups, n_scales) in the order of the cube, NaN = no score
    """

    def __init__(self, cube: RatingCube, model: Array, options: AlignmentOptions) -> None:
        self.cube, self.model, self.options = cube, model, options

    def permutations(self, question: str, people: Mask) -> NDArray[np.intp]:
        """Return (n_resamples, n): who answered it in random order, a new one each time."""
        places = np.flatnonzero(people)
        rows = np.tile(places, (self.options.n_resamples, 1))
        return named_stream(self.options.seed, "exchange", question).permuted(rows, axis=1)

    def permuted(self, members: Mask, order: NDArray[np.intp]) -> Array:
        """Return the means after the memberships of the people in ``order`` were exchanged."""
        weights = np.zeros((len(order), len(members)))
        if len(order):
            own = members[np.sort(order[0])]
            np.put_along_axis(weights, order, np.tile(own, (len(order), 1)), axis=1)
        return weighted_means(self.cube.flat(), weights).reshape(len(order), *self.model.shape)

    # -- values --------------------------------------------------------------------------------

    def tau(self, human: Array) -> RankCorrelation:
        """Return tau over all cells with a mean and a score."""
        return tau_of(human.ravel(), self.model.ravel())

    def precision(self, human: Array) -> float:
        """Return the mean over groups of precision at k, NaN where no group has one."""
        return mean_precision(self.model, human, self.options)

    def draw(self, quantity: str, means: Array, cells: Mask) -> Array:
        """Return (n_draws,) values of a quantity over those cells; NaN where undefined.

        means : (n_draws, n_groups, n_scales)
        """
        if quantity == TAU:
            return kendall_tau_b_batch(means[:, cells], self.model[cells])
        if quantity != PRECISION:
            raise ValueError(f"{quantity} is no quantity of a subgroup")
        k, center = self.options.k, self.options.center
        scores = np.where(cells, self.model, np.nan)
        rows = [
            precision_at_k_batch(scores[g], means[:, g], k=k, center=center).mean
            for g in range(len(scores))
            if cells[g].any()
        ]
        return mean_of_known(np.vstack(rows), axis=0) if rows else np.full(len(means), np.nan)


# --- Who belongs to which subgroup, and which subgroups may be shown among any set of people ------

Given = frozenset[str]


@dataclass
class Family:
    """The answers to one question, or to two crossed ones, as subgroups.

    members : (n_people, n_answers), who gave which answer
    """

    slug: str
    answers: tuple[str, ...]
    members: Mask
    minimum: int
    _patterns: tuple[list[Given], ...]
    _found: dict[bytes, frozenset[str]] = field(default_factory=dict)

    @property
    def answered(self) -> Mask:
        """(n_people,): who gave an answer that makes a subgroup."""
        return np.asarray(self.members.any(axis=1))

    def shown(self, people: Mask) -> list[int]:
        """Return the places of the answers that may be shown among these people.

        people : (n_people,) those whose numbers would be shown, such as the raters of a group
        """
        key = people.tobytes()
        if key not in self._found:
            self._found[key] = self._choose(np.flatnonzero(people))
        return [i for i, answer in enumerate(self.answers) if answer in self._found[key]]

    def _choose(self, people: NDArray[np.intp]) -> frozenset[str]:
        if len(self._patterns) == 1:
            single = self._patterns[0]
            return choose_shown(Counter(single[i] for i in people), self.minimum)
        first, second = self._patterns
        pairs = choose_crossed(Counter((first[i], second[i]) for i in people), self.minimum)
        return frozenset(TIMES.join(pair) for pair in pairs)


def build_families(
    questions: Sequence[Question],
    crossings: Sequence[tuple[str, str]],
    *,
    submissions: Sequence[str],
    minimum: int,
) -> list[Family]:
    """Return one family a question and one a crossing, people in the order of ``submissions``.

    A submission that a question does not know counts as one without an answer. Raises ValueError
    for a crossing of a question that is not among them, or with itself.
    """
    known = {question.slug: question for question in questions}
    patterns = {
        slug: [question.given.get(name) or frozenset({UNANSWERED}) for name in submissions]
        for slug, question in known.items()
    }
    families = [
        Family(
            slug=slug,
            answers=question.answers,
            members=_membership(patterns[slug], question.answers),
            minimum=minimum,
            _patterns=(patterns[slug],),
        )
        for slug, question in known.items()
    ]
    for first, second in crossings:
        if first == second or first not in known or second not in known:
            raise ValueError(
                f"“{first}{CROSSED}{second}” crosses no two questions of {', '.join(known)}"
            )
        one, two = (_membership(patterns[s], known[s].answers) for s in (first, second))
        families.append(
            Family(
                slug=f"{first}{CROSSED}{second}",
                answers=tuple(
                    TIMES.join((a, b))
                    for a in known[first].answers
                    for b in known[second].answers
                ),
                members=(one[:, :, None] & two[:, None, :]).reshape(len(one), -1),
                minimum=minimum,
                _patterns=(patterns[first], patterns[second]),
            )
        )  # fmt: skip
    return families


def _membership(given: Sequence[Given], answers: Sequence[str]) -> Mask:
    return np.array([[answer in own for answer in answers] for own in given], dtype=bool).reshape(
        len(given), len(answers)
    )


NAME = "alignment_subgroups"
VERSION = "1.0.0"
NO_REFERENCE = Reference(np.nan, np.nan, np.nan)


def analyze_subgroups(
    *,
    ratings: pd.DataFrame,
    scores: ScoreTable,
    groups: Sequence[str],
    scales: Sequence[str],
    questions: Sequence[Question],
    crossings: Sequence[tuple[str, str]] = (),
    minimum: int = DEFAULT_MINIMUM,
    options: AlignmentOptions | None = None,
) -> SubgroupResult:
    """Return means, tau and precision at k for every subgroup that may be shown.

    ratings : columns submission, group, scale, value (0 to 100)
    scores : a model's table of groups by scales
    groups, scales : slugs, in the order of the result
    questions : what the participants said about themselves; who gave several answers counts in
        each of them
    crossings : pairs of questions whose answers are crossed, such as race with gender
    minimum : the smallest number of people behind any number, from 3

    Fewer people have noisier means, and noise lowers tau. So tau of a subgroup stands beside that
    of as many random participants, and its differences are tested by exchanging answers between
    people, not by their distance from 0. Tau without noise (`true_tau`) may be compared as it is.
    """
    options = options or AlignmentOptions()
    cube, _ = build_rating_cube(ratings, groups=groups, scales=scales)
    families = build_families(questions, crossings, submissions=cube.submissions, minimum=minimum)
    draws = SubgroupDraws(cube, frame_values(scores.mean, cube), options)
    builder = _Builder(draws, families, minimum)
    return SubgroupResult(
        analysis=NAME,
        version=VERSION,
        signature=_sign(options, minimum),
        options=options,
        minimum=minimum,
        groups=cube.groups,
        scales=cube.scales,
        questions=tuple(family.slug for family in families),
        subgroups=tuple(builder.subgroups),
        by_group=tuple(builder.by_group),
        cells=tuple(builder.cells),
        differences=tuple(builder.differences),
        hidden=tuple(builder.hidden),
        n_hidden_groups=builder.n_hidden_groups,
    )


class _Builder:
    """Computes everybody, then family by family, subgroup by subgroup."""

    def __init__(self, draws: SubgroupDraws, families: Sequence[Family], minimum: int) -> None:
        self.draws, self.minimum = draws, minimum
        self.subgroups: list[Subgroup] = []
        self.by_group: list[SubgroupGroup] = []
        self.cells: list[SubgroupCell] = []
        self.differences: list[SubgroupDifference] = []
        self.hidden: list[str] = []
        self.n_hidden_groups = 0
        everybody = np.ones(len(self.cube.submissions), dtype=bool)
        if everybody.sum() >= minimum:
            self._add_everybody(everybody)
            for family in families:
                self._add_family(family, everybody)
            self._correct()

    @property
    def cube(self) -> RatingCube:
        return self.draws.cube

    @property
    def options(self) -> AlignmentOptions:
        return self.draws.options

    def _add_everybody(self, everybody: Mask) -> None:
        self.subgroups.append(self._overall("", "", everybody, NO_REFERENCE))
        raters = self.cube.rated.any(axis=2).sum(axis=0)
        enough = self.cube.counts >= self.minimum
        shown = {
            int(g): [int(s) for s in np.flatnonzero(enough[g])]
            for g in np.flatnonzero(raters >= self.minimum)
        }
        self._add_parts("", "", everybody, shown)

    def _add_family(self, family: Family, everybody: Mask) -> None:
        places = family.shown(everybody)
        if len(places) < int(family.members.any(axis=0).sum()):
            self.hidden.append(family.slug)
        order = self.draws.permutations(family.slug, family.answered)
        scored = ~np.isnan(self.draws.model)
        values: dict[int, dict[str, float]] = {}
        permuted: dict[int, dict[str, Array]] = {}
        for place in places:
            members = family.members[:, place]
            exchanged = self.draws.permuted(members, order)
            permuted[place] = {
                quantity: self.draws.draw(quantity, exchanged, scored)
                for quantity in (TAU, PRECISION)
            }
            subgroup = self._overall(
                family.slug, family.answers[place], members,
                self._reference(permuted[place][TAU]),
            )  # fmt: skip
            values[place] = {TAU: subgroup.tau.value, PRECISION: subgroup.precision.value}
            self.subgroups.append(subgroup)
            self._add_parts(family.slug, family.answers[place], members, self._shown(family, place))
        self._add_differences(family, places, values, permuted)

    def _shown(self, family: Family, place: int) -> dict[int, list[int]]:
        """Return the groups, and of each the scales, about which this subgroup may be shown."""
        rated = self.cube.rated
        found: dict[int, list[int]] = {}
        for g in range(len(self.cube.groups)):
            if place in family.shown(np.asarray(rated[:, g].any(axis=1))):
                found[g] = [
                    s
                    for s in range(len(self.cube.scales))
                    if place in family.shown(np.ascontiguousarray(rated[:, g, s]))
                ]
            elif rated[family.members[:, place], g].any():
                self.n_hidden_groups += 1
        return found

    def _reference(self, draws: Array) -> Reference:
        known = draws[~np.isnan(draws)]
        if not known.size:
            return NO_REFERENCE
        return Reference(float(known.mean()), *middle(known, self.options.level))

    def _overall(self, question: str, answer: str, members: Mask, reference: Reference) -> Subgroup:
        values = self.cube.values[members]
        own = replace(self.cube, submissions=self.cube.submissions[: len(values)], values=values)
        human = own.means
        cells = ~np.isnan(human) & ~np.isnan(self.draws.model)
        level = self.options.level
        answers = answer_questions(values, self.draws.model, self.options)
        tau, precision = self.draws.tau(human), self.draws.precision(human)
        return Subgroup(
            question=question,
            answer=answer,
            n_people=int(own.rated.any(axis=(1, 2)).sum()),
            n_cells=int(cells.sum()),
            tau=observed_tau(tau, answers.observed, level),
            p_value=tau.p_value,
            precision=without_interval(
                precision,
                UndefinedReason.NO_GROUP if np.isnan(precision) else UndefinedReason.NONE,
                level,
                UndefinedReason.OBSERVED_MEAN,
            ),
            reference=reference,
            answers=answers,
        )

    def _add_parts(
        self,
        question: str,
        answer: str,
        members: Mask,
        shown: dict[int, list[int]],
    ) -> None:
        """Add the groups and cells of a subgroup; tau of a group rests on its shown cells alone."""
        rows = []
        for g, scales in shown.items():
            values = self.cube.values[members, g]
            human = np.full(len(self.cube.scales), np.nan)
            for s in scales:
                cell = self._cell(question, answer, g, s, values[:, s])
                human[s] = cell.mean
                self.cells.append(cell)
            scores = np.where(np.isnan(human), np.nan, self.draws.model[g])
            rows.append(self._group(question, answer, g, values, human, scores))
        self.by_group += correct_rows(rows, p_holm="p_value", p_resampled_holm="p_resampled")

    def _cell(self, question: str, answer: str, g: int, s: int, values: Array) -> SubgroupCell:
        rated = values[~np.isnan(values)]
        mean = float(rated.mean())
        return SubgroupCell(
            question=question,
            answer=answer,
            group=self.cube.groups[g],
            scale=self.cube.scales[s],
            n=int(rated.size),
            mean=mean,
            sd=float(rated.std(ddof=1)),
            interval=rating_interval(rated, self.options.level),
        )

    def _group(
        self,
        question: str,
        answer: str,
        g: int,
        values: Array,
        human: Array,
        scores: Array,
    ) -> SubgroupGroup:
        k, center, level = self.options.k, self.options.center, self.options.level
        tau = tau_of(human, scores)
        precision = precision_at_k(scores, human, k=k, center=center)
        around, p_value = tau_over_scales(human, scores, level=level)
        return SubgroupGroup(
            question=question,
            answer=answer,
            group=self.cube.groups[g],
            n_raters=int((~np.isnan(values)).any(axis=1).sum()),
            n_scales=int((~np.isnan(scores)).sum()),
            tau=ResampledValue(tau.value, around, str(tau.reason)),
            p_value=tau.p_value,
            p_holm=np.nan,
            precision=without_interval(precision.mean, str(precision.reason), level),
            p_resampled=p_value,
            p_resampled_holm=np.nan,
        )

    def _add_differences(
        self,
        family: Family,
        places: Sequence[int],
        values: dict[int, dict[str, float]],
        permuted: dict[int, dict[str, Array]],
    ) -> None:
        for quantity in (TAU, PRECISION):
            for a, b in combinations(places, 2):
                value = values[a][quantity] - values[b][quantity]
                exchanged = permuted[a][quantity] - permuted[b][quantity]
                known = exchanged[~np.isnan(exchanged)]
                own = self._of_members(family, a), self._of_members(family, b)
                models = (self.draws.model,) * 2
                if quantity == TAU:
                    noise_free, generalizing, _ = compare_taus(own, models, self.options)
                else:
                    noise_free, generalizing = None, compare_precisions(own, models, self.options)
                self.differences.append(
                    SubgroupDifference(
                        question=family.slug,
                        quantity=quantity,
                        first=family.answers[a],
                        second=family.answers[b],
                        value=value,
                        expected=float(known.mean()) if known.size else np.nan,
                        p_value=permutation_p_value(value, exchanged),
                        p_holm=np.nan,
                        noise_free=noise_free,
                        generalizing=generalizing,
                        p_generalizing_holm=np.nan,
                    )
                )

    def _of_members(self, family: Family, place: int) -> Array:
        """Return the ratings with those of everybody else as missing."""
        return np.where(family.members[:, place, None, None], self.cube.values, np.nan)

    def _correct(self) -> None:
        """Correct the tests of differences over all pairs of all questions."""
        for quantity in (TAU, PRECISION):
            places = [i for i, row in enumerate(self.differences) if row.quantity == quantity]
            rows = [self.differences[i] for i in places]
            corrected = holm_correction([row.p_value for row in rows])
            generalizing = holm_correction([row.generalizing.p_value for row in rows])
            for i, p, q in zip(places, corrected, generalizing, strict=True):
                self.differences[i] = replace(
                    self.differences[i], p_holm=float(p), p_generalizing_holm=float(q)
                )


def _sign(options: AlignmentOptions, minimum: int) -> str:
    parts = {
        "seed": options.seed,
        "streams": "named",
        "exchanges": options.n_resamples,
        "level": options.level,
        "k": options.k,
        "center": options.center,
        "minimum": minimum,
        "tau": "b",
        "overall": "wild:submissions",
        "group": "jackknife:scales",
        "p": "permutation",
        "holm": "groups,pairs",
    }
    return "|".join([f"{NAME}:{VERSION}", *(f"{name}:{value}" for name, value in parts.items())])
