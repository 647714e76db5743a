"""Who judges which counterpart, over random studies, writers and judges."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.judgments.assignment_plan import (
    HeldItem,
    JudgingPlan,
    PlannedItem,
    count_overlap,
    order_queue,
    plan_judging,
)

# What keeps judges and counts right is tried with a hundred studies, what only sorts with fewer.
SOME = settings(max_examples=30)


@st.composite
def studies(draw):
    """Pairs with two directions and some producers; random judges wrote random pairs."""
    judges = list(range(1, draw(st.integers(0, 5)) + 1))
    producers = draw(st.integers(1, 3))
    items = []
    for pair in range(draw(st.integers(1, 12))):
        barred = frozenset(draw(st.sets(st.sampled_from(judges)))) if judges else frozenset()
        # Not every producer has rewritten every text.
        for direction in ("AAL", "WME"):
            for producer in range(producers):
                if not draw(st.booleans()) and producer:
                    continue
                items.append(
                    PlannedItem(
                        key=len(items),
                        pair=f"pair-{pair}",
                        original=f"pair-{pair}-{direction}",
                        words=draw(st.sampled_from(["same", f"by {producer}"])),
                        stratum=f"{producer} {direction}",
                        barred=barred,
                    )
                )
    return {
        "items": items,
        "judges": judges,
        "overlap_percent": draw(st.floats(0, 100)),
        "seed": draw(st.integers(0, 2**31 - 1)),
    }


def plan(study: dict) -> JudgingPlan:
    return plan_judging(
        study["items"],
        study["judges"],
        overlap_percent=study["overlap_percent"],
        seed=study["seed"],
    )


def judges_of(found: JudgingPlan) -> dict[int, list[int]]:
    given_to: dict[int, list[int]] = {}
    for judge, queue in found.queues.items():
        for key in queue:
            given_to.setdefault(key, []).append(judge)
    return given_to


@given(studies())
def test_nobody_judges_a_counterpart_of_a_text_that_they_rewrote(study):
    for judge, queue in plan(study).queues.items():
        assert not [key for key in queue if judge in study["items"][key].barred]


@given(studies())
def test_every_item_that_somebody_may_judge_is_judged(study):
    found = plan(study)
    given_to = judges_of(found)
    for item in study["items"]:
        may = set(study["judges"]) - item.barred
        assert (item.key in found.unjudgeable) == (not may)
        judges = given_to.get(item.key, [])
        assert len(judges) == len(set(judges)), "nobody judges the same twice"
        assert len(judges) == (0 if not may else 2 if item.key in found.twice else 1)


@given(studies())
def test_the_overlap_is_the_percentage_asked_for_or_says_what_is_missing(study):
    found = plan(study)
    wanted = count_overlap(len(study["items"]), study["overlap_percent"])
    assert abs(wanted - len(study["items"]) * study["overlap_percent"] / 100) <= 0.5 + 1e-9
    assert len(found.twice) + found.missing_overlap == wanted
    could = [item for item in study["items"] if len(set(study["judges"]) - item.barred) >= 2]
    assert len(found.twice) == min(wanted, len(could))


@SOME
@given(studies())
def test_second_judgments_are_spread_over_producers_and_directions(study):
    """Systematic sampling: a stratum of m among n items gets m·k/n, give or take 1."""
    if len(study["judges"]) < 2:
        return
    study["items"] = [
        PlannedItem(**{**vars(item), "barred": frozenset()}) for item in study["items"]
    ]
    found = plan(study)
    sizes = Counter(item.stratum for item in study["items"])
    drawn = Counter(study["items"][key].stratum for key in found.twice)
    share = len(found.twice) / len(study["items"])
    assert all(abs(drawn[name] - size * share) <= 1 for name, size in sizes.items())


@given(studies())
def test_the_largest_load_is_the_smallest_possible(study):
    """By the theorem on largest flows and smallest cuts.

    Whatever a set A of judges cannot leave to others, they share: an item for d judges of which r
    outside A may take it leaves max(0, d - r) to A. So somebody in A has at least a 1/|A| share,
    and there is a plan whose largest load is the greatest such bound over all sets A.
    """
    found = plan(study)
    if not study["judges"]:
        return
    demand = Counter({key: len(judges) for key, judges in judges_of(found).items()})
    bound = 0
    for size in range(1, len(study["judges"]) + 1):
        for chosen in combinations(study["judges"], size):
            forced = sum(
                max(0, demand[item.key] - len(set(study["judges"]) - item.barred - set(chosen)))
                for item in study["items"]
            )
            bound = max(bound, -(-forced // size))
    assert max(len(queue) for queue in found.queues.values()) == bound


@SOME
@given(studies())
def test_without_writers_loads_differ_by_one_at_most(study):
    study["items"] = [
        PlannedItem(**{**vars(item), "barred": frozenset()}) for item in study["items"]
    ]
    loads = [len(queue) for queue in plan(study).queues.values()]
    assert not loads or max(loads) - min(loads) <= 1


@SOME
@given(studies())
def test_no_pair_follows_itself_where_that_can_be(study):
    items = study["items"]
    for queue in plan(study).queues.values():
        names = [items[key].pair for key in queue]
        most = max(Counter(names).values(), default=0)
        if most <= (len(names) + 1) // 2:
            assert all(one != other for one, other in pairwise(names))


@SOME
@given(studies())
def test_the_same_words_for_the_same_original_are_never_back_to_back_where_that_can_be(study):
    items = study["items"]
    for queue in plan(study).queues.values():
        names = [(items[key].original, items[key].words) for key in queue]
        most = max(Counter(names).values(), default=0)
        if most <= (len(names) + 1) // 2:
            assert all(one != other for one, other in pairwise(names))


@SOME
@given(studies())
def test_the_plan_depends_on_the_seed_and_not_on_the_order_of_rows(study):
    backwards = study | {"items": study["items"][::-1], "judges": study["judges"][::-1]}
    assert plan(study) == plan(backwards)


@SOME
@given(studies())
def test_judges_who_may_rate_nothing_are_named(study):
    found = plan(study)
    for judge in study["judges"]:
        wrote_all = all(judge in item.barred for item in study["items"])
        assert (judge in found.idle) == wrote_all
        assert not (wrote_all and found.queues[judge])


@given(studies(), st.data())
def test_a_new_plan_keeps_what_is_done_and_every_item_judged(study, data):
    """Somebody leaves, somebody comes, some work is done: coverage and overlap stay."""
    before = plan(study)
    tasks = [(key, judge) for judge, queue in before.queues.items() for key in queue]
    done = set(data.draw(st.lists(st.sampled_from(tasks), unique=True))) if tasks else set()
    left = data.draw(st.sampled_from(study["judges"])) if study["judges"] else None
    judges = [judge for judge in study["judges"] if judge != left] + [9]
    after = plan_judging(
        study["items"],
        judges,
        overlap_percent=study["overlap_percent"],
        seed=study["seed"],
        held=[HeldItem(key, judge, (key, judge) in done) for key, judge in tasks],
        twice=before.twice,
    )
    assert set(after.queues) == set(judges)
    assert after.twice >= before.twice
    everyone = judges_of(after)
    for item in study["items"]:
        given_to = everyone.get(item.key, [])
        finished = [judge for key, judge in done if key == item.key]
        assert not set(given_to) & (set(finished) | item.barred)
        wanted = 2 if item.key in after.twice else 1
        may = set(judges) - item.barred - set(finished)
        assert len(given_to) == min(max(0, wanted - len(finished)), len(may))


def test_open_work_stays_where_it_is_when_nothing_has_changed():
    items = [PlannedItem(key, f"p{key}", f"o{key}", "w", "s") for key in range(40)]
    before = plan_judging(items, [1, 2, 3], overlap_percent=20, seed=4)
    held = [HeldItem(key, judge, False) for judge, queue in before.queues.items() for key in queue]
    after = plan_judging(
        items, [1, 2, 3], overlap_percent=20, seed=99, held=held, twice=before.twice
    )
    assert {j: set(q) for j, q in after.queues.items()} == {
        j: set(q) for j, q in before.queues.items()
    }


def test_the_papers_design_by_hand():
    """Deas et al. (2023) §4.2: 100 texts in both directions, by people and four models: 1,000
    counterparts. At 10 % overlap 1,100 judgments, by 4 judges: 275 each. The 10 strata (5 producers
    by 2 directions) have 100 items each, so 10 of each stratum are judged twice."""
    items = [
        PlannedItem(len_, f"{pair}", f"{pair} {into}", f"{producer}", f"{producer} {into}")
        for len_, (pair, into, producer) in enumerate(
            (pair, into, producer)
            for pair in range(100)
            for into in ("AAL", "WME")
            for producer in ("human", "flan", "gpt-3", "chatgpt", "gpt-4")
        )
    ]
    found = plan_judging(items, [1, 2, 3, 4], overlap_percent=10, seed=1)
    assert {judge: len(queue) for judge, queue in found.queues.items()} == dict.fromkeys(
        [1, 2, 3, 4], 275
    )
    assert set(Counter(items[key].stratum for key in found.twice).values()) == {10}
    first = Counter(items[key].stratum for key in found.queues[1])
    # Every judge sees every producer in both directions, about as often.
    assert len(first) == 10
    assert max(first.values()) - min(first.values()) <= 12


def test_a_chain_of_judges_evens_loads_out():
    """Judge 1 may rate a and b, judge 2 a to d, judge 3 c and d and e to h. By hand: 3 must take e
    to h; then a to d go to 1 and 2, two each: 2, 2 and 4, where 1 and 2 would otherwise idle."""
    may = {"a": {1, 2}, "b": {1, 2}, "c": {2, 3}, "d": {2, 3}} | {name: {3} for name in "efgh"}
    items = [
        PlannedItem(key, name, name, name, "s", frozenset({1, 2, 3} - allowed))
        for key, (name, allowed) in enumerate(may.items())
    ]
    found = plan_judging(items, [1, 2, 3], overlap_percent=0, seed=7)
    assert [len(found.queues[judge]) for judge in (1, 2, 3)] == [2, 2, 4]


def test_a_queue_remembers_what_came_before():
    items = [PlannedItem(key, pair, pair, str(key), "s") for key, pair in enumerate("aab")]
    for seed in range(20):
        order = order_queue(items, seed=seed, purpose="q", after=PlannedItem(9, "b", "b", "x", "s"))
        assert [item.pair for item in order] == ["a", "b", "a"]
