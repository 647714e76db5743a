"""Who belongs to which subgroup, and which subgroups may be shown among any set of people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from annotation.common.small_cells import UNANSWERED, choose_crossed, choose_shown
from evaluation.analyses.subgroup_result import CROSSED, TIMES, Question

Mask = NDArray[np.bool_]
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
