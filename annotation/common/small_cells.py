"""Small cells: which answers can be shown without telling something about a few people.

A number about fewer people than the minimum is never shown. Neither is one from which such a
number follows: what is hidden must not be the total minus what is shown, and where people may give
several answers, their overlap must not follow either. Plain values in and out, no database.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

K = TypeVar("K")

DEFAULT_MINIMUM = 5
LEAST_MINIMUM = 3
#: Overlapping answers are checked in all their sums, which doubles with each of them.
MOST_OVERLAPPING = 10

#: What stands for a person who preferred not to say, and for one who left the question out.
DECLINED = "[declined]"
UNANSWERED = "[no answer]"

#: The answers that one person gave to one question.
Answers = frozenset[str]


@dataclass(frozen=True)
class AnswerTable:
    """How many people gave each answer, as far as it can be shown.

    n_people : people asked, None where even these are too few
    shown : answer → people, in the given order; 0 where nobody gave it and nothing is hidden
    hidden : answers that are not shown, in the given order; some of them may have been given by
        nobody, others by many
    n_hidden : people who gave none of the answers shown, None where people could give several
        answers or where all people are too few
    """

    n_people: int | None
    shown: Mapping[str, int]
    hidden: tuple[str, ...]
    n_hidden: int | None

    @property
    def n_hidden_answers(self) -> int | None:
        """How many different answers are hidden, those without a statement aside.

        None where people could give several, and where as few people gave them: then it would tell
        that one person gave each.
        """
        n = len(set(self.hidden) - {DECLINED, UNANSWERED})
        return n if self.n_hidden is not None and 0 < n < self.n_hidden else None


def tabulate(
    people: Mapping[Answers, int], *, answers: Iterable[str], several: bool, minimum: int
) -> AnswerTable:
    """Return the table of one question.

    people : what one person answered → how many people answered just that
    answers : all answers that could be given, in order
    several : whether a person could give more than one
    minimum : the smallest number of people that is shown, from 3
    """
    order = list(dict.fromkeys([*answers, *sorted(set().union(*people))]))
    n = sum(people.values())
    shown = choose_shown(people, minimum)
    if n < minimum:
        return AnswerTable(None, {}, tuple(order), None)
    counts = count_answers(people)
    if all(answer in shown for answer in counts):
        return AnswerTable(n, {answer: counts[answer] for answer in order}, (), 0)
    rest = sum(number for given, number in people.items() if not given & shown)
    return AnswerTable(
        n_people=n,
        shown={answer: counts[answer] for answer in order if answer in shown},
        hidden=tuple(answer for answer in order if answer not in shown),
        # Where people give several answers, it would tell how many gave only one of them.
        n_hidden=None if several else rest,
    )


def choose_shown(people: Mapping[Answers, int], minimum: int) -> frozenset[str]:
    """Return the answers about which numbers can be shown beside those of all people together.

    people : what one person answered → how many people answered just that; every person has at
        least one answer, `DECLINED` or `UNANSWERED` among them

    Every subset of the result can be shown as well. Raises ValueError for a minimum below 3.
    """
    if minimum < LEAST_MINIMUM:
        raise ValueError(f"minimum is {minimum}, expected a whole number from {LEAST_MINIMUM}")
    counts = dict(count_answers(people))
    shown = {answer: n for answer, n in counts.items() if n >= minimum}
    while shown and not is_safe(people, shown, minimum):
        shown = _without_smallest(shown)
    return frozenset(shown)


def choose_crossed(
    people: Mapping[tuple[Answers, Answers], int], minimum: int
) -> frozenset[tuple[str, str]]:
    """Return the pairs of answers to two questions about which numbers can be shown.

    people : what one person answered to both questions → how many people answered just that

    A pair is shown where both its answers can be shown alone, and where neither the others of
    its first answer nor those of its second leave a small remainder.
    """
    margins = [choose_shown(_margin(people, place), minimum) for place in (0, 1)]
    counts: Counter[tuple[str, str]] = Counter()
    for (first, second), n in people.items():
        for pair in ((a, b) for a in first for b in second):
            counts[pair] += n
    shown = {
        pair: n
        for pair, n in counts.items()
        if n >= minimum and pair[0] in margins[0] and pair[1] in margins[1]
    }
    lines = [(place, answer) for place in (0, 1) for answer in sorted(margins[place])]
    settled = False
    while not settled:
        settled = True
        for place, answer in lines:
            own = {pair: n for pair, n in shown.items() if pair[place] == answer}
            inside = {given: n for given, n in people.items() if answer in given[place]}
            others = {pair[1 - place] for pair in own}
            if own and not is_safe(_margin(inside, 1 - place), others, minimum):
                kept = _without_smallest(own)
                shown = {pair: n for pair, n in shown.items() if pair not in own or pair in kept}
                settled = False
    return frozenset(shown)


def is_safe(people: Mapping[Answers, int], shown: Collection[str], minimum: int) -> bool:
    """Return whether numbers about ``shown`` and about all people give nothing small away.

    Every sum of shown answers minus all people concerns those who gave none or several of them:
    that must be nobody or at least the minimum. Two answers differ by nobody or by as many.
    """
    if sum(people.values()) < minimum:
        return not shown
    given = [(answers & set(shown), n) for answers, n in people.items()]
    if all(len(own) < 2 for own, _ in given):
        # Without overlap all of them together leave the smallest remainder.
        rest = sum(n for own, n in given if not own)
        hidden = [n for answer, n in count_answers(people).items() if answer not in shown]
        # Two hidden answers of eight people in all must be four each where the minimum is five.
        exhausted = rest > 0 and rest == len(hidden) * (minimum - 1) and max(hidden) < minimum
        return rest == 0 or (rest >= minimum and not exhausted)
    if len(shown) > MOST_OVERLAPPING:
        return False
    for size in range(1, len(shown) + 1):
        for part in map(set, combinations(sorted(shown), size)):
            if 0 < sum(n for own, n in given if len(own & part) != 1) < minimum:
                return False
    return not any(
        0 < sum(n for own, n in given if (a in own) != (b in own)) < minimum
        for a, b in combinations(sorted(shown), 2)
    )


def count_answers(people: Mapping[Answers, int]) -> Counter[str]:
    """Return how many people gave each answer; a person counts in each that they gave."""
    counts: Counter[str] = Counter()
    for given, n in people.items():
        for answer in given:
            counts[answer] += n
    return counts


def _without_smallest(shown: Mapping[K, int]) -> dict[K, int]:
    """Leave out the smallest, with all that are as small: choosing among them would tell more."""
    least = min(shown.values())
    return {answer: n for answer, n in shown.items() if n != least}


def _margin(people: Mapping[tuple[Answers, Answers], int], place: int) -> dict[Answers, int]:
    found: Counter[Answers] = Counter()
    for given, n in people.items():
        found[given[place]] += n
    return dict(found)
