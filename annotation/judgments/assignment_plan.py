"""Who judges which counterpart, in which order.

Pure: items, judges and pairs are plain names, chance is a seed. `assignment_service`
loads and stores around it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from annotation.common.seeded import shuffle


@dataclass(frozen=True)
class PlannedItem:
    """One counterpart to be judged.

    ``pair`` and ``original`` say which texts a judge sees with it, ``words`` what the counterpart
    says; ``stratum`` is its producer and direction; ``barred`` are the judges who wrote or decided
    a counterpart of its texts.
    """

    key: int
    pair: str
    original: str
    words: str
    stratum: str
    barred: frozenset[int] = frozenset()


@dataclass(frozen=True)
class HeldItem:
    """A task that is there already; done ones stay as they are."""

    item: int
    judge: int
    is_done: bool


@dataclass(frozen=True)
class JudgingPlan:
    """Who judges what.

    Attributes
    ----------
    queues : for every judge the items, in their order, without those that are done.
    twice : the items that get a second judge.
    unjudgeable : the items that no judge may rate.
    idle : the judges who may rate nothing, because they wrote counterparts of all texts.
    missing_overlap : second judgments that were wanted and that nobody may give.
    """

    queues: dict[int, tuple[int, ...]]
    twice: frozenset[int]
    unjudgeable: tuple[int, ...]
    idle: tuple[int, ...]
    missing_overlap: int


def plan_judging(
    items: Iterable[PlannedItem],
    judges: Iterable[int],
    *,
    overlap_percent: float,
    seed: int,
    held: Iterable[HeldItem] = (),
    twice: frozenset[int] = frozenset(),
) -> JudgingPlan:
    """Give every item to one judge, some to two, nobody their own.

    ``overlap_percent`` of the items (the nearest whole number, halves up) get a second judge,
    evenly over the strata; those of ``twice`` among them, which were drawn before. Loads of open
    work are as even as who may judge what allows: no shift of items from judge to judge would bring
    two of them closer. Tasks of ``held`` stay with their judges where that evenness allows it.
    """
    known = {item.key: item for item in sorted(items, key=lambda item: item.key)}
    people = sorted(set(judges))
    held = list(held)
    done: dict[int, set[int]] = {key: set() for key in known}
    for task in held:
        if task.is_done and task.item in done:
            done[task.item].add(task.judge)
    may = {
        key: [judge for judge in people if judge not in item.barred and judge not in done[key]]
        for key, item in known.items()
    }
    unjudgeable = tuple(key for key in known if not may[key] and not done[key])
    doubled = twice & set(known)
    wanted = max(count_overlap(len(known), overlap_percent), len(doubled))
    rest = {key: item for key, item in known.items() if key not in doubled}
    doubled |= _draw_twice(rest, may, done, wanted - len(doubled), seed)
    demand = {}
    missing = wanted - len(doubled)
    for key in known:
        left = (2 if key in doubled else 1) - len(done[key])
        if key in doubled and left > len(may[key]) and key not in unjudgeable:
            missing += 1
        demand[key] = max(0, min(left, len(may[key])))
    given = _Given(people, may)
    _keep(given, held, demand)
    _fill(given, known, demand, seed)
    given.even_out()
    last = {task.judge: known[task.item] for task in held if task.is_done and task.item in known}
    queues = {
        judge: tuple(
            item.key
            for item in order_queue(
                [known[key] for key in given.of_judge[judge]],
                seed=seed,
                purpose=f"queue {judge}",
                after=last.get(judge),
            )
        )
        for judge in people
    }
    idle = tuple(
        judge for judge in people if known and all(judge in item.barred for item in known.values())
    )
    return JudgingPlan(queues, frozenset(doubled), unjudgeable, idle, missing)


def count_overlap(n_items: int, overlap_percent: float) -> int:
    """Return how many items get a second judge: the nearest whole number, halves up."""
    return int(n_items * Fraction(str(overlap_percent)) / 100 + Fraction(1, 2))


def _draw_twice(
    items: Mapping[int, PlannedItem],
    may: Mapping[int, Sequence[int]],
    done: Mapping[int, set[int]],
    wanted: int,
    seed: int,
) -> frozenset[int]:
    """Draw the items for a second judge, as evenly over the strata as numbers allow.

    Systematic sampling: items are sorted by stratum, at random within each, every k-th is taken.
    """
    open_to_two = [item for key, item in items.items() if len(may[key]) + len(done[key]) >= 2]
    drawn = shuffle(open_to_two, name=lambda item: str(item.key), seed=seed, purpose="twice")
    drawn.sort(key=lambda item: item.stratum)
    wanted = min(wanted, len(drawn))
    return frozenset(drawn[place * len(drawn) // wanted].key for place in range(wanted))


class _Given:
    """Which judge has which items; knows how to make loads even."""

    def __init__(self, judges: Sequence[int], may: Mapping[int, Sequence[int]]) -> None:
        self.may = may
        # Dictionaries as ordered sets, so that the same seed gives the same plan.
        self.of_judge: dict[int, dict[int, None]] = {judge: {} for judge in judges}
        self.of_item: dict[int, dict[int, None]] = {key: {} for key in may}

    def load(self, judge: int) -> int:
        return len(self.of_judge[judge])

    def give(self, key: int, judge: int) -> None:
        self.of_judge[judge][key] = None
        self.of_item[key][judge] = None

    def take(self, key: int, judge: int) -> None:
        del self.of_judge[judge][key]
        del self.of_item[key][judge]

    def even_out(self) -> None:
        """Shift items along chains of judges while that brings two loads closer.

        Where no chain leads from a judge to another with two items fewer, loads are as even as they
        can be (Harvey, Ladner, Lovász and Tamir 2003, Semi-matchings for bipartite graphs and load
        balancing; with judges as machines).
        """
        while (chain := self._find_chain()) is not None:
            for giver, key, taker in chain:
                self.take(key, giver)
                self.give(key, taker)

    def _find_chain(self) -> list[tuple[int, int, int]] | None:
        for start in sorted(self.of_judge, key=lambda judge: (-self.load(judge), judge)):
            came: dict[int, tuple[int, int] | None] = {start: None}
            queue = deque([start])
            while queue:
                judge = queue.popleft()
                if self.load(judge) <= self.load(start) - 2:
                    return _trace(came, judge)
                for key in self.of_judge[judge]:
                    for other in self.may[key]:
                        if other not in came and other not in self.of_item[key]:
                            came[other] = (judge, key)
                            queue.append(other)
        return None


def _trace(came: Mapping[int, tuple[int, int] | None], end: int) -> list[tuple[int, int, int]]:
    chain = []
    step = came[end]
    while step is not None:
        judge, key = step
        chain.append((judge, key, end))
        end = judge
        step = came[end]
    # From the far end, so that nobody has an item twice on the way.
    return chain


def _keep(given: _Given, held: Iterable[HeldItem], demand: dict[int, int]) -> None:
    """Leave open tasks where they are, as far as they are still wanted and allowed."""
    for task in held:
        if task.is_done or not demand.get(task.item) or task.judge not in given.may[task.item]:
            continue
        given.give(task.item, task.judge)
        demand[task.item] -= 1


def _fill(
    given: _Given, items: Mapping[int, PlannedItem], demand: Mapping[int, int], seed: int
) -> None:
    """Give what is left to the least loaded; those that few may judge come first.

    Stratum by stratum, so that every judge sees about as many of each producer and direction.
    """
    drawn = shuffle(items.values(), name=lambda item: str(item.key), seed=seed, purpose="items")
    drawn.sort(key=lambda item: (len(given.may[item.key]), item.stratum))
    people = shuffle(given.of_judge, name=str, seed=seed, purpose="turn")
    turn = {judge: place for place, judge in enumerate(people)}
    for item in drawn:
        free = [judge for judge in given.may[item.key] if judge not in given.of_item[item.key]]
        free.sort(key=lambda judge: (given.load(judge), turn[judge]))
        for judge in free[: demand[item.key]]:
            given.give(item.key, judge)


def order_queue(
    items: Sequence[PlannedItem], *, seed: int, purpose: str, after: PlannedItem | None = None
) -> list[PlannedItem]:
    """Return items in a random order in which no pair follows itself.

    Where that cannot be (one pair is more than half of the queue), no original follows itself;
    where that cannot be either, no counterpart follows one in the same words; and where a queue is
    nothing but the same, its order is random. ``after`` is what the judge saw last.
    """
    drawn = shuffle(items, name=lambda item: str(item.key), seed=seed, purpose=purpose)
    levels: tuple[Callable[[PlannedItem], object], ...] = (
        lambda item: item.pair,
        lambda item: item.original,
        lambda item: (item.original, item.words),
    )
    for name in levels:
        for last in [after, None] if after else [None]:
            if (order := _spread(drawn, name, last)) is not None:
                return order
    return drawn


def _spread(
    items: Sequence[PlannedItem], name: Callable[[PlannedItem], object], after: PlannedItem | None
) -> list[PlannedItem] | None:
    """Return the items so that no two neighbors share a name, None where there is no such order.

    There is one exactly if no name is on more than half of the items, rounded up, or down for the
    name that came last. The next item is the first that keeps this true of the rest.
    """
    rest = list(items)
    counts = Counter(name(item) for item in rest)
    last = object() if after is None else name(after)
    most = max(counts.values(), default=0)
    if 2 * most > len(rest) + 1 or 2 * counts[last] > len(rest):
        return None
    order: list[PlannedItem] = []
    while rest:
        half = len(rest) // 2
        # A name on more than half of the rest has to come now; only late in a queue can one be.
        urgent = (
            next((key for key, count in counts.items() if count > half), None)
            if most > half
            else None
        )
        place = next(
            place
            for place, item in enumerate(rest)
            if name(item) != last and (urgent is None or name(item) == urgent)
        )
        order.append(rest.pop(place))
        last = name(order[-1])
        counts[last] -= 1
    return order
