"""Who rewrites which text: a common set, a share for every pair of annotators, the rest split.

Pure: texts are slugs, annotators are numbers, chance is a seed. `assignment_service`
loads and stores around it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from annotation.common.seeded import shuffle
from annotation.models.counterpart import Overlap


class AssignmentError(ValueError):
    """A design that cannot be carried out; the message says why and what would work."""


@dataclass(frozen=True)
class GivenText:
    """One text for one annotator."""

    text: str
    annotator: int
    overlap: Overlap


@dataclass(frozen=True)
class HeldText:
    """A task as it stands: ``is_untouched`` where its annotator has never opened it."""

    text: str
    annotator: int
    overlap: Overlap
    is_open: bool
    is_untouched: bool = True


@dataclass(frozen=True)
class Changes:
    """What a change of people does to the tasks.

    ``given`` are new tasks, in order; ``taken`` are (text, annotator) that lose theirs;
    ``relabeled`` are texts whose remaining tasks get another overlap.
    """

    given: tuple[GivenText, ...]
    taken: tuple[tuple[str, int], ...]
    relabeled: dict[str, Overlap]


def count_pair_share(remainder: int, annotators: int, shared_percent: float) -> int:
    """Return how many of the ``remainder`` texts each pair of annotators has in common.

    Rounded to the nearest whole text (halves up), and down where all pairs together would need
    more texts than there are. Raises `AssignmentError` where the percentages add up to over 100.
    """
    pairs = annotators * (annotators - 1) // 2
    if pairs == 0 or shared_percent == 0:
        return 0
    percent = Fraction(str(shared_percent))
    if pairs * percent > 100:
        raise AssignmentError(
            f"{annotators} annotators are {pairs} pairs; at {shared_percent:g} % each they would "
            f"share {float(pairs * percent):g} % of the texts, expected at most 100 %: choose "
            f"{float(Fraction(100, pairs)):.4g} % or less."
        )
    nearest = int(remainder * percent / 100 + Fraction(1, 2))
    return min(nearest, remainder // pairs)


def plan_assignment(
    texts: Iterable[str],
    annotators: Sequence[int],
    *,
    common_texts: int,
    shared_percent: float,
    seed: int,
    sources: Mapping[str, str] | None = None,
) -> list[GivenText]:
    """Return every annotator's tasks in the order of their queue, annotator by annotator.

    sources : text → source; with them, so many texts of every source are common

    Deas et al. (2023) §3.2: everybody writes the common set; every pair of annotators has
    `count_pair_share` texts of the remainder that nobody else has; what is left is split so that
    loads differ by one at most. Raises `AssignmentError` for a design that cannot be carried out.
    """
    people = sorted(set(annotators))
    if not people:
        raise AssignmentError("Nobody is there to write, expected at least one annotator.")
    drawn = shuffle(texts, name=str, seed=seed, purpose="texts")
    common, rest = _split_common(drawn, common_texts, sources or {})
    share = count_pair_share(len(rest), len(people), shared_percent)
    given = [GivenText(text, person, Overlap.COMMON) for text in common for person in people]
    for pair in combinations(people, 2):
        shared, rest = rest[:share], rest[share:]
        given += [GivenText(text, person, Overlap.SHARED) for text in shared for person in pair]
    # Chance decides who gets one more where the rest does not divide.
    turn = shuffle(people, name=str, seed=seed, purpose="turn")
    given += [
        GivenText(text, turn[place % len(turn)], Overlap.SINGLE) for place, text in enumerate(rest)
    ]
    return order_queues(given, seed=seed)


def _split_common(
    drawn: Sequence[str], n: int, sources: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Return the first ``n`` texts, of every source where sources are given, and the rest."""
    seen: Counter[str] = Counter()
    common: list[str] = []
    rest: list[str] = []
    for text in drawn:
        source = sources.get(text, "")
        (common if seen[source] < n else rest).append(text)
        seen[source] += 1
    for source, there in seen.items():
        if there < n:
            where = f" of “{source}”" if source else ""
            raise AssignmentError(f"{n} texts{where} are to be common, but there are only {there}.")
    return common, rest


def order_queues(given: Iterable[GivenText], *, seed: int) -> list[GivenText]:
    """Return tasks annotator by annotator, each in a random order of their own."""
    queues: dict[int, list[GivenText]] = {}
    for task in given:
        queues.setdefault(task.annotator, []).append(task)
    return [
        task
        for person in sorted(queues)
        for task in shuffle(
            queues[person], name=lambda task: task.text, seed=seed, purpose=f"queue {person}"
        )
    ]


def plan_newcomer(
    held: Sequence[HeldText],
    newcomer: int,
    *,
    unassigned: Sequence[str] = (),
    shared_percent: float,
    seed: int,
) -> Changes:
    """Return what somebody who comes late gets.

    The common set; with each annotator who is there a share as large as the design asks for, taken
    from texts that this annotator had alone; texts that nobody has; and untouched texts of those
    with the most open work, until the newcomer's open work is within one of theirs. Done work stays
    where it is. Where the pairs no longer fit into 100 %, the newcomer shares as much as is left.
    """
    others = sorted({task.annotator for task in held} - {newcomer})
    common = sorted({task.text for task in held if task.overlap == Overlap.COMMON})
    texts = {task.text for task in held} | set(unassigned)
    try:
        share = count_pair_share(len(texts) - len(common), len(others) + 1, shared_percent)
    except AssignmentError:
        share = (len(texts) - len(common)) // ((len(others) + 1) * len(others) // 2)
    given = [GivenText(text, newcomer, Overlap.COMMON) for text in common]
    relabeled: dict[str, Overlap] = {}
    for other in others:
        alone = [
            task.text for task in held if task.annotator == other and task.overlap == Overlap.SINGLE
        ]
        for text in shuffle(alone, name=str, seed=seed, purpose=f"share {newcomer}")[:share]:
            given.append(GivenText(text, newcomer, Overlap.SHARED))
            relabeled[text] = Overlap.SHARED
    given += [GivenText(text, newcomer, Overlap.SINGLE) for text in unassigned]
    taken = _even_out(held, given, newcomer, kept=set(relabeled), seed=seed)
    given += [GivenText(text, newcomer, Overlap.SINGLE) for text, _other in taken]
    return Changes(tuple(order_queues(given, seed=seed)), tuple(taken), relabeled)


def _even_out(
    held: Sequence[HeldText],
    given: Sequence[GivenText],
    newcomer: int,
    *,
    kept: set[str],
    seed: int,
) -> list[tuple[str, int]]:
    """Return which untouched single texts move to the newcomer, from whom."""
    loads = Counter(task.annotator for task in held if task.is_open)
    movable: dict[int, list[str]] = {}
    for task in held:
        if (
            task.is_open
            and task.is_untouched
            and task.overlap == Overlap.SINGLE
            and task.text not in kept
        ):
            movable.setdefault(task.annotator, []).append(task.text)
    for person, texts in movable.items():
        movable[person] = shuffle(texts, name=str, seed=seed, purpose=f"move {person}")
    load = len(given)
    taken: list[tuple[str, int]] = []
    while True:
        givers = [person for person, texts in movable.items() if texts and loads[person] > load + 1]
        if not givers:
            return taken
        giver = min(givers, key=lambda person: (-loads[person], person))
        taken.append((movable[giver].pop(), giver))
        loads[giver] -= 1
        load += 1


def plan_handover(held: Sequence[HeldText], giver: int, receivers: Sequence[int]) -> Changes:
    """Return what becomes of the open tasks of ``giver``: each goes to a receiver who does not have
    its text, to the one with the least open work first.

    A text that all receivers have already is only taken from the giver; where one annotator is left
    with it then, it is nobody's overlap any more. Raises `AssignmentError` without a receiver.
    """
    people = sorted(set(receivers) - {giver})
    if not people:
        raise AssignmentError("Nobody else is there to take the texts over: invite somebody first.")
    holders: dict[str, set[int]] = {}
    loads: Counter[int] = Counter()
    for task in held:
        holders.setdefault(task.text, set()).add(task.annotator)
        loads[task.annotator] += task.is_open
    given: list[GivenText] = []
    taken: list[tuple[str, int]] = []
    relabeled: dict[str, Overlap] = {}
    for task in held:
        if task.annotator != giver or not task.is_open:
            continue
        taken.append((task.text, giver))
        holders[task.text].discard(giver)
        free = [person for person in people if person not in holders[task.text]]
        if free:
            receiver = min(free, key=lambda person: (loads[person], person))
            given.append(GivenText(task.text, receiver, task.overlap))
            holders[task.text].add(receiver)
            loads[receiver] += 1
        elif len(holders[task.text]) == 1:
            relabeled[task.text] = Overlap.SINGLE
    return Changes(tuple(given), tuple(taken), relabeled)


def plan_unassigned(
    held: Sequence[HeldText], unassigned: Sequence[str], annotators: Sequence[int], *, seed: int
) -> Changes:
    """Give texts that nobody has to those with the least open work."""
    people = sorted(set(annotators))
    if not people:
        raise AssignmentError("Nobody is there to take the texts: invite somebody first.")
    loads = Counter(task.annotator for task in held if task.is_open)
    given: list[GivenText] = []
    for text in shuffle(unassigned, name=str, seed=seed, purpose="unassigned"):
        receiver = min(people, key=lambda person: (loads[person], person))
        given.append(GivenText(text, receiver, Overlap.SINGLE))
        loads[receiver] += 1
    return Changes(tuple(given), (), {})
